package app

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/prloop/prloop/internal/blobs"
	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// bucket is a server that speaks S3, and fails as it is told.
type bucket struct {
	address string
	mode    atomic.Value // of string
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("prloop"); err != nil {
		t.Fatal(err)
	}
	b := &bucket{}
	b.mode.Store("")
	real := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch b.mode.Load() {
		case "down":
			panic(http.ErrAbortHandler)
		case "500":
			http.Error(w, "no", http.StatusInternalServerError)
			return
		case "slow":
			time.Sleep(300 * time.Millisecond)
		case "half written":
			if r.Method == http.MethodPut {
				_, _ = r.Body.Read(make([]byte, 2))
				panic(http.ErrAbortHandler)
			}
		case "wrong bytes":
			if r.Method == http.MethodGet {
				w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
				w.Header().Set("ETag", `"x"`)
				_, _ = w.Write([]byte("forged"))
				return
			}
		}
		real.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.address = "s3://prloop/p?region=us-east-1&endpoint=" + server.URL
	return b
}

// machine opens the files of a machine of its own, on a record that machines share.
func (b *bucket) machine(t *testing.T, record *store.Store) *files {
	t.Helper()
	s, err := blobs.Open(b.address, func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret-of-the-store"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFiles(t.TempDir(), record, s, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	f.stop() // the test says when
	f.ended.Wait()
	t.Cleanup(f.Close)
	return f
}

func recordOf(t *testing.T) *store.Store {
	t.Helper()
	record, err := store.Open(t.Context(), store.Options{Address: database.SQLite + ":" + filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { record.Close() })
	return record
}

// What one machine saves another reads, whatever the store did meanwhile: nothing is lost, nothing is taken that was not saved, and what waits is counted.
func TestMachinesShareFiles(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"down", "500", "half written", "slow"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b, record := newBucket(t), recordOf(t)
			here, there := b.machine(t, record), b.machine(t, record)
			b.mode.Store(mode)
			if err := errors.Join(here.Save(t.Context(), "r1", "review.md", []byte("first")), here.Save(t.Context(), "r1", "review.md", []byte("second"))); err != nil {
				t.Fatal(err)
			}
			if data, err := here.Load("r1", "review.md"); err != nil || string(data) != "second" {
				t.Errorf("here: %q, %v", data, err)
			}
			here.once(t.Context())
			if mode != "slow" {
				if _, err := there.Load("r1", "review.md"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "on another machine") {
					t.Errorf("there, while it fails: %v", err)
				}
				if u, err := record.Unkept(t.Context()); err != nil || u.Files != 1 || u.Oldest.IsZero() || !here.failing {
					t.Errorf("%+v waits, %v; failing %v", u, err, here.failing)
				}
				b.mode.Store("")
				here.once(t.Context())
			}
			data, err := there.Load("r1", "review.md")
			names, failed := there.Names("r1")
			if err != nil || string(data) != "second" || failed != nil || len(names) != 1 || !there.Kept("r1") {
				t.Errorf("there: %q, %v; %v, %v", data, err, names, failed)
			}
			if u, err := record.Unkept(t.Context()); err != nil || u.Files != 0 || here.failing {
				t.Errorf("%+v waits, %v", u, err)
			}
		})
	}
}

func TestWrongBytesAreRefused(t *testing.T) {
	t.Parallel()
	b, record := newBucket(t), recordOf(t)
	here, there := b.machine(t, record), b.machine(t, record)
	if err := here.Save(t.Context(), "r1", "review.md", []byte("what was said")); err != nil {
		t.Fatal(err)
	}
	here.once(t.Context())
	b.mode.Store("wrong bytes")
	if data, err := there.Load("r1", "review.md"); !errors.Is(err, ErrDamaged) || data != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// A machine that wakes late replaces nothing that another saved since; what a run was asked is not read from the store.
func TestALateMachineReplacesNothing(t *testing.T) {
	t.Parallel()
	b, record := newBucket(t), recordOf(t)
	late, there, third := b.machine(t, record), b.machine(t, record), b.machine(t, record)
	if err := errors.Join(there.Save(t.Context(), "r1", "empty", nil), late.Save(t.Context(), "r1", "x", []byte("old")), there.Save(t.Context(), "r1", "x", []byte("new")), there.Save(t.Context(), "r1", requestName, []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	there.once(t.Context())
	late.once(t.Context())
	for _, f := range []*files{late, third} {
		if data, err := f.Load("r1", "x"); err != nil || string(data) != "new" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if data, err := third.Load("r1", "empty"); err != nil || data == nil || len(data) > 0 {
		t.Errorf("an empty file: %q, %v", data, err)
	}
	if _, err := third.Load("r1", requestName); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the request: %v", err)
	}
}

// What is removed or expired goes from the store too, once that answers.
func TestRemovedFilesLeaveTheStore(t *testing.T) {
	t.Parallel()
	b, record := newBucket(t), recordOf(t)
	here, there := b.machine(t, record), b.machine(t, record)
	for _, run := range []string{"r1", "r2", "r3"} {
		if err := here.Save(t.Context(), run, "x", []byte(run)); err != nil {
			t.Fatal(err)
		}
	}
	here.once(t.Context())
	r1, err := record.Files(t.Context(), "r1")
	if err != nil || len(r1) != 1 || !r1[0].Kept {
		t.Fatalf("%+v, %v", r1, err)
	}
	b.mode.Store("500")
	if err := there.Remove("r1"); err != nil {
		t.Fatal(err)
	}
	there.once(t.Context())
	if runs, err := record.DroppedFiles(t.Context(), 10); err != nil || len(runs) != 1 {
		t.Errorf("to be removed: %v, %v", runs, err)
	}
	b.mode.Store("")
	there.once(t.Context())
	if data, err := there.blobs.Get(t.Context(), blobName(r1[0]), 10); !errors.Is(err, blobs.ErrMissing) {
		t.Errorf("removed: %q, %v", data, err)
	}
	if data, err := there.Load("r2", "x"); err != nil || string(data) != "r2" {
		t.Errorf("another run: %q, %v", data, err)
	}
	if err := there.Expire(time.Now().Add(time.Minute), func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	there.once(t.Context())
	if there.Kept("r2") || there.Kept("r3") {
		t.Error("files of old runs are kept")
	}
}

// A process that ends between the upload and its record (threats.md K78) uploads again.
func TestUploadedAndNotRecorded(t *testing.T) {
	b, record := newBucket(t), recordOf(t)
	here, there := b.machine(t, record), b.machine(t, record)
	if err := here.Save(t.Context(), "r1", "x", []byte("what was said")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { failpoint.Arm(nil) })
	hit := 0
	failpoint.Arm(func(name string) error {
		if name != "blobs: uploaded" {
			return nil
		}
		hit++
		return errors.New("the process ended")
	})
	here.once(t.Context())
	if u, err := record.Unkept(t.Context()); err != nil || u.Files != 1 {
		t.Errorf("%+v, %v", u, err)
	}
	failpoint.Arm(nil)
	if hit != 1 {
		t.Errorf("the point was hit %d times", hit)
	}
	here.once(t.Context())
	if data, err := there.Load("r1", "x"); err != nil || string(data) != "what was said" {
		t.Errorf("%q, %v", data, err)
	}
}

// Files that cannot be given keep no others from the store, however many there are (threats.md T290).
func TestFilesThatCannotBeGivenHoldNobodyUp(t *testing.T) {
	t.Parallel()
	b, record := newBucket(t), recordOf(t)
	here, there := b.machine(t, record), b.machine(t, record)
	for i := range 2 * blobsAtOnce { // a process that died between folder and record
		name := fmt.Sprint(i)
		if err := errors.Join(here.Save(t.Context(), "dead", name, []byte("a")), here.Folder.Save("dead", name, []byte("b"))); err != nil {
			t.Fatal(err)
		}
	}
	unread := filepath.Join(here.Path("unread"), "agent")
	if err := errors.Join(here.Save(t.Context(), "unread", "agent/answer.json", []byte("a")), os.RemoveAll(unread), os.WriteFile(unread, nil, 0o600),
		here.Save(t.Context(), "alive", "review.md", []byte("what was said"))); err != nil {
		t.Fatal(err)
	}
	here.once(t.Context())
	if data, err := there.Load("alive", "review.md"); err != nil || string(data) != "what was said" {
		t.Errorf("%q, %v", data, err)
	}
	if u, err := record.Unkept(t.Context()); err != nil || u.Files != 2*blobsAtOnce+1 || !here.failing {
		t.Errorf("%+v, %v; failing %v", u, err, here.failing)
	}
}

// A run that goes on keeps its files in the store, however old they are, and what is saved while older ones are removed comes back.
func TestRunsThatGoOnKeepTheirFiles(t *testing.T) {
	t.Parallel()
	b, record := newBucket(t), recordOf(t)
	here, there := b.machine(t, record), b.machine(t, record)
	said := []byte("what was said")
	if err := here.Save(t.Context(), "r1", "x", said); err != nil {
		t.Fatal(err)
	}
	here.once(t.Context())
	if err := here.Expire(time.Now().Add(time.Hour), func(run string) bool { return run == "r1" }); err != nil {
		t.Fatal(err)
	}
	here.once(t.Context())
	if data, err := there.Load("r1", "x"); err != nil || string(data) != string(said) {
		t.Errorf("kept: %q, %v", data, err)
	}
	if err := errors.Join(record.DropFiles(t.Context(), "r1"), here.Save(t.Context(), "r1", "x", said)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(here.upload(t.Context()), there.blobs.Remove(t.Context(), blobFolder("r1")), record.ForgetFiles(t.Context(), "r1")); err != nil {
		t.Fatal(err)
	}
	here.once(t.Context())
	if data, err := there.Load("r1", "x"); err != nil || string(data) != string(said) {
		t.Errorf("saved again: %q, %v", data, err)
	}
}

// Whoever can write to the database has nothing removed but files of runs (threats.md T291).
func TestForgedRunsRemoveNothingElse(t *testing.T) {
	t.Parallel()
	b, record := newBucket(t), recordOf(t)
	here := b.machine(t, record)
	other, err := blobs.Open(strings.Replace(b.address, "/p?", "/other?", 1), func(string) string { return "x" })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Put(t.Context(), "thing", []byte("x")), here.Save(t.Context(), "r1", "x", []byte("x"))); err != nil {
		t.Fatal(err)
	}
	here.once(t.Context())
	for _, run := range []string{"../../other", "..", ".", "", "r1/../../../other"} {
		if err := errors.Join(record.SaveFile(t.Context(), store.File{Run: run, Name: "x", Sum: sum(nil), Place: "nobody"}), record.DropFiles(t.Context(), run), here.remove(t.Context())); err != nil {
			t.Errorf("%q: %v", run, err)
		}
		if err := here.blobs.Remove(t.Context(), blobFolder(run)); err == nil {
			t.Errorf("%q: a name that leaves the folder of runs is taken", run)
		}
		if left, err := record.DroppedFiles(t.Context(), 10); err != nil || len(left) > 0 {
			t.Errorf("%q: %q wait, %v", run, left, err)
		}
	}
	if _, err := other.Get(t.Context(), "thing", 10); err != nil {
		t.Error(err)
	}
	if _, err := here.blobs.Get(t.Context(), blobFolder("r1")+"/"+sum([]byte("x")), 10); err != nil {
		t.Error(err)
	}
}

// A process that was stopped until its lease was over and wakes records nothing over what another recorded since (threats.md T292).
func TestAStaleRunRecordsNothing(t *testing.T) {
	t.Parallel()
	b, record := newBucket(t), recordOf(t)
	late, there := b.machine(t, record), b.machine(t, record)
	lease, err := record.Lease(t.Context(), "o/r#1", "r1", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	stale := recorder{record, late, lease}
	if err := stale.Save(t.Context(), "r1", "answer.json", []byte("early")); err != nil {
		t.Fatal(err)
	}
	next, err := record.Lease(t.Context(), "o/r#1", "r1", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := (recorder{record, there, next}).Save(t.Context(), "r1", "answer.json", []byte("judged")); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"a file": stale.Save(t.Context(), "r1", "answer.json", []byte("late")), "a round": stale.Round(t.Context(), review.RunResult{Run: "r1", Round: 1}),
		"the end": stale.Finish(t.Context(), review.RunResult{Run: "r1"}),
	} {
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("%s: %v", what, err)
		}
	}
	there.once(t.Context())
	if data, err := there.Load("r1", "answer.json"); err != nil || string(data) != "judged" {
		t.Errorf("%q, %v", data, err)
	}
}
