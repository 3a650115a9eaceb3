//go:build unix && !linux

package proc

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a child that heads its own session and process group.
type group struct {
	boundless
	cmd *exec.Cmd
}

func start(spec Spec, std [3]*os.File) (child, error) {
	cmd := command(spec, std)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, cause(err)
	}
	return &group{cmd: cmd}, nil
}

func (g *group) term()    { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGTERM) }
func (g *group) kill()    { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }
func (g *group) destroy() { g.kill() }

func (g *group) wait() status {
	st := exitStatus(g.cmd.Wait(), g.cmd)
	// The group keeps its number as long as it has a member, so this reaches what was left behind and nothing else.
	if syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) == nil {
		st.survivors = 1
	}
	return st
}
