package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// The only paths that are forwarded, below /v1.
const (
	pathChat      = "/chat/completions"
	pathResponses = "/responses"
	pathModels    = "/models"
)

// ServeHTTP answers one call of an agent.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if protocol := foreign(r.URL.Path); protocol != "" {
		refuse(http.StatusNotFound, CodeProtocol, "callers of the %s API are not served; configure the agent for an OpenAI-compatible endpoint", protocol).send(w)
		return
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a := g.account(cmp.Or(token, r.Header.Get("X-Api-Key")))
	if a == nil {
		g.drain(w, r)
		refuse(http.StatusUnauthorized, CodeToken, "this token is not known here, or no longer").send(w)
		return
	}
	done, no := g.crowd.serve(r, a)
	if no != nil {
		w.Header().Set("Connection", "close")
		no.send(w)
		return
	}
	defer done()
	path, under := strings.CutPrefix(r.URL.Path, "/v1")
	switch {
	case under && r.Method == http.MethodGet && path == pathModels:
		models(w, a)
	case under && r.Method == http.MethodPost && slices.Contains(completions, path):
		g.complete(w, r, a, path)
	case under && r.Method == http.MethodPost && (path == pathFetch || path == pathSearch):
		g.askWeb(w, r, a, g.question(path, a.agent))
	case under && r.Method == http.MethodPost && path == pathChecks:
		g.askChecks(w, r, a)
	default:
		refuse(http.StatusNotFound, CodeRefused, "agents may call POST /v1%s, /v1%s and /v1%s", pathChat, pathResponses, pathMessages).send(w)
	}
}

// completions are the paths that ask a model.
var completions = []string{pathChat, pathResponses, pathMessages}

// foreign names the API a path belongs to, when it is none that is served. Its callers send their token in other headers, so
// that the path is looked at first.
func foreign(path string) string {
	switch {
	case strings.HasPrefix(path, "/v1beta/"), strings.HasPrefix(path, "/v1/models/") && strings.Contains(path, ":"):
		return "Gemini"
	}
	return ""
}

// models lists what the agent may ask for, without asking anybody.
func models(w http.ResponseWriter, a *account) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	list := make([]model, 0, len(a.allowed))
	for _, name := range a.allowed {
		list = append(list, model{name, "model"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
}

func (g *Gateway) complete(w http.ResponseWriter, r *http.Request, a *account, path string) {
	size, no := declared(r, g.options.RequestLimit)
	if no != nil {
		g.drain(w, r)
		no.send(w)
		return
	}
	ticket, err := a.enter(r.ContentLength, g.options.now())
	if err != nil {
		g.denied(a, "", nil, err)
		g.drain(w, r)
		deny(w, a, err)
		return
	}
	defer ticket.leave()
	leave, no := g.enter(r, a, size)
	if no != nil {
		g.drain(w, r)
		no.send(w)
		return
	}
	defer leave()
	c, no := g.take(w, r, a, path, size)
	if no != nil {
		no.send(w)
		return
	}
	if len(c.left) > 0 {
		g.options.Log.Debug("fields were left out of a request", "agent", a.agent, "path", path, "fields", c.left)
	}
	c.ticket = ticket
	if !slices.Contains(a.allowed, c.model) {
		err := &ModelError{c.model, a.allowed}
		g.denied(a, otherWord, nil, err) // whatever it asked for are the agent's words
		g.options.Log.Warn("an agent asked for a model it may not ask for", "agent", a.agent, "model", word(c.model))
		deny(w, a, err)
		return
	}
	list := g.candidates(a.agent, c.model)
	if g.recording.Mode == Replay {
		list = []candidate{{c.model, recorded}}
	}
	if len(list) == 0 {
		refuse(http.StatusNotFound, CodeModel, "no endpoint is configured for model %q", c.model).send(w)
		return
	}
	now := g.options.now()
	limit, cause := a.callLimit(now)
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, cause)
	defer cancel()
	rc := http.NewResponseController(w) // a caller that does not read its answer must not keep its request in memory
	_ = rc.SetWriteDeadline(time.Now().Add(limit + g.options.bodyTimeout))
	defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
	before, err := g.options.spentBefore(ctx)
	if err != nil {
		deny(w, a, err)
		return
	}
	g.attempts(ctx, cancel, w, a, c, list, before)
}

// attempts asks one model after the other until one answers.
func (g *Gateway) attempts(ctx context.Context, cancel func(), w http.ResponseWriter, a *account, c *call, list []candidate, before []before) {
	var last error
	for i, to := range list {
		held, err := g.hold(a, c, to, before)
		if err != nil {
			if last == nil || i == len(list)-1 {
				deny(w, a, cmp.Or(last, err))
				return
			}
			continue
		}
		more := i < len(list)-1
		if to.model != c.model {
			g.tell(a.agent, "model %s is asked instead of %s: %s", to.model, c.model, why(last))
		}
		resp, err := g.send(ctx, to, c, held, more)
		if err != nil && more && movesOn(ctx, err) {
			g.giveBack(held, resp, err)
			g.log(a.agent).Warn("model is left alone", "model", to.model, "upstream", to.upstream.Name, "for", g.cool(a.agent, to, resp, err), "err", err)
			last = err
			continue
		}
		g.finish(ctx, cancel, w, to, c, held, resp, err)
		return
	}
}

func why(last error) string {
	if last == nil {
		return "it is cooling down"
	}
	return last.Error()
}

// hold reserves the budget of a call to one model.
func (g *Gateway) hold(a *account, c *call, to candidate, before []before) (*reservation, error) {
	price := priceOf(g.prices, to.model)
	if price == nil && g.options.priced() {
		err := &PriceError{to.model}
		g.denied(a, to.model, to.upstream, err)
		return nil, err
	}
	held, err := a.reserve(c, to.model, price, before, g.options.now())
	if err != nil {
		g.denied(a, to.model, to.upstream, err)
		return nil, err
	}
	held.upstream, held.observe = to.upstream, g.options.Observe
	if err := g.run.save(); err != nil {
		held.release(g.options.now())
		return nil, &SpentError{"run", err}
	}
	return held, nil
}

// deny answers a call that is not made, or whose answer is not handed on.
func deny(w http.ResponseWriter, a *account, err error) {
	a.note(err)
	code, status := CodeUnreachable, http.StatusBadGateway
	var budget *BudgetError
	var model *ModelError
	var price *PriceError
	var spent *SpentError
	switch {
	case errors.As(err, new(*UnreadError)): // clients do not repeat it, and some shorten their conversation
		code, status = CodeUnread, http.StatusRequestEntityTooLarge
	case errors.As(err, &model):
		code, status = CodeModel, http.StatusNotFound
	case errors.As(err, &budget):
		code, status = CodeBudget, http.StatusPaymentRequired
	case errors.As(err, &price):
		code, status = CodePrice, http.StatusPaymentRequired
	case errors.As(err, &spent):
		code, status = CodeSpent, http.StatusPaymentRequired
	}
	refuse(status, code, "%s", err).send(w)
}

// ask sends one request upstream with headers of our own: nothing the caller sent is passed on but the body.
func (g *Gateway) ask(ctx context.Context, u *upstream, method, path string, body segments) (*http.Response, error) {
	at := *u.base
	at.Path += path
	var open any
	if body != nil {
		open = retryablehttp.ReaderFunc(body.open)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, method, at.String(), open)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "prloop")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	u.authorize(req.Header, path)
	resp, err := g.client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, &UnreachableError{u.Name, u.base.Host, bare(err)}
	}
	return resp, nil
}

// bare takes the address off an error of net/http; the host is named already.
func bare(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// send asks one model. Where its endpoint answered an error, the answer is there too.
func (g *Gateway) send(ctx context.Context, to candidate, c *call, held *reservation, more bool) (*http.Response, error) {
	if g.recording.Mode == Replay {
		resp, err := g.recording.play(held.account.agent, c)
		if err != nil {
			return nil, err
		}
		return resp, g.judge(to.upstream, resp, to.model)
	}
	if resp := g.recording.again(held.account.agent, c); resp != nil {
		return resp, nil
	}
	tools := toolBudget{account: held.account, free: g.options.FreeTools, messages: c.path == pathMessages}
	body, err := c.render(to.model, held.output, tools.limit)
	if err != nil {
		return nil, err
	}
	ctx = withAnswerLimit(withAccount(ctx, held.account), held.output)
	if more {
		ctx = context.WithValue(ctx, otherModel{}, true)
	}
	waited := held.account.liveness.wait()
	defer waited()
	resp, err := g.ask(ctx, to.upstream, http.MethodPost, c.path, body)
	if err != nil {
		return nil, err
	}
	return resp, g.judge(to.upstream, resp, to.model)
}
