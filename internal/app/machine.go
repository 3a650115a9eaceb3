package app

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Confinement is the operator's word on how the agents of pull requests are confined.
type Confinement string

// The words.
const (
	ConfineRequired Confinement = "required" // full containment or no run; the default
	ConfineBest     Confinement = "best"     // what the machine has; reports say what
	ConfineOff      Confinement = "off"
)

// Machine is the operator's word on what runs may have of this machine. No repository has a say.
type Machine struct {
	Confinement Confinement
	// Sandbox is what confines agents here; it must be set unless Confinement is off.
	Sandbox *sandbox.Machine
	// Readable are further files and folders that confined agents may read.
	Readable []string
	// Workspace is the folder that settings.Folders stand in.
	Workspace string
	// VerifyEnv are further variables of verify commands, NAME=value. Code of the pull request sees them.
	VerifyEnv []string
	// Caches are the module caches of this machine that may be lent.
	Caches []fixspace.Lent
	// Limits are what each agent and each verify command may take.
	Limits agentrun.Limits
	// ShowSecrets lets models read values in files that look like secrets; they are masked otherwise.
	ShowSecrets bool
	// MarkerKey is the key, or the keys (sanitize.Keys), by which comments of ours are known; nil uses the state folder's own.
	MarkerKey []byte
	// Strangers is true where local ranges are somebody else's too, as those of review cases are: their agents are confined as those of
	// pull requests, and their written rules are those of the base.
	Strangers bool
}

// own reports whether a target is the person's own work. A patch may be anybody's.
func (m Machine) own(target review.Target) bool {
	return target.Local() && target.Change != review.ChangePatch && !m.Strangers
}

// ownRules reports whether the written rules of a target are those of the change itself, which is the person's own work (decision 28).
// A commit may be anybody's too, as a pull request may.
func (m Machine) ownRules(target review.Target) bool {
	return m.own(target) && target.Change != review.ChangeCommit
}

// lent are the module caches of the tools that the operator lends.
func (m Machine) lent(tools []string) []fixspace.Lent {
	return slices.DeleteFunc(slices.Clone(m.Caches), func(l fixspace.Lent) bool { return !slices.Contains(tools, l.Tool) })
}

// secrets is the word on secrets as a request has it.
func (m Machine) secrets() string {
	if m.ShowSecrets {
		return orchestrator.ShowSecrets
	}
	return ""
}

// confinement settles how the agents of a run are confined. A local change is the person's own work, reviewed by the person's own
// programs, whose linters need the person's caches; a pull request is somebody else's, as a patch may be, and fails closed.
func (m Machine) confinement(ctx context.Context, target review.Target) (agentrun.Confinement, error) {
	if m.own(target) {
		return agentrun.Unconfined("a local range, reviewed as the user who started prloop"), nil
	}
	weakest := sandbox.Tier1b
	switch m.Confinement {
	case ConfineBest:
		weakest = sandbox.Tier4 // whatever there is; the report says what
	case ConfineOff:
		return agentrun.Unconfined("switched off by the operator; agents run as the user who started prloop"), nil
	}
	return agentrun.Probe(ctx, m.Sandbox, weakest, m.Readable)
}
