package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
)

// All that knows the outbox stands in this file.

// intend records that something is to be said in a round of a run.
func intend(ctx context.Context, s *store.Store, run, nonce string, round int) (string, error) {
	e, err := s.Intent(ctx, effects.Effect{
		Kind: "test", Key: fmt.Sprintf("%s/%d", run, round), Nonce: nonce, Run: run, Target: target, Head: "abc", Payload: "text of " + nonce,
	})
	return e.Nonce, err
}

// ack records that it was said.
func ack(ctx context.Context, s *store.Store, nonce string, id int) error {
	return s.Ack(ctx, nonce, fmt.Sprintf("https://example.com/%d", id))
}

// sentInTheFirstVersion is an entry that may have been sent, as tables of version 1 hold it.
const sentInTheFirstVersion = `INSERT INTO outbox (nonce, run, round, op, part, parts, target, head, body, body_hash, state, attempts, created, sent_at, comment_url)
	VALUES ('n1', '` + run1 + `', 1, 'report', 1, 1, '{}', 'abc', 'x', '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881', 'sent', 1, 1, 2, '')`

// wantSent wants that entry.
func wantSent(t *testing.T, s *store.Store) {
	t.Helper()
	all, err := s.Outbox(t.Context(), run1)
	if err != nil || len(all) != 1 || all[0].Nonce != "n1" || all[0].State != store.StateSent || all[0].SentAt.UnixMicro() != 2 {
		t.Errorf("outbox: %+v, %v; want the entry that may have been sent", all, err)
	}
}

func testOutbox(t *testing.T, b Backend) {
	ctx, s := t.Context(), open(t, b.New(t))
	must(t, create(ctx, s, run1))
	nonce, err := intend(ctx, s, run1, "n1", 1)
	if err != nil || nonce != "n1" {
		t.Fatalf("%q, %v", nonce, err)
	}
	if nonce, err := intend(ctx, s, run1, "n2", 1); err != nil || nonce != "n1" { // said again as it was
		t.Errorf("intended again: %q, %v; want the first", nonce, err)
	}
	if _, err := intend(ctx, s, "unknown", "n3", 1); err == nil {
		t.Error("an entry of an unknown run was recorded")
	}
	for i, step := range []struct {
		do   func() error
		want error
	}{
		{func() error { return ack(ctx, s, "n1", 1) }, store.ErrState},
		{func() error { return s.Absent(ctx, "n1") }, store.ErrState},
		{func() error { return s.Sending(ctx, "n1") }, nil},
		{func() error { return s.Sending(ctx, "n1") }, store.ErrState},
		{func() error { return s.Absent(ctx, "n1") }, nil},
		{func() error { return s.Sending(ctx, "n1") }, nil},
		{func() error { return ack(ctx, s, "n1", 1) }, nil},
		{func() error { return ack(ctx, s, "n1", 1) }, nil},
		{func() error { return ack(ctx, s, "n1", 2) }, store.ErrState},
		{func() error { return s.Absent(ctx, "n1") }, store.ErrState},
		{func() error { return s.Sending(ctx, "n1") }, store.ErrState},
		{func() error { return s.Sending(ctx, "unknown") }, store.ErrNotFound},
	} {
		if err := step.do(); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
	}
	all, err := s.Outbox(ctx, run1)
	if err != nil || len(all) != 1 || all[0].State != store.StateAcked || all[0].Attempts != 2 {
		t.Errorf("outbox: %+v, %v", all, err)
	}
}
