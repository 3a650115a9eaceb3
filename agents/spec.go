package agents

import (
	"cmp"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

// Spec is one agent as prloop starts it.
type Spec struct {
	// Name is the agent's name in the run; it replaces whatever the child calls itself.
	Name string
	// Role decides which envelope is expected: spec.md A2, for comments-analyzer spec.md A3, for pr-fix spec.md A5, for
	// verifier review.VerifierResult, for command review.CommandResult.
	Role review.Role
	// Kind is builtin, static, command or acp, for the receipt.
	Kind string
	// Model is what the agent is configured to use, for the receipt; empty when unknown.
	Model string
	// Path and Args start the program; a bare name is looked up in PATH.
	Path string
	Args []string
	// Env is the child's whole environment, written out; nothing is inherited (threats.md T70). No token stands in it unless
	// the caller puts one there.
	Env []string
	// Dir is the working folder; empty means prloop's own.
	Dir string
	// Bounds are what the child may take of the machine.
	Bounds proc.Bounds
	// Timeout bounds the whole question, the repair turn included; 0 means the wall time of the task's limits, and
	// without one ten minutes.
	Timeout time.Duration
	// Idle is the longest time without a byte from the child, limits.max_idle_seconds of the settings; 0 means no watchdog. Quiet is
	// that of proc.Spec.
	Idle  time.Duration
	Quiet func() time.Duration
	// Grace is the time between TERM and KILL; 0 means 2 seconds: a run ends within 5 s after the deadline of its agents
	// (threats.md P9), and the report has to be posted in them too.
	Grace time.Duration
}

const (
	defaultTimeout = 10 * time.Minute
	defaultGrace   = 2 * time.Second
	maxAttempts    = 2 // spec.md R2: one repair
	// maxQuoted is how much of a refused answer is quoted back, in bytes.
	maxQuoted = 4 << 10
	// lingerFor is how long a child may run on after it closed its output: nothing more can come from it.
	lingerFor = 5 * time.Second
)

func (s Spec) grace() time.Duration { return cmp.Or(s.Grace, defaultGrace) }

func (s Spec) timeout(t review.Task) time.Duration {
	switch {
	case s.Timeout > 0:
		return s.Timeout
	case t.Limits.WallTimeSeconds > 0:
		return time.Duration(t.Limits.WallTimeSeconds) * time.Second
	}
	return defaultTimeout
}
