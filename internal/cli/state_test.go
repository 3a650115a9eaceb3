//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/advice"
)

// A state folder that others could change is refused by name, and says what to do.
func TestStateFolder(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := func(name string, mode os.FileMode) string {
		t.Helper()
		dir := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	link := func(to, name string) string {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(base, name)
	}
	good := folder("good", 0o755)
	folder("open", 0o777)
	folder("open/inner", 0o700)
	folder("sticky", 0o777|os.ModeSticky)
	folder("sticky/inner", 0o700)
	link("open", "to-open")
	link(good, "to-good")
	folder("planted", 0o700)
	link(good, "planted/runs")
	link("loop", "loop")
	for _, c := range []struct{ dir, want, next string }{
		{"good", "", ""},
		{"new/deep/inside", "", ""},
		{"sticky/inner", "", ""},
		{"to-good/inner", "", ""}, // a link of our own on the way leads where it did
		{"open", "open may be written by others (mode 0777)", "chmod go-w"},
		{"open/inner", "open may be written by others (mode 0777)", "chmod go-w"},
		{"to-open/inner", "open may be written by others (mode 0777)", "chmod go-w"},
		{"sticky", "sticky may be written by others (mode 0777)", "chmod go-w"},
		{"to-good", "to-good is a link", "PRLOOP_STATE=" + good},
		{"planted", "planted/runs is a link", "rm "},
		{"loop/inner", "too many links", "set PRLOOP_STATE to a folder of your own"},
	} {
		p := Invocation{Env: []string{"PRLOOP_STATE=" + filepath.Join(base, c.dir)}}
		got, err := p.stateFolder()
		var h advice.Error
		switch {
		case c.want == "" && (err != nil || got != filepath.Join(base, c.dir)):
			t.Errorf("%s: %q, %v", c.dir, got, err)
		case c.want == "":
		case !errors.As(err, &h) || h.Status != advice.Usage || !strings.Contains(err.Error(), c.want) || !strings.Contains(h.Next, c.next):
			t.Errorf("%s: %v (%s), want %q (%s)", c.dir, err, h.Next, c.want, c.next)
		}
	}
	if p := (Invocation{Dir: base, Env: []string{"PRLOOP_STATE=good"}}); true {
		if got, err := p.stateFolder(); err != nil || got != good {
			t.Errorf("a relative folder: %q, %v", got, err)
		}
	}

	if os.Getuid() != 0 {
		return // only root can give files away
	}
	const other = 12345
	theirs := folder("theirs", 0o755)
	folder("theirs/inner", 0o700)
	holding := folder("holding", 0o700)
	if err := errors.Join(os.WriteFile(filepath.Join(holding, "prloop.db"), nil, 0o600),
		os.Lchown(filepath.Join(holding, "prloop.db"), other, other), os.Chown(theirs, other, other)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"theirs", "theirs/inner", "holding"} {
		p := Invocation{Env: []string{"PRLOOP_STATE=" + filepath.Join(base, dir)}}
		if _, err := p.stateFolder(); err == nil || !strings.Contains(err.Error(), "belongs to another user (12345)") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
