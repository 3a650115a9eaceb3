package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/neverread"
)

const (
	canary    = "CANARY-4711-of-a-customer"
	newCanary = "CANARY-4712-of-a-customer"
)

// withCanary is a repository with a file that may not be read, whose text is a canary, and the commits before and after it changed.
func withCanary(t *testing.T) (r *Repository, base, head string) {
	t.Helper()
	dir := origin(t, map[string]string{"customer_data/eu/list.csv": canary + "\n", "main.go": "package main\n", "gone/key": canary + "\n"})
	base = strings.TrimSpace(shell(t, dir, "rev-parse", "HEAD"))
	commit(t, dir, map[string]string{"customer_data/eu/list.csv": newCanary + "\n", "main.go": "package main\n\nfunc main() {}\n"})
	shell(t, dir, "mv", "gone/key", "moved")
	shell(t, dir, "commit", "-qm", "move")
	head = strings.TrimSpace(shell(t, dir, "rev-parse", "HEAD"))
	whole := open(t, find(t))
	fetch(t, whole, dir, "refs/heads/main")
	return whole.Without(neverread.Paths{"customer_data/*", "gone/**"}.Has), base, head
}

// readers is what each method of a repository gives of what is withheld. A method that gives content belongs here with a look at it; one
// that gives none says what it gives instead.
var readers = map[string]func(t *testing.T, r *Repository, base, head string) string{
	"ReadFile": func(t *testing.T, r *Repository, _, head string) string {
		data, err := r.ReadFile(t.Context(), head, "customer_data/eu/list.csv", 1000)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is there: %v", err)
		}
		return string(data)
	},
	"ReadFiles": func(t *testing.T, r *Repository, base, _ string) string {
		files, err := r.ReadFiles(t.Context(), base, []string{"customer_data/eu/list.csv", "gone/key", "main.go"}, 1000)
		if err != nil || len(files) != 1 {
			t.Errorf("%d files, %v", len(files), err)
		}
		return string(files["customer_data/eu/list.csv"]) + string(files["gone/key"])
	},
	"Begins": func(t *testing.T, r *Repository, _, head string) string {
		data, err := r.Begins(t.Context(), head, []string{"customer_data/eu/list.csv"}, 100)
		if err != nil {
			t.Error(err)
		}
		return string(data["customer_data/eu/list.csv"])
	},
	"Export": func(t *testing.T, r *Repository, base, _ string) string {
		dir := t.TempDir()
		if err := r.Export(t.Context(), base, dir); err != nil {
			t.Error(err)
		}
		return contents(t, dir)
	},
	"Diff": func(t *testing.T, r *Repository, base, head string) string {
		d, err := r.Diff(t.Context(), base, head, DiffOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		listed := 0
		for _, f := range d.Files {
			all.WriteString(f.Raw)
			for _, h := range f.Hunks {
				all.WriteString(h.Raw)
			}
			if f.Path == "customer_data/eu/list.csv" && f.Additions == 1 && f.Deletions == 1 || f.Path == "moved" {
				listed++
			}
		}
		if listed != 2 || !strings.Contains(all.String(), "func main") {
			t.Errorf("the files have to be listed, with how much changed: %+v", d.Files)
		}
		return all.String()
	},
	"Patch": func(t *testing.T, r *Repository, base, head string) string {
		text, err := r.Patch(t.Context(), base, head, 0)
		if err != nil || !strings.Contains(text, "func main") {
			t.Errorf("%q, %v", text, err)
		}
		return text
	},
	"Changes": func(t *testing.T, r *Repository, base, head string) (all string) {
		changes, err := r.Changes(t.Context(), base, head)
		if err != nil || len(changes) != 3 {
			t.Errorf("%d, %v", len(changes), err)
		}
		for _, c := range changes {
			for _, l := range append(slices.Clone(c.Added), c.Removed...) {
				all += l.Text
			}
		}
		return all
	},
	"Edits": func(t *testing.T, r *Repository, base, head string) (all string) {
		changes, err := r.Edits(t.Context(), base, head, 4)
		if err != nil || len(changes) != 4 {
			t.Errorf("%d, %v", len(changes), err)
		}
		if _, err := r.Edits(t.Context(), base, head, 3); !errors.Is(err, ErrTooLarge) {
			t.Errorf("more files than asked for: %v", err)
		}
		for _, c := range changes {
			for _, l := range append(slices.Clone(c.Added), c.Removed...) {
				all += l.Text
			}
		}
		return all
	},
	"Clone": func(t *testing.T, r *Repository, base, _ string) string {
		dir := filepath.Join(t.TempDir(), "clone")
		if err := r.Clone(t.Context(), base, dir, "fix"); err != nil {
			t.Fatal(err)
		}
		return contents(t, dir) + objects(t, dir)
	},

	// What these give is names, object ids, counts, refs and values of attributes (of files of attributes that are withheld none), or it is made of what the caller brings.
	"List": nil, "Files": nil, "Links": nil, "Regular": nil, "Resolve": nil, "MergeBase": nil, "IsAncestor": nil, "Brought": nil, "FirstParents": nil, "Since": nil, "Touched": nil,
	"Commits": nil, "Merged": nil, "Partly": nil, "Attributes": nil, "AttributesAnyCase": nil, "TakeBundle": nil, "TakeTree": nil, "CommitFiles": nil, "Rewrite": nil, "Fetch": nil, "Push": nil, "Contains": nil,
	"RemoteHead": nil, "RemotePlace": nil, "ForgetFixes": nil, "Collect": nil, "Borrow": nil, "Local": nil, "Staged": nil, "Patched": nil, "Readable": nil, "Named": nil, "OneCommit": nil,
	// These give the repository itself. Dir, and the objects that it borrows, go to the builtin agents alone, whose tools leave out what is
	// withheld (internal/tools); Whole goes to the commands that the operator lets read all.
	"Dir": nil, "Borrowed": nil, "Without": nil, "Whole": nil,
}

// Each look finds the canary where nothing is withheld: one that finds nothing proves nothing.
func TestTheLooksFindIt(t *testing.T) {
	r, base, head := withCanary(t)
	for name, look := range readers {
		if look == nil || name == "ReadFile" || name == "ReadFiles" { // which fail their test themselves
			continue
		}
		if got := look(t, r.Whole(), base, head); !strings.Contains(got, canary) && !strings.Contains(got, newCanary) {
			t.Errorf("%s does not find what is there", name)
		}
	}
}

// No method gives a byte of what is withheld, and a new method has to say so here first.
func TestWithheldIsReadByNothing(t *testing.T) {
	r, base, head := withCanary(t)
	methods := map[string]bool{}
	for i := range reflect.TypeFor[*Repository]().NumMethod() {
		name := reflect.TypeFor[*Repository]().Method(i).Name
		methods[name] = true
		look, known := readers[name]
		if !known {
			t.Errorf("%s is new: what does it give of what is withheld?", name)
		}
		if look == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got := look(t, r, base, head)
			if strings.Contains(got, canary) || strings.Contains(got, newCanary) {
				t.Errorf("%s gives what is withheld:\n%s", name, got)
			}
		})
	}
	for name := range readers {
		if !methods[name] {
			t.Errorf("%s is gone", name)
		}
	}
}

// contents are the names and texts of all files below dir, git's own packs included as they are.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all.String()
}

// objects are all objects a clone has, unpacked.
func objects(t *testing.T, dir string) string {
	t.Helper()
	c := exec.Command("git", "-C", dir, "cat-file", "--batch", "--batch-all-objects")
	c.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1")
	out, err := c.Output()
	if err != nil || !bytes.Contains(out, []byte("package main")) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	return string(out)
}

// A fixer works in a clone without what is withheld as in any other: what it changes and commits is taken, by its commits and as a tree,
// and what it never saw stays as it was.
func TestFixWithoutWithheld(t *testing.T) {
	r, base, _ := withCanary(t)
	dir := filepath.Join(t.TempDir(), "clone")
	if err := r.Clone(t.Context(), base, dir, "fix"); err != nil {
		t.Fatal(err)
	}
	if out := shell(t, dir, "status", "--porcelain"); out != "" {
		t.Errorf("a fresh clone is not clean:\n%s", out)
	}
	write(t, dir, "main.go", "package main\n\nfunc main() { println() }\n")
	write(t, dir, "new.go", "package main\n")
	shell(t, dir, "add", "-A")
	shell(t, dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qam", "fix it")
	bundle := filepath.Join(t.TempDir(), "fix.bundle")
	shell(t, dir, "bundle", "create", "--quiet", bundle, "HEAD", "^"+base)
	taken, err := r.TakeBundle(t.Context(), bundle, base)
	if err != nil || len(taken) != 1 {
		t.Fatalf("%d commits, %v", len(taken), err)
	}
	write(t, dir, "new.go", "package main // more\n")
	tree, err := r.TakeTree(t.Context(), dir, taken[0].Commit)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := r.Whole().Changes(t.Context(), base, tree)
	if err != nil || len(changes) != 2 || changes[0].Path != "main.go" || changes[1].Path != "new.go" {
		t.Errorf("%+v, %v", changes, err)
	}
	data, err := r.Whole().ReadFile(context.Background(), base, "customer_data/eu/list.csv", 100)
	if err != nil || !strings.Contains(string(data), canary) {
		t.Errorf("the whole repository: %q, %v", data, err)
	}
}

// What is withheld and was deleted before the commit stands in the commits before it, which a fixer is not given either.
func TestCloneHasNoHistoryOfWithheld(t *testing.T) {
	dir := origin(t, map[string]string{"customer_data/list.csv": canary + "\n", "main.go": "package main\n"})
	shell(t, dir, "rm", "-qr", "customer_data")
	shell(t, dir, "commit", "-qm", "to the vault")
	head := strings.TrimSpace(shell(t, dir, "rev-parse", "HEAD"))
	whole := open(t, find(t))
	fetch(t, whole, dir, "refs/heads/main")
	for _, r := range []*Repository{whole, whole.Without(neverread.Paths{"customer_data/*"}.Has)} {
		clone := filepath.Join(t.TempDir(), "clone")
		if err := r.Clone(t.Context(), head, clone, "fix"); err != nil {
			t.Fatal(err)
		}
		if found := strings.Contains(contents(t, clone)+objects(t, clone), canary); found != (r == whole) {
			t.Errorf("something is withheld: %v; its text is there: %v", r != whole, found)
		}
		if out := shell(t, clone, "status", "--porcelain"); out != "" {
			t.Errorf("a fresh clone is not clean:\n%s", out)
		}
	}
}
