// Command prloop takes a pull request from "opened" to "approved, or a person is needed, and here is why".
package main

import (
	"os"
	"runtime/debug"

	"github.com/prloop/prloop/internal/cli"
)

func main() {
	// A release says its version when it is linked; a program of go install has that of its module.
	if info, ok := debug.ReadBuildInfo(); ok && cli.Version == "dev" && info.Main.Version != "" {
		cli.Version = info.Main.Version
	}
	// prloop mostly waits for other programs, and may have to hold what these write: a tenth more processor time keeps the memory of
	// floods down (threats.md P9).
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	os.Exit(cli.Main(cli.Process("prloop")))
}
