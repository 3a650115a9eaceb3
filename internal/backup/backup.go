// Package backup copies what prloop cannot get again, the record of runs and their files, into one archive, and back. Its own repositories and what
// setups left are not in it: they are made anew.
package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Recorded copies the record of runs.
type Recorded interface {
	Snapshot(ctx context.Context, path string) error
}

// What stands in an archive, in the order of its entries: first what it is, so that nothing else is taken for one.
const (
	kind     = "prloop-backup"
	version  = "1\n"
	database = "prloop.db"
	files    = "runs"
)

var (
	// ErrNotOurs: a file is no backup of prloop, or one of a newer prloop.
	ErrNotOurs = errors.New("it is no backup that this prloop can read")
	// ErrInUse: there is something where a backup is to be restored.
	ErrInUse = errors.New("the state folder has a record of runs already")
)

// Write writes a backup of a state folder into a new file that only its owner can read, and says how many files of runs are in it. Whoever works on
// the folder meanwhile goes on: the record is that of one moment, and files are those that stand there afterwards.
func Write(ctx context.Context, record Recorded, state, file string, now time.Time) (n int, err error) {
	fail := func(err error) (int, error) { return 0, fmt.Errorf("write the backup %s: %w", file, err) }
	if _, err := os.Lstat(file); err == nil {
		return fail(fs.ErrExist)
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), ".prloop-backup-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	snapshot := filepath.Join(dir, database)
	if err := record.Snapshot(ctx, snapshot); err != nil {
		return fail(err)
	}
	part := filepath.Join(dir, "part")
	out, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fail(err)
	}
	n, err = pack(ctx, out, snapshot, filepath.Join(state, files), now)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fail(err)
	}
	if err := os.Link(part, file); err != nil { // unlike a rename, it replaces nothing
		return fail(err)
	}
	return n, nil
}

func pack(ctx context.Context, to io.Writer, snapshot, runs string, now time.Time) (n int, err error) {
	z := gzip.NewWriter(to)
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: kind, Mode: 0o600, Size: int64(len(version)), ModTime: now})
	if err == nil {
		_, err = io.WriteString(w, version)
	}
	if err == nil {
		err = put(w, os.DirFS(filepath.Dir(snapshot)), database, database)
	}
	if err == nil {
		n, err = putRuns(ctx, w, runs)
	}
	return n, errors.Join(err, w.Close(), z.Close())
}

// putRuns puts the files of runs into an archive. What goes away meanwhile was to go.
func putRuns(ctx context.Context, w *tar.Writer, runs string) (n int, err error) {
	root, err := os.OpenRoot(runs)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer root.Close()
	tree := root.FS()
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !d.Type().IsRegular():
			return nil
		}
		err = put(w, tree, name, path.Join(files, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		n++
		return err
	})
	return n, err
}

// put puts one file into an archive, as long as it is when it is opened.
func put(w *tar.Writer, tree fs.FS, name, as string) error {
	f, err := tree.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: as, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	_, err = io.CopyN(w, f, info.Size())
	return err
}

// part is the record until all of a backup is there.
const part = database + ".restored"

// Restore puts a backup into a state folder that has no record yet. Until all of it is there, there is none.
func Restore(ctx context.Context, file, state string) (n int, err error) {
	fail := func(err error) (int, error) { return n, fmt.Errorf("restore %s: %w", file, err) }
	in, err := os.Open(file)
	if err != nil {
		return fail(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return fail(ErrNotOurs)
	}
	r := tar.NewReader(z)
	if h, err := r.Next(); err != nil || h.Name != kind {
		return fail(ErrNotOurs)
	}
	if text, err := io.ReadAll(io.LimitReader(r, 100)); err != nil || string(text) != version {
		return fail(ErrNotOurs)
	}
	root, err := os.OpenRoot(state)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	for _, name := range []string{database, database + "-wal"} {
		if _, err := root.Lstat(name); err == nil {
			return fail(fmt.Errorf("%s: %w", filepath.Join(state, name), ErrInUse))
		}
	}
	if some, err := fs.ReadDir(root.FS(), files); err == nil && len(some) > 0 {
		return fail(fmt.Errorf("%s: %w", filepath.Join(state, files), ErrInUse))
	}
	defer func() {
		if err != nil { // what was restored in part is taken away again
			err = errors.Join(err, root.RemoveAll(files), root.RemoveAll(part))
		}
	}()
	found := false
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fail(err)
		}
		if ctx.Err() != nil {
			return fail(context.Cause(ctx))
		}
		name := h.Name
		switch {
		case h.Typeflag != tar.TypeReg, !fs.ValidPath(name):
			return fail(ErrNotOurs)
		case name == database && !found:
			name, found = part, true
		case strings.HasPrefix(name, files+"/"):
			n++
		default:
			return fail(ErrNotOurs)
		}
		if err := take(root, name, r, h.ModTime); err != nil {
			return fail(err)
		}
	}
	if !found {
		return fail(ErrNotOurs)
	}
	if err := root.Rename(part, database); err != nil {
		return fail(err)
	}
	return n, nil
}

// take writes one file below a root.
func take(root *os.Root, name string, r io.Reader, modified time.Time) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return root.Chtimes(name, modified, modified) // the age of a run's files is when they go
}
