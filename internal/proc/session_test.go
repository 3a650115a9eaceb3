//go:build unix

package proc

import "syscall"

func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
