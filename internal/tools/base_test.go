package tools

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/gittest"
)

// read_file gives a file as it was before the change, by its name of then, and nothing that the head version would not give.
func TestReadFileOfTheBase(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q")
	gittest.Commit(t, dir, map[string]string{
		"a.go": "package a\n\nconst Limit = 5\n", "gone.go": "package a // was here\n", "*.go": "a literal star\n", "secret/x.txt": "CANARY\n", "folder/y.txt": "y\n",
		"blob": "a\x00b", "big.txt": strings.Repeat("0123456789abcde\n", fileLimit/16+1), "key.env": "token = ghp_16C7e42F292c6912E7710c838347Ae178B4a\n",
	})
	base := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
	gittest.Run(t, dir, "rm", "-q", "gone.go")
	gittest.Commit(t, dir, map[string]string{"a.go": "package a\n\nconst Limit = 6\n"})
	head := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
	open := func(o Options) *Box {
		o.Tree, o.Exclude = dir, []string{"secret/**"}
		box, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = box.Close() })
		return box
	}
	box := open(Options{GitDir: filepath.Join(dir, ".git"), Head: head, Base: base})
	for _, row := range []struct{ args, want string }{
		{`{"path":"a.go","version":"base"}`, "const Limit = 5"},
		{`{"path":"a.go","version":"head"}`, "const Limit = 6"},
		{`{"path":"a.go"}`, "const Limit = 6"},
		{`{"path":"gone.go","version":"base"}`, "was here"},
		{`{"path":"*.go","version":"base"}`, "a literal star"},
		{`{"path":"key.env","version":"base"}`, "token = [REDACTED]"},
	} {
		if got, err := box.Call(t.Context(), "read_file", []byte(row.args)); err != nil || !strings.Contains(got, row.want) {
			t.Errorf("%s: %v\n%s", row.args, err, got)
		}
	}
	for _, row := range []struct {
		args string
		code Code
	}{
		{`{"path":"gone.go"}`, NotFound},
		{`{"path":"nowhere.go","version":"base"}`, NotFound},
		{`{"path":"folder","version":"base"}`, NotAFile},
		{`{"path":"secret/x.txt","version":"base"}`, NotFound},
		{`{"path":"../a.go","version":"base"}`, BadPath},
		{`{"path":"blob","version":"base"}`, Binary},
		{`{"path":"big.txt","version":"base"}`, TooLarge},
		{`{"path":"a.go","version":"HEAD~1"}`, BadArguments},
	} {
		got, err := box.Call(t.Context(), "read_file", []byte(row.args))
		if err == nil || !strings.Contains(err.Error(), string(row.code)) {
			t.Errorf("%s: %v, want %s\n%s", row.args, err, row.code, got)
		}
	}
	// Without a base it is not offered.
	for _, s := range open(Options{}).Specs() {
		if strings.Contains(string(s.Parameters), "version") {
			t.Errorf("%s takes a version", s.Name)
		}
	}
}
