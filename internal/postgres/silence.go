package postgres

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	// answerTime is how long the database may take to begin its answer to a statement, or the time of the lease where that is longer.
	answerTime = 30 * time.Second
	// changeTime is how long while this process makes or changes tables.
	changeTime = 10 * time.Minute
)

var errSilent = errors.New("the database did not answer in time")

// dialer connects to the database. Its keepalive ends a connection that nothing is asked on, and one whose answer stops in the middle.
var dialer = net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}

// dial gives a connection that ends when what it asks stays without an answer, whoever asks: the store, DBOS or the heartbeat. TCP alone sends
// for a quarter of an hour to a machine that is gone, and for ever to a proxy that takes everything and answers nothing (threats.md T677).
func (a *Address) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &watched{Conn: c, of: a, heard: time.Now()}
	w.timer = time.AfterFunc(answerTime, w.silence)
	w.timer.Stop()
	return w, nil
}

// watched is a connection that is closed when the first byte of an answer does not come in time.
type watched struct {
	net.Conn
	of    *Address
	timer *time.Timer

	mu           sync.Mutex
	asked, heard time.Time
	silent       bool
}

// Write asks the database something. It fails at once on a connection that was not heard of since another one asked something in vain.
func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	if w.heard.After(w.of.doubted()) {
		w.asked = time.Now()
		w.timer.Reset(w.of.patience())
	} else {
		w.silent = true
		_ = w.Conn.Close() // so that writing fails
	}
	w.mu.Unlock()
	n, err := w.Conn.Write(b)
	return n, w.because("write", err)
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		w.mu.Lock()
		w.timer.Stop()
		w.heard = time.Now()
		w.mu.Unlock()
	}
	return n, w.because("read", err)
}

func (w *watched) Close() error {
	w.timer.Stop()
	return w.Conn.Close()
}

func (w *watched) silence() {
	w.mu.Lock()
	w.silent = true
	w.of.doubt(w.asked)
	w.mu.Unlock()
	_ = w.Conn.Close() // whoever reads or writes hears why
}

// because gives the reason for the errors of a connection that was closed for its silence.
func (w *watched) because(op string, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil || !w.silent {
		return err
	}
	return &net.OpError{Op: op, Net: w.RemoteAddr().Network(), Addr: w.RemoteAddr(), Err: errSilent}
}

// patience is how long an answer may take now.
func (a *Address) patience() time.Duration {
	if a.changing.Load() > 0 {
		return changeTime
	}
	return a.answer
}

// doubt says that what was asked at a time was not answered.
func (a *Address) doubt(asked time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if asked.After(a.unanswered) {
		a.unanswered = asked
	}
}

func (a *Address) doubted() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unanswered
}
