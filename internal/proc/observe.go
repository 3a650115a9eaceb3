package proc

import (
	"sync/atomic"
	"time"
)

// Ran is a child that has run, as an observer sees it.
type Ran struct {
	// Path and Args are what was started: behind a sandbox the sandbox's.
	Path string
	Args []string
	// From and To are the time from before it was started until nothing of it was left.
	From, To time.Time
}

// Observer is told of every child of this process, at its end and from several goroutines; nil, as it is in prloop, is told
// of none. It is for measurements: how much of a run is prloop's own time is what is left beside its children (BenchmarkRounds).
var Observer atomic.Pointer[func(Ran)]

// observed tells the observer, if there is one.
func observed(spec Spec, from time.Time) {
	if fn := Observer.Load(); fn != nil {
		(*fn)(Ran{Path: spec.Path, Args: spec.Args, From: from, To: time.Now()})
	}
}
