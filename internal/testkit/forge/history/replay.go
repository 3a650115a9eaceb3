package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/sanitize"
)

// name is that of the effect whose text it is; empty for a text without our marker.
func name(body string) string {
	m, ok := sanitize.ParseMarker(body)
	if !ok || m.Nonce == "" {
		return ""
	}
	return fmt.Sprintf("%s-%d", m.Nonce, m.Part)
}

// write replays one request.
func (c *checker) write(at int, e forge.Exchange) {
	a := read(e)
	if a == nil {
		c.breach(Unexplained, at, "the model does not know %s %s", e.Op, strings.Join(e.Fields, ", "))
		return
	}
	c.owned(at, e, a)
	if !happened(e) {
		return
	}
	c.took = append(c.took, a)
	switch a.kind {
	case "edit-comment", "pull-request-words":
		if t := c.things[a.at]; t != nil {
			t.Body = a.body
		}
	case "comment-delete":
		delete(c.things, a.at)
	case "comment", "review", "reply", "pull-request":
		what := map[string]string{"comment": "comment", "review": "review", "reply": "answer", "pull-request": "pull"}[a.kind]
		number, url := made(e)
		c.put(Thing{What: what, Number: number, URL: url, Author: e.Login, Body: a.body})
		for _, body := range append([]string{a.body}, a.lines...) {
			if n := name(body); n != "" {
				if old := c.made[n]; old != nil && !c.touched(old.Number, e.At) {
					c.breach(Twice, at, "%s %s is there at %s too", a.kind, n, old.URL)
				}
				c.made[n] = &Thing{Number: number, URL: url}
			}
		}
	}
}

// touched reports whether somebody had deleted or edited a comment by a time: one that was edited proves nothing any more (decision 2), and is not found.
func (c *checker) touched(comment int64, by time.Time) bool {
	return slices.ContainsFunc(c.Touches, func(t forge.Touch) bool { return t.Comment == comment && !t.At.After(by) })
}

// owned holds a change of a thing against who wrote it.
func (c *checker) owned(at int, e forge.Exchange, a *act) {
	if a.at == "" {
		return
	}
	t := c.things[a.at]
	if a.kind == "resolve" || a.kind == "unresolve" {
		t = c.thread(a.at)
	}
	if t != nil && !strings.EqualFold(t.Author, e.Login) {
		c.breach(NotOurs, at, "%s of %s, which is %s's", a.kind, t.URL, t.Author)
	}
}

// thread is the first comment of a thread. Those that began with a review are known by what stands there in the end.
func (c *checker) thread(node string) *Thing {
	for _, list := range [][]Thing{c.Before, c.After} {
		for i := range list {
			if list[i].Thread == node {
				return &list[i]
			}
		}
	}
	return nil
}

// repeated holds a write against those that said the same before.
func (c *checker) repeated(at int, e forge.Exchange) {
	a := read(e)
	if a == nil || a.kind == "branch" { // a push is a compare-and-swap
		return
	}
	for i := at - 1; i >= 0; i-- {
		p := c.Log[i]
		if !p.Write || p.Login != e.Login || p.Op != e.Op || p.Path != e.Path || !reflect.DeepEqual(p.Input, e.Input) || !reflect.DeepEqual(said(p), said(e)) {
			continue
		}
		switch known := told(p); {
		case known && !happened(p): // refused
		case known && a.makes:
			c.breach(Repeated, at, "request %d had made the %s, and said so", i, a.kind)
		case !known && e.At.Before(p.At.Add(working)):
			c.breach(Repeated, at, "the %s of request %d may have been under way: %s", a.kind, i, e.At.Sub(p.At))
		case !known && a.makes && !c.looked(i, at):
			c.breach(Repeated, at, "the %s of request %d may have been there, and nobody looked", a.kind, i)
		}
		return
	}
}

// said are the variables of a request, without what only names it.
func said(e forge.Exchange) map[string]any {
	out := map[string]any{}
	for k, v := range e.Variables {
		if in, ok := v.(map[string]any); ok {
			inner := map[string]any{}
			for k, v := range in {
				if k != "clientMutationId" {
					inner[k] = v
				}
			}
			v = inner
		}
		out[k] = v
	}
	return out
}

// looked reports whether a list was read, and came whole, after one request could not be under way any more and before another.
func (c *checker) looked(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if e := c.Log[i]; !e.Write && e.Status == 200 && limit(e) == "core" && !e.At.Before(c.Log[from].At.Add(working)) && told(e) {
			return true
		}
	}
	return false
}

// end holds what stands there, and what the client says, against the model.
func (c *checker) end() {
	deleted := map[int64]bool{}
	edited := map[int64]bool{}
	for _, t := range c.Touches {
		if t.Branch != "" {
			continue
		}
		if t.Deleted {
			deleted[t.Comment] = true
		} else {
			edited[t.Comment] = true
		}
	}
	there := map[string]Thing{}
	for _, t := range c.After {
		if t.What == "branch" {
			continue
		}
		there[place(t.What, t.Number)] = t
		if known := c.things[place(t.What, t.Number)]; known == nil && strings.EqualFold(t.Author, c.Login) && t.What != "answer" && name(t.Body) != "" {
			c.breach(Unexplained, -1, "%s stands there, and no request made it", t.URL)
		}
	}
	for at, t := range c.things {
		now, ok := there[at]
		switch {
		case deleted[t.Number] && t.What == "comment":
		case !ok:
			c.breach(Unexplained, -1, "%s was made and is not there", t.URL)
		case now.Body != t.Body && !edited[t.Number]:
			c.breach(Unexplained, -1, "%s says something else than was sent", t.URL)
		}
	}
	c.claims()
	slices.SortStableFunc(c.breaches, func(a, b Breach) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.What, b.What)) })
}

// claims holds what the client says it did against what took effect, both ways.
func (c *checker) claims() {
	for _, claim := range c.Claims {
		if !claim.Done {
			continue
		}
		found := false
		for _, a := range c.took {
			if a.fits(claim) {
				a.used, found = true, true
			}
		}
		if claim.Kind == "branch" {
			found = c.branch(claim)
		}
		if !found {
			c.breach(Lost, -1, "%s is said to be at %s, and no request of it took effect", claim.Kind, claim.Ref)
		}
		if slices.Contains([]string{"comment", "review", "reply", "pull-request"}, claim.Kind) && !c.stands(claim.Ref) {
			c.breach(Lost, -1, "%s is said to be at %s, where nothing is", claim.Kind, claim.Ref)
		}
	}
	for _, a := range c.took {
		if !a.used && a.makes { // of what may be repeated nobody looks whether it is there
			c.breach(Lost, -1, "a %s took effect, and nobody knows of it", a.kind)
		}
	}
}

// branch reports whether a branch is where it is said to be; people may have moved or deleted it since.
func (c *checker) branch(claim Claim) bool {
	var push struct{ Ref string }
	_ = json.Unmarshal([]byte(claim.Payload), &push)
	name := strings.TrimPrefix(push.Ref, "refs/heads/")
	return slices.ContainsFunc(c.After, func(t Thing) bool { return t.What == "branch" && t.Body == name && t.URL == claim.Ref }) ||
		slices.ContainsFunc(c.Touches, func(t forge.Touch) bool { return t.Branch == name })
}

// stands reports whether a thing was made at an address; people may have deleted it since.
func (c *checker) stands(url string) bool {
	for _, t := range c.things {
		if strings.EqualFold(t.URL, url) {
			return true
		}
	}
	return false
}
