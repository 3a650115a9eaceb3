package cases

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/prloop/prloop/internal/diff"
)

// ErrNoCode: a case has no code, so there is nothing to review.
var ErrNoCode = errors.New("it has no base tree")

// WriteBase writes the tree of the case in the folder dir of all cases below root. It gives the files by their names, and whether they
// may be executed.
func (c Case) WriteBase(dir string, root *os.Root) (map[string]bool, error) {
	files, err := c.writeBase(dir, root)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBad, c.ID, err)
	}
	return files, nil
}

func (c Case) writeBase(dir string, root *os.Root) (map[string]bool, error) {
	if c.Code == nil {
		return nil, ErrNoCode
	}
	raw, err := readFile(os.DirFS(dir), path.Join(c.ID, path.Base(c.BaseTree.Archive)), archiveBytes)
	if err != nil {
		return nil, err
	}
	if sum(raw) != c.Code.archive {
		return nil, fmt.Errorf("%s changed since it was read", c.BaseTree.Archive)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for t := tar.NewReader(io.LimitReader(z, archiveBytes)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := readAll(t, h.Name, archiveBytes)
		if err != nil {
			return nil, err
		}
		name := path.Clean(h.Name)
		files[name] = h.Mode&0o111 != 0
		if err := writeBelow(root, name, text, files[name]); err != nil {
			return nil, err
		}
	}
}

// WriteHead makes the head of the case out of its base tree below root, whose files it keeps up.
func (c Case) WriteHead(root *os.Root, files map[string]bool) error {
	for i := range c.Code.diff.Files {
		f := &c.Code.diff.Files[i]
		head, there := c.Code.Head[f.Path]
		executable := files[oldPath(f)]
		if old := oldPath(f); f.Change == diff.Deleted || f.Change == diff.Renamed && there {
			if err := root.Remove(filepath.FromSlash(old)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%w: %s: %w", ErrBad, c.ID, err)
			}
			delete(files, old)
		}
		if !there {
			continue
		}
		files[f.Path] = f.NewMode == 0o100755 || f.NewMode == 0 && executable
		if err := writeBelow(root, f.Path, []byte(head), files[f.Path]); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrBad, c.ID, err)
		}
	}
	return nil
}

func writeBelow(root *os.Root, name string, text []byte, executable bool) error {
	name = filepath.FromSlash(name)
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%q leads out of the tree", name)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := root.WriteFile(name, text, 0o600); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	return root.Chmod(name, mode)
}
