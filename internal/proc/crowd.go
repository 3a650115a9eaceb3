package proc

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// crowd is what a child has at work at one moment: threads that run or wait for a processor, and the sessions these are in.
//
// Where no control group gives each child its share of the processors, the kernel gives every thread as much, or every session: a child with
// hundreds of them takes the time of the others (threats.md T373).
type crowd struct{ sessions, threads int }

const (
	// crowdEvery is the time between two looks at what a child has at work.
	crowdEvery = time.Second
	// crowdFor is for how long a child may have too much at work while another one has some.
	crowdFor = 5 * time.Second
	// A child may have crowdEach threads at work for each processor, or one for crowdShare of the processes it may have, if that is more. Builds
	// keep one or two for each processor.
	crowdEach, crowdShare = 4, 64
)

// crowds are what the children that share the processors in this way had at work when each was last looked at.
var crowds = crowded{of: map[*watcher]crowd{}}

type crowded struct {
	sync.Mutex
	of map[*watcher]crowd
}

// put notes what a child has at work and reports whether another one has something.
func (c *crowded) put(w *watcher, has crowd) (others bool) {
	c.Lock()
	defer c.Unlock()
	c.of[w] = has
	for other, has := range c.of {
		others = others || other != w && has.threads > 0
	}
	return others
}

func (c *crowded) forget(w *watcher) {
	c.Lock()
	defer c.Unlock()
	delete(c.of, w)
}

// lookAtCrowd finds that a child has too many sessions at work, and has one with too many threads stand back. Sessions cannot be made to: where the
// kernel shares by them, what their threads are told counts within each session alone. A child that is alone may have as many as it likes.
func (w *watcher) lookAtCrowd(now time.Time) stopped {
	passed := now.Sub(w.crowdSeen)
	if w.Processes == 0 || passed < crowdEvery {
		return stopped{}
	}
	w.crowdSeen = now
	has, shares := w.child.atWork()
	if !shares {
		return stopped{}
	}
	others := crowds.put(w, has)
	most := max(int(w.Processes/crowdShare), crowdEach*runtime.NumCPU())
	passed = min(passed, crowdFor/2) // looks come late where prloop itself lacks time, and one is not enough
	longer := func(was time.Duration, n int) time.Duration {
		switch {
		case n <= most:
			return max(0, was-passed)
		case others:
			return was + passed
		}
		return was
	}
	w.manyThreads, w.manySessions = longer(w.manyThreads, has.threads), longer(w.manySessions, has.sessions)
	switch {
	case w.manySessions >= crowdFor:
		return stopped{ReasonProcesses, fmt.Errorf("kept more than %d sessions at work at a time", most)}
	case w.manyThreads >= crowdFor:
		w.child.standBack()
	}
	return stopped{}
}
