package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove removes a folder that children could write, with all that they made of it. A child may take itself the right to
// enter its own folders, which stops a plain removal; the right is given back without following a link out.
func Remove(dir string) error {
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
