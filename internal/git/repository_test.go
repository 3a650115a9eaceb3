package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/diff"
)

func TestPullRequestIsFetchedComparedAndRead(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "one\ntwo\n", "gone.txt": "x\n", "old.txt": strings.Repeat("same line\n", 20)})
	base := shell(t, src, "rev-parse", "HEAD")
	shell(t, src, "checkout", "-q", "-b", "topic")
	shell(t, src, "mv", "old.txt", "new.txt")
	os.Remove(filepath.Join(src, "gone.txt"))
	head := commit(t, src, map[string]string{"a.txt": "one\nzwei\n", "sub/line\nfeed.txt": "hi\n"})
	shell(t, src, "update-ref", "refs/pull/7/head", head)
	shell(t, src, "checkout", "-q", "main")
	later := commit(t, src, map[string]string{"later.txt": "later\n"})

	r := open(t, find(t))
	got := fetch(t, r, src, "refs/pull/7/head", "refs/heads/main")
	if diff := cmp.Diff(map[string]string{"refs/pull/7/head": head, "refs/heads/main": later}, got); diff != "" {
		t.Fatal(diff)
	}
	mb, err := r.MergeBase(t.Context(), later, head)
	if err != nil || mb != base {
		t.Fatalf("merge base %s %v, want %s", mb, err, base)
	}
	if ok, err := r.IsAncestor(t.Context(), base, head); !ok || err != nil {
		t.Errorf("base is an ancestor of head: %v %v", ok, err)
	}
	if ok, err := r.IsAncestor(t.Context(), later, head); ok || err != nil {
		t.Errorf("later is no ancestor of head: %v %v", ok, err)
	}
	d, err := r.Diff(t.Context(), mb, head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range d.Files {
		names = append(names, fmt.Sprintf("%s %q %q +%d -%d", f.Change, f.Path, f.OldPath, f.Additions, f.Deletions))
	}
	want := []string{`modified "a.txt" "" +1 -1`, `deleted "gone.txt" "" +0 -1`, `renamed "new.txt" "old.txt" +0 -0`, `added "sub/line\nfeed.txt" "" +1 -0`}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	texts, err := r.ReadFiles(t.Context(), head, []string{"a.txt", "nowhere", "sub/line\nfeed.txt", "sub", "new.txt"}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"a.txt": []byte("one\nzwei\n"), "sub/line\nfeed.txt": []byte("hi\n")}, texts); diff != "" {
		t.Error("a folder, a missing and a large file are left out:", diff)
	}
	if _, err := r.ReadFile(t.Context(), head, "new.txt", 100); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file over the limit: %v", err)
	}
	if _, err := r.ReadFile(t.Context(), head, "nowhere", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := r.ReadFile(t.Context(), head, "../a.txt", 100); !errors.Is(err, ErrMalformedTree) {
		t.Errorf("a path out of the tree: %v", err)
	}
	files, err := r.Files(t.Context(), head, "sub")
	if err != nil || len(files) != 1 || files[0] != "sub/line\nfeed.txt" {
		t.Errorf("files below sub: %q %v", files, err)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	src := origin(t, map[string]string{"a": "1\n"})
	r := open(t, find(t))
	one := fetch(t, r, src, "refs/heads/main")["refs/heads/main"]
	shell(t, src, "checkout", "-q", "--orphan", "other")
	two := commit(t, src, map[string]string{"b": "1\n"})
	fetch(t, r, src, two)
	if _, err := r.MergeBase(t.Context(), one, two); !errors.Is(err, ErrNoMergeBase) {
		t.Errorf("unrelated histories: %v", err)
	}
	if _, err := r.Resolve(t.Context(), "refs/heads/nowhere"); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("a missing ref: %v", err)
	}
	if _, err := r.Resolve(t.Context(), "main"); !errors.Is(err, ErrName) {
		t.Errorf("a short ref: %v", err)
	}
	if _, err := r.List(t.Context(), strings.Repeat("0", 40), ""); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("a missing commit: %v", err)
	}
	if _, err := r.Fetch(t.Context(), FetchOptions{URL: "file://" + src, Refs: []string{"refs/heads/nowhere"}}); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("a ref the remote has not: %v", err)
	}
	if _, err := Find(t.Context(), Options{Path: filepath.Join(t.TempDir(), "git")}); !errors.Is(err, ErrNoGit) {
		t.Errorf("no git: %v", err)
	}
	old := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho git version 2.38.1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), Options{Path: old}); !errors.Is(err, ErrOldGit) {
		t.Errorf("git 2.38: %v", err)
	}
}

func TestTwoProcessesOpenAndFetchOneRepository(t *testing.T) {
	src := origin(t, map[string]string{"a": "1\n"})
	g, dir := find(t), filepath.Join(t.TempDir(), "mirror.git")
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() {
			r, err := g.Open(t.Context(), dir)
			if err == nil {
				_, err = r.Fetch(t.Context(), FetchOptions{URL: "file://" + src, Refs: []string{"refs/heads/main"}})
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".new-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
}

// Of what was renamed and nothing more git prints no mode; whoever asks whether it is a link has to be told.
func TestDiffKnowsTheModeOfWhatWasRenamed(t *testing.T) {
	src := origin(t, map[string]string{"a/plain": "1\n2\n", "a/run": "#!/bin/sh\n"})
	if err := os.Symlink("../lib/x", filepath.Join(src, "a/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(src, "a/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	base := commit(t, src, nil)
	shell(t, src, "mv", "a", "b")
	head := commit(t, src, nil)
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	d, err := r.Diff(t.Context(), base, head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint32{}
	for _, f := range d.Files {
		got[f.Path] = f.OldMode
	}
	if diff := cmp.Diff(map[string]uint32{"b/plain": 0o100644, "b/run": 0o100755, "b/link": 0o120000}, got); diff != "" {
		t.Error(diff)
	}
	links, err := r.Links(t.Context(), head, "b")
	if err != nil || len(links) != 1 || links[0] != "b/link" {
		t.Errorf("%q %v", links, err)
	}
	shell(t, src, "update-index", "--add", "--cacheinfo", "160000,"+head+",b/module")
	commit(t, src, map[string]string{"b/empty": ""})
	fetch(t, r, src, "refs/heads/main")
	regular, err := r.Regular(t.Context(), strings.TrimSpace(shell(t, src, "rev-parse", "HEAD")), "b")
	if diff := cmp.Diff([]string{"b/plain", "b/run"}, regular); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if links, err = r.Links(t.Context(), head, "b/link"); err != nil || len(links) != 1 {
		t.Errorf("%q %v", links, err)
	}
}

func TestDiffListsWhatIsOverTheCaps(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "1\n"})
	base := shell(t, src, "rev-parse", "HEAD")
	head := commit(t, src, map[string]string{"a.txt": "2\n", "big.txt": strings.Repeat("y\n", 600_000), "c.txt": strings.Repeat("c\n", 100), "d.txt": "d\n"})
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	for _, row := range []struct {
		says string
		o    DiffOptions
		want []string
	}{
		{"a file of 1.2 MB is listed as too large (threats.md T27)", DiffOptions{}, []string{"a.txt  1", "big.txt too large 0", "c.txt  1", "d.txt  1"}},
		{"text over the cap is listed without hunks", DiffOptions{MaxTotal: 600}, []string{"a.txt  1", "big.txt too large 0", "c.txt over the size cap of the pull request 0", "d.txt over the size cap of the pull request 0"}},
		{"nothing fits", DiffOptions{MaxTotal: 1}, []string{"a.txt over the size cap of the pull request 0", "big.txt too large 0", "c.txt over the size cap of the pull request 0", "d.txt over the size cap of the pull request 0"}},
	} {
		d, err := r.Diff(t.Context(), base, head, row.o)
		if err != nil {
			t.Errorf("%s: %v", row.says, err)
			continue
		}
		var got []string
		for _, f := range d.Files {
			got = append(got, fmt.Sprintf("%s %s %d", f.Path, f.Omitted, len(f.Hunks)))
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: %s", row.says, diff)
		}
	}
}

func TestFileThatBecomesALinkIsPrintedTwice(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "1\n"})
	base := shell(t, src, "rev-parse", "HEAD")
	os.Remove(filepath.Join(src, "a.txt"))
	if err := os.Symlink("/etc/passwd", filepath.Join(src, "a.txt")); err != nil {
		t.Fatal(err)
	}
	head := commit(t, src, nil)
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	d, err := r.Diff(t.Context(), base, head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Files) != 2 || d.Files[0].Change != diff.Deleted || d.File("a.txt").Change != diff.Added || !d.Anchored("a.txt", 1) {
		t.Errorf("%+v", d.Files)
	}
}

func TestBorrowingSavesTheDownloadAndMayVanish(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": strings.Repeat("some text\n", 1000)})
	parent := t.TempDir()
	clone := filepath.Join(parent, "clone")
	shell(t, parent, "clone", "-q", "--no-local", src, clone)
	program, sprung := trap(t)
	poison(t, clone, program)
	head := commit(t, src, map[string]string{"b.txt": "b\n"})
	g, dir := find(t), filepath.Join(parent, "mirror.git")
	r, err := g.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	borrow(t, r, clone)
	fetch(t, r, src, "refs/heads/main")
	if sprung() {
		t.Error("the checkout's configuration ran something")
	}
	if text, err := r.ReadFile(t.Context(), head, "a.txt", 1<<20); err != nil || len(text) != 10_000 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if err := os.RemoveAll(clone); err != nil {
		t.Fatal(err)
	}
	if r, err = g.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	fetch(t, r, src, "refs/heads/main")
	if text, err := r.ReadFile(t.Context(), head, "a.txt", 1<<20); err != nil || len(text) != 10_000 {
		t.Fatalf("after the checkout is gone: %d bytes, %v", len(text), err)
	}
}

// threats.md T104: what a kill in the middle of git work left goes after a day, what one in the middle of a removal left at once, and nothing that only has such a name.
func TestSweep(t *testing.T) {
	repos, now := t.TempDir(), time.Now()
	old, stays := now.Add(-2*halfMadeFor), []string{
		"github.com/acme/index-cards.git/refs", "github.com/index-corp/widgets.git/refs", "github.com/acme/widgets.git/objects/index-1",
	}
	goes := []string{"github.com/acme/.new-123/refs", "github.com/acme/widgets.git/index-123", "local/0a1b.git/index-take-9/x", "github.com/acme/gadgets.git.gone/refs"}
	young := []string{"github.com/acme/.new-456", "github.com/acme/widgets.git/index-456"}
	for _, name := range slices.Concat(stays, goes, young) {
		if err := os.MkdirAll(filepath.Join(repos, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Concat(stays, goes) {
		for dir := filepath.Join(repos, name); dir != repos; dir = filepath.Dir(dir) {
			if err := os.Chtimes(dir, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	Sweep(repos, now)
	for _, name := range slices.Concat(stays, young) {
		if _, err := os.Stat(filepath.Join(repos, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	for _, name := range goes {
		if _, err := os.Stat(filepath.Join(repos, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// A repository is gone at once for whoever opens it, and what a killed removal left does not keep the next from it (threats.md T718).
func TestRemove(t *testing.T) {
	g := find(t)
	r := open(t, g)
	write(t, r.dir+goneSuffix, "objects/pack/x.pack", "PACK")
	if err := Remove(r.dir); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(r.dir + "*")
	if err != nil || len(left) != 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	if _, err := g.Open(t.Context(), r.dir); err != nil {
		t.Error(err)
	}
}

// Opening removes what a killed fetch left of packs, and leaves alone what a process that lives may be at work in.
func TestOpenTidies(t *testing.T) {
	g := find(t)
	r := open(t, g)
	pack, index := filepath.Join(r.dir, "objects", "pack", "tmp_pack_1"), filepath.Join(r.dir, "index-1")
	if err := errors.Join(os.WriteFile(pack, nil, 0o600), os.Mkdir(index, 0o700)); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-staleAfter - time.Hour)
	if err := errors.Join(os.Chtimes(pack, old, old), os.Chtimes(index, old, old)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Open(t.Context(), r.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(pack); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the half-written pack is still there: %v", err)
	}
	if _, err := os.Stat(index); err != nil {
		t.Errorf("the folder of an index is gone: %v", err)
	}
}

// Refs of fixes go with their runs; nothing else of ours does.
func TestForgetFixes(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "one\n"})
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	head := shell(t, src, "rev-parse", "HEAD")
	for _, ref := range []string{FixRef("over", 1), FixRef("over", 2), FixRef("over-too", 1), FixRef("runs", 1)} {
		shell(t, r.dir, "update-ref", ref, head)
	}
	asked := 0
	err := r.ForgetFixes(t.Context(), func(run string) bool { asked++; return run != "runs" })
	if err != nil || asked != 3 {
		t.Errorf("asked for %d runs, want each once: %v", asked, err)
	}
	if got, want := shell(t, r.dir, "for-each-ref", "--format=%(refname)"), FixRef("runs", 1)+"\nrefs/prloop/remote/heads/main"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
	if err := r.ForgetFixes(t.Context(), func(string) bool { return false }); err != nil {
		t.Error(err)
	}
}
