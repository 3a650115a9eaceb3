package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/pushpolicy"
)

// bench is a server with a pull request's branch, our repository with its head, and a fixer's clone of it.
type bench struct {
	r *Repository
	// origin is a bare repository; ref the branch on it; head the commit that was reviewed.
	origin, ref, head string
	clone             string
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	src := origin(t, files)
	b := &bench{origin: filepath.Join(t.TempDir(), "origin.git"), ref: "refs/heads/topic", clone: filepath.Join(t.TempDir(), "clone")}
	b.head = commit(t, src, map[string]string{"topic": "1\n"})
	shell(t, src, "branch", "topic")
	shell(t, src, "clone", "-q", "--bare", src, b.origin)
	b.r = open(t, find(t))
	fetch(t, b.r, b.origin, b.ref)
	if err := b.r.Clone(t.Context(), b.head, b.clone, "prloop/fix"); err != nil {
		t.Fatal(err)
	}
	return b
}

// bundle makes the bundle as the fixer's sandbox would.
func (b *bench) bundle(t *testing.T, revs ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fix.bundle")
	if len(revs) == 0 {
		revs = []string{b.head + "..HEAD"}
	}
	shell(t, b.clone, append([]string{"bundle", "create", "-q", file}, revs...)...)
	return file
}

func (b *bench) server() Server { return Server{URL: "file://" + b.origin} }

// at is where the branch is on the server.
func (b *bench) at(t *testing.T) string { t.Helper(); return shell(t, b.origin, "rev-parse", b.ref) }

func (b *bench) push(t *testing.T, commit string) PushResult {
	t.Helper()
	res, err := b.r.Push(t.Context(), PushOptions{Server: b.server(), Ref: b.ref, Old: b.head, New: commit})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func signature() Signature {
	return Signature{Name: "prloop", Email: "prloop@localhost", At: time.Unix(1_700_000_000, 0), Keep: FixRef("run", 1)}
}

// takeRule is the rule an error of taking names.
func takeRule(err error) string {
	if refused := (*TakeError)(nil); errors.As(err, &refused) {
		return refused.Rule
	}
	return fmt.Sprint(err)
}

func TestFixIsTakenRewrittenAndPushed(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "1\n2\n3\n", "old.txt": strings.Repeat("same\n", 20), "bin": "\x00\x01"})
	commit(t, b.clone, map[string]string{"a.txt": "1\ntwo\n3\n", "new.txt": "n\n"})
	shell(t, b.clone, "mv", "old.txt", "moved.txt")
	write(t, b.clone, "bin", "\x00\x02")
	tip := commit(t, b.clone, nil)
	taken, err := b.r.TakeBundle(t.Context(), b.bundle(t), b.head)
	if err != nil {
		t.Fatal(err)
	}
	if len(taken) != 2 || taken[1].Commit != tip || taken[0].Parent != b.head || taken[1].Parent != taken[0].Commit || taken[0].Message != "c\n" {
		t.Fatalf("taken: %+v", taken)
	}
	changes, err := b.r.Changes(t.Context(), b.head, tip)
	if err != nil {
		t.Fatal(err)
	}
	want := []pushpolicy.Change{
		{Path: "a.txt", Status: 'M', OldMode: modeFile, NewMode: modeFile, Size: 8, Added: []pushpolicy.Line{{N: 2, Text: "two"}}, Removed: []pushpolicy.Line{{N: 2, Text: "2"}}},
		{Path: "bin", Status: 'M', OldMode: modeFile, NewMode: modeFile, Size: 2, Binary: true},
		{Path: "moved.txt", OldPath: "old.txt", Status: 'R', OldMode: modeFile, NewMode: modeFile, Size: 100},
		{Path: "new.txt", Status: 'A', NewMode: modeFile, Size: 2, Added: []pushpolicy.Line{{N: 1, Text: "n"}}},
	}
	if d := cmp.Diff(want, changes); d != "" {
		t.Error(d)
	}
	for i := range taken {
		taken[i].Message = pushpolicy.Message("fix: SEC-1", "", pushpolicy.Trailer{Key: "prloop-round", Value: "1"})
	}
	done, err := b.r.Rewrite(t.Context(), b.head, taken, signature())
	if err != nil {
		t.Fatal(err)
	}
	made := done[1].New
	if done[1].Old != tip || shell(t, b.r.dir, "rev-parse", signature().Keep) != made || shell(t, b.r.dir, "rev-parse", made+"^{tree}") != taken[1].Tree {
		t.Errorf("rewritten: %+v", done)
	}
	if got := shell(t, b.r.dir, "log", "-1", "--format=%an %ae %cn %ce %at %ct|%B", made); got != "prloop prloop@localhost prloop prloop@localhost 1700000000 1700000000|fix: SEC 1\n\nprloop-round: 1" {
		t.Errorf("the commit reads %q", got)
	}
	if all, err := b.r.Commits(t.Context(), b.head, made); err != nil || len(all) != 2 || all[1].Commit != made || all[0].Parent != b.head {
		t.Errorf("commits: %+v %v", all, err)
	}
	if _, err := b.r.Commits(t.Context(), made, b.head); takeRule(err) != TakeUnrelated {
		t.Errorf("commits backwards: %v", err)
	}
	if res := b.push(t, made); res != (PushResult{Outcome: Pushed, Head: made}) || b.at(t) != made {
		t.Errorf("push: %+v, the branch is at %s", res, b.at(t))
	}
	if res := b.push(t, made); res != (PushResult{Outcome: Already, Head: made}) {
		t.Errorf("push again (threats.md K22): %+v", res)
	}
	shell(t, b.r.dir, "gc", "-q", "--prune=now")
	if _, err := b.r.Resolve(t.Context(), made); err != nil {
		t.Errorf("after gc: %v", err)
	}
	text, err := b.r.Patch(t.Context(), b.head, done[0].New, 0)
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := b.r.Export(t.Context(), b.head, plain); err != nil {
		t.Fatal(err)
	}
	write(t, t.TempDir(), "p", text)
	patch := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(patch, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	shell(t, plain, "apply", patch)
	if got, _ := os.ReadFile(filepath.Join(plain, "a.txt")); string(got) != "1\ntwo\n3\n" {
		t.Errorf("the patch made %q", got)
	}
	if _, err := b.r.Patch(t.Context(), b.head, made, 40); !errors.Is(err, ErrTooLarge) {
		t.Errorf("half a patch: %v", err)
	}
}
