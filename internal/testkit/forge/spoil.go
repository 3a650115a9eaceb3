package forge

import (
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"time"
)

// after sends the real answer the way the fault wants it: whole, lost, cut or slow.
func (x Fault) after(w http.ResponseWriter, r *http.Request, a *answer) {
	switch x.Mode {
	case BadGatewayAfter:
		html(w, http.StatusBadGateway, "Unicorn!")
	case ResetAfter:
		reset(w)
	case TruncatedJSON:
		a.body = a.body[:len(a.body)/2]
		a.send(w)
	case SlowBody:
		slow(w, r, a, x.After)
	default:
		a.send(w)
	}
}

// answer is a response that has been made but not sent.
type answer struct {
	header http.Header
	status int
	body   []byte
}

func newAnswer() *answer { return &answer{header: http.Header{}, status: http.StatusOK} }

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { a.body = append(a.body, b...); return len(b), nil }

func (a *answer) send(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

func html(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!DOCTYPE html><html><body><p>%s</p></body></html>\n", text)
}

// reset ends the connection without an answer; on TCP with a reset, so that the client sees an error at once.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// slow sends the body in ten pieces over the given time, and stops when the client leaves.
func slow(w http.ResponseWriter, r *http.Request, a *answer, over time.Duration) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	const pieces = 10
	step := len(a.body)/pieces + 1
	for i := 0; i < len(a.body); i += step {
		_, _ = w.Write(a.body[i:min(i+step, len(a.body))])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(over / pieces):
		}
	}
}

// gzipBomb sends a few hundred kilobytes that unpack to 256 MiB of JSON string.
func gzipBomb(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	defer z.Close()
	chunk := make([]byte, 1<<20)
	for i := range chunk {
		chunk[i] = ' '
	}
	for range 256 {
		if _, err := z.Write(chunk); err != nil {
			return
		}
	}
}
