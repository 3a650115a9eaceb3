package fixspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/testkit/gittest"
)

// What prloop's own commits do to tests is known from the commits alone, until somebody restores them. What people do to theirs is theirs.
func TestOwnFixesOfTests(t *testing.T) {
	const checks, trivial = "def test_%s():\n    assert b() == 1\n", "def test_%s():\n    assert True\n"
	origin := t.TempDir()
	gittest.Run(t, origin, "init", "-q", "-b", "main")
	base := gittest.Commit(t, origin, map[string]string{"test_a.py": checks, "test_b.py": checks, "test_c.py": checks, "a.py": "a = 1\n"})
	ours := func(files map[string]string) {
		gittest.Commit(t, origin, files)
		gittest.Run(t, origin, "commit", "-q", "--amend", "--no-edit", "--author", authorName+" <"+authorEmail+">")
	}
	g, err := git.Find(t.Context(), git.Options{Protocols: []string{"file"}})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "repo.git"))
	if err != nil {
		t.Fatal(err)
	}
	weakened := func(want ...string) {
		t.Helper()
		heads, err := repo.Fetch(t.Context(), git.FetchOptions{URL: "file://" + origin, Refs: []string{"refs/heads/main"}})
		if err != nil {
			t.Fatal(err)
		}
		changed, added, err := Tests(t.Context(), repo, base, heads["refs/heads/main"])
		for i, name := range added {
			added[i] = "+" + name
		}
		if got := append(changed, added...); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	gittest.Commit(t, origin, map[string]string{"test_c.py": trivial})
	weakened()
	ours(map[string]string{"test_a.py": trivial})
	ours(map[string]string{"a.py": "a = 2\n"})
	weakened("test_a.py")
	gittest.Commit(t, origin, map[string]string{"a.py": "a = 3\n"})
	ours(map[string]string{"test_b.py": trivial})
	weakened("test_a.py", "test_b.py")
	gittest.Commit(t, origin, map[string]string{"test_a.py": checks})
	weakened("test_b.py")
	gittest.Commit(t, origin, map[string]string{"test_c.py": checks})
	with := func(test string, files int) map[string]string {
		many := map[string]string{test: trivial}
		for n := range files {
			many[fmt.Sprintf("many/%d.py", n)] = "a = 1\n"
		}
		return many
	}
	ours(with("test_c.py", pushpolicy.DefaultFiles)) // as several fixes may, or one that renames files
	weakened("test_b.py", "test_c.py")
	gittest.Commit(t, origin, map[string]string{"test_c.py": checks, "test_d.py": checks})
	weakened("test_b.py")
	gittest.Run(t, origin, "rm", "-q", "-r", "many")
	gittest.Run(t, origin, "commit", "-q", "-m", "fewer")
	ours(with("test_d.py", mostEdits)) // no fixes of prloop's change so many files
	weakened("test_b.py")
	gittest.Commit(t, origin, map[string]string{"a.py": "a = 4\n"})
	ours(map[string]string{"test_c.py": fmt.Sprintf("%s\n\n%s", checks, checks), "tests/new.py": checks})
	weakened("test_b.py", "test_c.py", "+tests/new.py")
	gittest.Commit(t, origin, map[string]string{"test_c.py": checks})
	gittest.Run(t, origin, "rm", "-q", "-r", "tests")
	gittest.Run(t, origin, "commit", "-q", "-m", "without")
	weakened("test_b.py")
	gittest.Run(t, origin, "checkout", "-q", "-b", "local")
	gittest.Commit(t, origin, map[string]string{"b.py": "b = 1\n"})
	gittest.Run(t, origin, "checkout", "-q", "main")
	ours(map[string]string{"test_a.py": trivial})
	gittest.Run(t, origin, "checkout", "-q", "local")
	gittest.Run(t, origin, "merge", "-q", "--no-edit", "main") // as git pull does: prloop's commit is not on the line of first parents
	gittest.Run(t, origin, "branch", "-f", "main", "local")
	weakened("test_a.py", "test_b.py")
}
