// Package wallclock is the machine's clock as prloop goes by it where a time is kept or compared with one that was. A test can set it wrong, and have it jump.
package wallclock

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// file says how wrong the clock is; empty, as it is outside of tests, for not at all.
var file atomic.Value

// Now is the time by this machine's clock. It has no monotonic reading where a test sets the clock.
func Now() time.Time {
	name, _ := file.Load().(string)
	if name == "" {
		return time.Now()
	}
	return time.Now().Round(0).Add(wrong(name))
}

// Follow has the clock be wrong by what a file says, such as -3h, whenever it is read. A file that says nothing sets it right.
func Follow(name string) { file.Store(name) }

func wrong(name string) time.Duration {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return d
}
