// Package eventually waits in tests for what happens in its own time.
package eventually

import (
	"testing"
	"time"
)

// Limit is how long anything may take on a loaded machine.
const Limit = 20 * time.Second

// True asks done until it says yes. After Limit the test fails with what was waited for, and True returns false; any goroutine of
// the test may call it.
func True(t testing.TB, what string, done func() bool) bool {
	t.Helper()
	return within(t, Limit, what, done)
}

func within(t testing.TB, limit time.Duration, what string, done func() bool) bool {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("after %v still waiting for %s", limit, what)
			return false
		}
	}
	return true
}
