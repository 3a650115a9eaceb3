//go:build unix

package modes

import (
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (a *agent) signalSelf(which string) int {
	sig := syscall.SIGKILL
	if which == "segv" {
		sig = syscall.SIGSEGV
	}
	_ = syscall.Kill(os.Getpid(), sig)
	return hang()
}

func (a *agent) killParent() int {
	_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
	return hang()
}
