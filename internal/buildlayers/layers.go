// Package buildlayers keeps what setup commands and builds left, for the verifications that follow (decision 46). A layer is a folder that is
// made once, whole, and only read afterwards: those who use one share a lock on it, and whoever removes it has to have the lock alone. A
// folder counts from the moment it is renamed to its name, and does not count any more from the moment it is renamed away, so that
// a kill leaves no half of one.
package buildlayers

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/sandbox"
)

const (
	// keptFor is how long a layer stays that nobody uses, keptBytes how much all of them may hold: those go first that were used last
	// the longest ago.
	keptFor   = 30 * 24 * time.Hour
	keptBytes = 20 << 30
	// sizeName is the file of a layer that says how many bytes it holds.
	sizeName = ".size"
	// gone begins the names of what is being removed.
	gone = ".gone-"
)

// Folder holds layers.
type Folder struct{ dir string }

// Open makes the folder if need be.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep layers: %w", err)
	}
	return &Folder{dir}, nil
}

// Layer is one that is in use: it stays until it is closed.
type Layer struct {
	// Path is the folder.
	Path string
	lock *filelock.Lock
}

// Close gives the layer back.
func (l *Layer) Close() error { return l.lock.Close() }

// Take gives the layer of a name for use; fs.ErrNotExist when there is none.
func (f *Folder) Take(name string) (*Layer, error) {
	path := filepath.Join(f.dir, name)
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	lock, err := filelock.TryShared(path)
	if errors.Is(err, filelock.ErrHeld) { // it is being removed
		err = &fs.PathError{Op: "take", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &Layer{path, lock}, os.Chtimes(path, now, now)
}

// Put makes a folder of prloop's own, on the same disk, the layer of a name, in place of an older one. When that one is in use, or the new
// one holds more than most bytes, the new one is dropped.
func (f *Folder) Put(name, from string, most int64) error {
	size, err := sizeOf(from)
	if err == nil && size > most {
		return sandbox.Remove(from)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(from, sizeName), strconv.AppendInt(nil, size, 10), 0o600)
	}
	if err == nil {
		err = f.remove(name)
	}
	if err == nil {
		err = os.Rename(from, filepath.Join(f.dir, name))
	}
	if err == nil {
		return nil
	}
	left := sandbox.Remove(from)
	if errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrExist) { // somebody else was first
		return left
	}
	return fmt.Errorf("keep a layer: %w", errors.Join(err, left))
}

// remove takes a layer away, if nobody uses it.
func (f *Folder) remove(name string) error {
	path := filepath.Join(f.dir, name)
	lock, err := filelock.TryFolder(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	away := filepath.Join(f.dir, gone+rand.Text())
	if err := os.Rename(path, away); err != nil {
		return err
	}
	return sandbox.Remove(away)
}

// Prune removes layers that nobody used for long, those that are more than may be kept, and what kills left.
func (f *Folder) Prune(now time.Time) error { return f.prune(now, keptFor, keptBytes) }

func (f *Folder) prune(now time.Time, age time.Duration, most int64) error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	type layer struct {
		name string
		used time.Time
	}
	var all []layer
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil: // gone in the meantime
		case strings.HasPrefix(e.Name(), gone):
			errs = append(errs, sandbox.Remove(filepath.Join(f.dir, e.Name())))
		default:
			all = append(all, layer{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b layer) int { return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.name, b.name)) })
	var total int64
	for _, l := range all {
		text, _ := os.ReadFile(filepath.Join(f.dir, l.name, sizeName)) // without it, as one that takes no room
		size, _ := strconv.ParseInt(string(text), 10, 64)
		if total += size; total <= most && now.Sub(l.used) <= age {
			continue
		}
		if err := f.remove(l.name); err == nil {
			total -= size
		} else if !errors.Is(err, filelock.ErrHeld) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// sizeOf is how many bytes a folder holds.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && d.Type().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}
