// Package agentrun runs the agents of a run: it turns a plan ([orchestrator.AgentPlan]) into a child process in a sandbox and the
// child's answer into the loop's words (threats.md "Sandbox tiers").
//
//	Launcher     asks one agent: a builtin one and the static one are this program as a child, a command is the user's own, an ACP
//	             agent is somebody else's behind a protocol
//	FixExecutor  has the launcher's fixer work in a clone, and judges, verifies and pushes what it did (internal/fixspace)
//	JobExecutor  does the same for a scheduled job
//	Confinement  says how all of them are confined
//
// A child gets an empty home, a written-out environment and, when it needs a model, a way to the gateway that is good for its
// own budget alone. What it may read beside that is an export of the head under review, made once for all. It gets no
// credential and, in a full sandbox, no network. What it says it spent is replaced by what the gateway counted.
//
// Asking never fails as a call: an agent that could not be started has an answer that says so, and the loop decides what
// that means. The package reads no flag, no configuration and no environment; who does hands over plain values.
package agentrun
