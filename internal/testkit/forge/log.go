package forge

import (
	"fmt"
	"net/http"
	"time"
)

// Exchange is one request the forge saw and how it answered.
type Exchange struct {
	At time.Time
	// Until is when it was answered; zero while it is not. What the forge itself takes is no time of its caller.
	Until time.Time
	// Op is what was asked: a GraphQL operation's name, a REST route, git-upload-pack or git-receive-pack.
	Op     string
	Method string
	Host   string
	Path   string
	// Login is whose token came with it; empty for none or an unknown one. Authorized says whether any came.
	Login      string
	Authorized bool
	// Write is true for whatever changes something: mutations, REST other than GET, pushes.
	Write     bool
	Status    int
	Fault     Mode
	Variables map[string]any
	UserAgent string
}

// Log is what was asked so far, in the order the requests arrived.
func (f *Forge) Log() []Exchange {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Exchange(nil), f.log...)
}

// Violations are the requests and answers that broke GitHub's published contracts; a correct client leaves it empty.
func (f *Forge) Violations() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.violations...)
}

// violate records a broken contract. The caller does not hold mu.
func (f *Forge) violate(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.violations = append(f.violations, fmt.Sprintf(format, args...))
}

// note opens the log entry of a request and returns its place.
func (f *Forge) note(r *http.Request, e Exchange) int {
	e.Method, e.Host, e.Path, e.UserAgent = r.Method, r.Host, r.URL.Path, r.UserAgent()
	f.mu.Lock()
	defer f.mu.Unlock()
	e.At = f.opt.Now()
	f.log = append(f.log, e)
	return len(f.log) - 1
}

// settle completes a log entry.
func (f *Forge) settle(at, status int, mode Mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log[at].Status, f.log[at].Fault, f.log[at].Until = status, mode, f.opt.Now()
}
