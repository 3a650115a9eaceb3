package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/app"
)

// A process that is told to end before it has begun ends well.
func TestTheToldEndWell(t *testing.T) {
	d := napping(t, app.Options{State: t.TempDir()}, time.Hour, 1, nil)
	told, tell := context.WithCancel(t.Context())
	tell()
	for says, do := range map[string]func(context.Context) error{"one that serves": d.Run, "one that works": d.Work} {
		if err := do(told); err != nil {
			t.Errorf("%s: %v", says, err)
		}
	}
}
