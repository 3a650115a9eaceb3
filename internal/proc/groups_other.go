//go:build !linux

package proc

// GroupsBound reports false: control groups are Linux's.
func GroupsBound() (memory, processes, shares bool) { return false, false, false }
