package forge

import (
	"net/http"
	"time"
)

// Answer is how the forge answers a client of the same process, which has no connection: a test whose clock is not the world's sees
// to the waiting itself.
type Answer struct {
	Status  int
	Headers http.Header
	Body    []byte
	// Lost is true when the connection ended without an answer, Silent when it stays and none ever comes.
	Lost, Silent bool
	// Takes is how long the body takes to arrive.
	Takes time.Duration
	// Bomb is how many blanks the body is, whatever Body has.
	Bomb int64

	f  *Forge
	at int
}

// Answer answers one request of the API.
func (f *Forge) Answer(r *http.Request) *Answer {
	a := &Answer{Status: http.StatusOK, Headers: http.Header{}, f: f}
	f.mu.Lock()
	a.at = len(f.log)
	f.mu.Unlock()
	f.handle(a, r)
	return a
}

// Over says that whoever asked has the answer now, or has given up. Requests that overlap are not told apart.
func (a *Answer) Over() {
	a.f.mu.Lock()
	defer a.f.mu.Unlock()
	if a.at < len(a.f.log) {
		a.f.log[a.at].Until = a.f.opt.Now()
	}
}

// Header is that of an http.ResponseWriter.
func (a *Answer) Header() http.Header { return a.Headers }

// WriteHeader is that of an http.ResponseWriter.
func (a *Answer) WriteHeader(status int) { a.Status = status }

// Write is that of an http.ResponseWriter.
func (a *Answer) Write(b []byte) (int, error) { a.Body = append(a.Body, b...); return len(b), nil }
