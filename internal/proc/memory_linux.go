package proc

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// recent lists processes as processes does, at most recentFor late: several children are watched at once.
func recent() []process {
	looked.Lock()
	defer looked.Unlock()
	if time.Since(looked.at) > recentFor {
		looked.list, looked.at = processes(), time.Now()
	}
	return looked.list
}

const recentFor = lookEvery / 2

var looked struct {
	sync.Mutex
	at   time.Time
	list []process
}

// surely is the time between two looks at a tree that seems to hold too much: a child about to be started shares the memory of
// its parent for a moment and counts double.
const surely = 20 * time.Millisecond

// residentAbove is what a tree has resident, in bytes. What the kernel says of each process counts pages that several share for
// each of them; a sum above the limit is taken again by shares, which costs more, and twice.
func residentAbove(tree []process, limit int64) int64 {
	total := sum(tree, resident)
	for range 2 {
		if total <= limit {
			return total
		}
		if total = sum(tree, share); total <= limit {
			return total
		}
		time.Sleep(surely)
	}
	return total
}

func sum(tree []process, of func(pid int) int64) (total int64) {
	for _, p := range tree {
		total += of(p.pid)
	}
	return total
}

var pageSize = int64(os.Getpagesize())

// resident is what a process has in memory, in bytes; 0 when it is gone.
func resident(pid int) int64 {
	_, rest, _ := bytes.Cut(readOnce("/proc/"+strconv.Itoa(pid)+"/statm", make([]byte, 256)), []byte{' '})
	text, _, _ := bytes.Cut(rest, []byte{' '})
	pages, _ := strconv.ParseInt(string(text), 10, 64)
	return pages * pageSize
}

// share is what a process has in memory, in bytes, with its part of the pages it shares; all of them where that is not told.
func share(pid int) int64 {
	data := readOnce("/proc/"+strconv.Itoa(pid)+"/smaps_rollup", make([]byte, 4<<10))
	_, rest, ok := bytes.Cut(data, []byte("\nPss:"))
	if !ok {
		return resident(pid)
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return resident(pid)
	}
	kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return resident(pid)
	}
	return kilobytes << 10
}
