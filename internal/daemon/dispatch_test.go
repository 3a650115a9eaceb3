package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/webhook"
)

// Reviews that wait and are asked for again keep no others out of the queue, not even less urgent ones, and a restart finds all of them in it.
func TestWhatWaitsKeepsNothingOut(t *testing.T) {
	d := napping(t, app.Options{State: t.TempDir()}, time.Hour, 1, nil)
	d.tick = 10 * time.Millisecond
	queued := func(n int) func() bool {
		return func() bool {
			all, err := d.record.InQueue(t.Context())
			if err != nil {
				t.Error(err)
			}
			return len(all) >= n
		}
	}
	background(t, d.Run)
	wantMany(t, d, 1, batch+10)
	until(t, "the first to stand in the queue", queued(batch+9)) // one is at work
	wantMany(t, d, 1, batch+10)
	subject := store.Subject(fullName(loaded), 1000, 0)
	if err := d.record.Want(t.Context(), store.Want{Subject: subject, Repo: fullName(loaded), PR: 1000, Priority: 9}); err != nil {
		t.Fatal(err)
	}
	until(t, "the last to stand in the queue", func() bool {
		all, err := d.record.InQueue(t.Context())
		return err == nil && slices.Contains(all, subject)
	})
	if err := d.recount(t.Context()); err != nil || !queued(batch+10)() {
		t.Errorf("some that wait are counted as gone: %v", err)
	}
}

// What a process noted as queued and died before adding, and what one began with whose task is gone, is added by the next look.
func TestWhatWasNotAddedIsAdded(t *testing.T) {
	d := napping(t, app.Options{State: t.TempDir()}, 0, 1, nil)
	wantMany(t, d, 1, 2)
	if err := d.record.Queued(t.Context(), store.Subject(fullName(loaded), 1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.record.Begin(t.Context(), store.Subject(fullName(loaded), 2, 0)); err != nil {
		t.Fatal(err)
	}
	background(t, d.Run)
	until(t, "it to be reviewed", func() bool { all, err := d.record.Waiting(t.Context(), nil, 1); return err == nil && len(all) == 0 })
}

// New pull requests come before updated ones, but not before those that wait for long; what people ask for comes first, however late.
func TestWhatWaitsRises(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	at := func(priority uint, waits time.Duration) uint {
		return place(store.Wanted{Want: store.Want{Priority: priority}, Since: now.Add(-waits)})
	}
	order := []uint{
		at(intake.Command, 0), at(intake.Found, time.Hour), at(intake.Again, 2*rise), at(intake.First, rise/2), at(intake.First, 0), at(intake.Again, rise/2), at(intake.Again, 0), at(intake.Found, 0),
	}
	if !slices.IsSorted(order) || len(slices.Compact(slices.Clone(order))) != len(order) {
		t.Errorf("they stand at %d", order)
	}
	if a, b := at(intake.Command, 0), at(intake.Command, time.Hour); a != b || a != intake.Command {
		t.Errorf("what people ask for stands at %d and %d", a, b)
	}
	d := napping(t, app.Options{State: t.TempDir()}, time.Hour, 1, nil)
	wantMany(t, d, 1, 1)
	w, err := d.record.Waiting(t.Context(), nil, 1)
	if err != nil || len(w) != 1 {
		t.Fatal(w, err)
	}
	if err := d.enqueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tasks, err := d.engine.Tasks(t.Context(), reviews); err != nil || len(tasks) != 1 || tasks[0].Priority != place(w[0]) {
		t.Errorf("%+v, %v; want the place %d", tasks, err, place(w[0]))
	}
}

// A comment that nothing is done about lets a review wait that waits; one that was answered has it looked at.
func TestNothingHastensNothing(t *testing.T) {
	d := napping(t, app.Options{State: t.TempDir()}, time.Hour, 1, nil)
	repo := fullName(loaded)
	if err := d.record.Want(t.Context(), store.Want{Subject: store.Subject(repo, 7, 0), Repo: repo, PR: 7, Priority: intake.First}); err != nil {
		t.Fatal(err)
	}
	if err := d.record.Postpone(t.Context(), store.Subject(repo, 7, 0), time.Hour, store.Settled{Outcome: store.Waits}); err != nil {
		t.Fatal(err)
	}
	for i, row := range []struct {
		outcome string
		due     int
	}{{nothing, 0}, {answered, 1}} {
		comment := store.Want{Subject: store.Subject(repo, 7, int64(1+i)), Repo: repo, PR: 7, Comment: int64(1 + i), Priority: intake.Command}
		if err := d.record.Want(t.Context(), comment); err != nil {
			t.Fatal(err)
		}
		w, err := d.record.Begin(t.Context(), comment.Subject)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.settle(t.Context(), w, store.Settled{Outcome: row.outcome}, nil); err != nil {
			t.Fatal(err)
		}
		if due, err := d.record.Due(t.Context(), 10); err != nil || len(due) != row.due {
			t.Errorf("after %s: %+v are due, %v; want %d", row.outcome, due, err, row.due)
		}
	}
}

// A merge queue waits for a status that never comes where its branch requires one: the log says so, once for each time it asks (threats.md T469).
func TestAMergeQueueIsWarnedOf(t *testing.T) {
	d := napping(t, app.Options{State: t.TempDir()}, time.Hour, 1, nil)
	var log strings.Builder
	d.Log = hclog.New(&hclog.LoggerOptions{Output: &log})
	for i, row := range []struct{ action, repo string }{{"checks_requested", fullName(loaded)}, {"destroyed", fullName(loaded)}, {"checks_requested", "github.com/other/one"}} {
		host, name, _ := strings.Cut(row.repo, "/")
		body := fmt.Sprintf(`{"action":%q,"merge_group":{"head_ref":"refs/heads/gh-readonly-queue/main/pr-7-0123"},"repository":{"full_name":%q,"html_url":%q}}`, row.action, name, "https://"+host+"/"+name)
		for range 2 { // it is told of twice
			if err := d.take(t.Context(), webhook.Delivery{GUID: fmt.Sprint(i), Event: "merge_group", Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := strings.Count(log.String(), "prloop sets no status in a merge queue"); n != 1 || !strings.Contains(log.String(), "[WARN]") {
		t.Errorf("the log says it %d times: %s", n, log.String())
	}
}
