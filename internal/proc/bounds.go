package proc

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Bounds are what a child and everything it starts may take of the machine together (threats.md T88). Zero is no bound of that
// kind. They are for children behind a leash; of the others, prloop's own tools, what they write is watched and nothing else.
type Bounds struct {
	// MemoryBytes bounds what they hold resident. Where a control group can be had the kernel keeps it and counts the files they
	// keep in memory too; elsewhere it is watched, and files in memory have a bound of their own (sandbox.Limits).
	MemoryBytes int64
	// Processes bounds how many there are at a time; the kernel, in a control group, counts their threads. How many of them may be at
	// work at a time follows from it where no control group gives each child its share of the processors.
	Processes int64
	// FileBytes bounds each file they write; the kernel keeps it.
	FileBytes int64
	// Folders are those on a disk they may write. FolderBytes and FolderFiles bound how much they add to all of them together,
	// in bytes on the disk and in files, folders and links. They are watched.
	Folders                  []string
	FolderBytes, FolderFiles int64
	// FreeBytes is what must stay free on the disk of each of the folders, whoever uses it up; watched.
	FreeBytes int64
	// Ended is given the status and the end of standard error of a child that ended by itself and not well, and may tell by
	// which rule: a sandbox says so in these. nil asks nobody.
	Ended func(code int, stderr []byte) (Reason, error)

	// noGroups leaves control groups out; tests alone set it.
	noGroups bool
}

// The reasons of children that took too much. They are the names of the rules in receipts.
const (
	ReasonMemory    Reason = "memory-limit"  // Bounds.MemoryBytes
	ReasonProcesses Reason = "process-limit" // Bounds.Processes
	ReasonDisk      Reason = "disk-limit"    // Bounds.FolderBytes, or what a sandbox keeps in memory
	ReasonFiles     Reason = "inode-limit"   // Bounds.FolderFiles, or what a sandbox keeps in memory
	ReasonHostDisk  Reason = "host-disk-low" // Bounds.FreeBytes
)

// greedy reports whether a child with this reason has to be killed without being asked first: it would go on taking.
func (r Reason) greedy() bool {
	switch r {
	case ReasonMemory, ReasonProcesses, ReasonDisk, ReasonFiles, ReasonHostDisk:
		return true
	}
	return false
}

// freeFiles is how many files a disk must be able to take on.
const freeFiles = 10_000

const (
	// lookEvery is the time between two looks at a child.
	lookEvery = 100 * time.Millisecond
	// calmEvery is the time between two looks at the memory of a child that holds less than a quarter of what it may.
	calmEvery = 250 * time.Millisecond
	// walkEvery is the shortest time between two walks through folders on a disk that does not fill.
	walkEvery = time.Second
	// walkShare bounds the part of the time that walks, and looks at locks, take: one in so many.
	walkShare = 20
	// manyLocks is how many locks of files a child may have at a time. The kernel keeps 200 bytes of each, which no control group counts. Databases
	// have a few for each connection.
	manyLocks = 10_000
)

// watcher watches what one child takes.
type watcher struct {
	Bounds
	child   child
	folders *folders
	// calm is when the memory is to be looked at next.
	calm time.Time
	// locksNext is when its locks are to be looked at next.
	locksNext time.Time
	// crowdSeen is when what is at work was last looked at. manyThreads and manySessions are for how long it was too much.
	crowdSeen                 time.Time
	manyThreads, manySessions time.Duration
}

// watchBounds begins to watch a child that is about to start; the error is that of a folder that cannot be measured.
func watchBounds(b Bounds) (*watcher, error) {
	f, err := openFolders(b)
	if err != nil {
		return nil, fmt.Errorf("measure %w", err)
	}
	return &watcher{Bounds: b, folders: f}, nil
}

// run looks until done is closed or a rule is broken, which found is told.
func (w *watcher) run(found chan<- stopped, done <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if stop := w.look(false); stop.reason != ReasonNone {
			select {
			case found <- stop:
			default: // it is being ended for something else
			}
			return
		}
	}
}

// look finds the first rule that is broken. The last look is after the child's end, when only its folders are left.
func (w *watcher) look(last bool) stopped {
	if !last {
		if stop := w.lookAtCrowd(time.Now()); stop.reason != ReasonNone {
			return stop
		}
		if stop := w.lookAtProcesses(); stop.reason != ReasonNone {
			return stop
		}
		if stop := w.lookAtLocks(time.Now()); stop.reason != ReasonNone {
			return stop
		}
	}
	return w.folders.look(w.child.fileHolders, last)
}

func (w *watcher) lookAtProcesses() stopped {
	if w.child.outOfMemory() {
		return w.memory()
	}
	if w.MemoryBytes == 0 && w.Processes == 0 || time.Now().Before(w.calm) {
		return stopped{}
	}
	resident, processes := w.child.holds(w.MemoryBytes)
	switch {
	case w.MemoryBytes > 0 && resident > w.MemoryBytes:
		return w.memory()
	case w.Processes > 0 && processes > w.Processes:
		return stopped{ReasonProcesses, fmt.Errorf("had more than %d processes at a time", w.Processes)}
	case resident < w.MemoryBytes/4 && processes <= w.Processes/4:
		w.calm = time.Now().Add(calmEvery)
	}
	return stopped{}
}

// lookAtLocks finds that a child has too many locks of files (threats.md T660).
func (w *watcher) lookAtLocks(now time.Time) stopped {
	if w.MemoryBytes == 0 || now.Before(w.locksNext) {
		return stopped{}
	}
	if w.child.locks() > manyLocks {
		return stopped{ReasonMemory, fmt.Errorf("had more than %d locks of files at a time", manyLocks)}
	}
	w.locksNext = time.Now().Add(max(calmEvery, walkShare*time.Since(now)))
	return stopped{}
}

func (w *watcher) memory() stopped {
	return stopped{ReasonMemory, errors.New("used more than " + size(w.MemoryBytes) + " of memory")}
}

// size is a number of bytes for people.
func size(n int64) string {
	if n >= 1<<30 && n%(1<<28) == 0 {
		return strconv.FormatFloat(float64(n)/(1<<30), 'f', -1, 64) + " GB"
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// looker runs a watcher beside a child.
type looker struct {
	*watcher
	done chan struct{}
	wait sync.WaitGroup
}

func (w *watcher) start(c child, found chan<- stopped) *looker {
	w.child, w.crowdSeen = c, time.Now()
	l := &looker{watcher: w, done: make(chan struct{})}
	if w.MemoryBytes > 0 || w.Processes > 0 || len(w.Folders) > 0 {
		l.wait.Go(func() { w.run(found, l.done) })
	}
	return l
}

// finish ends the watching once nothing of the child is left, and has a last look.
func (l *looker) finish() stopped {
	close(l.done)
	l.wait.Wait()
	crowds.forget(l.watcher)
	defer l.folders.close()
	return l.look(true)
}
