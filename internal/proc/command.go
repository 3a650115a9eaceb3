package proc

import (
	"os"
	"os/exec"
)

// command is a child without a leash, on any system.
func command(spec Spec, std [3]*os.File) *exec.Cmd {
	return &exec.Cmd{Path: spec.Path, Args: append([]string{spec.Path}, spec.Args...), Env: spec.Env, Dir: spec.Dir,
		Stdin: std[0], Stdout: std[1], Stderr: std[2]}
}

// exitStatus reads how a command ended.
func exitStatus(err error, cmd *exec.Cmd) status {
	st := status{code: -1}
	if s := cmd.ProcessState; s != nil {
		st.code = s.ExitCode()
		st.signal = signalOf(s)
	} else if err != nil {
		st.signal = err.Error()
	}
	return st
}
