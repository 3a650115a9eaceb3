package cli

import (
	"fmt"
	"os"

	"github.com/cli/go-gh/v2/pkg/term"
)

// terminalWidth is that of a terminal in columns; 0 for anything else.
func terminalWidth(f *os.File) int {
	width, _, err := term.FromEnv().Size()
	if err != nil || !term.IsTerminal(f) {
		return 0
	}
	return width
}

// plural writes a count with the right word.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
