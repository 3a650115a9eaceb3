package queue

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

func open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A pause keeps the time at which it began, whoever pauses again, and its end lets at once begin what was put off because of it.
func TestPause(t *testing.T) {
	ctx, s := t.Context(), open(t)
	paused := func() time.Time {
		t.Helper()
		at, err := Paused(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if !paused().IsZero() {
		t.Error("paused before anybody asked for it")
	}
	const first = "2026-11-16T12:00:00Z"
	if err := s.SetNote(ctx, pausedNote, first); err != nil {
		t.Fatal(err)
	}
	if err := Pause(ctx, s); err != nil {
		t.Fatal(err)
	}
	if got := paused().Format(time.RFC3339); got != first {
		t.Errorf("a second pause moves the first to %s", got)
	}
	subject := store.Subject("github.com/acme/shop", 7, 0)
	if err := s.Want(ctx, store.Want{Subject: subject, Repo: "github.com/acme/shop", PR: 7, Priority: intake.First}); err != nil {
		t.Fatal(err)
	}
	if err := s.Postpone(ctx, subject, 24*time.Hour, store.Settled{Outcome: store.Waits, Why: "the queue is paused"}); err != nil {
		t.Fatal(err)
	}
	was, err := s.Wanted(ctx, subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := Unpause(ctx, s); err != nil {
		t.Fatal(err)
	}
	is, err := s.Wanted(ctx, subject)
	if err != nil || !is.Due.Before(was.Due) || !paused().IsZero() {
		t.Errorf("due %s, then %s, %v; paused since %s", was.Due, is.Due, err, paused())
	}
	if err := s.SetNote(ctx, pausedNote, "yesterday"); err != nil {
		t.Fatal(err)
	}
	if at, err := Paused(ctx, s); err == nil || at.IsZero() {
		t.Errorf("a note that cannot be read lets reviews begin: %v, %v", at, err)
	}
	if err := Pause(ctx, s); err == nil {
		t.Error("a note that cannot be read is written over")
	}
}

// What runs, waits and was seen to stands in the words of people, within the limit, and who may see one repository sees nothing of another.
func TestRead(t *testing.T) {
	ctx, s := t.Context(), open(t)
	st, err := Read(ctx, s, nil, nil, 10)
	if err != nil || !st.Empty() {
		t.Errorf("at first: %+v, %v", st, err)
	}
	for i, repo := range []string{"github.com/acme/shop", "github.com/acme/secret", "ghe.example.com/acme/shop"} {
		w := store.Want{Subject: store.Subject(repo, 7+i, 0), Repo: repo, PR: 7 + i, Priority: []uint{intake.Command, intake.First, intake.Again}[i], Key: review.RepoKey(fmt.Sprintf("github.com/%d", 5+i))}
		if _, err := s.Deliver(ctx, store.Delivery{GUID: repo, Event: "pull_request", Action: "opened"}, w); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Deliver(ctx, store.Delivery{GUID: "ping", Event: "ping", Why: "GitHub asks whether anybody is there"}); err != nil {
		t.Fatal(err)
	}
	done := store.Settled{Outcome: "converged", Why: "no findings", Run: "20261116T120000Z_a"}
	if err := s.Settle(ctx, store.Subject("github.com/acme/secret", 8, 0), 1, done); err != nil {
		t.Fatal(err)
	}
	running := []store.Run{{ID: "20261116T120000Z_b", State: store.Running, Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "secret"}, PR: 9}}}
	if st, err = Read(ctx, s, running, nil, 10); err != nil || st.Empty() {
		t.Fatal(st, err)
	}
	whats := func(items []Item) (out []string) {
		for _, i := range items {
			out = append(out, i.What+", "+i.Priority)
		}
		return out
	}
	for name, row := range map[string]struct{ got, want any }{
		"waiting":    {whats(st.Waiting), []string{"github.com/acme/shop#7, asked for", "ghe.example.com/acme/shop#9, changed"}},
		"seen to":    {whats(st.SeenTo), []string{"github.com/acme/secret#8, new"}},
		"running":    {st.Running[0].What, "acme/secret#9"},
		"deliveries": {len(st.Deliveries), 1},
	} {
		if diff := cmp.Diff(row.want, row.got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	own := st.Of(func(key review.RepoKey) bool { return key == "github.com/5" })
	if diff := cmp.Diff([]string{"github.com/acme/shop#7, asked for"}, whats(own.Waiting)); diff != "" || len(own.Running)+len(own.SeenTo)+len(own.Deliveries)+len(own.Processes) > 0 {
		t.Errorf("of one repository: %+v\n%s", own, diff)
	}
	if len(st.Waiting) != 2 || len(st.Running) != 1 {
		t.Error("the part takes from the whole")
	}
	if st, err = Read(ctx, s, running, nil, 1); err != nil || len(st.Waiting) != 1 {
		t.Errorf("a limit of one: %+v, %v", st.Waiting, err)
	}
}

// Why something waits is said where it is known.
func TestWaits(t *testing.T) {
	for want, i := range map[string]Item{
		"its turn has not come":                       {Why: "no findings", Outcome: "converged"},
		"the queue is paused":                         {Why: "the queue is paused", Outcome: store.Waits},
		"it failed, and is tried again in 30s: gone.": {Why: "it failed, and is tried again in 30s: gone.", Outcome: "failed", Tries: 1},
	} {
		if got := i.Waits(); got != want {
			t.Errorf("%+v: %q, want %q", i, got, want)
		}
	}
	if got := (Item{Outcome: store.Waits}).Waits(); got != "its turn has not come" {
		t.Errorf("without a reason: %q", got)
	}
}

// What GitHub gives nothing of is noted once, with when that began, until it is had again, and is nothing for those who see one repository.
func TestUnread(t *testing.T) {
	ctx, s := t.Context(), open(t)
	set := func(repo, why string, want bool) {
		t.Helper()
		if isNew, err := SetUnread(ctx, s, repo, why); isNew != want || err != nil {
			t.Errorf("%s, %q: %v, %v", repo, why, isNew, err)
		}
	}
	set("acme/a", "", false)
	set("acme/a", "not found", true)
	set("acme/a", "not found", false)
	set("acme/b", "not found", true)
	first, err := AllUnread(ctx, s)
	if err != nil || len(first) != 2 {
		t.Fatal(first, err)
	}
	set("acme/a", "not permitted", true)
	set("acme/b", "", true)
	st, err := Read(ctx, s, nil, nil, 10)
	if err != nil || len(st.Unread) != 1 || st.Unread[0] != (Unread{"acme/a", "not permitted", first[0].Since}) || st.Empty() {
		t.Errorf("%+v, %v", st.Unread, err)
	}
	if of := st.Of(func(review.RepoKey) bool { return true }); len(of.Unread) > 0 {
		t.Errorf("others see %+v", of.Unread)
	}
	if err := NoneUnread(ctx, s); err != nil {
		t.Fatal(err)
	}
	set("acme/a", "", false)
}
