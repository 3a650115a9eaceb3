//go:build !linux

package symbols

import "time"

// threadClock gives the time that passes from now on: only Linux tells what a thread takes.
func threadClock() func() time.Duration {
	started := time.Now()
	return func() time.Duration { return time.Since(started) }
}
