package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// Listing is what one endpoint says that it serves.
type Listing struct {
	Upstream, BaseURL string
	// Models are the names it lists, sorted; empty when it has no such list.
	Models []string
	// Err is *EndpointError or *UnreachableError when it was not to be had.
	Err error
}

// listTimeout is how long an endpoint may take to list its models.
const listTimeout = 20 * time.Second

// List asks every endpoint for its list of models. An endpoint without one is no error.
func (g *Gateway) List(ctx context.Context) []Listing {
	var all []Listing
	for _, u := range g.upstreams {
		names, err := g.list(ctx, u)
		g.mu.Lock()
		g.served[u.Name] = names
		g.mu.Unlock()
		all = append(all, Listing{Upstream: u.Name, BaseURL: u.BaseURL, Models: names, Err: err})
	}
	return all
}

// Check asks every endpoint for its list of models, before anything is spent: errors are those of List, joined.
func (g *Gateway) Check(ctx context.Context) error {
	var all []error
	for _, l := range g.List(ctx) {
		all = append(all, l.Err)
	}
	return errors.Join(all...)
}

func (g *Gateway) servedBy(u *upstream) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.served[u.Name]
}

// list asks one endpoint. One that has no list passes, unless there is one where its address was probably meant to lead.
func (g *Gateway) list(ctx context.Context, u *upstream) ([]string, error) {
	names, err := g.listAt(ctx, u)
	var e *EndpointError
	if err == nil && names != nil || err != nil && (!errors.As(err, &e) || e.Trouble != TroubleAddress) {
		return names, err
	}
	if !versioned.MatchString(u.base.Path) {
		base := *u.base
		base.Path += "/v1"
		below := &upstream{Upstream{Name: u.Name, BaseURL: base.String(), Key: u.Key}, &base}
		if got, wrong := g.listAt(ctx, below); wrong == nil && len(got) > 0 {
			if e == nil {
				e = &EndpointError{Upstream: u.Name, BaseURL: u.BaseURL, Status: http.StatusOK, Trouble: TroubleAddress}
			}
			e.Suggested = below.BaseURL
			return nil, e
		}
	}
	if e != nil && e.Status >= 400 { // it may serve models all the same
		return nil, nil
	}
	return nil, err
}

// versioned finds the version in the path of an API.
var versioned = lazyregexp.New(`(^|/)v[0-9][a-z0-9]*(/|$)`)

// listAt gives the names an endpoint lists; nil when it answers something else than a list.
func (g *Gateway) listAt(ctx context.Context, u *upstream) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	resp, err := g.ask(ctx, u, http.MethodGet, pathModels, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := g.judge(u, resp, ""); err != nil {
		return nil, err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(bodyOf(resp), &list) != nil || list.Data == nil {
		return nil, nil
	}
	names := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		if m.ID != "" && len(m.ID) <= maxModelName {
			names = append(names, m.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// lists reports whether a list names a model: as it is, by its newest version, or without the variant behind a colon.
func lists(served []string, model string) bool {
	plain, _, _ := strings.Cut(model, ":")
	return slices.Contains(served, model) || slices.Contains(served, model+":latest") || slices.Contains(served, plain)
}

// preflight is the agent that stands for prloop's own question.
const preflight = "preflight"

// log is that of an agent's calls. What becomes of prloop's own question is told by who has it asked, and by nobody else.
func (g *Gateway) log(agent string) hclog.Logger {
	if agent == preflight {
		return hclog.NewNullLogger()
	}
	return g.options.Log.With("agent", agent)
}

// Serves is the *EndpointError of a model that its endpoint does not serve, or not to this key; nil when it does, or when nothing proves that it
// does not. A list need not be whole, and one that is given to anybody says nothing of the key: a model is then asked for a single word, within the
// budgets of the run. That costs nothing where there is no such model, or the key is refused. Check has to have been called before.
func (g *Gateway) Serves(ctx context.Context, model string) error {
	u := route(g.upstreams, model)
	if u == nil {
		return nil
	}
	if served := g.servedBy(u); len(served) == 0 || lists(served, model) && !g.listsToAnybody(ctx, u) {
		return nil
	}
	token := g.Issue(preflight, review.Limits{LLMCalls: 1}, model)
	defer g.Release(preflight)
	name, err := json.Marshal(model)
	if err != nil {
		return err
	}
	body := `{"model":` + string(name) + `,"max_tokens":16,"messages":[{"role":"user","content":"Say yes."}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://gateway/v1"+pathChat, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	g.ServeHTTP(unheard{http.Header{}}, req)
	var e *EndpointError
	if errors.As(g.Err(preflight), &e) && (e.Trouble == TroubleModel || e.Trouble == TroubleKey) {
		return e
	}
	return nil
}

// listsToAnybody reports whether an endpoint lists its models to who has no key, too.
func (g *Gateway) listsToAnybody(ctx context.Context, u *upstream) bool {
	if u.Key.Empty() || u.Key.s == broker.Held {
		return false
	}
	names, err := g.listAt(ctx, &upstream{Upstream{Name: u.Name, BaseURL: u.BaseURL}, u.base})
	return err == nil && len(names) > 0
}

// unheard drops an answer.
type unheard struct{ header http.Header }

func (u unheard) Header() http.Header         { return u.header }
func (u unheard) WriteHeader(int)             {}
func (u unheard) Write(b []byte) (int, error) { return io.Discard.Write(b) }
