package registries

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/eventually"
)

// site is a server and how often somebody connected to it.
type site struct {
	*httptest.Server
	port string
	hits atomic.Int32
}

func newSite(t *testing.T, encrypted bool) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s for %s, %d bytes", r.Method, r.URL.Path, r.Host, n)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.hits.Add(1)
		}
	}
	if encrypted {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	_, s.port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return s
}

func start(t *testing.T, list ...string) *Proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "reg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p, err := Start(t.Context(), dir, list)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// client asks through the proxy and takes every certificate, as whoever means harm would.
func client(p *Proxy, serverName string) *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		Proxy:           func(*http.Request) (*url.URL, error) { return url.Parse("http://proxy") },
		Dial:            func(string, string) (net.Conn, error) { return net.Dial("unix", p.Socket()) }, //nolint:staticcheck // no context is needed
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: serverName}, DisableKeepAlives: true,
	}}
}

func ask(t *testing.T, c *http.Client, method, address, body string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func TestPlain(t *testing.T) {
	good, bad := newSite(t, false), newSite(t, false)
	p := start(t, "registry.localhost:"+good.port, "*.example.com")
	c := client(p, "")
	at := "http://registry.localhost:" + good.port
	status, text, err := ask(t, c, "GET", at+"/tiny", "")
	if err != nil || status != 200 || text != "GET /tiny for registry.localhost:"+good.port+", 0 bytes" {
		t.Errorf("%d %q %v", status, text, err)
	}
	for what, refused := range map[string]struct{ method, address, why string }{
		"sends something":                                    {"PUT", at + "/tiny", "only GET and HEAD"},
		"another port of that host":                          {"GET", "http://registry.localhost:" + bad.port + "/", "none of verify_registries"},
		"another name of it":                                 {"GET", "http://127.0.0.1:" + good.port + "/", "none of verify_registries"},
		"plain HTTP to a host that is listed without a port": {"GET", "http://a.example.com/", "none of verify_registries"},
	} {
		status, text, err := ask(t, c, refused.method, refused.address, "secret")
		if err != nil || status != http.StatusForbidden || !strings.Contains(text, refused.why) {
			t.Errorf("%s: %d %q %v", what, status, text, err)
		}
	}
	if n := bad.hits.Load(); n != 0 {
		t.Errorf("what is not listed was connected to %d times", n)
	}
	if got := p.Refused(); len(got) != 4 {
		t.Errorf("refused: %q", got)
	}
}

// A tunnel leads to the server it was opened for, in TLS alone (threats.md T131).
func TestTunnel(t *testing.T) {
	good, bad := newSite(t, true), newSite(t, true)
	p := start(t, "registry.localhost:"+good.port, "127.0.0.1:"+good.port, "private.localhost")
	at := "https://registry.localhost:" + good.port + "/tiny"
	status, text, err := ask(t, client(p, ""), "POST", at, "audit")
	if err != nil || status != 200 || !strings.HasPrefix(text, "POST /tiny") {
		t.Errorf("%d %q %v", status, text, err)
	}
	if status, _, err := ask(t, client(p, ""), "GET", "https://127.0.0.1:"+good.port+"/", ""); status != 200 {
		t.Errorf("an address that is listed: %d %v", status, err)
	}
	for what, c := range map[string]struct{ name, address, why string }{
		"another name at the same address":                  {"evil.example", at, `the client wants "evil.example" there`},
		"another port":                                      {"", "https://registry.localhost:" + bad.port + "/", "none of verify_registries"},
		"an address that is not listed":                     {"", "https://127.0.0.1:" + bad.port + "/", "none of verify_registries"},
		"a host without a port that leads into the machine": {"", "https://private.localhost/", "not public"},
	} {
		if status, text, err := ask(t, client(p, c.name), "GET", c.address, ""); err == nil {
			t.Errorf("%s: %d %q", what, status, text)
		}
		if got := strings.Join(p.Refused(), "\n"); !strings.Contains(got, c.why) {
			t.Errorf("%s: want %q in %s", what, c.why, got)
		}
	}
	if n := bad.hits.Load(); n != 0 {
		t.Errorf("what is not listed was connected to %d times", n)
	}

	conn, err := net.Dial("unix", p.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT registry.localhost:%s HTTP/1.1\r\nHost: x\r\n\r\n", good.port)
	answer := bufio.NewReader(conn)
	if line, _ := answer.ReadString('\n'); !strings.Contains(line, "200") {
		t.Fatal(line)
	}
	_, _ = answer.ReadString('\n')
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
	if rest, _ := io.ReadAll(answer); len(rest) > 0 || !strings.Contains(strings.Join(p.Refused(), "\n"), "only TLS goes through a tunnel") {
		t.Errorf("something that is no TLS was answered %q; refused %q", rest, p.Refused())
	}
}

// Who reads a private repository in a setup cannot send all of it anywhere, not even to a registry (threats.md T132).
func TestWhatIsSentIsBounded(t *testing.T) {
	good := newSite(t, true)
	p := start(t, "registry.localhost:"+good.port)
	p.limit = 64 << 10
	at := "https://registry.localhost:" + good.port + "/"
	if status, _, err := ask(t, client(p, ""), "PUT", at, strings.Repeat("x", 16<<10)); status != 200 {
		t.Fatal(err)
	}
	if status, text, err := ask(t, client(p, ""), "PUT", at, strings.Repeat("x", 1<<20)); err == nil {
		t.Errorf("%d %q", status, text)
	}
	eventually.True(t, "the proxy says what was too much", func() bool {
		return strings.Contains(strings.Join(p.Refused(), "\n"), "more than 65536 bytes were sent")
	})
	if status, text, err := ask(t, client(p, ""), "GET", at, ""); err == nil {
		t.Errorf("the proxy goes on: %d %q", status, text)
	}
}

// What a client says outside the body counts as well: names and headers of plain requests, and first messages in tunnels that lead nowhere.
func TestWhatIsSaidBesidesIsBounded(t *testing.T) {
	plain, encrypted := newSite(t, false), newSite(t, true)
	list := []string{"http/1.1"}
	for n := range 100 {
		list = append(list, fmt.Sprintf("%03d%s", n, strings.Repeat("x", 200)))
	}
	for what, say := range map[string]func(*Proxy) bool{
		"addresses": func(p *Proxy) bool {
			status, _, _ := ask(t, client(p, ""), "GET", "http://registry.localhost:"+plain.port+"/"+strings.Repeat("x", 20<<10), "")
			return status == http.StatusOK
		},
		"first messages": func(p *Proxy) bool {
			c := client(p, "")
			c.Transport.(*http.Transport).TLSClientConfig.NextProtos = list
			status, _, _ := ask(t, c, "GET", "https://registry.localhost:"+encrypted.port+"/", "")
			return status == http.StatusOK
		},
	} {
		t.Run(what, func(t *testing.T) {
			p := start(t, "registry.localhost:"+plain.port, "registry.localhost:"+encrypted.port)
			p.limit = 64 << 10
			said := 0
			for range 6 {
				if say(p) {
					said++
				}
			}
			if told := strings.Join(p.Refused(), "\n"); said > 3 || !strings.Contains(told, "more than 65536 bytes were sent") {
				t.Errorf("%d went through; refused: %s", said, told)
			}
		})
	}
}

// A request that would become a tunnel of its own is a plain one.
func TestNoUpgrade(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Upgrade") }))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	p := start(t, "registry.localhost:"+port)
	r, err := http.NewRequest(http.MethodGet, "http://registry.localhost:"+port+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "raw")
	resp, err := client(p, "").Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := <-asked; got != "" {
		t.Errorf("the registry is asked to speak %q", got)
	}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct {
		text, host, port string
		want             bool
	}{
		{"registry.example.com", "registry.example.com", "443", true},
		{"registry.example.com", "registry.example.com", "80", false},
		{"registry.example.com", "a.registry.example.com", "443", false},
		{"registry.example.com", "registry.example.com.", "443", false},
		{"*.Example.com", "a.example.com", "443", true},
		{"*.example.com", "a.b.example.com", "443", true},
		{"*.example.com", "example.com", "443", false},
		{"*.example.com", "aexample.com", "443", false},
		{"mirror:8080", "mirror", "8080", true},
		{"mirror:8080", "mirror", "443", false},
		{"[::1]:4873", "::1", "4873", true},
	} {
		e, err := parse(c.text)
		if err != nil || e.covers(c.host, c.port) != c.want {
			t.Errorf("%s and %s port %s: %v, want %v", c.text, c.host, c.port, err, c.want)
		}
	}
	for _, text := range []string{":80", "a:", "a:b:c"} {
		if e, err := parse(text); err == nil {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// A setup that opens connections without end has so many of them, and the next is served when one goes (threats.md T294).
func TestConnectionsAreBounded(t *testing.T) {
	good := newSite(t, false)
	p := start(t, "registry.localhost:"+good.port)
	open := func() net.Conn {
		t.Helper()
		c, err := net.Dial("unix", p.Socket())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprintf(c, "CONNECT registry.localhost:%[1]s HTTP/1.1\r\nHost: registry.localhost:%[1]s\r\n\r\n", good.port)
		return c
	}
	answered := func(c net.Conn, within time.Duration) bool {
		_ = c.SetReadDeadline(time.Now().Add(within))
		line, err := bufio.NewReader(c).ReadString('\n')
		return err == nil && strings.Contains(line, " 200 ")
	}
	first := open()
	for range mostConnections - 1 {
		if c := open(); !answered(c, 10*time.Second) {
			t.Fatal("a connection below the limit is not served")
		}
	}
	next := open()
	if answered(next, 200*time.Millisecond) {
		t.Errorf("more than %d connections are served", mostConnections)
	}
	if n := good.hits.Load(); n > mostConnections {
		t.Errorf("the registry has %d connections", n)
	}
	first.Close()
	if !answered(next, 10*time.Second) {
		t.Error("the next is not served when one goes")
	}
}
