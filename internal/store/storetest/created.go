package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
)

// testPlaces: of processes that choose for one account at once, each sees what the others chose.
func testPlaces(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	const each = 20
	first := open(t, address)
	must(t, first.Want(ctx, store.Want{Subject: "github.com/o/r#7", Repo: "github.com/o/r", PR: 7}))
	seen, err := first.Wanted(ctx, "github.com/o/r#7")
	must(t, err)
	now := seen.Updated // by the database's clock
	var wg sync.WaitGroup
	for range 2 {
		s := open(t, address)
		for range 2 {
			wg.Go(func() {
				for range each {
					if err := s.Places(ctx, "github.com/mona", func(made []time.Time) []time.Time {
						return append(made, now.Add(time.Duration(len(made))*time.Second))
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	s := open(t, address)
	must(t, s.Places(ctx, "github.com/hubot", func(made []time.Time) []time.Time {
		if len(made) != 0 {
			t.Errorf("another account's places are %v", made)
		}
		return []time.Time{now.Add(-2 * time.Hour)}
	}))
	must(t, s.Places(ctx, "github.com/mona", func(made []time.Time) []time.Time {
		if len(made) != 4*each || !slices.IsSortedFunc(made, time.Time.Compare) || made[0].After(now) {
			t.Errorf("at %v there are %d places: %v", now, len(made), made)
		}
		return []time.Time{now.Add(-2 * time.Hour), now.Add(-time.Minute), now.Add(time.Minute)}
	}))
	all, err := s.Created(ctx)
	if err != nil || len(all) != 1 || all[0].Account != "github.com/mona" || all[0].Hour != 1 || all[0].Waiting != 1 {
		t.Errorf("created: %+v, %v", all, err)
	}
}
