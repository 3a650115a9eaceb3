package cli

import (
	"os"
	"runtime/debug"
)

// Program runs this process as prloop, or under another name, and gives its exit status.
func Program(name string) int {
	// A release says its version when it is linked; a program of go install has that of its module.
	if info, ok := debug.ReadBuildInfo(); ok && Version == "dev" && info.Main.Version != "" {
		Version = info.Main.Version
	}
	// prloop mostly waits for other programs, and may have to hold what these write: a tenth more processor time keeps the memory of
	// floods down (threats.md P9).
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	return Main(Process(name))
}
