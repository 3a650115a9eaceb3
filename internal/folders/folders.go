// Package folders copies what a workflow put beside the repository, such as a checkout of the company's rules, for commands to read
// (spec.md C1). The operator names each folder; whatever is not plain stands in no copy, and what could be somebody else's
// is refused by the name of a rule.
package folders

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Bounds of one folder.
const (
	mostFiles = 5000
	mostBytes = 64 << 20
	// fileBytes is the largest file that is copied: a tool reads no larger one.
	fileBytes = 1 << 20
)

// Rule is why a folder is refused.
type Rule string

// The rules.
const (
	// Missing: the workspace has no such folder.
	Missing Rule = "folder-missing"
	// Link: the folder is a link, or a link in it leads out of it.
	Link Rule = "folder-link"
	// Submodule: the folder is a submodule, whose commit the reviewed tree chooses.
	Submodule Rule = "folder-submodule"
	// InTree: the reviewed tree has a file or folder of that name.
	InTree Rule = "folder-in-tree"
	// TooLarge: there are too many files, or too many bytes.
	TooLarge Rule = "folder-too-large"
)

// Error is a folder that is refused.
type Error struct {
	Name string
	Rule Rule
	// Detail says what is in the way.
	Detail string
}

// Error names folder, rule and reason.
func (e *Error) Error() string {
	return fmt.Sprintf("the folder %q is refused (%s): %s", e.Name, e.Rule, e.Detail)
}

// Folder is one that was taken.
type Folder struct {
	// Name is what commands call it.
	Name string `json:"name"`
	// Files and Bytes count what was copied, Skipped the links and large files that were not.
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Skipped int   `json:"skipped,omitempty"`
	// Sum is the SHA-256 of names and contents in hex: the same files have the same.
	Sum string `json:"sum"`
	// Dir is the copy.
	Dir string `json:"-"`
}

// String is the folder in words, for a receipt.
func (f Folder) String() string {
	files := "files"
	if f.Files == 1 {
		files = "file"
	}
	s := fmt.Sprintf("%s: %d %s, %d bytes, sha256 %s", f.Name, f.Files, files, f.Bytes, f.Sum[:min(len(f.Sum), 12)])
	if f.Skipped > 0 {
		s += fmt.Sprintf(", left out %d (links, large files)", f.Skipped)
	}
	return s
}

// Take copies the folder of a name from a workspace to a new folder, which others may read. The error is *Error, or the disk's.
func Take(ctx context.Context, workspace, name, to string) (Folder, error) {
	c := copying{ctx: ctx, f: Folder{Name: name, Dir: to}}
	work, err := os.OpenRoot(workspace)
	if err != nil {
		return Folder{}, c.refused(Missing, "the workspace cannot be opened")
	}
	defer work.Close()
	info, err := work.Lstat(name)
	switch {
	case err != nil:
		return Folder{}, c.refused(Missing, "the workspace has no such folder")
	case info.Mode()&fs.ModeSymlink != 0:
		return Folder{}, c.refused(Link, "it is a link")
	case !info.IsDir():
		return Folder{}, c.refused(Missing, "it is no folder")
	}
	if c.from, err = work.OpenRoot(name); err != nil {
		return Folder{}, fmt.Errorf("open the folder %q: %w", name, err)
	}
	defer c.from.Close()
	if own, err := c.from.Lstat("."); err != nil || !os.SameFile(info, own) {
		return Folder{}, c.refused(Link, "it was changed meanwhile")
	}
	if git, err := c.from.Lstat(".git"); err == nil && !git.IsDir() {
		return Folder{}, c.refused(Submodule, "its .git is a file")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return Folder{}, fmt.Errorf("copy the folder %q: %w", name, err)
	}
	sum := sha256.New()
	c.sum = sum
	if err := fs.WalkDir(c.from.FS(), ".", c.visit); err != nil {
		var refused *Error
		if errors.As(err, &refused) {
			return Folder{}, err
		}
		return Folder{}, fmt.Errorf("copy the folder %q: %w", name, err)
	}
	c.f.Sum = hex.EncodeToString(sum.Sum(nil))
	return c.f, nil
}

// copying is one copy under way.
type copying struct {
	ctx  context.Context
	from *os.Root
	sum  io.Writer
	f    Folder
}

func (c *copying) refused(rule Rule, format string, args ...any) error {
	return &Error{c.f.Name, rule, fmt.Sprintf(format, args...)}
}

// visit takes one entry, in the order of names.
func (c *copying) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	to := filepath.Join(c.f.Dir, filepath.FromSlash(name))
	switch {
	case strings.EqualFold(d.Name(), ".git"):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case name == ".":
		return nil
	case d.IsDir():
		return os.Mkdir(to, 0o755)
	case d.Type()&fs.ModeSymlink != 0:
		// One that leads nowhere harms nobody; the others are refused where they leave, and left out where they stay.
		if _, err := c.from.Stat(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c.refused(Link, "%.200q leads out of it", name)
		}
		c.f.Skipped++
		return nil
	case !d.Type().IsRegular():
		c.f.Skipped++
		return nil
	}
	return c.file(name, to)
}

func (c *copying) file(name, to string) error {
	f, err := c.from.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, c.refused(Link, "%.200q was changed meanwhile", name))
	}
	data, err := io.ReadAll(io.LimitReader(f, fileBytes+1))
	if err != nil {
		return err
	}
	if len(data) > fileBytes {
		c.f.Skipped++
		return nil
	}
	c.f.Files++
	c.f.Bytes += int64(len(data))
	if c.f.Files > mostFiles || c.f.Bytes > mostBytes {
		return c.refused(TooLarge, "it has more than %d files or %d MB", mostFiles, mostBytes>>20)
	}
	fmt.Fprintf(c.sum, "%d %s %x\n", len(name), name, sha256.Sum256(data))
	return os.WriteFile(to, data, 0o644)
}

// Unclaimed refuses a folder whose name the root of a reviewed tree has too, in whatever case: its files would be the pull request's.
// entries are paths of that tree; what names the tree.
func Unclaimed(name string, entries []string, what string) error {
	for _, path := range entries {
		if first, _, _ := strings.Cut(path, "/"); strings.EqualFold(first, name) {
			return &Error{name, InTree, fmt.Sprintf("%s has %.200q", what, path)}
		}
	}
	return nil
}
