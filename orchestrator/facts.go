package orchestrator

import (
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// Known is what triggers and the gate look at, as far as the inputs tell. Where nobody asked what the author may do, GitHub's word for them decides.
func (in Inputs) Known() (escalate.Facts, gate.Facts) {
	change := in.changeFacts()
	switch in.Snapshot.PR.Author.Association {
	case "OWNER", "MEMBER", "COLLABORATOR":
	default:
		change.Untrusted = true
	}
	if g := in.Snapshot.Gate; g != nil {
		return change, *g
	}
	g := gate.Facts{Complexity: gate.Ordinary}
	if in.Snapshot.clear() {
		files := gateFiles(in.Snapshot.Brief)
		g.Complexity, g.Small = gate.Assess(files, pushpolicy.Protected), gate.Small(files, pushpolicy.Protected)
	}
	return change, g
}
