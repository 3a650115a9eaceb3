//go:build !linux

package proc

// GroupsBound reports false twice: control groups are Linux's.
func GroupsBound() (memory, processes bool) { return false, false }
