package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// stopped says why a reader wants the child ended.
type stopped struct {
	reason Reason
	err    error
}

// streams are the three pipes of a child and the goroutines at our ends. However fast a child writes, no more is held
// than the limits say (threats.md T84): what is past a limit is read and thrown away until the child is gone.
type streams struct {
	spec          Spec
	child         [3]*os.File
	in, out, errs *os.File

	started   time.Time
	last      atomic.Int64 // time of the newest byte, in nanoseconds since started; 0 before the first
	discarded atomic.Bool
	stop      chan stopped
	stdoutEOF chan struct{}
	feeding   chan struct{}
	readers   sync.WaitGroup

	stdout           bytes.Buffer
	outN, errN, fedN int64
	tail             Tail
}

func openStreams(spec Spec) (*streams, error) {
	s := &streams{spec: spec, stop: make(chan stopped, 4), stdoutEOF: make(chan struct{}), feeding: make(chan struct{}),
		tail: Tail{Limit: spec.KeepTail}}
	var err [3]error
	s.child[0], s.in, err[0] = os.Pipe()
	s.out, s.child[1], err[1] = os.Pipe()
	s.errs, s.child[2], err[2] = os.Pipe()
	if e := errors.Join(err[:]...); e != nil {
		s.closeChildEnds()
		s.closeAll()
		return nil, e
	}
	return s, nil
}

func (s *streams) childEnds() [3]*os.File { return s.child }

func (s *streams) closeChildEnds() {
	for _, f := range s.child {
		if f != nil {
			f.Close()
		}
	}
}

func (s *streams) closeAll() {
	for _, f := range []*os.File{s.in, s.out, s.errs} {
		if f != nil {
			f.Close()
		}
	}
}

// begin starts the goroutines.
func (s *streams) begin(started time.Time) {
	s.started = started
	go s.feed()
	sink := s.stdoutSink()
	s.readers.Go(func() {
		defer close(s.stdoutEOF)
		s.outN = s.read(s.out, s.spec.MaxStdout, sink)
	})
	s.readers.Go(func() { s.errN = s.read(s.errs, s.spec.MaxStderr, &s.tail) })
}

// feed writes standard input. A child that does not read it is its own affair: the pipe breaks or is closed at the end.
func (s *streams) feed() {
	defer close(s.feeding)
	defer s.in.Close()
	var from io.Reader = bytes.NewReader(s.spec.Stdin)
	if s.spec.StdinFrom != nil {
		from = s.spec.StdinFrom
	}
	// The plain writer keeps io.Copy from splicing, which would count bytes the child's pipe did not take.
	n, _ := io.Copy(struct{ io.Writer }{s.in}, from)
	atomic.StoreInt64(&s.fedN, n)
}

// sink takes what a stream carries. An error ends the child.
type sink interface {
	Write([]byte) (int, error)
	Close() error
}

func (s *streams) stdoutSink() sink {
	switch {
	case s.spec.OnLine != nil:
		return &lines{max: s.spec.MaxLine, give: s.spec.OnLine}
	case s.spec.Stdout != nil:
		return unclosed{s.spec.Stdout}
	}
	return unclosed{&s.stdout}
}

// read copies a stream into a sink up to limit bytes and drains the rest.
func (s *streams) read(f *os.File, limit int64, to sink) (n int64) {
	buf := make([]byte, 32<<10)
	open := true
	for {
		k, err := f.Read(buf)
		if k > 0 {
			s.last.Store(int64(time.Since(s.started)))
			part := buf[:min(int64(k), max(limit-n, 0))]
			n += int64(k)
			if open && !(f == s.out && s.discarded.Load()) {
				if werr := guarded(func() error { _, e := to.Write(part); return e }); werr != nil {
					open = false
					s.ask(werr)
				}
			}
			if open && n > limit {
				open = false
				_ = guarded(to.Close) // the child is ended already; the half line at the end is not lost
				s.ask(errTooMuch)
			}
		}
		if err != nil {
			if open {
				if cerr := guarded(to.Close); cerr != nil {
					s.ask(cerr)
				}
			}
			return n
		}
	}
}

var (
	errTooMuch  = errors.New("output limit")
	errLongLine = errors.New("line limit")
)

func (s *streams) ask(err error) {
	st := stopped{ReasonReceiver, err}
	switch {
	case errors.Is(err, errTooMuch):
		st = stopped{reason: ReasonOutputLimit}
	case errors.Is(err, errLongLine):
		st = stopped{reason: ReasonLineLimit}
	}
	select {
	case s.stop <- st:
	default:
	}
}

// guarded turns a panic of the receiver into an error: one agent's odd line must not end prloop.
func guarded(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("receiver of the output: panic: %v", p)
		}
	}()
	return fn()
}

// quiet is how long nothing has been heard.
func (s *streams) quiet() time.Duration { return time.Since(s.started) - time.Duration(s.last.Load()) }

// silent reports whether nothing has been heard at all.
func (s *streams) silent() bool { return s.last.Load() == 0 }

// discard makes the reader of standard output throw away what still comes: the child is being ended, and what it answers
// then counts no more. What it says on standard error is still kept.
func (s *streams) discard() { s.discarded.Store(true) }

// finish waits for the readers. Nothing of the tree is left, so both streams are at their end, unless a process that
// escaped holds one; then what has arrived by now is taken as the answer.
func (s *streams) finish(limit time.Duration) {
	s.in.SetWriteDeadline(time.Now())
	deadline := time.Now().Add(limit)
	s.out.SetReadDeadline(deadline)
	s.errs.SetReadDeadline(deadline)
	s.readers.Wait()
	s.closeAll()
	if s.spec.StdinFrom == nil {
		<-s.feeding
	}
}

func (s *streams) fill(res *Result) {
	res.Stdout = s.stdout.Bytes()
	res.StderrTail = s.tail.Bytes()
	res.StdoutBytes, res.StderrBytes = s.outN, s.errN
	if s.spec.StdinFrom == nil {
		res.StdinUnread = int64(len(s.spec.Stdin)) - atomic.LoadInt64(&s.fedN)
	}
}
