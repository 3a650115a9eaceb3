package git

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// census is every file of a folder with its content, times excluded.
func census(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			got[p] = "-> " + target
			return err
		}
		text, err := os.ReadFile(p)
		got[p] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// changed is the local range's diff in words.
func changed(t *testing.T, r *Repository, l LocalRange) []string {
	t.Helper()
	d, err := r.Diff(t.Context(), l.MergeBase, l.Head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range d.Files {
		got = append(got, fmt.Sprintf("%s %s +%d -%d", f.Change, f.Path, f.Additions, f.Deletions))
	}
	sort.Strings(got)
	return got
}

func TestLocalRangeHoldsCommitsAndTheWorkingTree(t *testing.T) {
	dir := origin(t, map[string]string{"kept": "k\n", "edited": "1\n", "removed": "x\n", "staged": "1\n", ".gitignore": "*.log\n",
		"dir/a": "a\n", "file": "f\n"})
	base := shell(t, dir, "rev-parse", "HEAD")
	shell(t, dir, "checkout", "-q", "-b", "topic")
	head := commit(t, dir, map[string]string{"committed": "c\n"})
	write(t, dir, "edited", "2\n")
	write(t, dir, "new", "n\n")
	write(t, dir, "noise.log", "ignored\n")
	write(t, dir, "private", "excluded\n")
	write(t, dir, ".git/info/exclude", "private\n")
	write(t, dir, "staged", "2\n")
	shell(t, dir, "add", "staged")
	os.Remove(filepath.Join(dir, "removed"))
	os.RemoveAll(filepath.Join(dir, "dir"))
	if err := os.Symlink("/etc", filepath.Join(dir, "dir")); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "file"))
	write(t, dir, "file/inside", "i\n")
	before := census(t, dir)

	r := open(t, find(t))
	l, err := r.Local(t.Context(), filepath.Join(dir, "file"), "main")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{shell(t, dir, "log", "-1", "--format=%s")}, l.Subjects); diff != "" {
		t.Error(diff)
	}
	if l.HEAD != head || l.MergeBase != base || l.Head == head || len(l.Skipped) != 0 {
		t.Errorf("%+v", l)
	}
	want := []string{"added committed +1 -0", "added dir +1 -0", "added file/inside +1 -0", "added new +1 -0", "deleted dir/a +0 -1",
		"deleted file +0 -1", "deleted removed +0 -1", "modified edited +1 -1", "modified staged +1 -1"}
	if diff := cmp.Diff(want, changed(t, r, l)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, census(t, dir)); diff != "" {
		t.Error("the checkout was changed:", diff)
	}
	again, err := r.Local(t.Context(), dir, "main")
	if err != nil || again.Head != l.Head {
		t.Errorf("the same content gives another commit: %s, %s, %v", l.Head, again.Head, err)
	}
}

// A submodule is at the commit that is checked out in it, staged or not. What its folder holds beside, and a repository that nobody added, is named (threats.md T876).
func TestLocalRangeNamesOtherRepositories(t *testing.T) {
	sub := origin(t, map[string]string{"lib.py": "x\n"})
	dir := origin(t, map[string]string{"a": "1\n"})
	names := []string{"clean", "edited", "empty", "files", "moved", "new", "staged"}
	for _, name := range names {
		shell(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", sub, name)
	}
	head := commit(t, dir, nil)
	write(t, dir, "edited/lib.py", "y\n")
	commit(t, filepath.Join(dir, "moved"), map[string]string{"lib.py": "evil()\n"})
	write(t, dir, "new/more.py", "more()\n")
	write(t, dir, "staged/lib.py", "y\n")
	shell(t, filepath.Join(dir, "staged"), "add", ".")
	for _, name := range []string{"empty", "files"} {
		shell(t, dir, "submodule", "-q", "deinit", "-f", name)
	}
	write(t, dir, "files/lib.py", "y\n")
	shell(t, dir, "init", "-q", "in/own")
	write(t, dir, "in/own/b", "1\n")
	r := open(t, find(t))
	l, err := r.Local(t.Context(), dir, head)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"modified moved +1 -1"}, changed(t, r, l)); diff != "" {
		t.Error(diff)
	}
	want := []SkippedFile{{Path: "edited", Inside: Dirty}, {Path: "files", Inside: Dirty}, {Path: "new", Inside: Dirty}, {Path: "staged", Inside: Dirty}, {Path: "in/own", Inside: Nested}}
	if diff := cmp.Diff(want, l.Skipped); diff != "" {
		t.Error(diff)
	}
}

// A file or a link that stands where a submodule was is read; a submodule's own folder is named alone, whatever is in it.
func TestLocalRangeReadsWhatReplacedASubmodule(t *testing.T) {
	sub := origin(t, map[string]string{"lib.py": "x\n"})
	dir := origin(t, map[string]string{"a": "1\n"})
	for _, name := range []string{"file", "link", "kept", "gone"} {
		shell(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", sub, name)
	}
	commit(t, dir, nil)
	for _, name := range []string{"file", "link", "gone"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "file", "evil()\n")
	write(t, dir, "kept/more.py", "more()\n")
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	r := open(t, find(t))
	l, err := r.Local(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"added file +1 -0", "added link +1 -0", "deleted file +0 -1", "deleted link +0 -1"}, changed(t, r, l)); diff != "" {
		t.Error(diff)
	}
}

// What lies behind a link in the place of a folder belongs to another place: the files of the folder are gone.
func TestLocalRangeReadsALinkInThePlaceOfAFolder(t *testing.T) {
	dir := origin(t, map[string]string{"lib/in/a": "1\n", "other/in/a": "2\n"})
	if err := os.RemoveAll(filepath.Join(dir, "lib")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", filepath.Join(dir, "lib")); err != nil {
		t.Fatal(err)
	}
	r := open(t, find(t))
	l, err := r.Local(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"added lib +1 -0", "deleted lib/in/a +0 -1"}, changed(t, r, l)); diff != "" {
		t.Error(diff)
	}
}

func TestLocalRangeOfACleanTreeIsHEAD(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n"})
	shell(t, dir, "checkout", "-q", "-b", "topic")
	head := commit(t, dir, map[string]string{"b": "1\n"})
	r := open(t, find(t))
	l, err := r.Local(t.Context(), dir, "main")
	if err != nil || l.Head != head {
		t.Errorf("%+v %v", l, err)
	}
	// A linked working tree has its git folder elsewhere.
	tree := filepath.Join(t.TempDir(), "tree")
	shell(t, dir, "worktree", "add", "-q", "--detach", tree, "topic")
	write(t, tree, "c", "1\n")
	if l, err = r.Local(t.Context(), tree, "main"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"added b +1 -0", "added c +1 -0"}, changed(t, r, l)); diff != "" {
		t.Error(diff)
	}
	// An index this git cannot take over (here: none) is built from HEAD.
	os.Remove(filepath.Join(dir, ".git", "index"))
	if l, err = r.Local(t.Context(), dir, "main"); err != nil || l.Head != head {
		t.Errorf("without an index: %+v %v", l, err)
	}
	shell(t, dir, "reset", "-q")
	shell(t, dir, "update-index", "--split-index")
	if l, err = r.Local(t.Context(), dir, "main"); err != nil || l.Head != head {
		t.Errorf("with a split index: %+v %v", l, err)
	}
}

func TestLocalRangeRunsNothingOfAPoisonedCheckout(t *testing.T) {
	program, sprung := trap(t)
	sub := origin(t, map[string]string{"s": "1\n"})
	dir := origin(t, map[string]string{"a.txt": "1\n", "b.bin": "1\n"})
	shell(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "file://"+sub, "module")
	commit(t, dir, nil)
	shell(t, dir, "checkout", "-q", "-b", "topic")
	write(t, dir, ".gitattributes", "* filter=bad diff=bad\na.txt -filter\n.gitattributes -filter\nbare/** -filter\n")
	write(t, dir, "a.txt", "2\n")
	write(t, dir, "s", "2\n")
	// A bare repository inside, as in threats.md T20, and a poisoned, dirty submodule.
	shell(t, dir, "init", "-q", "--bare", "bare")
	write(t, dir, "bare/config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tworktree = ..\n\tfsmonitor = "+program+"\n")
	modules := filepath.Join(dir, ".git", "modules", "module", "config")
	text, err := os.ReadFile(modules)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(modules, append(text, "\tfsmonitor = "+program+"\n[core]\n\tfsmonitor = "+program+"\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "module/s", "2\n")
	write(t, dir, "nested/x", "1\n")
	shell(t, filepath.Join(dir, "nested"), "init", "-q")
	poison(t, filepath.Join(dir, "nested"), program)
	poison(t, dir, program)
	before := census(t, dir)

	r := open(t, find(t))
	l, err := r.Local(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	got := changed(t, r, l)
	c, err := r.git.Checkout(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Branch(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Remotes(t.Context()); err != nil {
		t.Error(err)
	}
	if sprung() {
		t.Fatal("something of the checkout ran (threats.md T20, T21)")
	}
	if diff := cmp.Diff(before, census(t, dir)); diff != "" {
		t.Error("the checkout was changed:", diff)
	}
	if diff := cmp.Diff([]SkippedFile{{Path: "module", Inside: Dirty}, {Path: "nested", Inside: Nested}, {Path: "s", Filter: "bad"}}, l.Skipped); diff != "" {
		t.Error(diff)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{"modified a.txt +1 -1", "added .gitattributes", "added bare/config"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if strings.Contains(all, "module") || strings.Contains(all, "nested") {
		t.Errorf("looked into another repository:\n%s", all)
	}
	// The trap works: the person's own git springs it.
	cmd := shellFails(dir, "status")
	if !sprung() {
		t.Errorf("the poison is harmless, so this test shows nothing: %s", cmd)
	}
}

func TestLocalErrors(t *testing.T) {
	g := find(t)
	r := open(t, g)
	if _, err := r.Local(t.Context(), t.TempDir(), "main"); !errors.Is(err, ErrNotRepository) {
		t.Errorf("no checkout: %v", err)
	}
	dir := t.TempDir()
	shell(t, dir, "init", "-q", "-b", "main")
	if _, err := r.Local(t.Context(), dir, "main"); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("no commit yet: %v", err)
	}
	src := origin(t, map[string]string{"a": "1\n"})
	if _, err := r.Local(t.Context(), src, "nowhere"); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("unknown base: %v", err)
	}
	shell(t, src, "branch", "topic")
	commit(t, src, map[string]string{"a": "2\n"})
	shell(t, src, "checkout", "-q", "topic")
	commit(t, src, map[string]string{"b": "2\n"})
	parent := t.TempDir()
	shell(t, parent, "clone", "-q", "--depth=1", "--no-single-branch", "file://"+src, "shallow")
	if _, err := open(t, g).Local(t.Context(), filepath.Join(parent, "shallow"), "origin/main"); !errors.Is(err, ErrShallow) {
		t.Errorf("shallow clone: %v", err)
	}
}

// A tag that has the name of a branch does not choose in its place what a change is compared with.
func TestNamesThatMeanSeveralCommits(t *testing.T) {
	src := origin(t, map[string]string{"a": "1\n"})
	commit(t, src, map[string]string{"a": "2\n"})
	c, err := find(t).Checkout(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"refs/remotes/up/main", "refs/remotes/fork/HEAD", "refs/heads/up/other"} {
		shell(t, src, "update-ref", name, "HEAD~1")
	}
	shell(t, src, "tag", "same", "main")
	shell(t, src, "tag", "below/it", "main~1")
	shell(t, src, "branch", "same")
	for _, tag := range []string{"up/main", "fork", "up/other"} {
		shell(t, src, "-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "-m", "x", tag, "main")
	}
	evil, benign := shell(t, src, "rev-parse", "main"), shell(t, src, "rev-parse", "main~1")
	blob := shell(t, src, "rev-parse", "main:a")[:7]
	shell(t, src, "tag", evil[:7], benign)
	shell(t, src, "-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "-m", "x", "v1-3-g"+evil[:8], benign)
	shell(t, src, "branch", strings.ToUpper(evil[:9]), benign)
	shell(t, src, "tag", benign[:6], benign)
	shell(t, src, "tag", blob, benign)
	shell(t, src, "tag", evil[:3], benign)
	shell(t, src, "tag", "x"+evil[:7], benign)
	for rev, want := range map[string]string{
		evil[:7]: evil + " refs/tags/" + evil[:7], evil[:7] + "~0": evil + " refs/tags/" + evil[:7], "v1-3-g" + evil[:8]: evil + " refs/tags/v1-3-g" + evil[:8],
		strings.ToUpper(evil[:9]): evil + " refs/heads/" + strings.ToUpper(evil[:9]),
		evil[:10]:                 "", evil: "", "v1-g" + evil[:7]: "", benign[:6]: "", blob: "", evil[:3]: "", "x" + evil[:7]: "",
		"main": "", "main~1": "", "HEAD": "", "same": "", "refs/remotes/up/main": "", "below/it": "",
		"up/main": "refs/remotes/up/main refs/tags/up/main", "up/main^0": "refs/remotes/up/main refs/tags/up/main",
		"fork": "refs/remotes/fork/HEAD refs/tags/fork", "up/other": "refs/heads/up/other refs/tags/up/other",
	} {
		_, err := c.Resolve(t.Context(), rev)
		var several *AmbiguousError
		if errors.As(err, &several); want == "" && err != nil || want != "" && (several == nil || strings.Join(several.Refs, " ") != want) {
			t.Errorf("%s: %v, want %q", rev, err, want)
		}
	}
	for _, rev := range []string{"main^{tree}", "@{u}", "main~1..main"} {
		if _, err := c.Resolve(t.Context(), rev); !errors.Is(err, ErrUnknownRevision) {
			t.Errorf("%s: %v", rev, err)
		}
	}
}

// What a partial clone left at its server is told from what is nowhere, and getting it helps.
func TestPartialClones(t *testing.T) {
	g := find(t)
	src := origin(t, map[string]string{"a": "1\n"})
	shell(t, src, "config", "uploadpack.allowFilter", "true")
	base := commit(t, src, nil)
	commit(t, src, map[string]string{"a": "2\n"})
	for _, filter := range []string{"blob:none", "tree:0"} {
		dir := filepath.Join(t.TempDir(), "partial")
		shell(t, src, "clone", "-q", "--filter="+filter, "file://"+src, dir)
		for _, want := range []error{ErrPartial, nil} {
			r := open(t, g)
			l, err := r.Local(t.Context(), dir, base)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Diff(t.Context(), l.MergeBase, l.Head, DiffOptions{}); !errors.Is(err, want) {
				t.Errorf("%s: %v", filter, err)
			}
			if _, err := r.Diff(t.Context(), strings.Repeat("1", 40), l.Head, DiffOptions{}); err == nil {
				t.Errorf("%s: no such commit, and no error", filter)
			}
			shell(t, dir, "fetch", "-q", "--refetch", "--no-filter")
		}
	}
}

func TestSkippedAndCheckoutReaders(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n"})
	shell(t, dir, "remote", "add", "origin", "https://github.com/o/r.git")
	shell(t, dir, "remote", "add", "fork", "git@github.com:me/r.git")
	shell(t, dir, "config", "branch.main.remote", "origin")
	shell(t, dir, "config", "branch.main.merge", "refs/heads/main")
	write(t, dir, "huge", strings.Repeat("x", takeLimit+1))
	g := find(t)
	l, err := open(t, g).Local(t.Context(), dir, "main")
	if err != nil || len(l.Skipped) != 1 || l.Skipped[0].Path != "huge" || len(l.Skipped[0].Begins) != beginning || l.Head != l.HEAD {
		t.Errorf("%+v %v", l, err)
	}
	c, err := g.Checkout(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.Branch(t.Context()); b != "main" || err != nil {
		t.Errorf("branch %q %v", b, err)
	}
	remotes, err := c.Remotes(t.Context())
	if diff := cmp.Diff([]Remote{{"origin", "https://github.com/o/r.git"}, {"fork", "git@github.com:me/r.git"}}, remotes); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if remote, ref, err := c.Upstream(t.Context(), "main"); remote != "origin" || ref != "main" || err != nil {
		t.Errorf("upstream %q %q %v", remote, ref, err)
	}
	shell(t, dir, "checkout", "-q", "--detach")
	if _, err := c.Branch(t.Context()); !errors.Is(err, ErrDetached) {
		t.Errorf("detached: %v", err)
	}
}

// What a filter makes of a file no filter is run to see: its plain bytes, which no commit would hold, are in no object, and the blob of the index
// stands for it. A file of Git LFS that was only touched has not changed.
func TestLocalRangeTakesNoPlainBytes(t *testing.T) {
	pointer := func(text string) string {
		return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(text)), len(text))
	}
	dir := origin(t, map[string]string{".gitattributes": "secrets/** filter=git-crypt diff=git-crypt\n*.uasset filter=lfs -text\n*.ipynb filter=nbstripout\nplain/** -filter\n",
		"secrets/a": "\x00GITCRYPT\x00abc", "touched.uasset": pointer("a model"), "edited.uasset": pointer("a model"), "cloned.uasset": pointer("a model"), "notes.ipynb": "{}\n"})
	for name, text := range map[string]string{"secrets/a": "the old code is four two one\n", "secrets/new": "the new code is nine nine one\n", "hidden/b": "the last code is six\n", ".git/info/attributes": "hidden/** filter=git-crypt\n",
		"touched.uasset": "a model", "edited.uasset": "another\x00", "cloned.uasset": pointer("a model of today"), "new.uasset": pointer("a new one"), "notes.ipynb": "{1}\n", "plain/p": "p\n"} {
		write(t, dir, name, text)
	}
	r := open(t, find(t))
	l, err := r.Local(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	want := []SkippedFile{{Path: "edited.uasset", Begins: []byte("another\x00"), Filter: "lfs"}, {Path: "hidden/b", Filter: "git-crypt"}, {Path: "secrets/a", Filter: "git-crypt"}, {Path: "secrets/new", Filter: "git-crypt"}}
	if diff := cmp.Diff(want, l.Skipped); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"added new.uasset +3 -0", "added plain/p +1 -0", "modified cloned.uasset +2 -2", "modified notes.ipynb +1 -1"}, changed(t, r, l)); diff != "" {
		t.Error(diff)
	}
	if got, err := r.ReadFile(t.Context(), l.Head, "secrets/a", 100); string(got) != "\x00GITCRYPT\x00abc" {
		t.Errorf("%q %v", got, err)
	}
}
