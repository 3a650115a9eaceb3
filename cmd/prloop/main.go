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
	os.Exit(cli.Main(cli.Process("prloop")))
}
