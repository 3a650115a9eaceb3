package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

// TestHostileConnections: an agent that holds as many connections as it can, with or without a part of a request on them, costs no more
// memory than it may, leaves prloop its descriptors, and another agent is answered all the same.
func TestHostileConnections(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	half := "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nX-Half: " + strings.Repeat("a", longestHead-1000)
	for _, row := range []struct{ name, text string }{
		{"that say nothing", ""},
		{"with half a head", half},
		{"with a head, and no body", "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer TOKEN\r\nContent-Length: 1000\r\n\r\n"},
		{"with a token that nobody has, and no body", "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer x\r\nContent-Length: 1000\r\n\r\n"},
		{"that were answered", "GET /v1/models HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer TOKEN\r\n\r\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hello"}}]}`)
			}))
			defer far.Close()
			g, err := Start(t.Context(), Options{Upstreams: []Upstream{{Name: "far", BaseURL: far.URL}}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			hostile, honest := g.Issue("hostile", review.Limits{LLMCalls: 1 << 30}, known...), g.Issue("honest", review.Limits{}, known...)
			before, files := resident(t, "VmRSS"), descriptors(t)
			var held []net.Conn
			for range 1500 {
				conn, err := net.Dial("unix", g.Socket())
				if err != nil {
					break
				}
				_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
				_, _ = io.WriteString(conn, strings.ReplaceAll(row.text, "TOKEN", hostile))
				held = append(held, conn)
			}
			soon(t, "those that are too many are gone", func() bool { return descriptors(t)-files-len(held) <= 2*mostConnections })
			if status, said := ask(t, g, honest, `{"model":"`+known[0]+`","messages":[]}`); status != http.StatusOK {
				t.Errorf("another agent: status %d, %s", status, said)
			}
			cost := resident(t, "VmHWM") - before
			t.Logf("%d connections: %.1f MB, %d descriptors", len(held), float64(cost)/1e6, descriptors(t)-files-len(held))
			if cost > hostileCost {
				t.Errorf("%d MB, allowed are %d", cost>>20, hostileCost>>20)
			}
			for _, conn := range held {
				_ = conn.Close()
			}
		})
	}
}

// descriptors is how many this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestHostileEndpoint: an answer of millions of values is refused before it costs memory, and no answer costs what cannot be added up.
func TestHostileEndpoint(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	zeros := func(head, tail string) string { return head + "[0" + strings.Repeat(",0", 4<<20-100) + "]" + tail }
	for name, row := range map[string]struct {
		stream bool
		body   string
	}{
		"content":     {false, zeros(`{"content":`, "}")},
		"choices":     {false, zeros(`{"choices":`, "}")},
		"an event":    {true, "data: " + zeros(`{"choices":`, "}")[:1<<20-100] + "]}\n\ndata: [DONE]\n\n"},
		"many events": {true, strings.Repeat("data: {\"choices\":[0"+strings.Repeat(",0", 100_000)+"]}\n\n", 30) + "data: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[row.stream])
				_, _ = io.WriteString(w, row.body)
			}))
			defer far.Close()
			g, err := Start(t.Context(), Options{Upstreams: []Upstream{{Name: "far", BaseURL: far.URL}}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			token := g.Issue("honest", review.Limits{CostUSD: 1000}, known...)
			before := resident(t, "VmRSS")
			status, said := ask(t, g, token, `{"model":"`+known[0]+`","max_tokens":1000000,"stream":`+map[bool]string{true: "true", false: "false"}[row.stream]+`,"messages":[]}`)
			if cost := resident(t, "VmHWM") - before; cost > 2*hostileCost {
				t.Errorf("%d MB, allowed are %d", cost>>20, 2*hostileCost>>20)
			}
			if !strings.Contains(said, CodeTooLarge) {
				t.Errorf("status %d: %.300s", status, said)
			}
		})
	}
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":1.7e308}}`)
	}))
	defer far.Close()
	g, err := Start(t.Context(), Options{Upstreams: []Upstream{{Name: "far", BaseURL: far.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, agent := range []string{"one", "two"} {
		if status, said := ask(t, g, g.Issue(agent, review.Limits{}, known...), `{"model":"`+known[0]+`","messages":[]}`); status != http.StatusOK {
			t.Errorf("%s: status %d: %s", agent, status, said)
		}
	}
	if charged := g.Charged(); charged > 1 {
		t.Errorf("charged $%g", charged)
	}
}

// ask asks a gateway over a connection of its own.
func ask(t *testing.T, g *Gateway, token, body string) (status int, said string) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", g.Socket())
	}}}
	req, err := http.NewRequest(http.MethodPost, "http://g/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body) // a stream that is cut off says why before
	return resp.StatusCode, string(data)
}

// TestCrowdedOut: agents that begin more requests than the gateway keeps connections lose their own; a request that has come whole is
// answered, and so is one of an agent that comes later.
func TestCrowdedOut(t *testing.T) {
	asked, answer := make(chan bool, 9), make(chan bool)
	give := sync.OnceFunc(func() { close(answer) })
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer slow" {
			asked <- true
			<-answer
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hello"}}]}`)
	}))
	defer far.Close()
	g, err := Start(t.Context(), Options{Upstreams: []Upstream{
		{Name: "slow", BaseURL: far.URL, Key: NewSecret("slow"), Models: known[1:2]}, {Name: "far", BaseURL: far.URL},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	defer give()
	early, late := g.Issue("early", review.Limits{}, known...), g.Issue("late", review.Limits{LLMCalls: 9}, known...)
	got := make(chan int, 1)
	go func() {
		status, _ := ask(t, g, early, `{"model":"`+known[1]+`","messages":[]}`)
		got <- status
	}()
	<-asked
	for _, name := range []string{"one", "two", "three"} {
		token := g.Issue(name, review.Limits{LLMCalls: 2}, known...)
		for range mostRequests {
			conn, err := net.Dial("unix", g.Socket())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer "+token+"\r\nContent-Length: 60000\r\n\r\n{")
		}
		a := g.account(token)
		soon(t, "its requests are at hand", func() bool {
			g.crowd.mu.Lock()
			defer g.crowd.mu.Unlock()
			return a.requests > mostRequests/2
		})
	}
	for range 5 {
		if status, said := ask(t, g, late, `{"model":"`+known[0]+`","messages":[]}`); status != http.StatusOK {
			t.Errorf("an agent that comes later: status %d, %s", status, said)
		}
	}
	give()
	if status := <-got; status != http.StatusOK {
		t.Errorf("a request that was being answered: status %d", status)
	}
}

// TestWhoGoes: whoever has the most connections loses one, by the process before a token came, and a request that has come whole stays.
func TestWhoGoes(t *testing.T) {
	greedy, modest := &account{agent: "greedy"}, &account{agent: "modest"}
	for _, row := range []struct {
		sentence string
		full     []guest
		// want is who goes, by place; -1 is who comes.
		want int
	}{
		{"the oldest of the process that has the most", []guest{{peer: 1}, {peer: 2}, {peer: 2}}, 1},
		{"the oldest of the agent that has the most", []guest{{peer: 1}, {agent: modest}, {agent: greedy}, {agent: greedy}}, 2},
		{"of these one on which nothing is asked", []guest{{agent: modest}, {agent: greedy, stage: coming}, {agent: greedy}}, 2},
		{"and none that has come whole", []guest{{agent: greedy, stage: arrived}, {agent: greedy, stage: coming}, {agent: modest}}, 1},
		{"who has the most with those that came whole", []guest{{agent: modest}, {agent: greedy, stage: arrived}, {agent: greedy, stage: coming}}, 2},
		{"whoever else has one that has not", []guest{{agent: greedy, stage: arrived}, {agent: greedy, stage: arrived}, {agent: modest}}, 2},
		{"whoever comes when all have", []guest{{agent: greedy, stage: arrived}, {agent: modest, stage: arrived}}, -1},
	} {
		c, comes := new(crowd), new(guest)
		for i := range mostConnections - len(row.full) { // others, who have one each, and whose request has come
			c.let(&guest{peer: int32(100 + i), stage: arrived}, 1)
		}
		var full []*guest
		for i := range row.full {
			full = append(full, &row.full[i])
			if c.let(full[i], 1) != nil {
				t.Fatal("somebody had to go before it was full")
			}
		}
		if got := slices.Index(full, c.let(comes, 1)); got != row.want {
			t.Errorf("%s: %d goes, want %d", row.sentence, got, row.want)
		}
		if c.let(new(guest), mostConnections/partOfAgent+1) != nil {
			t.Errorf("%s: somebody had to go where more agents have a part", row.sentence)
		}
	}
}

// TestPeer: the process at the other end of a connection is known.
func TestPeer(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	if got := peerOf(far); int(got) != os.Getpid() {
		t.Errorf("%d, want %d", got, os.Getpid())
	}
}
