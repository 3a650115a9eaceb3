package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// The only paths that are forwarded, below /v1.
const (
	pathChat      = "/chat/completions"
	pathResponses = "/responses"
	pathModels    = "/models"
)

// bodyTimeout bounds how long a caller may take to send its request.
const bodyTimeout = 30 * time.Second

// ServeHTTP answers one call of an agent.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a := g.account(token)
	if a == nil {
		refuse(http.StatusUnauthorized, CodeToken, "this token is not known here, or no longer").send(w)
		return
	}
	path, under := strings.CutPrefix(r.URL.Path, "/v1")
	switch {
	case under && r.Method == http.MethodGet && path == pathModels:
		g.models(w)
	case under && r.Method == http.MethodPost && (path == pathChat || path == pathResponses):
		g.complete(w, r, a, path)
	default:
		refuse(http.StatusNotFound, CodeRefused, "agents may call POST /v1%s and /v1%s", pathChat, pathResponses).send(w)
	}
}

// models lists what is configured, without asking anybody.
func (g *Gateway) models(w http.ResponseWriter) {
	var b strings.Builder
	for _, u := range g.upstreams {
		for _, m := range u.Models {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":%q,"object":"model"}`, m)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"object":"list","data":[%s]}`, b.String())
}

func (g *Gateway) complete(w http.ResponseWriter, r *http.Request, a *account, path string) {
	body, no := g.body(w, r)
	if no != nil {
		no.send(w)
		return
	}
	c, no := inspect(path, body)
	if no != nil {
		no.send(w)
		return
	}
	u := route(g.upstreams, c.model)
	if u == nil {
		refuse(http.StatusNotFound, CodeModel, "no endpoint is configured for model %q", c.model).send(w)
		return
	}
	now := g.options.now()
	held, err := a.reserve(c, priceOf(g.prices, c.model), now)
	if err != nil {
		a.note(err)
		refuse(http.StatusPaymentRequired, CodeBudget, "%s", err).send(w)
		return
	}
	limit := min(g.options.CallTimeout, a.until.Sub(now))
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, fmt.Errorf("no whole answer within %s", limit.Round(time.Millisecond)))
	defer cancel()
	g.forward(ctx, cancel, w, u, c, held)
}

func (g *Gateway) body(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.options.RequestLimit))
	_ = rc.SetReadDeadline(time.Time{}) // it would cut the answer too
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, refuse(http.StatusRequestEntityTooLarge, CodeTooLarge, "request is larger than %d bytes", over.Limit)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, CodeRefused, "request body did not arrive whole")
	}
	return body, nil
}

// ask sends one request upstream with headers of our own: nothing the caller sent is passed on but the body.
func (g *Gateway) ask(ctx context.Context, u *upstream, method, path string, body []byte) (*http.Response, error) {
	at := *u.base
	at.Path += path
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), reader)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "prloop")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if !u.Key.Empty() {
		req.Header.Set("Authorization", "Bearer "+u.Key.s)
	}
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

// judge makes typed errors of the statuses that are about us and not about the request.
func judge(u *upstream, resp *http.Response) error {
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return &KeyError{u.Name, s}
	case s == http.StatusTooManyRequests || s >= 500:
		return &UnreachableError{u.Name, u.base.Host, fmt.Errorf("HTTP %d", s)}
	case s >= 300 && s < 400:
		return &UnreachableError{u.Name, u.base.Host, fmt.Errorf("HTTP %d: redirects are not followed", s)}
	}
	return nil
}

func (g *Gateway) forward(ctx context.Context, cancel func(), w http.ResponseWriter, u *upstream, c *call, held *reservation) {
	a := held.account
	log := g.options.Log.With("agent", a.agent, "upstream", u.Name, "model", c.model)
	resp, err := g.ask(ctx, u, http.MethodPost, c.path, c.body)
	if err != nil {
		g.fail(w, held, err)
		log.Warn("model call failed", "err", err)
		return
	}
	defer resp.Body.Close()
	err = judge(u, resp)
	var key *KeyError
	switch {
	case errors.As(err, &key):
		g.fail(w, held, err) // the endpoint's own words may quote the key: they stay here
		log.Error("model endpoint refuses the key", "status", key.Status)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		g.fail(w, held, err)
	case resp.StatusCode != http.StatusOK:
		a.note(err)
		held.release(g.options.now())
		log.Warn("model endpoint answered an error", "status", resp.StatusCode)
		g.pass(w, u, resp)
	case streams(resp):
		g.stream(cancel, w, u, c, held, resp)
	default:
		g.whole(w, u, held, resp)
	}
}

// fail answers a call that no model answered. What certainly never reached a model costs nothing; of anything else
// nobody knows.
func (g *Gateway) fail(w http.ResponseWriter, held *reservation, err error) {
	held.account.note(err)
	code, status := CodeUnreachable, http.StatusBadGateway
	var key *KeyError
	var dial *net.OpError
	switch {
	case errors.As(err, &key):
		code, status = CodeKey, http.StatusForbidden
		held.release(g.options.now())
	case errors.As(err, &dial) && dial.Op == "dial":
		held.release(g.options.now())
	default:
		held.lose(g.options.now())
	}
	if errors.Is(err, errTooLarge) {
		code = CodeTooLarge
	}
	refuse(status, code, "%s", err).send(w)
}

// pass hands an endpoint's own error on, without its headers.
func (g *Gateway) pass(w http.ResponseWriter, u *upstream, resp *http.Response) {
	data, _ := io.ReadAll(resp.Body) // in memory already
	if after := resp.Header.Get("Retry-After"); after != "" {
		w.Header().Set("Retry-After", after)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(u.Key.scrub(data))
}

func (g *Gateway) whole(w http.ResponseWriter, u *upstream, held *reservation, resp *http.Response) {
	data, _ := io.ReadAll(resp.Body) // in memory already
	var s spent
	s.read(data)
	held.settle(s, g.options.now())
	held.account.note(nil)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(u.Key.scrub(data))
}

func (g *Gateway) stream(cancel func(), w http.ResponseWriter, u *upstream, c *call, held *reservation, resp *http.Response) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	hide := c.path == pathChat && !c.wantsUsage
	var silent atomic.Bool
	s, err := relay(w, resp.Body, u.Key, hide, g.options.ResponseLimit, g.options.IdleTimeout, func() { silent.Store(true); cancel() })
	held.settle(s, g.options.now())
	if err == nil {
		held.account.note(nil)
		return
	}
	if silent.Load() {
		err = errSilent
	}
	held.account.note(&UnreachableError{u.Name, u.base.Host, err})
	g.options.Log.Warn("stream did not end well", "agent", held.account.agent, "upstream", u.Name, "err", err)
	cancel()
	panic(http.ErrAbortHandler) // the caller must see that it is not whole; headers are long sent
}
