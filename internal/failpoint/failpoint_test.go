package failpoint

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	second = New("test: second")
	first  = New("test: first")
)

func TestHit(t *testing.T) {
	if err := first.Hit(); err != nil {
		t.Errorf("nothing is armed: %v", err)
	}
	broken := errors.New("broken")
	Arm(func(name string) error {
		if name == first.Name() {
			return broken
		}
		return nil
	})
	if err := first.Hit(); !errors.Is(err, broken) {
		t.Errorf("armed: %v", err)
	}
	if err := second.Hit(); err != nil {
		t.Errorf("another point: %v", err)
	}
	Arm(nil)
	if err := first.Hit(); err != nil {
		t.Errorf("disarmed: %v", err)
	}
}

func TestNames(t *testing.T) {
	got := Names()
	if !slices.IsSorted(got) || !slices.Contains(got, "test: first") || !slices.Contains(got, "test: second") {
		t.Errorf("%q", got)
	}
	got[0] = "changed"
	if slices.Contains(Names(), "changed") {
		t.Error("the caller holds the registry")
	}
}

func TestANameBelongsToOnePlace(t *testing.T) {
	for _, name := range []string{"test: first", ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken a second time", name)
				}
			}()
			New(name)
		}()
	}
}

// Points are hit by many goroutines while a test arms and disarms.
func TestManyAtOnce(t *testing.T) {
	var hits atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if err := first.Hit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	Arm(func(string) error { hits.Add(1); return nil })
	wg.Wait()
	Arm(nil)
	before := hits.Load()
	if first.Hit(); hits.Load() != before {
		t.Error("a disarmed point called")
	}
}

func BenchmarkHitUnarmed(b *testing.B) {
	for b.Loop() {
		_ = first.Hit()
	}
}
