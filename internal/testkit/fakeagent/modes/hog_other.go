//go:build !linux

package modes

func setAttribute(string, []byte) error { return errLinux }
func holdShared(int) error              { return errLinux }
