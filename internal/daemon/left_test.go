package daemon

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/app"
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
