package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

var (
	target = review.Target{Repo: review.Repo{Host: "github.com", Owner: "octo", Name: "demo"}, PR: 7}
	clock  = time.Date(2026, 11, 20, 22, 15, 0, 123456000, time.UTC)
)

const (
	run1 = "20261120T221500Z_4f1c0a9b8d7e6f50"
	run2 = "20261120T221600Z_4f1c0a9b8d7e6f50"
	run3 = "20261121T080000Z_99aa0a9b8d7e6f51"
)

// open opens a store whose clock goes on by one second each time it is asked.
func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Address: path})
	if err != nil {
		t.Fatal(err)
	}
	tick := clock.Add(-time.Second)
	s.now = func() time.Time { tick = tick.Add(time.Second); return tick }
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func fresh(t *testing.T) *Store { return open(t, filepath.Join(t.TempDir(), "state", "prloop.db")) }

func create(t *testing.T, s *Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, reviewID, _ := strings.Cut(id, "_")
		if err := s.CreateRun(t.Context(), Run{ID: id, ReviewID: reviewID, Target: target, Head: "abc", Artifacts: "/runs/" + id}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunLife(t *testing.T) {
	s := fresh(t)
	create(t, s, run1, run1) // twice: a resumed run says it again
	want := Run{ID: run1, ReviewID: "4f1c0a9b8d7e6f50", Target: target, Head: "abc", State: Running, Artifacts: "/runs/" + run1, Created: clock, Updated: clock}
	got, err := s.Run(t.Context(), run1)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("created run: %v\n%s", err, diff)
	}
	result := review.RunResult{Run: run1, Target: target, Outcome: review.ChangesRequested, Reason: "P1", Round: 1, Comments: []string{"https://github.com/octo/demo/pull/7#issuecomment-1"}}
	if err := s.FinishRun(t.Context(), result); err != nil {
		t.Fatal(err)
	}
	got, err = s.Run(t.Context(), run1)
	if err != nil || got.State != Finished || got.Outcome != review.ChangesRequested || got.Result == nil || !got.Updated.After(got.Created) {
		t.Fatalf("finished run = %+v, %v", got, err)
	}
	if diff := cmp.Diff(result, *got.Result, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if err := s.FinishRun(t.Context(), review.RunResult{Run: "unknown"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("finish an unknown run: %v", err)
	}
}

func TestRunLookup(t *testing.T) {
	s := fresh(t)
	create(t, s, run1, run2, run3)
	tests := []struct {
		name, part string
		want       string
		several    int
	}{
		{"the whole id", run2, run2, 0},
		{"the beginning, up to where it differs", "20261120T2216", run2, 0},
		{"the beginning of the review id", "99aa", run3, 0},
		{"the end", "6f51", run3, 0},
		{"the day", "20261121", run3, 0},
		{"a beginning of two", "20261120", "", 2},
		{"a review id of two runs", "4f1c", "", 2},
		{"all of them", "2", "", 3},
		{"an underscore is no wildcard", "20261120T221600Z_____", "", 0},
		{"a percent sign neither", "%", "", 0},
		{"nothing", "", "", 0},
		{"longer than an id", run1 + "0", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Run(t.Context(), tt.part)
			var several *AmbiguousError
			switch {
			case tt.want != "":
				if err != nil || got.ID != tt.want {
					t.Errorf("got %q, %v; want %q", got.ID, err, tt.want)
				}
			case tt.several > 0:
				if !errors.As(err, &several) || len(several.IDs) != tt.several {
					t.Errorf("got %q, %v; want %d runs to be named", got.ID, err, tt.several)
				}
			case !errors.Is(err, ErrNotFound):
				t.Errorf("got %q, %v; want not found", got.ID, err)
			}
		})
	}
}

func TestListRuns(t *testing.T) {
	s := fresh(t)
	create(t, s, run1, run2)
	other := review.Target{Repo: review.Repo{Owner: "octo", Name: "other"}, PR: 8}
	if err := s.CreateRun(t.Context(), Run{ID: run3, Target: other}); err != nil {
		t.Fatal(err)
	}
	if err := s.FinishRun(t.Context(), review.RunResult{Run: run2, Outcome: review.Converged}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		f    Filter
		want []string
	}{
		{"all, newest first", Filter{}, []string{run3, run2, run1}},
		{"a repository", Filter{Repo: "octo/demo"}, []string{run2, run1}},
		{"a pull request", Filter{PR: 8}, []string{run3}},
		{"running", Filter{State: Running}, []string{run3, run1}},
		{"an outcome", Filter{Outcome: review.Converged}, []string{run2}},
		{"since", Filter{Since: clock.Add(time.Second)}, []string{run3, run2}},
		{"several at once", Filter{Repo: "octo/demo", PR: 7, State: Running, Since: clock}, []string{run1}},
		{"a limit", Filter{Limit: 1}, []string{run3}},
		{"none", Filter{Repo: "octo/none"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs, err := s.ListRuns(t.Context(), tt.f)
			var got []string
			for _, r := range runs {
				got = append(got, r.ID)
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func round(n int, findings ...review.Finding) Round {
	return Round{
		Run: run1, Number: n, Findings: findings,
		Verdict: review.Verdict{Consensus: review.RequestChanges, Issues: review.Counts{P1: 1}, Rules: []int{2, 3}},
		Receipt: review.Receipt{HeadSHA: "abc", Agents: []review.AgentReceipt{
			{Name: "priced", Role: review.RoleReviewer, Usage: review.Usage{LLMCalls: 2, InputTokens: ptr(100), CostUSD: ptr(0.25)}},
			{Name: "unpriced", Role: review.RoleReviewer, Usage: review.Usage{LLMCalls: 1}},
			{Name: "static", Role: review.RoleReviewer},
		}},
	}
}

func TestRoundsAreReplacedWhole(t *testing.T) {
	s := fresh(t)
	create(t, s, run1)
	a := review.Finding{ID: "SEC-1", Priority: review.P1, File: "a.go", Line: ptr(3), Source: review.Source{Type: "agent", Name: "priced"}, Fingerprint: "f1"}
	b := review.Finding{ID: "SEC-2", Priority: review.P2, File: "b\n.go"}
	for _, r := range []Round{round(1, b), round(2), round(1, a, b)} {
		if err := s.SaveRound(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Rounds(t.Context(), run1)
	if diff := cmp.Diff([]Round{round(1, a, b), round(2)}, got, cmpopts.IgnoreFields(Round{}, "Saved"), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := s.SaveRound(t.Context(), Round{Run: "unknown", Number: 1}); err == nil {
		t.Error("a round of an unknown run was saved")
	}
	// An agent named twice breaks the whole round: what was there before stays.
	broken := round(1, a)
	broken.Receipt.Agents = append(broken.Receipt.Agents, broken.Receipt.Agents[0])
	if err := s.SaveRound(t.Context(), broken); err == nil {
		t.Fatal("an agent named twice was saved")
	}
	if got, err := s.Rounds(t.Context(), run1); err != nil || len(got) != 2 || len(got[0].Findings) != 2 {
		t.Errorf("after a refused round: %+v, %v", got, err)
	}
	want := Spent{Runs: 1, LLMCalls: 6, CostUSD: 0.5, Unpriced: 2}
	for _, row := range []struct {
		repo        string
		pr          int
		run         string
		own, others Spent
	}{
		{"", 7, "", Spent{}, want},
		{"octo/demo", 7, run2, Spent{}, want},
		{"octo/demo", 7, run1, want, Spent{}}, // its own is told apart
		{"octo/demo", 8, run1, Spent{}, Spent{}},
	} {
		if own, others, err := s.Spent(t.Context(), row.repo, row.pr, clock, row.run); err != nil || own != row.own || others != row.others {
			t.Errorf("spent on %q %d by %q: %+v and %+v, %v; want %+v and %+v", row.repo, row.pr, row.run, own, others, err, row.own, row.others)
		}
	}
}

func effect(nonce string, n int) effects.Effect {
	return effects.Effect{Kind: "test", Key: fmt.Sprint(n), Nonce: nonce, Run: run1, Target: target, Head: "abc", Payload: "text of " + nonce}
}

// The arrows of the package comment, and none besides (threats.md "Outbox").
func TestOutboxStates(t *testing.T) {
	ctx := context.Background()
	sending := func(s *Store) error { return s.Sending(ctx, "n1") }
	ack := func(s *Store) error { return s.Ack(ctx, "n1", "url") }
	ackOther := func(s *Store) error { return s.Ack(ctx, "n1", "other url") }
	absent := func(s *Store) error { return s.Absent(ctx, "n1") }
	tests := []struct {
		name     string
		before   []func(*Store) error
		do       func(*Store) error
		want     OutboxState // empty: refused
		attempts int
	}{
		{"an intent is sent", nil, sending, StateSent, 1},
		{"an intent nobody sent cannot be answered", nil, ack, "", 0},
		{"an intent is not looked for", nil, absent, "", 0},
		{"what may have been sent is not sent again", []func(*Store) error{sending}, sending, "", 1},
		{"the answer comes (threats.md K15)", []func(*Store) error{sending}, ack, StateAcked, 1},
		{"the answer is read twice", []func(*Store) error{sending, ack}, ack, StateAcked, 1},
		{"two comments for one nonce are the alarm", []func(*Store) error{sending, ack}, ackOther, "", 1},
		{"it is not there (threats.md K13)", []func(*Store) error{sending}, absent, StateAbsent, 1},
		{"absent, so sent again", []func(*Store) error{sending, absent}, sending, StateSent, 2},
		{"absent, but found after all", []func(*Store) error{sending, absent}, ack, StateAcked, 1},
		{"what GitHub has is never absent", []func(*Store) error{sending, ack}, absent, "", 1},
		{"what GitHub has is never sent (threats.md K16)", []func(*Store) error{sending, ack}, sending, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fresh(t)
			create(t, s, run1)
			if _, err := s.Intent(ctx, effect("n1", 1)); err != nil {
				t.Fatal(err)
			}
			for _, f := range tt.before {
				if err := f(s); err != nil {
					t.Fatal(err)
				}
			}
			err := tt.do(s)
			if tt.want == "" && !errors.Is(err, ErrState) || tt.want != "" && err != nil {
				t.Fatalf("err = %v", err)
			}
			all, err := s.Outbox(ctx, run1)
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			if tt.want != "" && all[0].State != tt.want || all[0].Attempts != tt.attempts {
				t.Errorf("entry = %+v, want %s after %d attempts", all[0], tt.want, tt.attempts)
			}
		})
	}
}

// threats.md K12, K17: what was intended is said again as it was, in order, whatever the resumed run comes up with.
func TestIntentIsKept(t *testing.T) {
	ctx, s := t.Context(), fresh(t)
	create(t, s, run1)
	for i, nonce := range []string{"n1", "n2"} {
		got, err := s.Intent(ctx, effect(nonce, i+1))
		if err != nil || got.Nonce != nonce || got.Target != target || !got.SentAt.IsZero() {
			t.Fatalf("intent = %+v, %v", got, err)
		}
	}
	again, err := s.Intent(ctx, effect("n9", 2))
	if err != nil || again.Nonce != "n2" || again.Payload != "text of n2" {
		t.Errorf("intended again = %+v, %v; want the first entry", again, err)
	}
	all, err := s.Outbox(ctx, run1)
	if err != nil || len(all) != 2 || all[0].Key != "1" || all[1].Key != "2" || all[0].State != StateIntent || all[0].Created.IsZero() {
		t.Errorf("outbox = %+v, %v", all, err)
	}
	if err := s.Sending(ctx, "n9"); !errors.Is(err, ErrNotFound) {
		t.Errorf("sending an unknown nonce: %v", err)
	}
	for name, e := range map[string]effects.Effect{
		"no nonce": {Kind: "test", Key: "3", Run: run1}, "no kind": {Key: "3", Nonce: "n", Run: run1}, "no key": {Kind: "test", Nonce: "n", Run: run1},
		"of no run": {Kind: "test", Key: "3", Nonce: "n", Run: "none"}, "another's nonce": effect("n1", 3),
	} {
		if _, err := s.Intent(ctx, e); err == nil {
			t.Errorf("%s: was recorded", name)
		}
	}
	if _, err := s.write.Exec(`UPDATE effects SET payload = 'other text' WHERE nonce = 'n1'`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Outbox(ctx, run1); err == nil {
		t.Error("a text that is not the intended one was given out")
	}
}

// threats.md "Outbox": what may have been sent is looked for as who sent it, whoever resumes the run.
func TestAccountIsWhoSentIt(t *testing.T) {
	ctx, s := t.Context(), fresh(t)
	create(t, s, run1)
	mona, octo := review.Person{Login: "mona", ID: 7}, review.Person{Login: "octo[bot]", ID: 1 << 40}
	step := func(what string, by, want review.Person, do func() error) {
		t.Helper()
		if do != nil {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		e := effect("n1", 1)
		e.As = by
		if got, err := s.Intent(ctx, e); err != nil || got.As != want {
			t.Errorf("%s: the account is %+v, %v; want %+v", what, got.As, err, want)
		}
	}
	sending := func() error { return s.Sending(ctx, "n1") }
	step("nobody is known", review.Person{}, review.Person{}, nil)
	step("intended", mona, mona, nil)
	step("intended again by another", octo, octo, nil)
	step("sent", mona, octo, sending)
	step("absent, so another may send it", mona, mona, func() error { return s.Absent(ctx, "n1") })
	step("sent again", octo, mona, sending)
	step("acknowledged", octo, mona, func() error { return s.Ack(ctx, "n1", "url") })
}

func TestMarkerKey(t *testing.T) {
	s := fresh(t)
	gen := func(b byte) func() []byte { return func() []byte { return bytes.Repeat([]byte{b}, 32) } }
	if _, err := s.MarkerKey(t.Context(), func() []byte { return []byte("short") }); err == nil {
		t.Error("a short key was taken")
	}
	for _, b := range []byte{1, 2} {
		if key, err := s.MarkerKey(t.Context(), gen(b)); err != nil || !bytes.Equal(key, gen(1)()) {
			t.Errorf("key = %x, %v; want the first", key, err)
		}
	}
}

// What a run spent is kept as it was said last.
func TestSpending(t *testing.T) {
	s, err := Open(t.Context(), Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, want := range []Spending{{}, {1, 2, 3, 0.5}, {2, 2, 4, 0.25}} {
		if want != (Spending{}) {
			if err := s.SaveSpending(t.Context(), "one", want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Spending(t.Context(), "one"); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
}
