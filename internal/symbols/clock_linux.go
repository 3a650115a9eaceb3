package symbols

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock gives the processor time that the calling thread takes from now on, for whoever asks. Where the kernel does not say it is the
// time that passes.
func threadClock() func() time.Duration {
	id := int32(^unix.Gettid()<<3 | 6) // CPUCLOCK_SCHED of one thread, as the kernel writes it
	now := func() (time.Duration, bool) {
		var t unix.Timespec
		err := unix.ClockGettime(id, &t)
		return time.Duration(t.Nano()), err == nil
	}
	from, ok := now()
	started := time.Now()
	return func() time.Duration {
		if to, still := now(); ok && still {
			return to - from
		}
		return time.Since(started)
	}
}
