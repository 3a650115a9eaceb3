// Package history judges what a forge saw a client do: it replays the requests against a small model of GitHub, and holds them against
// what prloop promises (threats.md P1, P2, P13). It knows neither the client nor how it works.
package history

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// Rule is one promise.
type Rule string

// The promises.
const (
	// Twice: no comment, review, answer or pull request is made twice.
	Twice Rule = "made twice"
	// Lost: what the client says it did is there, and what is there the client knows of.
	Lost Rule = "lost"
	// Early: no request comes before the time GitHub named.
	Early Rule = "before the time GitHub named"
	// Hurried: requests that write come one at a time, and begin a second apart.
	Hurried Rule = "writes too close together"
	// Repeated: no request that writes is sent again before GitHub cannot be working on the first any more; and one that would make a
	// second thing not without a look at what is there.
	Repeated Rule = "a write sent again"
	// NotOurs: what others wrote is not changed.
	NotOurs Rule = "somebody else's"
	// Unexplained: what is there is what the requests made.
	Unexplained Rule = "not what the requests made"
)

// Times that GitHub documents.
const (
	// gap is between the beginnings of two writes.
	gap = time.Second
	// working is how long GitHub may work on a request.
	working = 10 * time.Second
)

// Claim is what the client says of one thing it was to do.
type Claim struct {
	// Kind is that of an effect, such as "comment".
	Kind string
	// Payload and Head are what was to be sent, and the commit it is about.
	Payload, Head string
	// Done is true when the client says that it is there, at Ref.
	Done bool
	Ref  string
}

// Thing is a text that stands on GitHub.
type Thing struct {
	// What is "comment", "review", "answer" (any comment on a line), "pull" or "branch". Number is its own among its kind.
	What   string
	Number int64
	// Thread is the node id of the thread a comment on a line begins.
	Thread            string
	URL, Author, Body string // of a branch the address of its commit, nobody, and its name
}

// History is what is judged.
type History struct {
	Log     []forge.Exchange
	Touches []forge.Touch
	// Login is whose requests are judged, Claims what they say they did.
	Login  string
	Claims []Claim
	// Before and After are what stood there when Log begins, and ends.
	Before, After []Thing
}

// Breach is a broken promise.
type Breach struct {
	Rule Rule
	// At is the number of the request in the log; -1 for what no single request did.
	At   int
	What string
}

func (b Breach) String() string {
	if b.At < 0 {
		return fmt.Sprintf("%s: %s", b.Rule, b.What)
	}
	return fmt.Sprintf("%s: request %d: %s", b.Rule, b.At, b.What)
}

// Check replays the history and names every broken promise.
func (h History) Check() []Breach {
	c := checker{History: h, things: map[string]*Thing{}, made: map[string]*Thing{}}
	for _, t := range h.Before {
		if t.What != "branch" {
			c.put(t)
		}
	}
	for i, e := range h.Log {
		if e.Login != h.Login && e.Login != "" {
			continue
		}
		c.pace(i, e)
		if e.Write {
			c.repeated(i, e)
			c.write(i, e)
		}
	}
	c.end()
	return c.breaches
}

type checker struct {
	History
	things   map[string]*Thing
	made     map[string]*Thing // the newest, by the names of effects
	took     []*act
	breaches []Breach
}

func (c *checker) breach(r Rule, at int, format string, args ...any) {
	c.breaches = append(c.breaches, Breach{r, at, fmt.Sprintf(format, args...)})
}

func place(what string, number int64) string { return what + " " + strconv.FormatInt(number, 10) }

func (c *checker) put(t Thing) { c.things[place(t.What, t.Number)] = &t }

// git reports whether a request is git's: the limits are those of the API.
func git(e forge.Exchange) bool { return strings.HasPrefix(e.Op, "git-") }

// pace holds a request against the times GitHub named, and a write against the write before it.
func (c *checker) pace(at int, e forge.Exchange) {
	if git(e) || e.Op == "GET /rate_limit" {
		return
	}
	var last *forge.Exchange
	for i := range at {
		p := &c.Log[i]
		if p.Login != e.Login || git(*p) {
			continue
		}
		if (p.Everything || limit(*p) == limit(e)) && e.At.Before(p.NotBefore) {
			c.breach(Early, at, "%s came %s before the time that request %d was told", e.Op, p.NotBefore.Sub(e.At), i)
		}
		if p.Write {
			last = p
		}
	}
	if !e.Write || last == nil {
		return
	}
	switch between := e.At.Sub(last.At); {
	case e.At.Before(last.Until):
		c.breach(Hurried, at, "%s came while %s was not answered", e.Op, last.Op)
	case between < gap:
		c.breach(Hurried, at, "%s came %s after %s", e.Op, between, last.Op)
	}
}

// limit is which limit a request counts against.
func limit(e forge.Exchange) string {
	if strings.HasSuffix(e.Path, "/graphql") {
		return "graphql"
	}
	return "core"
}

// ID is the number in a node id; 0 when it has none.
func id(node string) int64 {
	_, number, _ := strings.Cut(node, "_")
	raw, err := base64.RawURLEncoding.DecodeString(number)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(raw), 10, 64)
	return n
}

// Created is how many requests that create content came within a time of each other at most: comments, reviews, answers, pull requests
// and their words, and requests for reviews, whatever became of them.
func (h History) Created(within time.Duration) (most int) {
	var times []time.Time
	for _, e := range h.Log {
		if e.Login != h.Login || !e.Write {
			continue
		}
		if a := read(e); a != nil && slices.Contains([]string{"comment", "edit-comment", "review", "reply", "pull-request", "pull-request-words", "ask"}, a.kind) {
			times = append(times, e.At)
		}
		for len(times) > 0 && e.At.Sub(times[0]) >= within {
			times = times[1:]
		}
		most = max(most, len(times))
	}
	return most
}
