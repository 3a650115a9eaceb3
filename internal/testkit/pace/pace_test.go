package pace

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
func (*silent) Logf(string, ...any)         {}
func (s *silent) Errorf(f string, a ...any) { s.said = fmt.Sprintf(f, a...) }

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleep := func(d time.Duration) func() { return func() { time.Sleep(d) } }
		var kept silent
		Within(&kept, 4, sleep(time.Second), sleep(4*time.Second))
		n := 0
		Within(&kept, 4, sleep(time.Second), func() {
			if n++; n < 3 {
				time.Sleep(time.Minute)
			}
		})
		if kept.said != "" || n != 3 {
			t.Errorf("after %d tries: %q", n, kept.said)
		}
		Within(&kept, 4, sleep(time.Second), sleep(5*time.Second))
		if kept.said != "it takes 5.0 times as long as what it is compared with, at most 4.0 is allowed" {
			t.Errorf("told %q", kept.said)
		}
	})
}
