//go:build !linux

package modes

import "errors"

var errLinux = errors.New("only Linux has it")

func (a *agent) fastOpen() error  { return errLinux }
func (a *agent) multipath() error { return errLinux }
