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
