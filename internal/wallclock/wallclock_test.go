package wallclock

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestNow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "clock")
	defer Follow("")
	for text, want := range map[string]time.Duration{"": 0, "nonsense": 0, "3h\n": 3 * time.Hour, "-40m": -40 * time.Minute} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		Follow(name)
		if got := Now().Sub(time.Now().Round(0)); (got - want).Abs() > time.Minute {
			t.Errorf("%q: the clock is wrong by %s", text, got)
		}
	}
	Follow(filepath.Join(t.TempDir(), "none"))
	if got := time.Since(Now()); got.Abs() > time.Minute {
		t.Errorf("without a file, the clock is wrong by %s", got)
	}
}
