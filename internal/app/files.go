package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/artifacts"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/store"
)

// Blobs keep bytes under names, for machines that share no folder.
type Blobs interface {
	Put(ctx context.Context, name string, data []byte) error
	Get(ctx context.Context, name string, most int64) ([]byte, error)
	// Remove removes all whose names are in a folder.
	Remove(ctx context.Context, folder string) error
	String() string
	// Secrets are what must not stand in any text.
	Secrets() []string
}

// ErrDamaged: the blob store gave something else than what was saved.
var ErrDamaged = errors.New("the blob store has something else than what was saved")

// uploaded is where a kill may fall: the blob store has a file, and nothing says so (threats.md K78).
var uploaded = failpoint.New("blobs: uploaded")

// Bounds of what is kept in a blob store.
const (
	// largestFile bounds what is read of one.
	largestFile = 256 << 20
	// blobsAtOnce are looked at in one go.
	blobsAtOnce = 100
	// keepAgain is the time between two attempts, patient how long the end of a process waits for the last one.
	keepAgain = 15 * time.Second
	patient   = 3 * time.Second
)

// files are those of runs: in the folder of this machine, and in a blob store where there is one. A file is in the folder first, so that a store that
// fails stops nothing; it gets what it lacks later.
type files struct {
	*artifacts.Folder
	record *store.Store
	log    hclog.Logger
	blobs  Blobs // nil for none
	place  string

	nudge   chan struct{}
	stop    context.CancelFunc
	ended   sync.WaitGroup
	failing bool
}

// openFiles opens the files of a state folder.
func openFiles(state string, record *store.Store, blobs Blobs, log hclog.Logger) (*files, error) {
	folder, err := artifacts.Open(filepath.Join(state, "runs"))
	if err != nil {
		return nil, err
	}
	f := &files{Folder: folder, record: record, log: log, blobs: blobs, nudge: make(chan struct{}, 1), stop: func() {}}
	if blobs == nil {
		return f, nil
	}
	if f.place, err = placeOf(state); err != nil {
		return nil, fmt.Errorf("name the state folder among those that share the blob store: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.ended.Go(func() { f.keep(ctx) })
	return f, nil
}

// placeOf is the name of a state folder, made once.
func placeOf(state string) (string, error) {
	file := filepath.Join(state, "place")
	fresh := rand.Text()
	part := file + "." + fresh
	if err := os.WriteFile(part, []byte(fresh), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(part)
	if err := os.Link(part, file); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	data, err := os.ReadFile(file)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s is empty", file)
	}
	return string(data), err
}

// Close stops keeping, after a last attempt.
func (f *files) Close() {
	f.stop()
	f.ended.Wait()
	if f.blobs == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	f.once(ctx)
}

// Save keeps a file of a run.
func (f *files) Save(ctx context.Context, run, name string, data []byte) error {
	if err := f.Folder.Save(run, name, data); err != nil || f.blobs == nil {
		return err
	}
	if err := f.record.SaveFile(ctx, store.File{Run: run, Name: name, Sum: sum(data), Place: f.place}); err != nil {
		return err
	}
	select {
	case f.nudge <- struct{}{}:
	default:
	}
	return nil
}

// keep gives the blob store what it lacks, until ctx ends.
func (f *files) keep(ctx context.Context) {
	ticker := time.NewTicker(keepAgain)
	defer ticker.Stop()
	for {
		f.once(ctx)
		select {
		case <-ctx.Done():
			return
		case <-f.nudge:
		case <-ticker.C:
		}
	}
}

// once gives the blob store what it lacks, and takes away what is over. A store that fails ends it.
func (f *files) once(ctx context.Context) {
	err := errors.Join(f.upload(ctx), f.remove(ctx))
	if ctx.Err() != nil {
		return
	}
	if err != nil && !f.failing {
		f.log.Warn("files of runs stay in the state folder until the blob store answers", "err", err)
	}
	if err == nil && f.failing {
		f.log.Info("the blob store answers again")
	}
	f.failing = err != nil
}

// upload passes over files that cannot be given, so that none keeps those behind it from the store (threats.md T290).
func (f *files) upload(ctx context.Context) error {
	var unread error
	for skip := 0; ; {
		all, err := f.record.UnkeptFiles(ctx, f.place, skip, blobsAtOnce)
		if err != nil {
			return errors.Join(unread, err)
		}
		for _, file := range all {
			ok, err := f.give(ctx, file)
			var here *unreadError
			switch {
			case errors.As(err, &here):
				unread = err // one of them is enough for the log
			case err != nil:
				return errors.Join(unread, err)
			}
			if !ok {
				skip++
			}
		}
		if len(all) < blobsAtOnce {
			return unread
		}
	}
}

// unreadError: the folder of this machine does not give a file.
type unreadError struct{ error }

func (e *unreadError) Unwrap() error { return e.error }

// give gives the blob store one file; false when the folder has another one by now, which is recorded in a moment.
func (f *files) give(ctx context.Context, file store.File) (bool, error) {
	data, err := f.Folder.Load(file.Run, file.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, f.record.LoseFile(ctx, file)
	case err != nil:
		return false, &unreadError{err}
	case sum(data) != file.Sum:
		return false, nil
	}
	if len(data) > 0 { // not every store takes nothing
		if err := f.blobs.Put(ctx, blobName(file), data); err != nil {
			return false, err
		}
	}
	if err := uploaded.Hit(); err != nil {
		return false, err
	}
	return true, f.record.KeepFile(ctx, file)
}

func (f *files) remove(ctx context.Context) error {
	runs, err := f.record.DroppedFiles(ctx, blobsAtOnce)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if fs.ValidPath(blobFolder(run)) { // else somebody forged the record, and it names what is not a run's (threats.md T291)
			if err := f.blobs.Remove(ctx, blobFolder(run)); err != nil {
				return err
			}
		}
		if err := f.record.ForgetFiles(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

func blobFolder(run string) string { return "runs/" + run }

// blobName is by what a file holds, so that a machine that comes late replaces nothing.
func blobName(f store.File) string { return blobFolder(f.Run) + "/" + f.Sum }

// Load reads one file of a run, from here or from the blob store; fs.ErrNotExist when there is none. What a run was asked is never read from the store:
// the engine has it.
func (f *files) Load(run, name string) ([]byte, error) {
	data, err := f.Folder.Load(run, name)
	if f.blobs == nil || name == requestName {
		return data, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	all, failed := f.record.Files(ctx, run)
	if failed != nil {
		return nil, failed
	}
	at := slices.IndexFunc(all, func(file store.File) bool { return file.Name == name })
	if at < 0 || err == nil && sum(data) == all[at].Sum {
		return data, err
	}
	if !all[at].Kept {
		if err == nil {
			return data, nil
		}
		return nil, fmt.Errorf("load %s of run %s: it is on another machine, and the blob store does not have it yet: %w", name, run, fs.ErrNotExist)
	}
	if all[at].Sum == sum(nil) {
		return []byte{}, nil
	}
	data, err = f.blobs.Get(ctx, blobName(all[at]), largestFile)
	if err != nil {
		return nil, fmt.Errorf("load %s of run %s: %w", name, run, err)
	}
	if sum(data) != all[at].Sum {
		return nil, fmt.Errorf("load %s of run %s: %w", name, run, ErrDamaged)
	}
	return data, nil
}

// secrets are those of the blob store.
func (f *files) secrets() []string {
	if f.blobs == nil {
		return nil
	}
	return f.blobs.Secrets()
}

// Names are those of a run's files, sorted: what is here, and what the blob store has.
func (f *files) Names(run string) ([]string, error) {
	names, err := f.Folder.Names(run)
	if err != nil || f.blobs == nil {
		return names, err
	}
	all, err := f.record.Files(context.Background(), run)
	for _, file := range all {
		if file.Kept {
			names = append(names, file.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// Kept reports whether files of a run are still there.
func (f *files) Kept(run string) bool {
	if f.Folder.Kept(run) || f.blobs == nil {
		return f.Folder.Kept(run)
	}
	all, err := f.record.Files(context.Background(), run)
	return err == nil && slices.ContainsFunc(all, func(file store.File) bool { return file.Kept })
}

// Remove removes the files of a run here, and has those of the blob store removed.
func (f *files) Remove(run string) error {
	if f.blobs != nil {
		if err := f.record.DropFiles(context.Background(), run); err != nil {
			return err
		}
	}
	return f.Folder.Remove(run)
}

// Expire removes the files of runs of which nothing was saved since a time, save those that keep is true of.
func (f *files) Expire(since time.Time, keep func(run string) bool) error {
	err := f.Folder.Expire(since, keep)
	if f.blobs != nil {
		err = errors.Join(err, f.record.ExpireFiles(context.Background(), since, keep))
	}
	return err
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
