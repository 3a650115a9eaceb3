// Command prloop takes a pull request from "opened" to "approved, or a person is needed, and here is why".
package main

import (
	"os"

	"github.com/prloop/prloop/internal/cli"
)

func main() { os.Exit(cli.Program("prloop")) }
