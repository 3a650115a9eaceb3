// Package artifacts keeps the files a run leaves behind: review.md, review.json, telemetry.json and each agent's request,
// answer and log (spec.md R11). Files are 0600 in folders 0700, and replaced whole:
// written beside, synced, renamed. What is written is already redacted by the caller, and still is what models said of code
// that may be nobody else's business: it is kept for a time only.
package artifacts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folder is the place where all runs keep their artifacts, one folder a run.
type Folder struct{ root string }

// Open makes the folder when it is missing.
func Open(root string) (*Folder, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("open artifact folder: %w", err)
	}
	return &Folder{root: root}, nil
}

// Path is where a run's artifacts are; the folder may not exist yet.
func (f *Folder) Path(run string) string { return filepath.Join(f.root, run) }

// Kept reports whether a run has its folder: Expire may have removed it, or nothing was saved yet.
func (f *Folder) Kept(run string) bool {
	info, err := os.Lstat(f.Path(run))
	return err == nil && info.IsDir()
}

// Expire removes the folders in which nothing was saved since a time, save those that keep is true of.
func (f *Folder) Expire(since time.Time, keep func(run string) bool) error {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return fmt.Errorf("expire artifacts: %w", err)
	}
	defer root.Close()
	runs, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("expire artifacts: %w", err)
	}
	var errs []error
	for _, run := range runs {
		if !run.IsDir() || keep(run.Name()) || !idle(root, run.Name(), since) {
			continue
		}
		if err := root.RemoveAll(run.Name()); err != nil {
			errs = append(errs, fmt.Errorf("expire artifacts of run %s: %w", run.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// Remove removes what is there of a run.
func (f *Folder) Remove(run string) error {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return fmt.Errorf("remove artifacts of run %s: %w", run, err)
	}
	defer root.Close()
	if !filepath.IsLocal(run) || filepath.Base(run) != run {
		return fmt.Errorf("remove artifacts: %q is not the name of a run", run)
	}
	if err := root.RemoveAll(run); err != nil {
		return fmt.Errorf("remove artifacts of run %s: %w", run, err)
	}
	return nil
}

// idle reports whether nothing was saved in a folder since a time. A file is saved by a renaming, which its own folder shows.
func idle(root *os.Root, run string, since time.Time) bool {
	idle := true
	err := fs.WalkDir(root.FS(), run, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && !info.ModTime().Before(since) {
			idle = false
			return fs.SkipAll
		}
		return err
	})
	return idle && err == nil
}

// Save replaces one file of a run. name is slash-separated and may not leave the run's folder.
func (f *Folder) Save(run, name string, data []byte) error {
	if err := f.save(run, name, data); err != nil {
		return fmt.Errorf("save artifact %s of run %s: %w", name, run, err)
	}
	return nil
}

func (f *Folder) save(run, name string, data []byte) error {
	root, err := f.open(run)
	if err != nil {
		return err
	}
	defer root.Close()
	if dir := filepath.Dir(filepath.FromSlash(name)); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	part := filepath.FromSlash(name) + ".part"
	file, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return root.Rename(part, filepath.FromSlash(name))
}

func (f *Folder) open(run string) (*os.Root, error) {
	if !filepath.IsLocal(run) || filepath.Base(run) != run {
		return nil, fmt.Errorf("%q is not the name of a run", run)
	}
	if err := os.MkdirAll(f.Path(run), 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(f.Path(run))
}

// Load reads one file of a run; a missing one is an error that wraps fs.ErrNotExist.
func (f *Folder) Load(run, name string) ([]byte, error) {
	if !filepath.IsLocal(run) || filepath.Base(run) != run {
		return nil, fmt.Errorf("load artifact of run %q: %w", run, fs.ErrNotExist)
	}
	root, err := os.OpenRoot(f.Path(run))
	if err != nil {
		return nil, fmt.Errorf("load artifact %s of run %s: %w", name, run, err)
	}
	defer root.Close()
	data, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil, fmt.Errorf("load artifact %s of run %s: %w", name, run, err)
	}
	return data, nil
}

// Names are those of a run's files, sorted; none when the run has no folder.
func (f *Folder) Names(run string) ([]string, error) {
	if !f.Kept(run) {
		return nil, nil
	}
	root, err := f.open(run)
	if err != nil {
		return nil, fmt.Errorf("list the artifacts of run %s: %w", run, err)
	}
	defer root.Close()
	var names []string
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(name, ".part") {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
