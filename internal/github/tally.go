package github

import (
	"fmt"
	"sync/atomic"
)

// Tally counts what GitHub was asked for one purpose, such as a run. The zero value counts; a nil one does not.
type Tally struct{ reads, writes atomic.Int64 }

// Reads is how many requests asked for something, further tries and pages included.
func (t *Tally) Reads() int64 { return t.reads.Load() }

// Writes is how many requests were to change something.
func (t *Tally) Writes() int64 { return t.writes.Load() }

// String says it in words.
func (t *Tally) String() string {
	return fmt.Sprintf("%d requests to GitHub that read, %d that write", t.Reads(), t.Writes())
}

func (t *Tally) read(n int64) {
	if t != nil {
		t.reads.Add(n)
	}
}

func (t *Tally) write() {
	if t != nil {
		t.writes.Add(1)
	}
}

// Counted is the same client with a count of its own. What is shared with others, the limits above all, stays shared.
func (c *Client) Counted() (*Client, *Tally) {
	counted := *c
	counted.tally = &Tally{}
	return &counted, counted.tally
}
