package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
)

// The engine and the store live in one file, whoever makes it, and write to it at the same time.
func TestOneFileWithTheEngine(t *testing.T) {
	for _, first := range []string{"store", "engine"} {
		t.Run("made by the "+first, func(t *testing.T) {
			ctx, path := t.Context(), filepath.Join(t.TempDir(), "prloop.db")
			var s *store.Store
			openStore := func() {
				var err error
				if s, err = store.Open(ctx, store.Options{Address: path}); err != nil {
					t.Fatal(err)
				}
			}
			if first == "store" {
				openStore()
			}
			e, err := engine.Open(ctx, engine.Options{Address: path, Handler: func(ctx context.Context, steps *engine.Steps, in []byte) ([]byte, error) {
				var all []engine.Step
				for i := range 5 {
					all = append(all, engine.Step{Name: fmt.Sprint("say ", i), Fn: func(ctx context.Context) ([]byte, error) {
						nonce := fmt.Sprintf("%s-%d", in, i)
						_, err := s.Intent(ctx, effects.Effect{Kind: "test", Key: nonce, Nonce: nonce, Run: string(in), Payload: "text"})
						return []byte(nonce), errors.Join(err, s.Sending(ctx, nonce), s.Ack(ctx, nonce, "url"))
					}})
				}
				_, errs := steps.All(ctx, all)
				return in, errors.Join(errs...)
			}})
			if err != nil {
				t.Fatal(err)
			}
			if first == "engine" {
				openStore()
			}
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					id := fmt.Sprint("run-", i)
					err := s.CreateRun(ctx, store.Run{ID: id})
					if err == nil {
						_, err = e.Run(ctx, id, []byte(id))
					}
					if err != nil {
						t.Errorf("%s: %v", id, err)
					}
				})
			}
			wg.Wait()
			for i := range 8 {
				if all, err := s.Outbox(ctx, fmt.Sprint("run-", i)); err != nil || len(all) != 5 {
					t.Errorf("run %d: %d entries, %v; want 5", i, len(all), err)
				}
			}
			if err := errors.Join(e.Close(ctx), s.Close()); err != nil {
				t.Fatal(err)
			}
			openStore() // sound, and its tables still known
			if runs, err := s.ListRuns(ctx, store.Filter{}); err != nil || len(runs) != 8 {
				t.Errorf("runs = %d, %v; want 8", len(runs), err)
			}
			s.Close()
		})
	}
}
