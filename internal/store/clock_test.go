package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/wallclock"
)

// What was put off by a machine whose clock is set back by hours is due once it is, and not hours later (threats.md T316).
func TestAClockThatIsSetBackHoldsNothingUp(t *testing.T) {
	clock := filepath.Join(t.TempDir(), "clock")
	set := func(wrong string) {
		if err := os.WriteFile(clock, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set("3h")
	wallclock.Follow(clock)
	t.Cleanup(func() { wallclock.Follow("") })
	s := fresh(t)
	due := func(want int) {
		t.Helper()
		if all, err := s.Due(t.Context(), 10); err != nil || len(all) != want {
			t.Errorf("%+v are due, want %d; %v", all, want, err)
		}
	}
	put := func() {
		t.Helper()
		if err := s.Postpone(t.Context(), "github.com/o/r#7", 30*time.Second, Settled{Outcome: "failed"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Want(t.Context(), Want{Subject: "github.com/o/r#7", Repo: "github.com/o/r", PR: 7}); err != nil {
		t.Fatal(err)
	}
	due(1)
	put()
	due(0)
	set("0s")
	due(1)
	put()
	due(0)
	set("31s")
	due(1)
}
