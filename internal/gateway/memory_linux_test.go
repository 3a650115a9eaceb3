package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// hostileCost is what one hostile agent may cost, in bytes of resident memory.
const hostileCost = 32 << 20

// TestHostileMemory: an agent that sends the worst it can over all connections a sandbox has costs no more than it may.
func TestHostileMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	const size = 4 << 20
	// Bodies are made when they are sent: what the others take would let the collector wait for longer.
	fill := func(head, each, tail string) func() []byte {
		return func() []byte {
			n := max(0, (size-len(head)-len(tail))/len(each))
			return slices.Concat([]byte(head), bytes.Repeat([]byte(each), n), []byte(tail))
		}
	}
	names := func(n int) func() []byte {
		return func() []byte {
			var b bytes.Buffer
			b.WriteString(`{"model":"m","x":{"n":0`)
			for i := range n {
				fmt.Fprintf(&b, `,"%060d":0`, i)
			}
			b.WriteString("}}")
			return b.Bytes()
		}
	}
	text := func(s string) func() []byte { return func() []byte { return []byte(s) } }
	user := `{"model":"m","messages":[{"role":"user","content":"`
	parts := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":""}`
	for _, row := range []struct {
		name string
		body func() []byte
		// chunked hides the length; slow sends all but the last byte and waits.
		chunked, slow bool
		// said, when set, is what the model says again and again, without an end.
		said string
	}{
		{name: "zeros", body: fill(`{"model":"m","x":[0`, ",0", "]}")},
		{name: "empty objects", body: fill(`{"model":"m","x":[0`, ",{}", "]}")},
		{name: "objects with a name", body: fill(`{"model":"m","x":[0`, `,{"a":0}`, "]}")},
		{name: "names", body: names(31000)},
		{name: "brackets", body: fill(`{"model":"m","x":`, "[", "")},
		{name: "few values, many at once", body: text(`{"model":"m","x":[0` + strings.Repeat(",{}", 40000) + "]}")},
		{name: "a long text", body: fill(user, "word ", `"}]}`)},
		{name: "a long text of escapes", body: fill(user, `\u0001`, `"}]}`)},
		{name: "many texts", body: fill(parts, `,{"type":"text","text":"one of many lines of code, as long as those of most repositories are"}`, "]}]}")},
		{name: "arguments in arguments", body: fill(`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"n","arguments":"[0`, ",0", `]"}}]}]}`)},
		{name: "many arguments", body: fill(`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"type":"function"}`,
			`,{"type":"function","function":{"arguments":"[0`+strings.Repeat(",0", 500)+`]"}}`, `]}]}`)},
		{name: "a document", body: fill(`{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:,`, "AAAAAAAA", `"}}]}]}`)},
		{name: "of unknown length", body: fill(user, "word ", `"}]}`), chunked: true},
		{name: "slow", body: fill(user, "word ", `"}]}`), slow: true},
		{name: "streams without an end", body: text(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`),
			said: `data: {"choices":[{"delta":{"content":"and so on "}}]}` + "\n\n"},
		{name: "lines without an end", body: text(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`), said: strings.Repeat("data: and so on ", 64)},
	} {
		t.Run(row.name, func(t *testing.T) {
			far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if row.said != "" {
					w.Header().Set("Content-Type", "text/event-stream")
					for {
						if _, err := io.WriteString(w, row.said); err != nil {
							return
						}
					}
				}
				time.Sleep(10 * time.Millisecond)
				w.WriteHeader(http.StatusBadRequest)
			}))
			defer far.Close()
			g, err := Start(t.Context(), Options{Upstreams: []Upstream{{Name: "far", BaseURL: far.URL}}, Mask: func(s string) string {
				return sanitize.MaskKnown(sanitize.Redact(s), sanitize.Policy{Known: []string{"prl_7Qm2Zx9Kd4Tn8Vb1Wc6Hs3Jf5Lg0Rp"}})
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			token := g.Issue("hostile", review.Limits{LLMCalls: 1 << 30}, known...)
			body := row.body()
			before := resident(t, "VmRSS")
			attack(t, g, token, body, row.chunked, row.slow)
			a := g.account(token)
			soon(t, "the last one was looked into", func() bool {
				if !a.looking.TryLock() {
					return false
				}
				defer a.looking.Unlock()
				return true
			})
			cost := resident(t, "VmHWM") - before
			t.Logf("%.1f MB", float64(cost)/1e6)
			if cost > hostileCost {
				t.Errorf("%d MB, allowed are %d", cost>>20, hostileCost>>20)
			}
		})
	}
}

// resident reads what the process holds, or held at most since the last time this was called for VmRSS, in bytes.
func resident(t *testing.T, field string) int64 {
	t.Helper()
	if field == "VmRSS" {
		for range 3 { // what waits for a finalizer goes one collection later
			debug.FreeOSMemory()
		}
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			t.Skip("the most that was resident cannot be set back: ", err)
		}
	}
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("no ", field)
	return 0
}

// attack sends a body over 64 connections again and again for a while.
func attack(t *testing.T, g *Gateway, token string, body []byte, chunked, slow bool) {
	t.Helper()
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " + token + "\r\n"
	if chunked {
		head += fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", len(body))
	} else {
		head += fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
	}
	end := time.Now().Add(500 * time.Millisecond)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for time.Now().Before(end) {
				conn, err := net.Dial("unix", g.Socket())
				if err != nil {
					t.Error(err)
					return
				}
				_ = conn.SetDeadline(end)
				_, _ = io.WriteString(conn, head)
				if slow {
					_, _ = conn.Write(body[:len(body)-1])
					time.Sleep(time.Until(end))
				}
				_, _ = conn.Write(body)
				if chunked {
					_, _ = io.WriteString(conn, "\r\n0\r\n\r\n")
				}
				if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				_ = conn.Close()
			}
		})
	}
	all.Wait()
}
