package proc

import (
	"bytes"
	"strconv"
	"sync"
	"time"
)

// recent lists processes as processes does, at most recentFor late: several children are watched at once. A list that took longer is good for as
// long as it took, so that lists do not take the time that the watchers need.
func recent() []process {
	looked.Lock()
	defer looked.Unlock()
	if time.Since(looked.at) > max(recentFor, looked.took) {
		began := time.Now()
		looked.list, looked.at = processes(), time.Now()
		looked.took = looked.at.Sub(began)
	}
	return looked.list
}

const recentFor = lookEvery / 2

var looked struct {
	sync.Mutex
	at   time.Time
	took time.Duration // to make the list
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

// resident is what a process has in memory or swapped out, in bytes, with the tables that lead there: a child that reads one byte of
// each two megabytes of nothing has nothing else (threats.md T124). It is 0 when the process is gone.
func resident(pid int) int64 {
	status := readOnce("/proc/"+strconv.Itoa(pid)+"/status", make([]byte, 8<<10))
	return kilobytes(status, "VmRSS") + kilobytes(status, "VmSwap") + kilobytes(status, "VmPTE")
}

// share is resident with a process's part of the pages it shares; all of them where that is not told.
func share(pid int) int64 {
	data := readOnce("/proc/"+strconv.Itoa(pid)+"/smaps_rollup", make([]byte, 4<<10))
	if !bytes.Contains(data, []byte("\nPss:")) {
		return resident(pid)
	}
	status := readOnce("/proc/"+strconv.Itoa(pid)+"/status", make([]byte, 8<<10))
	return kilobytes(data, "Pss") + kilobytes(data, "SwapPss") + kilobytes(status, "VmPTE")
}

// kilobytes is a figure of a list of the kernel's, in bytes; 0 when it is not there.
func kilobytes(list []byte, name string) int64 {
	_, rest, _ := bytes.Cut(list, []byte("\n"+name+":"))
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	fields := bytes.Fields(line)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10
}
