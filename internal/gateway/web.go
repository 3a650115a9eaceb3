package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// What an agent that was permitted to ask may have of the web.
const (
	// pathFetch reads a page: {"url": "https://…"}.
	pathFetch = "/prloop/fetch"
	// pathSearch searches: {"query": "…"}.
	pathSearch = "/prloop/search"
)

// questionLimit bounds a question in bytes.
const questionLimit = 16 << 10

// How many pages, and how many searches, one agent, and all agents of a run together, may ask for, whatever comes of it.
const (
	questionsOfAgent = 5
	questionsOfRun   = 20
)

// question is one kind of question to the web.
type question struct {
	path, field string
	axis        Axis
	ask         func(ctx context.Context, text string) (any, error)
}

// question is the kind that a path asks for an agent.
func (g *Gateway) question(path, agent string) question {
	if path == pathSearch {
		return question{path, "query", AxisSearches, g.options.Search}
	}
	q := question{path: path, field: "url", axis: AxisPages}
	if fetch := g.options.Fetch; fetch != nil {
		q.ask = func(ctx context.Context, url string) (any, error) {
			return fetch(ctx, url, func(host string) { g.web.told(agent, host) })
		}
	}
	return q
}

// webLedger count who asked the web for how much.
type webLedger struct {
	mu      sync.Mutex
	allowed map[string]bool
	// count has a row for each agent and path, and one for each path of the run, whose agent is empty.
	count map[[2]string]int
	hosts map[string][]string
}

// Permit lets an agent ask the web, as far as Options.Fetch and Options.Search answer.
func (g *Gateway) Permit(agent string) {
	g.web.mu.Lock()
	defer g.web.mu.Unlock()
	if g.web.allowed == nil {
		g.web.allowed, g.web.count, g.web.hosts = map[string]bool{}, map[[2]string]int{}, map[string][]string{}
	}
	g.web.allowed[agent] = true
}

// Fetched names the hosts that were asked for pages for an agent, sorted.
func (g *Gateway) Fetched(agent string) []string {
	g.web.mu.Lock()
	defer g.web.mu.Unlock()
	return slices.Clone(g.web.hosts[agent])
}

// Searched is how many searches an agent asked for.
func (g *Gateway) Searched(agent string) int {
	g.web.mu.Lock()
	defer g.web.mu.Unlock()
	return g.web.count[[2]string{agent, pathSearch}]
}

// take counts a question before it is asked.
func (b *webLedger) take(agent string, q question) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	one, all := [2]string{agent, q.path}, [2]string{"", q.path}
	switch {
	case b.count[one] >= questionsOfAgent:
		return &BudgetError{Axis: q.axis, Limit: fmt.Sprint(questionsOfAgent), Spent: fmt.Sprint(b.count[one]), Scope: "agent"}
	case b.count[all] >= questionsOfRun:
		return &BudgetError{Axis: q.axis, Limit: fmt.Sprint(questionsOfRun), Spent: fmt.Sprint(b.count[all]), Scope: "run"}
	}
	b.count[one]++
	b.count[all]++
	return nil
}

func (b *webLedger) permits(agent string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.allowed[agent]
}

// told remembers a host that was asked for a page: its answer may be refused, and what it was told has left all the same.
func (b *webLedger) told(agent, host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.hosts[agent]
	if at, known := slices.BinarySearch(list, host); !known {
		b.hosts[agent] = slices.Insert(list, at, host)
	}
}

// askWeb answers one agent's question to the web. It is recorded and replayed like a call to a model.
func (g *Gateway) askWeb(w http.ResponseWriter, r *http.Request, a *account, q question) {
	if q.ask == nil || !g.web.permits(a.agent) {
		refuse(http.StatusForbidden, CodeWeb, "this agent may not ask the web for that").send(w)
		return
	}
	text, no := g.text(w, r, q.field)
	if no != nil {
		no.send(w)
		return
	}
	if err := g.web.take(a.agent, q); err != nil { // not noted: an agent that may ask no more can still answer
		refuse(http.StatusPaymentRequired, CodeBudget, "%s", err).send(w)
		return
	}
	answer, err := g.webAnswer(r.Context(), a, q, text)
	if err != nil {
		g.options.Log.Info("the web was not asked", "agent", a.agent, "for", q.axis, "err", err)
		refuse(http.StatusForbidden, CodeWeb, "%s", err).send(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

// text reads the one field of a request; the refusal is nil when it is there.
func (g *Gateway) text(w http.ResponseWriter, r *http.Request, field string) (string, *refusal) {
	size, no := declared(r, questionLimit)
	if no != nil {
		g.drain(w, r)
		return "", no
	}
	body, no := g.read(w, r, size)
	if no != nil {
		return "", no
	}
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields[field], &text) != nil || text == "" {
		return "", refuse(http.StatusBadRequest, CodeRefused, "field %s is missing", field)
	}
	return text, nil
}

// webAnswer has a question answered, or takes the answer from the cassette, within what is left of the agent's wall time.
func (g *Gateway) webAnswer(ctx context.Context, a *account, q question, text string) ([]byte, error) {
	key, err := json.Marshal(map[string]string{q.field: text})
	if err != nil {
		return nil, err
	}
	c := &call{path: q.path, key: append([]byte(q.path+"\n"), key...)}
	if g.recording.Mode == Replay {
		resp, err := g.recording.play(a.agent, c)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		return io.ReadAll(resp.Body)
	}
	ctx, cancel := context.WithDeadline(ctx, a.until())
	defer cancel()
	got, err := q.ask(ctx, text)
	if err != nil {
		return nil, err
	}
	answer, err := json.Marshal(got)
	if err == nil {
		g.recording.add(a.agent, c, http.StatusOK, false, answer)
	}
	return answer, err
}
