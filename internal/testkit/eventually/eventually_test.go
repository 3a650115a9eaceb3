package eventually

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// silent is a test that keeps what it is told.
type silent struct {
	testing.TB
	said string
}

func (*silent) Helper()                     {}
func (s *silent) Errorf(f string, a ...any) { s.said = fmt.Sprintf(f, a...) }

func TestTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept silent
		from := time.Now()
		if !True(&kept, "a second", func() bool { return time.Since(from) >= time.Second }) || kept.said != "" || time.Since(from) > 2*time.Second {
			t.Errorf("after %v: %q", time.Since(from), kept.said)
		}
		from = time.Now()
		if True(&kept, "the moon", func() bool { return false }) || kept.said != "after 20s still waiting for the moon" || time.Since(from) < Limit {
			t.Errorf("after %v: %q", time.Since(from), kept.said)
		}
	})
}
