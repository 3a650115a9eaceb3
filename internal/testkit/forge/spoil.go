package forge

import (
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// after sends the real answer the way the fault wants it: whole, lost, cut or slow.
func (x Fault) after(w http.ResponseWriter, r *http.Request, a *answer, now time.Time) {
	switch x.Mode {
	case LastOfLimit:
		a.header.Set("X-RateLimit-Remaining", "0")
		a.header.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(x.After).Unix(), 10))
		a.send(w)
	case BadGatewayAfter:
		html(w, http.StatusBadGateway, "Unicorn!")
	case InternalErrorAfter:
		restError(w, http.StatusInternalServerError, "Server Error")
	case UnavailableAfter:
		html(w, http.StatusServiceUnavailable, "No server is currently available to service your request.")
	case ResetAfter:
		reset(w)
	case SilentAfter:
		silent(w)
	case HTMLAfter:
		html(w, http.StatusOK, "Please sign in")
	case GraphQLErrorsAfter:
		graphqlErrors(w)
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

// graphqlErrors is how GitHub tells of its own time-outs, whatever became of the request.
func graphqlErrors(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]any{"data": nil, "errors": []any{map[string]any{
		"message": "Something went wrong while executing your query. Please include `0000:0000` when reporting this issue."}}})
}

// silent never answers: it waits until the client leaves.
func silent(w http.ResponseWriter) {
	if d, ok := w.(*Answer); ok {
		d.Silent = true
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	_, _ = conn.Read(make([]byte, 1))
}

// reset ends the connection without an answer; on TCP with a reset, so that the client sees an error at once.
func reset(w http.ResponseWriter) {
	if d, ok := w.(*Answer); ok {
		d.Lost = true
		return
	}
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
	if d, ok := w.(*Answer); ok {
		a.send(d)
		d.Takes = over
		return
	}
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

// bombBytes is what a bomb unpacks to.
const bombBytes = 256 << 20

// gzipBomb sends a few hundred kilobytes that unpack to 256 MiB of JSON string.
func gzipBomb(w http.ResponseWriter) {
	if d, ok := w.(*Answer); ok { // which nothing unpacks on its way
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		d.Bomb = bombBytes
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	defer z.Close()
	chunk := make([]byte, 1<<20)
	for i := range chunk {
		chunk[i] = ' '
	}
	for range bombBytes / len(chunk) {
		if _, err := z.Write(chunk); err != nil {
			return
		}
	}
}
