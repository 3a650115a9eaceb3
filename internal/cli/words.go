package cli

import (
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
