//go:build !unix

package proc

import (
	"os"
	"os/exec"
)

// single is a child of which only the first process can be ended.
type single struct {
	boundless
	cmd *exec.Cmd
}

func start(spec Spec, std [3]*os.File) (child, error) {
	cmd := command(spec, std)
	if err := cmd.Start(); err != nil {
		return nil, cause(err)
	}
	return &single{cmd: cmd}, nil
}

// term kills: there is no signal to ask with.
func (s *single) term()    { _ = s.cmd.Process.Kill() }
func (s *single) kill()    { _ = s.cmd.Process.Kill() }
func (s *single) destroy() { _ = s.cmd.Process.Kill() }

func (s *single) wait() status { return exitStatus(s.cmd.Wait(), s.cmd) }

func signalOf(*os.ProcessState) string { return "" }
