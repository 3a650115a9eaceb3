package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// testPlaces: of processes that choose for one account at once, each sees what the others chose.
func testPlaces(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	const each = 20
	var wg sync.WaitGroup
	for range 2 {
		s := open(t, address)
		for range 2 {
			wg.Go(func() {
				for range each {
					if err := s.Places(ctx, "github.com/mona", func(now time.Time, made []time.Time) []time.Time {
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
	must(t, s.Places(ctx, "github.com/hubot", func(now time.Time, made []time.Time) []time.Time {
		if len(made) != 0 {
			t.Errorf("another account's places are %v", made)
		}
		return []time.Time{now.Add(-2 * time.Hour)}
	}))
	must(t, s.Places(ctx, "github.com/mona", func(now time.Time, made []time.Time) []time.Time {
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
