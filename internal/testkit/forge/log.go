package forge

import (
	"bytes"
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
	Write bool
	// Status is that of the true answer, whatever a fault made of it on its way; 0 when a fault kept the request from being served.
	Status    int
	Fault     Mode
	Variables map[string]any
	UserAgent string
	// Fields are the top-level fields of a GraphQL operation. Input is the JSON of a REST request that writes.
	Fields []string
	Input  any
	// Answer is the true answer to a write, as JSON.
	Answer []byte
	// NotBefore is the time before which the answer asked for no other request; zero when it named none. Everything is true when
	// that goes for all requests, and not only for those of the same limit.
	NotBefore  time.Time
	Everything bool
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

// settle completes a log entry; answer is nil when the request was not served.
func (f *Forge) settle(at int, x Fault, a *answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.log[at]
	e.Fault, e.Until = x.Mode, f.opt.Now()
	e.NotBefore, e.Everything = x.named(e.Until)
	if a != nil {
		if e.Status = a.status; e.Write {
			e.Answer = bytes.Clone(a.body)
		}
	}
}

// A Touch is what somebody did to a comment in a browser, or to a branch from a clone of theirs, which no request of the API tells of.
type Touch struct {
	At time.Time
	// Comment is its number; 0 for a branch, which has a name. It was deleted, or else edited or moved.
	Comment int64
	Branch  string
	Deleted bool
}

// Touches are what was done in browsers to comments, and by MoveBranch to branches, in its order.
func (f *Forge) Touches() []Touch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Touch(nil), f.touches...)
}

// touch records a Touch. The caller holds mu.
func (f *Forge) touch(comment int64, deleted bool) {
	f.touches = append(f.touches, Touch{At: f.opt.Now(), Comment: comment, Deleted: deleted})
}
