package fixspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
)

// killGrace is the time between TERM and KILL for a command that ran out of time.
const killGrace = 2 * time.Second

// setupFailed opens the line in which the sandbox says why it started nothing.
const setupFailed = "prloop: set up sandbox: "

// child is one command of the workspace.
type child struct {
	policy sandbox.Policy
	// script is POSIX shell; args are its $1 and so on.
	script string
	args   []string
	env    []string
	dir    string
	// limit is the wall time.
	limit time.Duration
	// out takes what the script prints on both streams, up to max bytes.
	out io.Writer
	max int64
}

// run starts a child in the sandbox and supervises it to its end. The error is that of proc.Run, or a sandbox that could
// not be set up. Standard error of the child itself is sent into its output, so that what comes there is the sandbox's word.
func (b *Workspace) run(ctx context.Context, c child) (proc.Result, error) {
	shell, err := proc.LookPath("sh")
	if err != nil {
		return proc.Result{ExitCode: -1}, err
	}
	cmd, err := b.Confine(c.policy, sandbox.Command{
		Path: shell, Args: append([]string{"-c", `exec 2>&1 "$0" -c "$@"`, shell, c.script, "sh"}, c.args...), Env: c.env, Dir: c.dir,
	})
	if err != nil {
		return proc.Result{ExitCode: -1}, err
	}
	bounds := b.Bounds
	bounds.Folders = c.policy.Writable
	res, err := proc.Run(ctx, proc.Spec{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Timeout: c.limit, Grace: killGrace, Stdout: c.out, MaxStdout: c.max, Bounds: bounds,
	})
	if why, ok := strings.CutPrefix(string(res.StderrTail), setupFailed); ok && res.ExitCode == sandbox.ExitSetup {
		return res, fmt.Errorf("set up the sandbox: %s", strings.TrimSpace(why))
	}
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	if res.Unclean {
		return res, errors.New("unclean: processes of this command could not be ended")
	}
	return res, err
}
