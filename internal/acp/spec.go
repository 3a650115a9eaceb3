package acp

import (
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

// Spec is one agent as prloop starts it.
type Spec struct {
	// Name is the agent's name in the run; it replaces whatever the agent calls itself.
	Name string
	// Role is reviewer, comments-analyzer or pr-fix.
	Role review.Role
	// Preset says how the agent is configured; the zero value is an agent that needs no configuration.
	Preset Preset
	// Command and Args replace those of the preset when Command is not empty; a bare name is looked up in PATH.
	Command string
	Args    []string
	// Env is what the child's environment starts from, written out; the preset's variables replace those of the same name.
	// Nothing is inherited (threats.md T70).
	Env []string
	// Dir is an empty private folder, absolute: the agent's home. Configuration and the socket are made in it.
	Dir string
	// Cwd is the folder the agent looks at, absolute: a read-only export of the tree, or the private clone a fixer works in.
	// Empty is a new empty folder in Dir.
	Cwd string
	// Tools are the names of the tools that a command may use; those of them that read the tree are lent.
	Tools []string
	// Folders are further folders that these read below their names: absolute paths.
	Folders map[string]string
	// Model is what the agent is to use; Endpoint where it finds it. Both go into the preset's configuration.
	Model    string
	Endpoint Endpoint
	// Self and SelfArgs start prloop's MCP server (ServeMCP), by an absolute path.
	Self     string
	SelfArgs []string
	// Confine, when set, changes the command to one that runs it in a sandbox, just before it is started.
	Confine func(proc.Spec) (proc.Spec, error)
	// Timeout bounds the whole question, the repair turn included; 0 means the wall time of the task's limits, and
	// without one ten minutes.
	Timeout time.Duration
	// Idle is the longest time without a byte from the agent, limits.max_idle_seconds of the settings; 0 means no watchdog. Quiet is
	// that of proc.Spec.
	Idle  time.Duration
	Quiet func() time.Duration
	// Grace is the time between TERM and KILL; 0 means 2 seconds.
	Grace time.Duration
}

// Endpoint is where an agent finds its model.
type Endpoint struct {
	// BaseURL ends in /v1, as OpenAI-compatible clients are configured with.
	BaseURL string
	// Token is the gateway's placeholder, which opens nothing else.
	Token string
}

const (
	defaultTimeout = 10 * time.Minute
	defaultGrace   = 2 * time.Second
	maxTurns       = 2        // spec.md R2: one repair
	maxLine        = 8 << 20  // of the agent's output, in bytes; the SDK gives up at 10 MB
	maxOutput      = 64 << 20 // of all of it, in bytes
	maxText        = 1 << 20  // of one turn's text, in bytes
	maxRequests    = 1000     // of the agent to prloop
	// lingerFor is how long a turn may run on once a valid result was submitted; then it is cancelled.
	lingerFor = 10 * time.Second
	// lateFor is how long updates are waited for after a turn that submitted nothing: some agents send them late.
	lateFor = 300 * time.Millisecond
	// eofGrace is how long an agent has to end by itself once its input is closed.
	eofGrace = 3 * time.Second
)

// apart reports whether the agent works beside the tree.
func (s Spec) apart() bool { return s.Preset.Apart && s.Role != review.RoleFixer }

func (s Spec) timeout(t review.Task) time.Duration {
	switch {
	case s.Timeout > 0:
		return s.Timeout
	case t.Limits.WallTimeSeconds > 0:
		return time.Duration(t.Limits.WallTimeSeconds) * time.Second
	}
	return defaultTimeout
}
