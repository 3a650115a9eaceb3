package cli

import (
	"fmt"
	"os"
	"time"

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

// age is a time that has passed, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
