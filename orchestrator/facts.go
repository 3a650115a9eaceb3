package orchestrator

import (
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
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
	return change, *in.Snapshot.size()
}
