package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
)

// Options say where and how to show.
type Options struct {
	// Out is where everything is written; on a terminal the *os.File of it, whose size is then asked.
	Out io.Writer
	// IsTerminal chooses the live view.
	IsTerminal bool
	// Width is the number of columns when Out cannot be asked; 0 means 80.
	Width int
	// Color allows colours; false under NO_COLOR.
	Color bool
	// Actions chooses GitHub Actions' groups and annotations; it wins over IsTerminal.
	Actions bool

	now func() time.Time
}

// View shows one run. Its methods are safe for concurrent use.
type View struct {
	opts Options
	mode mode

	mu     sync.Mutex
	board  agentTable
	screen *screen
	closed bool
}

type mode int

const (
	plain mode = iota
	terminal
	actions
)

// New returns a view that has shown nothing yet.
func New(o Options) *View {
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	if o.now == nil {
		o.now = time.Now
	}
	v := &View{opts: o}
	switch {
	case o.Actions:
		v.mode = actions
	case o.IsTerminal:
		v.mode = terminal
	}
	return v
}

// Event shows one event. After Close or Clear it does nothing.
func (v *View) Event(e review.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	now := v.opts.now()
	if e.Time.IsZero() {
		e.Time = now
	}
	first := v.board.start.IsZero()
	v.board.apply(e, now)
	switch v.mode {
	case terminal:
		if v.screen == nil {
			v.screen = v.open()
		}
		return
	case actions:
		begins := e.Kind == review.EventRound && e.Agent == ""
		switch {
		case first && begins:
			fmt.Fprintf(v.opts.Out, "::group::prloop round %d\n", e.Round)
		case first:
			fmt.Fprintln(v.opts.Out, "::group::prloop")
		case begins:
			fmt.Fprintf(v.opts.Out, "::endgroup::\n::group::prloop round %d\n", e.Round)
		}
	}
	if text := v.board.plain(e); text != "" {
		fmt.Fprintln(v.opts.Out, runnerlog.Inert(text))
	}
}

// Close ends the view without a result: after an error, or when the caller was interrupted. What was shown stays.
func (v *View) Close() {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return
	}
	v.closed = true
	v.board.end(v.opts.now())
	s := v.screen
	shown := !v.board.start.IsZero()
	v.mu.Unlock() // the screen's last frame reads the board
	if s != nil {
		s.close()
	}
	if v.mode == actions && shown {
		fmt.Fprintln(v.opts.Out, "::endgroup::")
	}
}

// Clear ends the view and takes what the live one showed off the terminal: the summary that follows says it again. Plain
// lines stay.
func (v *View) Clear() {
	v.Close()
	if v.screen != nil {
		v.screen.wipe()
	}
}
