package diff

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Names are read as git means them, whatever stands in them: at the end of a name too, and where no line but the first names the file.
func TestNamesAgreeWithGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	r := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"a", "b", "/", " ", "\\", "\"", "\t", "\n", "é", "\x01", "\x7f", " b/", "a/", "/dev/null", "n", "1", "'", "b/b", " a/a", "\xff", "}", "=>"}
	names := []string{"note\\", "a\\\\", "\\", "\\\"", "\"\\", "d\\/e\\", "q\"", "dev/null"}
	for range 60 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		names = append(names, b.String())
	}
	put := func(name, text string, mode os.FileMode) bool {
		file := filepath.Join(dir, name)
		if !filepath.IsLocal(name) || filepath.Clean(name) != name || strings.HasPrefix(name, ".git") || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
			return false
		}
		return os.WriteFile(file, []byte(text), mode) == nil && os.Chmod(file, mode) == nil
	}
	commit := func() string {
		git("add", "-A")
		git("commit", "-q", "--allow-empty", "-m", "m")
		return strings.TrimSpace(git("rev-parse", "HEAD"))
	}
	states := []string{commit()}
	step := func(text string, mode os.FileMode) {
		for _, n := range names {
			put(n, text, mode)
		}
		states = append(states, commit())
	}
	step("", 0o600)
	step("one\n", 0o600)
	step("one\n", 0o700)
	step("a\x00b\n", 0o700)
	step("one\ntwo\nthree\n", 0o600)
	for i, n := range names {
		_ = os.Rename(filepath.Join(dir, n), filepath.Join(dir, names[(i+1)%len(names)]+"\\ to"))
	}
	states = append(states, commit(), states[0])
	for i := 1; i < len(states); i++ {
		args := []string{"diff-tree", "-r", "-M", "--full-index", "--no-color", states[i-1], states[i]}
		d, err := Parse(git(append(args, "-p")...))
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		var want []string
		fields := strings.Split(git(append(args, "-z", "--name-status")...), "\x00")
		for j := 0; j+1 < len(fields); j += 2 {
			if fields[j][0] == 'R' {
				want = append(want, fields[j+1]+" => "+fields[j+2])
				j++
				continue
			}
			want = append(want, fields[j+1])
		}
		if len(want) != len(d.Files) {
			t.Fatalf("step %d: %d files, want %d", i, len(d.Files), len(want))
		}
		for j, f := range d.Files {
			got := f.Path
			if f.OldPath != "" {
				got = f.OldPath + " => " + f.Path
			}
			if got != want[j] {
				t.Errorf("step %d: %q, want %q", i, got, want[j])
			}
		}
	}
}
