package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The help of every command begins with what it does. On a wide terminal no line has more than 100 columns, and on a usual one no word is broken.
func TestHelp(t *testing.T) {
	for _, columns := range []string{"80", "300"} {
		p := &Invocation{Name: "prloop", Env: []string{"COLUMNS=" + columns}, Stdin: strings.NewReader(""), Stderr: io.Discard}
		root := newRoot(p)
		root.InitDefaultHelpCmd()
		root.InitDefaultCompletionCmd("completion")
		var look func(c *cobra.Command)
		look = func(c *cobra.Command) {
			var out bytes.Buffer
			p.Stdout = &out
			if err := c.Help(); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(c.Short), " ")) {
				t.Errorf("%s does not begin with what it does:\n%s", c.CommandPath(), out.String())
			}
			for line := range strings.Lines(out.String()) {
				if line = strings.TrimRight(line, "\n"); len([]rune(line)) > mostHelpColumns && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s, %s columns: %d in %q", c.CommandPath(), columns, len([]rune(line)), line)
				}
				if strings.HasPrefix(line, "  there is one") {
					t.Errorf("%s: a description goes on where commands stand: %q", c.CommandPath(), line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("%s: blanks end %q", c.CommandPath(), line)
				}
			}
			for _, member := range c.Commands() {
				look(member)
			}
		}
		look(root)
	}
}

func TestHelpWraps(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"one two three four five", "one two three four\nfive"},
		{"  --flag  one two three", "  --flag  one two\n          three"},
		{"  one two three four five", "  one two three four\n  five"},
		{"", ""},
	} {
		if got := hang(c.line, 20); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
	if got := paragraphs("one\ntwo\n\nthree:\n  a\n  b\nfour\n"); got != "one two\n\nthree:\n  a\n  b\nfour\n" {
		t.Errorf("%q", got)
	}
}
