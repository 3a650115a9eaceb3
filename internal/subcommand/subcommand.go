// Package subcommand is what a command of the program is, without the library that parses command lines. A package that has commands makes
// values of Command; internal/cli hangs them below its root and gives them the process they run in.
package subcommand

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/prloop/prloop/sanitize"
)

// Command is one command, or a group of them.
type Command struct {
	// Use is the usage line: the name, and the arguments, those that may be left out in brackets. As many arguments are taken as it has.
	Use                  string
	Short, Long, Example string
	// Hidden commands are not listed in the help.
	Hidden bool
	// Flags are those of the command; nil for none.
	Flags *pflag.FlagSet
	// Rest makes everything behind the first argument an argument, whatever it looks like.
	Rest bool
	// Values are what an argument may be, and Choices what a flag may be, for shells that complete them.
	Values  []string
	Choices map[string][]string
	// Run does it. Errors for people are advice.Error or stand in the table of internal/troubleshoot; a Status ends the process
	// with no message. A group without Run prints its help.
	Run     func(ctx context.Context, p Process, args []string) error
	Members []Command
}

// Flags makes the flags of a command.
func Flags(name string) *pflag.FlagSet { return pflag.NewFlagSet(name, pflag.ContinueOnError) }

// Status ends a command with an exit status and no message: what there was to say has been said.
type Status int

func (Status) Error() string { return "exit" }

// Process is what a command knows of the process it runs in.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Env is the environment as KEY=value entries.
	Env []string
	// Dir is the working directory, Version that of the program.
	Dir, Version string
	// Terminal says that Stdout is one, Color that it may be coloured; Width is its width in columns.
	Terminal, Color bool
	Width           int
}

// Getenv looks a variable up; the last entry wins, as in a shell.
func (p Process) Getenv(key string) string {
	for _, e := range slices.Backward(p.Env) {
		if v, ok := strings.CutPrefix(e, key+"="); ok {
			return v
		}
	}
	return ""
}

// Path makes a name of the working directory an absolute one.
func (p Process) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

// inputLimitBytes bounds what is read from standard input.
const inputLimitBytes = 64 << 20

// Read reads a file of the working directory, or standard input for "-".
func (p Process) Read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(p.Stdin, inputLimitBytes))
	}
	return os.ReadFile(p.Path(name))
}

// Note prints what a person may have expected to count, and does not.
func (p Process) Note(text string) { fmt.Fprintf(p.Stderr, "note: %s\n", sanitize.Terminal(text)) }

// Plural writes a count with the right word.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
