package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPager(t *testing.T) {
	dir := t.TempDir()
	write := func(line string, env []string, text string) string {
		t.Helper()
		out, err := os.Create(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		p, err := StartPager(line, env, out, out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(text)); err != nil {
			t.Errorf("%s: write: %v", line, err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: close: %v", line, err)
		}
		got, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	if got := write(`sed -e 's/^/| /; s/b c/x;y/'`, nil, "a\nb c\n"); got != "| a\n| x;y\n" {
		t.Errorf("quoted words: %q", got)
	}
	if got := write("head -n 1", nil, strings.Repeat("line\n", 1<<20)); got != "line\n" {
		t.Errorf("a pager that ends early: %.40q", got)
	}
	if got := write("false", nil, "x"); got != "" {
		t.Errorf("a pager that fails: %q", got)
	}
	got := write("env", []string{"GH_TOKEN=secret", "OPENAI_API_KEY=secret", "TERM=xterm", "LESSCHARSET=utf-8", "LV=-x"}, "")
	if strings.Contains(got, "secret") {
		t.Errorf("a pager holds a credential:\n%s", got)
	}
	for _, want := range []string{"TERM=xterm", "LESSCHARSET=utf-8", "LV=-x", "LESS=FRX"} {
		if !slices.Contains(strings.Split(got, "\n"), want) {
			t.Errorf("%s is missing:\n%s", want, got)
		}
	}
	for _, line := range []string{"", "   ", "'open", "no-such-pager-9c1"} {
		if _, err := StartPager(line, nil, os.Stdout, os.Stderr); err == nil || !strings.Contains(err.Error(), "pager") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
