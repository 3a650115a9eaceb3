package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
)

// finish hands the last outcome of a call to the agent.
func (g *Gateway) finish(ctx context.Context, cancel func(), w http.ResponseWriter, to candidate, c *call, held *reservation, resp *http.Response, err error) {
	a, u := held.account, to.upstream
	log := g.log(a.agent).With("upstream", u.Name, "model", to.model)
	if resp == nil {
		g.fail(w, held, err)
		log.Warn("model call failed", "err", err)
		return
	}
	defer resp.Body.Close()
	var e *EndpointError
	switch {
	case errors.As(err, &e) && e.Trouble == TroubleKey:
		g.fail(w, held, err) // the endpoint's own words may quote the key: they stay here
		log.Error("model endpoint refuses the key", "status", e.Status)
	case e != nil && e.Status < 400: // a redirect, or a page
		g.fail(w, held, err)
		log.Warn("model endpoint has no API there", "err", err)
	case resp.StatusCode != http.StatusOK:
		a.note(err)
		held.cause = errorType(resp, err)
		held.release(g.options.now())
		log.Warn("model endpoint answered an error", "status", resp.StatusCode)
		g.pass(w, u, a.agent, c, resp)
	case streams(resp):
		g.stream(ctx, cancel, w, u, c, held, resp)
	default:
		g.whole(w, u, c, held, resp)
	}
}

// giveBack settles an attempt that another model follows. What certainly never reached a model costs nothing; of
// anything else nobody knows.
func (g *Gateway) giveBack(held *reservation, resp *http.Response, err error) {
	if resp != nil {
		_ = resp.Body.Close()
	}
	var answered *EndpointError
	var dial *net.OpError
	var miss *CassetteMissError
	now := g.options.now()
	held.cause = errorType(resp, err)
	if errors.As(err, &answered) && answered.Status >= 400 || errors.As(err, &miss) || errors.As(err, &dial) && dial.Op == "dial" {
		held.release(now)
		return
	}
	held.lose(now)
}

// fail answers a call that no model answered.
func (g *Gateway) fail(w http.ResponseWriter, held *reservation, err error) {
	if !errors.Is(err, context.Canceled) { // a caller that hung up says nothing of the endpoint
		held.account.note(err)
	}
	g.giveBack(held, nil, err)
	code, status := CodeUnreachable, http.StatusBadGateway
	var e *EndpointError
	if errors.As(err, &e) && e.Trouble == TroubleKey {
		code, status = CodeKey, http.StatusForbidden
	}
	var budget *BudgetError
	var miss *CassetteMissError
	switch {
	case errors.As(err, &miss):
		code, status = CodeCassette, http.StatusNotFound
	case errors.Is(err, errTooLarge):
		code = CodeTooLarge
	case errors.As(err, new(*SilentError)), errors.As(err, new(*SlowError)):
		code = CodeTimeout
	case errors.As(err, &budget):
		code, status, err = CodeBudget, http.StatusPaymentRequired, budget
		held.account.note(err)
	}
	refuse(status, code, "%s", err).send(w)
}

// pass hands an endpoint's own error on, without its headers.
func (g *Gateway) pass(w http.ResponseWriter, u *upstream, agent string, c *call, resp *http.Response) {
	data, _ := io.ReadAll(resp.Body) // in memory already
	data = u.Key.scrub(data)
	g.recording.add(agent, c, resp.StatusCode, false, data)
	if after := resp.Header.Get("Retry-After"); after != "" {
		w.Header().Set("Retry-After", after)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(data)
}

func (g *Gateway) whole(w http.ResponseWriter, u *upstream, c *call, held *reservation, resp *http.Response) {
	data, _ := io.ReadAll(resp.Body) // in memory already
	data = u.Key.scrub(data)
	var s spent
	s.read(data)
	s.seen = len(data)
	a := held.account
	g.recording.add(a.agent, c, resp.StatusCode, false, data)
	long := overlong(data, s, held.output)
	unread := unreadBy(u, s, c)
	held.cause = errorType(nil, cmp.Or(long, unread))
	held.settle(s, g.options.now())
	if long != nil {
		deny(w, a, long)
		return
	}
	if unread != nil {
		deny(w, a, unread)
		return
	}
	tools := toolBudget{account: a, free: g.options.FreeTools}
	rest, cut := tools.trim(data)
	if cut && tools.kept == 0 {
		deny(w, a, a.toolsOver())
		return
	}
	if cut {
		g.tell(a.agent, "tool calls beyond the budget were cut off, %d are left", tools.kept)
	}
	a.note(nil)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(rest)
}

func (g *Gateway) stream(ctx context.Context, cancel func(), w http.ResponseWriter, u *upstream, c *call, held *reservation, resp *http.Response) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	a := held.account
	relay := relay{
		key: u.Key, hideUsage: c.path == pathChat && !c.wantsUsage, limit: streamLimit(g.options.ResponseLimit, held.output), output: held.output,
		tools: toolBudget{account: a, free: g.options.FreeTools}, left: g.litter,
	}
	var heard bytes.Buffer
	if g.recording.Mode == Record {
		relay.recorded = &heard
	}
	s, err := relay.copy(w, resp.Body)
	if err == nil {
		g.recording.add(a.agent, c, resp.StatusCode, true, heard.Bytes())
	} else { // what some endpoints tell with each piece is not what the whole costs (threats.md T121)
		s.output, s.cost = nil, nil
	}
	if err == nil {
		err = unreadBy(u, s, c)
	}
	held.cause = errorType(nil, err)
	held.settle(s, g.options.now())
	if n := len(relay.tools.dropped); n > 0 {
		g.tell(a.agent, "%d tool calls beyond the budget were cut off", n)
	}
	var budget *BudgetError
	var unread *UnreadError
	switch cause := context.Cause(ctx); {
	case err == nil:
		a.note(nil)
		_, _ = w.Write(relay.tail)
		return
	case errors.As(err, &budget) || errors.As(cause, &budget):
		a.note(budget)
		refuse(0, CodeBudget, "%s", budget).tell(w)
	case errors.As(err, &unread):
		a.note(unread)
		refuse(0, CodeUnread, "%s", unread).tell(w)
	case errors.Is(cause, context.Canceled), errors.Is(err, errHungUp):
		// The caller hung up, which says nothing of the endpoint.
	default:
		code := CodeUnreachable
		switch {
		case cause != nil:
			err, code = cause, CodeTimeout
		case errors.As(err, new(*SilentError)):
			code = CodeTimeout
		case errors.Is(err, errTooLarge):
			code = CodeTooLarge
		default:
			held.forgive()
		}
		gone := &UnreachableError{u.Name, u.base.Host, err}
		a.note(gone)
		refuse(0, code, "%s", gone).tell(w)
	}
	g.log(a.agent).Warn("stream did not end well", "upstream", u.Name, "err", err)
	cancel()
	panic(http.ErrAbortHandler) // the caller must see that it is not whole; headers are long sent
}
