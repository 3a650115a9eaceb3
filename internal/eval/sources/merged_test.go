package sources

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/eval/cases"
)

// repository is a checkout that tests commit to.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) commit(subject string, files map[string]string) string {
	r.t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o666); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", subject)
	return r.git("rev-parse", "HEAD")
}

const (
	before = "package shop\n\nfunc Old() int {\n\treturn 1\n}\n"
	first  = "package shop\n\nfunc Old() int {\n\treturn 1\n}\n\nfunc Total(list []int) int {\n\tsum := 0\n\tfor i := 0; i <= len(list); i++ {\n\t\tsum += list[i]\n\t}\n\treturn sum\n}\n\nfunc Tax(n int) int {\n\treturn n*19/100\n}\n"
	last   = "package shop\n\nfunc Old() int {\n\treturn 2\n}\n\nfunc Total(list []int) int {\n\tsum := 0\n\tfor i := 0; i < len(list); i++ {\n\t\tsum += list[i]\n\t}\n\treturn sum\n}\n\nfunc Tax(n int) int {\n\treturn n * 19 / 100\n}\n\nfunc More() {}\n"
)

// pull is a pull request whose first version has an off-by-one error, mended in a second commit, which also reformats a line,
// changes one that the pull request had not touched, and adds a function.
func pull(t *testing.T) (r repository, m Merged) {
	r = newRepository(t)
	r.commit("begin", map[string]string{"shop.go": before, "logo.png": "\x00\x01", "LICENSE": "free\n"})
	r.git("checkout", "-q", "-b", "work")
	m = Merged{Dir: r.dir, Base: "main", ID: "shop-7", Title: "Totals", Language: "go"}
	m.First = r.commit("totals", map[string]string{"shop.go": first, "logo.png": "\x00\x02"})
	r.commit("docs: begin", map[string]string{"README": "a shop\n"})
	m.Last = r.commit("shop: the loop ends at the end of the list", map[string]string{"shop.go": last})
	return r, m
}

func TestMerged(t *testing.T) {
	r, m := pull(t)
	r.git("checkout", "-q", "main")
	r.commit("others go on", map[string]string{"other.go": "package shop\n"})
	made, err := m.Import(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := read(t, made.Cases).Cases[0]
	if len(c.Golden) != 1 || c.Golden[0].Anchors[0] != (cases.Anchor{File: "shop.go", Start: 9, End: 9, Side: cases.Right}) {
		t.Fatalf("%+v", c.Golden)
	}
	text := c.Golden[0].Text
	for _, want := range []string{"in: shop: the loop ends at the end of the list\n", "-\tfor i := 0; i <= len(list); i++ {", "+\tfor i := 0; i < len(list); i++ {"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if c.Code.Head["shop.go"] != first || c.BaseTree.Files != 2 || c.Diff.Files != 2 || c.BaseTree.SHA256 == "" {
		t.Errorf("%+v, %v", c.Diff, c.BaseTree)
	}
}

// TestMergedAsItWas: after the merge the target branch holds the work; before it, by the merge commit's first parent, it does not.
func TestMergedAsItWas(t *testing.T) {
	r, m := pull(t)
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "--no-edit", "work")
	if _, err := m.Import(context.Background(), t.TempDir()); !errors.Is(err, ErrMerged) || !strings.Contains(err.Error(), "main holds") {
		t.Errorf("the base of after the merge: %v", err)
	}
	m.Base, m.Last = "main^1", "main^2"
	made, err := m.Import(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := made.Write(&text); err != nil || !strings.HasSuffix(text.String(), ": 1 case, 1 expected finding\n") {
		t.Errorf("%v: %q", err, text.String())
	}
}

// TestMergedWithMerges: the target branch was merged into the work, with changes of others in the same file.
func TestMergedWithMerges(t *testing.T) {
	r, m := pull(t)
	r.git("checkout", "-q", "main")
	r.commit("others change the top", map[string]string{"shop.go": strings.Replace(before, "return 1", "return 3", 1)})
	r.git("checkout", "-q", "-b", "merged", m.First)
	r.git("merge", "-q", "--no-edit", "main")
	m.Last = r.commit("mend", map[string]string{"shop.go": strings.Replace(strings.Replace(first, "return 1", "return 3", 1), "<=", "<", 1)})
	made, err := m.Import(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c := read(t, made.Cases).Cases[0]; len(c.Golden) != 1 || c.Golden[0].Anchors[0].Start != 9 || strings.Contains(c.Golden[0].Text, "in: ") {
		t.Errorf("%+v", c.Golden)
	}
}

func TestMergedRefuses(t *testing.T) {
	_, m := pull(t)
	for name, change := range map[string]func(*Merged){
		"a clean case that was changed":    func(m *Merged) { m.Clean = true },
		"a first version that was merged":  func(m *Merged) { m.Last = m.First },
		"an unknown revision":              func(m *Merged) { m.First = "nowhere" },
		"no repository":                    func(m *Merged) { m.Dir = t.TempDir() },
		"an id that is no name of a file":  func(m *Merged) { m.ID = "../x" },
		"a base that is the first version": func(m *Merged) { m.Base = m.First },
	} {
		bad := m
		change(&bad)
		if _, err := bad.Import(context.Background(), t.TempDir()); err == nil {
			t.Errorf("%s is imported", name)
		} else if name == "a first version that was merged" && !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: %v", name, err)
		} else if name == "a base that is the first version" && !errors.Is(err, ErrMerged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.Last, m.Clean = m.First, true
	made, err := m.Import(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c := read(t, made.Cases).Cases[0]; !c.Clean || len(c.Golden) != 0 {
		t.Errorf("%+v", c)
	}
}
