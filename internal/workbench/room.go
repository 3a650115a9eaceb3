package workbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names of the folders below Bench.Scratch.
const (
	fixRoom    = "fix-"
	verifyRoom = "verify-"
)

// room makes the private folder of one call, with folders in it. A star at the end of the name stands for what nobody has
// yet; otherwise what an earlier call of that name left is removed.
func (b *Bench) room(name string, folders ...string) (string, error) {
	if b.Confine == nil {
		return "", errNoWalls
	}
	dir, err := b.floor(name)
	if err != nil {
		return "", fmt.Errorf("make room: %w", err)
	}
	for _, f := range folders {
		if err := os.Mkdir(filepath.Join(dir, f), 0o700); err != nil {
			return "", errors.Join(fmt.Errorf("make room: %w", err), remove(dir))
		}
	}
	return dir, nil
}

func (b *Bench) floor(name string) (string, error) {
	if strings.HasSuffix(name, "*") {
		return os.MkdirTemp(b.Scratch, name)
	}
	dir := filepath.Join(b.Scratch, name)
	if err := remove(dir); err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o700)
}

// remove removes a folder of ours with all that a child made of it. A child may take itself the right to enter its own
// folders, which stops a plain removal; the right is given back without following a link out.
func remove(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	root, openErr := os.OpenRoot(filepath.Dir(dir))
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), filepath.Base(dir), func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(path, 0o700) // called before the folder is read
		}
		return nil
	})
	return os.RemoveAll(dir)
}
