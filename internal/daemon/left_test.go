package daemon

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/traffic"
)

// What becomes of a pull request is recorded also when the database does not take it at first: it is seen to again without anybody's word.
func TestLeftIsPutBack(t *testing.T) {
	r := startReplay(t, app.Options{State: t.TempDir()}, false, 1, 1, time.Hour)
	var failures atomic.Int32
	failpoint.Arm(func(name string) error {
		if name == "wanted: before it is settled" && failures.Add(1) <= 2 {
			return errors.New("the database is gone")
		}
		return nil
	})
	defer failpoint.Arm(nil)
	p := r.open(traffic.All()[0], r.repos[0], 1)
	p.is.Draft = false
	r.send(r.write(p, traffic.Event{Kind: opened, By: p.Author}))
	r.settle(p)
	if runs := r.runsOf(p); failures.Load() != 3 || len(runs) != 1 {
		t.Errorf("settled %d times, %d runs; want 3 and 1", failures.Load(), len(runs))
	}
}

// A pull request is looked at again when it changes, though the database did not take that the look before was over (threats.md T687).
func TestALookWhoseEndIsRefused(t *testing.T) {
	state := t.TempDir()
	r := startReplay(t, app.Options{State: state}, false, 1, 1, time.Hour)
	db, err := sql.Open("sqlite", database.SQLiteURI(filepath.Join(state, "prloop.db"), "_pragma=busy_timeout(10000)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TRIGGER refuse BEFORE UPDATE ON workflow_status WHEN NEW.status = 'SUCCESS' BEGIN SELECT RAISE(ABORT, 'no space left'); END`); err != nil {
		t.Fatal(err)
	}
	p := r.open(traffic.All()[0], r.repos[0], 1)
	p.is.Draft = false
	r.send(r.write(p, traffic.Event{Kind: opened, By: p.Author}))
	r.settle(p)
	push := traffic.Event{Kind: traffic.Push, By: p.Author, Commit: "more"}
	r.happens(p, push)
	r.send(r.write(p, push))
	r.settle(p)
	if runs := r.runsOf(p); len(runs) != 2 {
		t.Errorf("%d runs, want one of each commit", len(runs))
	}
}

// A comment that comes while GitHub does not take prloop's credential is looked at again for about an hour: no list tells of it, as lists do of pull requests (threats.md T641).
func TestACommentOutlivesACredential(t *testing.T) {
	d := &Daemon{Options: Options{Lasting: func(error) bool { return true }}}
	err := fmt.Errorf("read the pull request: %w", github.ErrAppKey)
	for tries, want := range map[int]bool{0: false, mostTries - 2: false, mostTries - 1: true} {
		if got := d.last(store.Wanted{Want: store.Want{Comment: 5}, Tries: tries}, err); got != want {
			t.Errorf("after %d tries it is the last: %v", tries, got)
		}
	}
	if !d.last(store.Wanted{}, err) {
		t.Error("a pull request is tried again, which a list tells of")
	}
}
