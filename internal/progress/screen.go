package progress

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// refresh is how often the board is drawn. Events are not sent to the screen, so a child that floods events cannot fill a queue.
const refresh = 125 * time.Millisecond

// The control sequences the screen writes besides the colours of a palette. While lines are drawn the cursor is hidden and nothing
// wraps; each frame is one write that ends with both as they were, so that a killed process leaves an ordinary terminal.
const (
	beginFrame = "\x1b[?25l\x1b[?7l"
	endFrame   = "\x1b[?7h\x1b[?25h"
	eraseLine  = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// escape is a sequence that takes no column.
var escape = lazyregexp.New("\x1b\\[[0-9;?]*[A-Za-z]")

// screen draws the board at its own pace, in place of the frame before.
type screen struct {
	view *View
	// drawn is the last frame; the cursor stands below it.
	drawn []string
	// columns is the width the last frame was drawn in.
	columns    int
	stop, done chan struct{}
}

// open starts drawing.
func (v *View) open() *screen {
	s := &screen{view: v, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for tick := time.NewTicker(refresh); ; {
			s.draw()
			select {
			case <-s.stop:
				tick.Stop()
				s.draw()
				return
			case <-tick.C:
			}
		}
	}()
	return s
}

// size is asked for each frame: the terminal may have another one by now.
func (s *screen) size() (columns, rows int) {
	if f, ok := s.view.opts.Out.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return s.view.opts.Width, 24
}

// draw replaces the last frame. One column stays free: terminals wrap at the last one. An error means
// that the terminal is gone; the run goes on, and its result is printed where it can be.
func (s *screen) draw() {
	columns, rows := s.size()
	s.view.mu.Lock()
	lines := s.view.board.lines(columns-1, rows-1, s.view.opts.now(), palette(s.view.opts.Color))
	s.view.mu.Unlock()
	var b strings.Builder
	b.WriteString(beginFrame + s.up(columns, rows))
	for _, l := range lines {
		b.WriteString(eraseLine + l + "\r\n") // after a full line it would erase the last column
	}
	b.WriteString(eraseBelow + endFrame) // what is below may be an echoed ^C
	s.drawn, s.columns = lines, columns
	fmt.Fprint(s.view.opts.Out, b.String())
}

// up goes to the first line of the last frame. A terminal that has become narrower has wrapped the lines that no longer fit.
func (s *screen) up(columns, rows int) string {
	n := len(s.drawn)
	if columns < s.columns {
		n = 0
		for _, l := range s.drawn {
			n += 1 + max(runewidth.StringWidth(escape.ReplaceAllString(l, ""))-1, 0)/columns
		}
	}
	if n = min(n, rows-1); n < 1 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", n)
}

// wipe takes the last frame away. The screen must be closed before. Lines are erased one by one first: tmux keeps what is erased
// from the top of the window on.
func (s *screen) wipe() {
	if n := len(s.drawn); n > 0 {
		fmt.Fprintf(s.view.opts.Out, "%s%s\x1b[%dA%s", s.up(s.size()), strings.Repeat(eraseLine+"\r\n", n), n, eraseBelow)
		s.drawn = nil
	}
}

// close draws the last frame and leaves the cursor below it.
func (s *screen) close() {
	close(s.stop)
	<-s.done
}
