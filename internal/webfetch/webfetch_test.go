package webfetch

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/addresses"
)

// Addresses no page is read from, the well-known ones first, then those net/netip calls global unicast (threats.md T50).
var closed = []string{
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.254",
	"169.254.169.254", "169.254.0.1", "100.64.0.1", "100.127.255.254", "100.100.100.200", "192.0.0.1", "192.0.0.170", "192.0.2.1", "192.31.196.1",
	"192.52.193.1", "192.88.99.1", "192.175.48.1", "198.18.0.1", "198.19.255.254", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250",
	"240.0.0.1", "254.254.254.254", "255.255.255.255",
	"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:1", "::127.0.0.1", "::10.1.2.3", "64:ff9b::7f00:1", "64:ff9b:1::1",
	"100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
	"2620:4f:8000::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1", "4000::1", "8000::1",
}

var open = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "128.0.0.1", "172.15.255.255", "172.32.0.1",
	"192.0.1.1", "192.167.255.255", "192.169.0.1", "198.17.255.255", "198.20.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "::ffff:8.8.8.8",
}

func TestAddresses(t *testing.T) {
	f := New(nil)
	if len(closed) < 60 {
		t.Fatalf("only %d addresses", len(closed))
	}
	for _, a := range closed {
		if addresses.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
		if err := f.control("tcp6", net.JoinHostPort(a, "443"), nil); err == nil {
			t.Errorf("%s may be connected to", a)
		}
	}
	for _, a := range open {
		if err := f.control("tcp4", net.JoinHostPort(a, "443"), nil); err != nil || !addresses.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s: %v", a, err)
		}
	}
	for network, address := range map[string]string{"tcp4": "8.8.8.8:80", "udp4": "8.8.8.8:443", "unix": "/run/docker.sock", "tcp": "8.8.8.8"} {
		if err := f.control(network, address, nil); err == nil {
			t.Errorf("%s %s may be connected to", network, address)
		}
	}
	if addresses.Public(netip.Addr{}) {
		t.Error("no address counts as public")
	}
}

func TestURLs(t *testing.T) {
	f := New([]string{"docs.example.com", "*.example.org"})
	for _, u := range []string{
		"http://docs.example.com/", "ftp://docs.example.com/", "file:///etc/passwd", "https:docs.example.com", "//docs.example.com/", "docs.example.com", "",
		"https://docs.example.com:80/", "https://docs.example.com:8443/", "https://docs.example.com:/", "https://docs.example.com:443:443/",
		"https://user@docs.example.com/", "https://docs.example.com@evil.example/", "https://docs.example.com%40evil.example/", "https://user:pass@docs.example.com/",
		"https://127.0.0.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/", "https://0177.0.0.1/", "https://127.1/", "https://[::1]/", "https://[docs.example.com]/",
		"https://[::ffff:127.0.0.1]/", "https://169.254.169.254/latest/meta-data/", "https://localhost/", "https://docs/", "https://docs.example.com./", "https://.docs.example.com/",
		"https://example.com/", "https://xdocs.example.com/", "https://docs.example.com.evil.example/", "https://example.org/", "https://evilexample.org/",
		"https://döcs.example.com/", "https://docs.example.com\\@evil.example/", "https://docs.example.com/\r\nHost: evil", "https://docs.example.com/ x", "https://docs.example.com\t/",
		"https://docs.example.com/" + strings.Repeat("x", urlLimit), "https://d%6fcs.example.com/", "https://docs_.example.com/", "https://-docs.example.org/",
	} {
		if got, err := f.check(u); err == nil || !errors.As(err, new(*RefusedError)) {
			t.Errorf("%q is read as %v: %v", u, got, err)
		}
	}
	for u, want := range map[string]string{
		"https://docs.example.com/a?b=c#d": "https://docs.example.com/a?b=c", "https://DOCS.example.com:443/": "https://docs.example.com/",
		"https://a.b.example.org": "https://a.b.example.org",
	} {
		if got, err := f.check(u); err != nil || got.String() != want {
			t.Errorf("%q is read as %v, want %s: %v", u, got, want, err)
		}
	}
}

// serve starts a server for example.com and a fetcher that reaches it through a resolver of the test.
func serve(t *testing.T, h http.HandlerFunc, answers ...string) *Fetcher {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	f := &Fetcher{hosts: []string{"example.com", "other.example.net"}, roots: x509.NewCertPool()}
	_, f.port, _ = net.SplitHostPort(s.Listener.Addr().String())
	f.roots.AddCert(s.Certificate())
	f.public = func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") || addresses.Public(a) }
	f.dialer.Resolver = resolver(t, answers)
	f.connect()
	return f
}

// resolver answers each question with the next address, and with the last one from then on.
func resolver(t *testing.T, answers []string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	var asked atomic.Int32
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12
			for buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			end += 5
			reply := append([]byte{}, buf[:min(end, n)]...)
			reply[2], reply[3] = 0x81, 0x80
			copy(reply[6:12], make([]byte, 6))
			if binary.BigEndian.Uint16(buf[end-4:]) == 1 { // an A record
				at := min(int(asked.Add(1)), len(answers)) - 1
				ip := netip.MustParseAddr(answers[at]).As4()
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				reply = append(reply, ip[:]...)
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

func TestFetch(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "example.com" || r.Header.Get("Referer") != "" || r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s %v", r.Host, r.Header)
		}
		kind := map[string]string{"/bin": "application/octet-stream", "/json": "application/problem+json", "/none": " ", "/big": "text/plain", "/nul": "text/plain", "/long": "text/plain"}[r.URL.Path]
		if kind == "" {
			kind = "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		switch r.URL.Path {
		case "/big":
			_, _ = w.Write(make([]byte, bodyLimit+1))
		case "/long":
			_, _ = fmt.Fprint(w, strings.Repeat("ä", textLimit))
		case "/nul":
			_, _ = w.Write([]byte{'a', 0, 'b'})
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
		case "/json":
			_, _ = fmt.Fprint(w, `{"a":"<b>"}`)
		case "/hop":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = fmt.Fprint(w, "<html><head><title>T</title><script>x()</script></head><body><h1>A &amp; B</h1><!-- no --><p>one</p><style>p{}</style>\n\n\n<p>two</p></body></html>")
		}
	}, "127.0.0.1")
	page := Page{URL: "https://example.com/", Status: 200, Type: "text/html", Text: "A & B\none\ntwo"}
	for path, want := range map[string]Page{
		"/": page, "/hop": page, "/json": {URL: "https://example.com/json", Status: 200, Type: "application/problem+json", Text: `{"a":"<b>"}`},
		"/missing": {URL: "https://example.com/missing", Status: 404, Type: "text/html"},
	} {
		if got, err := f.Fetch(t.Context(), "https://example.com"+path, unheard); err != nil || got != want {
			t.Errorf("%s: %+v %v", path, got, err)
		}
	}
	if got, err := f.Fetch(t.Context(), "https://example.com/long", unheard); err != nil || !got.Truncated || len(got.Text) > textLimit || !strings.HasSuffix(got.Text, "ä") {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	for path, why := range map[string]string{
		"/big": "larger", "/bin": "only text", "/none": "does not say", "/nul": "no text", "/packed": "packed", "/loop": "redirects",
	} {
		var no *RefusedError
		if got, err := f.Fetch(t.Context(), "https://example.com"+path, unheard); !errors.As(err, &no) || !strings.Contains(no.Reason, why) {
			t.Errorf("%s: %+v %v", path, got, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := f.Fetch(ctx, "https://example.com/slow", unheard); err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a server that never answers: %v", err)
	}
}

func unheard(string) {}

// Each host that is asked is told of, whatever it answers, and none that is not (threats.md T744).
func TestAsked(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hop":
			http.Redirect(w, r, "https://other.example.net/", http.StatusFound)
		case "/out":
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
		}
		w.Header().Set("Content-Type", "image/png")
	}, "127.0.0.1")
	for address, want := range map[string]string{
		"https://example.com/": "[example.com]", "https://EXAMPLE.com/hop": "[example.com other.example.net]", "https://example.com/out": "[example.com]", "https://evil.example/": "[]",
	} {
		var asked []string
		if _, err := f.Fetch(t.Context(), address, func(host string) { asked = append(asked, host) }); err == nil || fmt.Sprint(asked) != want {
			t.Errorf("%s: %v asked, want %s, %v", address, asked, want, err)
		}
	}
}

// Redirects lead nowhere an address could not, and a name that changes where it points to is looked at again each time.
func TestRedirects(t *testing.T) {
	for to, answers := range map[string][]string{
		"https://169.254.169.254/latest/meta-data/": {"127.0.0.1"}, "http://example.com/": {"127.0.0.1"}, "https://evil.example/": {"127.0.0.1"},
		"https://example.com:8443/": {"127.0.0.1"}, "https://u@example.com/": {"127.0.0.1"}, "https://[::1]/": {"127.0.0.1"}, "file:///etc/passwd": {"127.0.0.1"},
		"https://other.example.net/": {"127.0.0.1", "10.0.0.7"},        // an allowed name inside
		"https://example.com/again":  {"127.0.0.1", "169.254.169.254"}, // the same name, rebound
	} {
		var visits atomic.Int32
		f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			visits.Add(1)
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}, answers...)
		got, err := f.Fetch(t.Context(), "https://example.com/", unheard)
		if !errors.As(err, new(*RefusedError)) || visits.Load() != 1 {
			t.Errorf("%s: %+v %v after %d visits", to, got, err, visits.Load())
		}
	}
	f := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a name that leads to an inner address was visited") }, "10.0.0.1")
	if _, err := f.Fetch(t.Context(), "https://example.com/", unheard); !errors.As(err, new(*RefusedError)) {
		t.Error(err)
	}
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	f = serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/plain") }, "127.0.0.1")
	if _, err := f.Fetch(t.Context(), "https://example.com/", unheard); err != nil {
		t.Errorf("a proxy of the environment was used: %v", err)
	}
}
