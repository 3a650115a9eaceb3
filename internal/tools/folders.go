package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mount opens the further folders. A name that the tree has too is refused: whose files are read must not depend on the tree.
func (b *Box) mount() error {
	for name, dir := range b.o.Folders {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
			return fmt.Errorf("%q is no name of a folder", name)
		}
		if _, err := b.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the tree has a %q of its own", name)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		b.beside[name] = root
	}
	return nil
}

// at is where a path stands: in the tree, or in a further folder.
func (b *Box) at(name string) (*os.Root, string) {
	first, rest, below := strings.Cut(name, "/")
	switch root := b.beside[first]; {
	case root == nil:
		return b.root, filepath.FromSlash(name)
	case !below:
		return root, "."
	default:
		return root, filepath.FromSlash(rest)
	}
}

// mounted are the further folders as entries of the root.
func (b *Box) mounted() (all []os.DirEntry) {
	for name, root := range b.beside {
		if info, err := root.Lstat("."); err == nil && !b.hidden(name) {
			all = append(all, fs.FileInfoToDirEntry(named{info, name}))
		}
	}
	return all
}

// named is a folder under another name.
type named struct {
	fs.FileInfo
	name string
}

// Name is the other name.
func (n named) Name() string { return n.name }
