package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/progress"
)

// mostHelpColumns bounds the lines of help on wide terminals, where long lines are hard to read.
const mostHelpColumns = 100

// help prints what a command does, in one sentence and at length, and how it is used.
func (p *Invocation) help(c *cobra.Command, _ []string) {
	width := min(p.width(), mostHelpColumns)
	text := c.Short + ".\n"
	if c.Long != "" {
		text += "\n" + paragraphs(c.Long)
	}
	if c.Runnable() || c.HasSubCommands() {
		text += "\n" + c.UsageString()
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if !strings.Contains(c.Example, line) { // a command stays whole, so that it can be copied
			line = hang(line, width)
		}
		fmt.Fprintln(p.Stdout, line)
	}
}

// knownTopic refuses help about a command that is not there.
func knownTopic(help *cobra.Command, a []string) error {
	c, rest, err := help.Root().Find(a)
	if err != nil {
		return err
	}
	return unknownCommand(c, rest)
}

// paragraphs joins the lines of running text, and leaves lists, which are indented, as they are.
func paragraphs(text string) string {
	var b strings.Builder
	running := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		prose := line != "" && !strings.HasPrefix(line, " ")
		switch {
		case b.Len() == 0:
		case running && prose:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
		running = prose
	}
	return b.String() + "\n"
}

// describedAs is what stands before the description in a line of a list.
var describedAs = lazyregexp.New(`^(?: {20,}|\s*\S.*?\s{2,})`)

// hang breaks a line at words; what follows stands below the description of a list, or below the first word.
func hang(line string, width int) string {
	start := describedAs.FindString(line)
	if start == "" {
		start = line[:len(line)-len(strings.TrimLeft(line, " "))]
	}
	return start + progress.Wrap(line[len(start):], width, len(start))
}
