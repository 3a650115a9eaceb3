package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// pathFetch reads a page of the web for an agent that was permitted to ask: {"url": "https://…"}.
const pathFetch = "/prloop/fetch"

// fetchLimit bounds a question for a page in bytes.
const fetchLimit = 16 << 10

// How many pages one agent, and all agents of a run together, may ask for, whatever comes of it.
const (
	fetchesOfAgent = 5
	fetchesOfRun   = 20
)

// fetches counts who asked for how many pages.
type fetches struct {
	mu      sync.Mutex
	allowed map[string]bool
	count   map[string]int
	total   int
	hosts   map[string][]string
}

// Permit lets an agent ask for pages of the web, if Options.Fetch reads any.
func (g *Gateway) Permit(agent string) {
	g.fetches.mu.Lock()
	defer g.fetches.mu.Unlock()
	if g.fetches.allowed == nil {
		g.fetches.allowed, g.fetches.count, g.fetches.hosts = map[string]bool{}, map[string]int{}, map[string][]string{}
	}
	g.fetches.allowed[agent] = true
}

// Fetched names the hosts an agent was read pages of, sorted.
func (g *Gateway) Fetched(agent string) []string {
	g.fetches.mu.Lock()
	defer g.fetches.mu.Unlock()
	return slices.Clone(g.fetches.hosts[agent])
}

// take counts a page before it is read.
func (f *fetches) take(agent string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.count[agent] >= fetchesOfAgent:
		return &BudgetError{Axis: AxisPages, Limit: fmt.Sprint(fetchesOfAgent), Spent: fmt.Sprint(f.count[agent]), Scope: "agent"}
	case f.total >= fetchesOfRun:
		return &BudgetError{Axis: AxisPages, Limit: fmt.Sprint(fetchesOfRun), Spent: fmt.Sprint(f.total), Scope: "run"}
	}
	f.count[agent]++
	f.total++
	return nil
}

func (f *fetches) permits(agent string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.allowed[agent]
}

// came remembers the host of a page that was read.
func (f *fetches) came(agent, address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.hosts[agent]
	if at, known := slices.BinarySearch(list, u.Hostname()); !known {
		f.hosts[agent] = slices.Insert(list, at, u.Hostname())
	}
}

// fetch answers one agent's question for a page. It is recorded and replayed like a call to a model.
func (g *Gateway) fetch(w http.ResponseWriter, r *http.Request, a *account) {
	if g.options.Fetch == nil || !g.fetches.permits(a.agent) {
		refuse(http.StatusForbidden, CodeFetch, "this agent may not read the web").send(w)
		return
	}
	size, no := declared(r, fetchLimit)
	if no != nil {
		g.drain(w, r)
		no.send(w)
		return
	}
	body, no := g.read(w, r, size)
	if no != nil {
		no.send(w)
		return
	}
	var want struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(body, &want) != nil || want.URL == "" {
		refuse(http.StatusBadRequest, CodeRefused, "field url is missing").send(w)
		return
	}
	if err := g.fetches.take(a.agent); err != nil { // not noted: an agent that may read no more can still answer
		refuse(http.StatusPaymentRequired, CodeBudget, "%s", err).send(w)
		return
	}
	page, err := g.page(r.Context(), a, want.URL)
	if err != nil {
		g.options.Log.Info("page was not read", "agent", a.agent, "err", err)
		refuse(http.StatusForbidden, CodeFetch, "%s", err).send(w)
		return
	}
	g.fetches.came(a.agent, want.URL)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(page)
}

// page has a page read, or takes it from the cassette, within what is left of the agent's wall time.
func (g *Gateway) page(ctx context.Context, a *account, address string) ([]byte, error) {
	key, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		return nil, err
	}
	c := &call{path: pathFetch, key: append([]byte(pathFetch+"\n"), key...)}
	if g.tape.Mode == Replay {
		resp, err := g.tape.play(a.agent, c)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		return io.ReadAll(resp.Body)
	}
	ctx, cancel := context.WithDeadline(ctx, a.until())
	defer cancel()
	got, err := g.options.Fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	page, err := json.Marshal(got)
	if err == nil {
		g.tape.add(a.agent, c, http.StatusOK, false, page)
	}
	return page, err
}
