package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// maxRSS is the most memory an ended child held, in bytes.
func maxRSS(state *os.ProcessState) int64 {
	return state.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// anonymous is the memory of a child that is not a file's, in bytes, once it stops growing.
func anonymous(b *testing.B, pid int) int64 {
	b.Helper()
	last, same := int64(0), 0
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			b.Fatal(err)
		}
		var now int64
		if _, rest, ok := strings.Cut(string(text), "RssAnon:"); ok {
			_, _ = fmt.Sscan(rest, &now)
		}
		if now != last || now < 1<<10 {
			last, same = now, 0
			continue
		}
		if same++; same == 10 {
			return now << 10
		}
	}
	b.Fatalf("the child's memory does not settle: %d kB", last)
	return 0
}
