package subcommand_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/subcommand"
)

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	var notes bytes.Buffer
	p := subcommand.Process{Dir: dir, Stdin: strings.NewReader("from a pipe"), Stderr: &notes, Env: []string{"A=1", "AB=2", "A=3=4"}}

	if got := p.Getenv("A") + p.Getenv("AB") + p.Getenv("B"); got != "3=42" {
		t.Errorf("A, AB and B are %q", got)
	}
	for _, name := range []string{"here", filepath.Join(dir, "here")} {
		if got, err := p.Read(name); err != nil || string(got) != "a file" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := p.Read("-"); err != nil || string(got) != "from a pipe" {
		t.Errorf("standard input: %q, %v", got, err)
	}
	if _, err := p.Read("absent"); !os.IsNotExist(err) {
		t.Errorf("an absent file: %v", err)
	}
	p.Note("read \x1b[31mthis")
	if got := notes.String(); !strings.HasPrefix(got, "note: read ") || strings.Contains(got, "\x1b") {
		t.Errorf("note: %q", got)
	}
	if got := subcommand.Plural(1, "run", "runs") + ", " + subcommand.Plural(0, "run", "runs"); got != "1 run, 0 runs" {
		t.Error(got)
	}
}
