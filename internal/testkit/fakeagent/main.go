// Command fakeagent is an agent that misbehaves on request (threats.md "Agent modes"): fakeagent -mode NAME. With -list it names its
// modes. The modes are in package modes, so that a test binary can play the agent as well.
package main

import (
	"os"

	"github.com/prloop/prloop/internal/testkit/fakeagent/modes"
)

func main() { os.Exit(modes.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
