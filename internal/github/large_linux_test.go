package github

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// peak begins to watch the memory of the process, and gives how many megabytes more than now it held at most.
func peak(b *testing.B) func() float64 {
	b.Helper()
	held := func(field string) float64 {
		data, err := os.ReadFile("/proc/self/status")
		if err != nil {
			b.Fatal(err)
		}
		_, rest, _ := bytes.Cut(data, []byte(field))
		kB, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
		if err != nil {
			b.Fatal(err)
		}
		return kB * 1024 / 1e6
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak begins anew
		b.Skipf("the peak of the process cannot be read: %v", err)
	}
	before := held("VmRSS:")
	return func() float64 { return held("VmHWM:") - before }
}

// processor is the processor time that the process has taken, in seconds.
func processor(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
