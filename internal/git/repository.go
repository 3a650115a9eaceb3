package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Repository is a bare repository of prloop's own. Several processes may use one folder at the same time.
type Repository struct {
	git *Git
	dir string
	// withheld tells the paths of which nothing is read; nil for none.
	withheld func(path string) bool
	asked    *asked
	kept     *kept
}

// Without is the repository as those see it who may read nothing of some paths, beside what is withheld already: such files are listed, and
// have no content. Its folder is the same: a program that is given the folder reads all of it. nil withholds nothing more.
func (r *Repository) Without(withheld func(path string) bool) *Repository {
	view := *r
	switch was := r.withheld; {
	case was == nil:
		view.withheld = withheld
	case withheld != nil:
		view.withheld = func(path string) bool { return was(path) || withheld(path) }
	}
	return &view
}

// Whole is the repository with nothing withheld.
func (r *Repository) Whole() *Repository {
	view := *r
	view.withheld = nil
	return &view
}

// hides reports whether nothing may be read of a path.
func (r *Repository) hides(path string) bool {
	return r.withheld != nil && path != "" && r.withheld(path)
}

// Open opens the bare repository in dir and makes it first when there is none.
func (g *Git) Open(ctx context.Context, dir string) (*Repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	r := &Repository{git: g, dir: dir, asked: &asked{files: map[string][]Entry{}, names: map[string]int{}, trees: map[string]map[string]info{}}, kept: newKept()}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); errors.Is(err, os.ErrNotExist) {
		if err := r.create(ctx); err != nil {
			return nil, fmt.Errorf("create repository %s: %w", dir, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	if err := r.tidy(ctx); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	return r, nil
}

// Dir is the repository's folder.
func (r *Repository) Dir() string { return r.dir }

func (r *Repository) place() place { return place{dir: r.dir} }

// create makes the repository beside its place and moves it there, so that of two processes one wins and nobody sees
// half a repository.
func (r *Repository) create(ctx context.Context) error {
	parent := filepath.Dir(r.dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	_, err = r.git.run(ctx, command{name: "init", at: place{dir: tmp},
		args: []string{"--quiet", "--bare", "--template=", "--initial-branch=prloop"}})
	if err != nil {
		return err
	}
	for _, sub := range []string{"objects/info", "info"} {
		if err := os.MkdirAll(filepath.Join(tmp, filepath.FromSlash(sub)), 0o700); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, r.dir); err != nil {
		if _, there := os.Stat(filepath.Join(r.dir, "HEAD")); there == nil {
			return nil // another process was quicker
		}
		return err
	}
	return nil
}

// tidy removes what killed fetches and collections left (threats.md T29, T357) and borrowed objects that are gone.
func (r *Repository) tidy(ctx context.Context) error {
	removeLeavings(r.dir)
	lent, err := r.Borrowed()
	if err != nil {
		return err
	}
	for _, objects := range lent {
		if _, err := os.Stat(objects); err != nil {
			return r.forget(ctx)
		}
	}
	return nil
}

// halfMadeFor is how old a folder that is made for a moment has to be to count as left behind. They carry no lock; no step
// they belong to takes that long.
const halfMadeFor = 24 * time.Hour

// goneSuffix ends the name of a repository's folder while it is removed. Names of repositories end in .git.
const goneSuffix = ".gone"

// Remove removes the repository in dir, whose folder the caller has locked (filelock.TryFolder): whoever opens it meanwhile makes a new one.
func Remove(dir string) error {
	gone := dir + goneSuffix
	if err := os.RemoveAll(gone); err != nil { // what a killed removal left
		return err
	}
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// Sweep removes what kills in the middle of making or removing a repository, an index or a pack left below a folder of repositories (see
// threats.md T104). What cannot be read or removed is left.
func Sweep(repos string, now time.Time) {
	_ = filepath.WalkDir(repos, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is left
		}
		if strings.HasSuffix(path, ".git"+goneSuffix) {
			_ = os.RemoveAll(path)
			return fs.SkipDir
		}
		if halfMade(path) {
			if info, err := d.Info(); err == nil && now.Sub(info.ModTime()) > halfMadeFor {
				_ = os.RemoveAll(path)
			}
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".git") {
			removeLeavings(path)
		}
		if d.Name() == "objects" || d.Name() == "refs" { // git's own, and large
			return fs.SkipDir
		}
		return nil
	})
}

// halfMade knows such a folder by its name. An owner or a repository may be called index-something, so those of indexes
// count inside a repository only; no name that GitHub gives begins with a dot.
func halfMade(path string) bool {
	name, in := filepath.Base(path), filepath.Base(filepath.Dir(path))
	return strings.HasPrefix(name, ".new-") || strings.HasPrefix(name, "index-") && strings.HasSuffix(in, ".git")
}

func (r *Repository) alternates() string {
	return filepath.Join(r.dir, "objects", "info", "alternates")
}

// Borrowed lists the object folders of others this repository reads.
func (r *Repository) Borrowed() ([]string, error) {
	text, err := os.ReadFile(r.alternates())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' }), nil
}

// borrow adds the object folder of a checkout, whose objects need no download then. Nothing is ever written there. It has to
// stay where it is: Open notices when it is gone, forgets the refs that relied on it, and the next fetch downloads what is
// missing. The file is replaced whole.
func (r *Repository) borrow(objects string) error {
	if strings.ContainsAny(objects, "\n\r\"") || strings.HasPrefix(objects, "#") {
		return fmt.Errorf("%q: %w", objects, ErrName)
	}
	lent, err := r.Borrowed()
	if err != nil {
		return err
	}
	for _, l := range lent {
		if l == objects {
			return nil
		}
	}
	return replaceFile(r.alternates(), []byte(strings.Join(append(lent, objects), "\n")+"\n"))
}

// forget drops borrowed objects and our refs, which may have relied on them.
func (r *Repository) forget(ctx context.Context) error {
	if err := os.Remove(r.alternates()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	out, err := r.git.run(ctx, command{name: "for-each-ref", at: r.place(), args: []string{"--format=%(refname)", "refs/prloop"}})
	if err != nil {
		return err
	}
	var in strings.Builder
	for ref := range strings.Lines(string(out)) {
		fmt.Fprintf(&in, "delete %s\x00\x00", strings.TrimSuffix(ref, "\n"))
	}
	_, err = r.update(ctx, command{name: "update-ref", at: r.place(), args: []string{"-z", "--stdin"}, stdin: []byte(in.String())})
	return err
}

// ForgetFixes deletes the refs that keep fixes (FixRef) of the runs that gone says are over.
func (r *Repository) ForgetFixes(ctx context.Context, gone func(run string) bool) error {
	out, err := r.git.run(ctx, command{name: "for-each-ref", at: r.place(), args: []string{"--format=%(refname)", fixRefs}})
	if err != nil {
		return fmt.Errorf("list the refs of fixes: %w", err)
	}
	over := map[string]bool{}
	var in strings.Builder
	for ref := range strings.Lines(string(out)) {
		ref = strings.TrimSuffix(ref, "\n")
		run, _, _ := strings.Cut(strings.TrimPrefix(ref, fixRefs), "/")
		if _, asked := over[run]; !asked {
			over[run] = gone(run)
		}
		if over[run] {
			fmt.Fprintf(&in, "delete %s\x00\x00", ref)
		}
	}
	if in.Len() == 0 {
		return nil
	}
	if _, err = r.update(ctx, command{name: "update-ref", at: r.place(), args: []string{"-z", "--stdin"}, stdin: []byte(in.String())}); err != nil {
		return fmt.Errorf("delete the refs of fixes: %w", err)
	}
	return nil
}

// replaceFile writes beside and renames.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	// A confined child of root has a uid of its own. Whom it may not serve, the folders above are closed to.
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
