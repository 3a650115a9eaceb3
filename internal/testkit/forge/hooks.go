package forge

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
)

// Delivery is an event as a webhook delivers it.
type Delivery struct {
	// GUID is the same whenever the delivery is sent again.
	GUID, Event, Action string
	Body                []byte
}

// Request is a delivery as a request to an address, signed with a secret.
func (d Delivery) Request(ctx context.Context, address, secret string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(d.Body))
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(d.Body)
	for k, v := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/forge", "X-GitHub-Delivery": d.GUID, "X-GitHub-Event": d.Event,
		"X-GitHub-Hook-ID": "1", "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		r.Header.Set(k, v)
	}
	return r, nil
}

// hooks hands what happens on to whoever listens, in its order.
type hooks struct {
	mu      sync.Mutex
	waiting []Delivery
	listens func(Delivery)
	busy    bool
	idle    sync.Cond
}

// OnEvent hands every event from now on to a function, one after the other, from a goroutine of its own; nil for nobody.
func (f *Forge) OnEvent(listens func(Delivery)) {
	f.hooks.mu.Lock()
	defer f.hooks.mu.Unlock()
	f.hooks.listens = listens
}

// Delivered waits until all events so far were handed on.
func (f *Forge) Delivered() {
	h := &f.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.busy || len(h.waiting) > 0 {
		h.idle.Wait()
	}
}

func (h *hooks) add(d Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listens == nil {
		return
	}
	h.waiting = append(h.waiting, d)
	if !h.busy {
		h.busy = true
		go h.deliver()
	}
}

func (h *hooks) deliver() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.waiting) > 0 {
		d, listens := h.waiting[0], h.listens
		h.waiting = h.waiting[1:]
		if listens == nil {
			continue
		}
		h.mu.Unlock()
		listens(d)
		h.mu.Lock()
	}
	h.busy = false
	h.idle.Broadcast()
}

// happened tells of an event of a pull request. sender did it. The caller holds the lock.
func (p *PullRequest) happened(event, action, sender string, more map[string]any) {
	f := p.f
	f.hooks.mu.Lock()
	listens := f.hooks.listens != nil
	f.hooks.mu.Unlock()
	if !listens {
		return
	}
	c := &call{f: f, host: "github.com", login: sender}
	payload := map[string]any{"action": action, "repository": c.fill("repository", c.repository(p.repo)), "sender": c.user(sender)}
	if event != "issue_comment" {
		payload["pull_request"] = c.pull(p, "pull-request")
	}
	if event == "pull_request" {
		payload["number"] = p.Number
	}
	maps.Copy(payload, more)
	body, err := json.Marshal(payload)
	if err != nil {
		panic(err) // it is made of what REST answers are made of
	}
	guid := sha256.Sum256(fmt.Appendf(nil, "%d", f.newID()))
	f.hooks.add(Delivery{GUID: fmt.Sprintf("%x-%x-%x-%x-%x", guid[:4], guid[4:6], guid[6:8], guid[8:10], guid[10:16]), Event: event, Action: action, Body: body})
}

// happened tells of an event of a comment on the timeline. The caller holds the lock.
func (m *Comment) happened(action string) {
	c := &call{f: m.pr.f, host: "github.com", login: m.Author}
	m.pr.happened("issue_comment", action, m.Author, map[string]any{
		"issue": map[string]any{
			"number": m.pr.Number, "title": m.pr.title, "state": "open", "user": c.user(m.pr.author),
			"pull_request": map[string]any{"url": c.api(fmt.Sprintf("/repos/%s/pulls/%d", m.pr.repo.FullName(), m.pr.Number))},
		},
		"comment": c.comment(m),
	})
}
