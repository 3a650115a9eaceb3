// Package pace holds what a test tries to how its cost grows. How many seconds something takes is the machine's; how many times as long as
// something else is not.
package pace

import (
	"math"
	"testing"
	"time"
)

// tries is how often a comparison may be disturbed by what else the machine does.
const tries = 5

// Within fails t unless what takes at most so many times as long as base. Both are run again while it takes longer, up to 5 times: what
// the machine does beside them disturbs one try, and not all of them. base should take milliseconds at least.
func Within(t testing.TB, times float64, base, what func()) {
	t.Helper()
	least := math.Inf(1)
	for range tries {
		of := took(base)
		ratio := took(what).Seconds() / of.Seconds()
		if least = min(least, ratio); least <= times {
			t.Logf("%.1f times %v", ratio, of)
			return
		}
	}
	t.Errorf("it takes %.1f times as long as what it is compared with, at most %.1f is allowed", least, times)
}

func took(do func()) time.Duration {
	began := time.Now()
	do()
	return max(time.Since(began), time.Microsecond)
}
