package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// dial sends the head of a request, and more if there is more, and leaves the connection open.
func (r *rig) dial(token, length, more string) *http.Response {
	r.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(r.t.Context(), "unix", r.g.Socket())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n%s", token, length, more); err != nil {
		r.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

func says(t *testing.T, resp *http.Response, status int, code, more string) {
	t.Helper()
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != status || !strings.Contains(string(body), code) || !strings.Contains(string(body), more) {
		t.Errorf("%d %s, want %d %s %s", resp.StatusCode, body, status, code, more)
	}
}

func TestBudgetIsTakenBeforeTheRequestIsRead(t *testing.T) {
	short := func(o *Options) { o.bodyTimeout = 20 * time.Millisecond }
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 1}, short)
	r.ask(mini, "x")
	says(t, r.dial(r.token, "Content-Length: 1000", ""), http.StatusPaymentRequired, CodeBudget, string(AxisCalls))

	r = setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 9}, short, func(o *Options) { o.AgentTokens = 1000 })
	says(t, r.dial(r.token, "Content-Length: 9000", ""), http.StatusPaymentRequired, CodeBudget, string(AxisTokens))
	var over *BudgetError
	if !errors.As(r.g.Err("r1"), &over) || over.Axis != AxisTokens || r.g.Usage("r1").LLMCalls != 0 {
		t.Errorf("%v, usage %+v", r.g.Err("r1"), r.g.Usage("r1"))
	}
	if status, body := r.ask(mini, "x"); status != http.StatusOK {
		t.Errorf("what was not read took budget: %d %s", status, body)
	}
}

// A request that is refused for what it says gives its call back, as often as one that an endpoint refuses.
func TestRefusedDocumentsEnd(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 2}, func(o *Options) { o.AgentTokens = 1_000_000 })
	for range 2 + refunds {
		if status, body := r.send(pathChat, `{"model":"m","models":["n"]}`); status != http.StatusBadRequest {
			t.Errorf("%d %s", status, body)
		}
	}
	if status, body := r.send(pathChat, `{"model":"m","models":["n"]}`); status != http.StatusPaymentRequired {
		t.Errorf("%d %s", status, body)
	}
	if a := r.g.account(r.token); a.own.calls != 2 || a.own.tokens != 0 || a.run.tokens != 0 {
		t.Errorf("%d calls, %d tokens are charged", a.own.calls, a.own.tokens)
	}
}

func TestLengths(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 99}, func(o *Options) { o.RequestLimit, o.bodyTimeout = 1000, 50*time.Millisecond })
	question := chat(mini, "x", false)
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(s), s) }
	for _, row := range []struct {
		name, length, body string
		status             int
		says               string
	}{
		{"declared", fmt.Sprintf("Content-Length: %d", len(question)), question, 200, ""},
		{"in chunks", "Transfer-Encoding: chunked", chunk(question), 200, ""},
		{"as long as may be", "Transfer-Encoding: chunked", chunk(question + strings.Repeat(" ", 1000-len(question))), 200, ""},
		{"longer in chunks", "Transfer-Encoding: chunked", chunk(question + strings.Repeat(" ", 1001-len(question))), 413, CodeTooLarge},
		{"declared longer", "Content-Length: 1001", "", 413, "1000 bytes"},
		{"much longer", "Content-Length: 100000000000", "", 413, "1000 bytes"},
		{"shorter than declared", "Content-Length: 900", question, 400, "did not arrive whole"},
		{"chunks without end", "Transfer-Encoding: chunked", "3\r\n{\"m\r\n", 400, "did not arrive whole"},
		{"broken chunks", "Transfer-Encoding: chunked", "zzz\r\n", 400, "did not arrive whole"},
		{"nothing", "Content-Length: 0", "", 400, "not one JSON document"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r.t = t
			says(t, r.dial(r.token, row.length, row.body), row.status, row.says, "")
		})
	}
}

// The requests of one agent that are in memory are bounded together; other agents do not wait for it.
func TestRoom(t *testing.T) {
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Contains: "stay", Answer: fakemodel.Answer{Hang: true}}}}, review.Limits{LLMCalls: 99}, func(o *Options) {
		o.RequestLimit, o.roomTimeout, o.bodyTimeout = 4000, 50*time.Millisecond, time.Second
	})
	large, small := "stay "+strings.Repeat("x", 3000), strings.Repeat("x", 300)
	gone := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer close(gone)
		if resp, err := r.postIn(ctx, chat(mini, large, false)); err == nil {
			_ = resp.Body.Close()
		}
	}()
	soon(t, "the model is asked", func() bool { return len(r.model.Requests()) == 1 })
	if status, body := r.ask(mini, large); status != http.StatusTooManyRequests || !strings.Contains(body, CodeBusy) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.ask(mini, small); status != http.StatusOK {
		t.Errorf("there is room for a small one: %d %s", status, body)
	}
	mine := r.token
	r.token = r.g.Issue("r2", review.Limits{LLMCalls: 9}, known...)
	if status, body := r.ask(mini, strings.Repeat("x", 3000)); status != http.StatusOK {
		t.Errorf("another agent: %d %s", status, body)
	}
	r.token = mine
	cancel()
	<-gone
	soon(t, "there is room again", func() bool {
		status, _ := r.ask(mini, strings.Repeat("x", 3000))
		return status == http.StatusOK
	})
}
