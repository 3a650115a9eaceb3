package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheckBranch(t *testing.T) {
	for _, good := range []string{"prloop/nightly/docs", "x", "a-b_c.d", "üml"} {
		if err := CheckBranch(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-x", "a/-x", "../main", "a/../b", "a..b", "refs/heads/main", "HEAD", "@", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a@{1}",
		"a.lock", "a.", ".a", "a/", "/a", "a//b", "a\nb", "a\x00b", "a\x7fb", "a\xffb", strings.Repeat("a", 600)} {
		if err := CheckBranch(bad); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A branch cannot be made above or below another one: that one is named, and a push that did not know is refused for good.
func TestWhatKeepsABranchFromBeingMade(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	for _, name := range []string{"prloop/two", "prloop/one/docs/x/y", "prloop/one/docsmore"} {
		shell(t, b.origin, "update-ref", "refs/heads/"+name, b.head)
	}
	for name, want := range map[string]struct{ head, inWay string }{
		"prloop/two":          {b.head, ""},
		"prloop/two/two":      {"", "prloop/two"},
		"prloop/two/two/deep": {"", "prloop/two"},
		"prloop/one":          {"", "prloop/one/docs/x/y"},
		"prloop/one/docs":     {"", "prloop/one/docs/x/y"},
		"prloop/one/docs/x/z": {"", ""},
		"prloop/tw":           {"", ""},
		"two":                 {"", ""},
		"other/prloop/two/x":  {"", ""},
	} {
		head, inWay, err := b.r.RemotePlace(t.Context(), b.server(), "refs/heads/"+name)
		if err != nil || head != want.head || strings.TrimPrefix(inWay, "refs/heads/") != want.inWay {
			t.Errorf("%s: %q %q %v, want %+v", name, head, inWay, err, want)
		}
		if want.inWay == "" {
			continue
		}
		res, err := b.r.Push(t.Context(), PushOptions{Server: b.server(), Ref: "refs/heads/" + name, Old: NoCommit, New: b.head, Anew: true})
		if err != nil || res.Outcome != Refused || !strings.Contains(res.Reason, want.inWay) {
			t.Errorf("push %s: %+v %v", name, res, err)
		}
	}
}

// A branch is made where there is none, replaced where it is what it was, and left alone anywhere else.
func TestPushAnew(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made, other := b.fixed(t, "2\n"), b.theirs(t, b.head, "theirs")
	again := b.fixed(t, "3\n")
	const ref = "refs/heads/prloop/nightly"
	push := func(old, now string) (PushResult, error) {
		return b.r.Push(t.Context(), PushOptions{Server: Server{URL: "file://" + b.origin}, Ref: ref, Old: old, New: now, Anew: true})
	}
	at := func() string { return strings.TrimSpace(shellFails(b.origin, "rev-parse", "--verify", "--quiet", ref)) }
	for _, c := range []struct {
		what     string
		prepare  func()
		old, now string
		want     Outcome
		at       string
	}{
		{"nothing is there", func() {}, NoCommit, made, Pushed, made},
		{"it was pushed already", func() {}, NoCommit, made, Already, made},
		{"ours is replaced", func() {}, made, again, Pushed, again},
		{"somebody made one of that name", func() { shell(t, b.origin, "update-ref", ref, other) }, NoCommit, made, Moved, other},
		{"somebody pushed", func() {}, made, again, Moved, other},
		{"it is gone", func() { shell(t, b.origin, "update-ref", "-d", ref) }, made, again, Moved, ""},
	} {
		c.prepare()
		res, err := push(c.old, c.now)
		if err != nil || res.Outcome != c.want || at() != c.at {
			t.Errorf("%s: %+v, %v; it is at %q", c.what, res, err, at())
		}
	}
	for _, o := range []PushOptions{{Ref: ref, Old: NoCommit, New: made}, {Ref: ref, Old: made, New: NoCommit, Anew: true}, {Ref: ref, Old: made, New: again}} {
		o.URL = "file://" + b.origin
		if res, err := b.r.Push(t.Context(), o); err == nil {
			t.Errorf("%+v: %+v", o, res)
		}
	}
	b.hook(t, "pre-receive", "exit 1\n")
	if res, err := push(NoCommit, made); err != nil || res.Outcome != Refused || at() != "" {
		t.Errorf("refused: %+v, %v", res, err)
	}
}

// What commits of the window touched is what landed on the branch in it, a merge counting as all it brought.
func TestTouched(t *testing.T) {
	dir := origin(t, map[string]string{"old.txt": "1\n"})
	on := func(at time.Time, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_DATE="+at.Format(time.RFC3339))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	now := time.Now()
	add := func(at time.Time, name string) {
		t.Helper()
		write(t, dir, name, at.String())
		shell(t, dir, "add", "-A")
		on(at, "commit", "-q", "-m", name)
	}
	add(now.Add(-72*time.Hour), "docs/before.md")
	shell(t, dir, "checkout", "-q", "-b", "topic")
	add(now.Add(-48*time.Hour), "src/of topic\n.go") // committed long ago, merged today
	shell(t, dir, "checkout", "-q", "main")
	on(now.Add(-2*time.Hour), "merge", "-q", "--no-ff", "-m", "merge", "topic")
	add(now.Add(-time.Hour), "README.md")
	add(now.Add(-50*time.Hour), "late.md") // committed long ago, pushed today
	r := open(t, find(t))
	head := fetch(t, r, dir, "refs/heads/main")["refs/heads/main"]
	got, err := r.Touched(t.Context(), head, now.Add(-24*time.Hour))
	if want := []string{"README.md", "src/of topic\n.go"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("touched %q, %v; want %q", got, err, want)
	}
	if got, err := r.Touched(t.Context(), head, now); err != nil || len(got) != 0 {
		t.Errorf("nothing yet: %q, %v", got, err)
	}
	if got, err := r.Touched(t.Context(), head, now.Add(-10_000*24*time.Hour)); err != nil || !slices.Contains(got, "old.txt") {
		t.Errorf("all there is: %q, %v", got, err)
	}
}

// A branch of ours takes in what its base has got, by a commit that is the same each time, and not where both changed the same.
func TestMergedAndItsCommits(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	ours := b.fixed(t, "2\n")
	write(t, b.clone, "topic", "1\n")
	dir := b.clone
	shell(t, dir, "checkout", "-q", "-f", b.head)
	write(t, dir, "theirs", "x\n")
	shell(t, dir, "add", "-A")
	shell(t, dir, "commit", "-q", "-m", "theirs")
	theirs := shell(t, dir, "rev-parse", "HEAD")
	write(t, dir, "topic", "other\n")
	shell(t, dir, "add", "-A")
	shell(t, dir, "commit", "-q", "-m", "conflict")
	conflict := shell(t, dir, "rev-parse", "HEAD")
	shell(t, dir, "push", "-q", b.origin, "HEAD:refs/heads/further")
	fetch(t, b.r, b.origin, "refs/heads/further")
	merge := func(ours, theirs string) string {
		t.Helper()
		got, err := b.r.Merged(t.Context(), ours, theirs, "Merge\n\nkey: value", signature())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	m := merge(ours, theirs)
	if m != merge(ours, theirs) {
		t.Error("another commit the second time")
	}
	if shell(t, b.r.dir, "show", m+":topic") != "2" || shell(t, b.r.dir, "show", m+":theirs") != "x" || shell(t, b.r.dir, "rev-parse", m+"^1", m+"^2") != ours+"\n"+theirs {
		t.Error("the merge holds something else")
	}
	if merge(ours, b.head) != ours || merge(b.head, theirs) != theirs || merge(ours, ours) != ours {
		t.Error("a merge where there is nothing to merge")
	}
	if _, err := b.r.Merged(t.Context(), ours, conflict, "Merge", signature()); !errors.Is(err, ErrConflict) {
		t.Errorf("a conflict: %v", err)
	}
	all, err := b.r.FirstParents(t.Context(), theirs, m)
	if err != nil || len(all) != 2 || all[0].Commit != m || all[1].Commit != ours || all[0].Author != "prloop <prloop@localhost>" || all[1].Committer != all[0].Author ||
		!strings.Contains(all[0].Message, "key: value") {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := b.r.FirstParents(t.Context(), m, theirs); err != nil || len(all) != 0 {
		t.Errorf("none of its own: %+v, %v", all, err)
	}
}

func TestPartly(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n", "dir": "a file\n", "gone": "x\n", "kept": "x\n"})
	for _, name := range []string{"dir", "gone", "kept"} {
		if err := os.Remove(filepath.Join(b.clone, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, b.clone, "a", "2\n")
	write(t, b.clone, "dir/now", "a folder\n")
	tree, err := b.r.TakeTree(t.Context(), b.clone, b.head)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		chosen func(string) bool
		want   string
	}{
		"all":     {func(string) bool { return true }, shell(t, b.r.dir, "rev-parse", tree)},
		"none":    {func(string) bool { return false }, shell(t, b.r.dir, "rev-parse", b.head+"^{tree}")},
		"a part":  {func(p string) bool { return p != "a" && p != "kept" }, ""},
		"nothing": {func(p string) bool { return p == "no such" }, shell(t, b.r.dir, "rev-parse", b.head+"^{tree}")},
	} {
		got, err := b.r.Partly(t.Context(), b.head, tree, c.chosen)
		if err != nil || c.want != "" && got != c.want {
			t.Errorf("%s: %s, %v; want %s", what, got, err, c.want)
		}
		if what == "a part" {
			if names := shell(t, b.r.dir, "ls-tree", "-r", "--name-only", got); !strings.Contains(names, "dir/now") || !strings.Contains(names, "kept") || strings.Contains(names, "gone") ||
				shell(t, b.r.dir, "show", got+":a") != "1" {
				t.Errorf("a part holds %q", names)
			}
		}
	}
}
