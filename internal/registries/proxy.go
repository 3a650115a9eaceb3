package registries

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"github.com/prloop/prloop/internal/addresses"
)

const (
	// dialTime bounds how long a connection may take, helloTime how long a client may say nothing in a tunnel.
	dialTime, helloTime = 20 * time.Second, 30 * time.Second
	// sendLimit is how much may be sent through a proxy, in bytes: requests for packages are small.
	sendLimit = 32 << 20
	// mostConnections is how many connections a setup may hold; more wait (threats.md T294). idleTime is how long one stays on which nothing is asked.
	mostConnections, idleTime = 256, 2 * time.Minute
	// mostRefused is how many refusals are told.
	mostRefused = 10
)

// Proxy leads from a socket to registries.
type Proxy struct {
	allowed []entry
	socket  string
	server  *http.Server
	dialer  net.Dialer
	// ended is done once the proxy is closed.
	ended context.Context
	end   context.CancelFunc
	// sent is how many bytes went out, limit how many may.
	sent  atomic.Int64
	limit int64

	mu      sync.Mutex
	refused []string
}

// Start serves a proxy to the entries of the operator's list on a socket in dir, until it is closed.
func Start(ctx context.Context, dir string, list []string) (*Proxy, error) {
	p := &Proxy{socket: filepath.Join(dir, "registries.sock"), dialer: net.Dialer{Timeout: dialTime}, limit: sendLimit}
	for _, text := range list {
		e, err := parse(text)
		if err != nil {
			return nil, err
		}
		p.allowed = append(p.allowed, e)
	}
	p.ended, p.end = context.WithCancel(context.WithoutCancel(ctx))
	listener, err := net.Listen("unix", p.socket)
	if err != nil {
		return nil, fmt.Errorf("serve the registries: %w", err)
	}
	quiet := log.New(io.Discard, "", 0)
	plain := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.Host = r.In.URL.Host },
		Transport: &http.Transport{Proxy: nil, DialContext: p.dial, DisableCompression: true, ResponseHeaderTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 16},
		ErrorLog: quiet,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			p.fail(w, r.URL.Host, err)
		},
	}
	p.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodConnect:
				p.tunnel(w, r)
			case r.URL.Scheme != "http" || r.URL.Host == "":
				p.refuse(w, r.Host, "this proxy takes CONNECT, and whole http addresses")
			case r.Method != http.MethodGet && r.Method != http.MethodHead:
				p.refuse(w, r.URL.Host, "only GET and HEAD are passed on over plain HTTP")
			case !p.counts(r):
				p.refuse(w, r.URL.Host, "too much was sent")
			default:
				r.Body = http.NoBody
				r.Header.Del("Upgrade") // else both sides may say what they like from then on
				plain.ServeHTTP(w, r)
			}
		}),
		ReadHeaderTimeout: helloTime, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10, ErrorLog: quiet,
	}
	go p.server.Serve(netutil.LimitListener(listener, mostConnections)) //nolint:errcheck // it ends when the proxy is closed
	return p, nil
}

// Socket is where the proxy listens.
func (p *Proxy) Socket() string { return p.socket }

// Close ends the proxy and all that goes through it.
func (p *Proxy) Close() error {
	p.end()
	return p.server.Close()
}

// Refused are what was asked for and is not allowed, each with the reason, in the order of the first request.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// refusedError says why something is not reached.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

func (p *Proxy) note(host, why string) string {
	text := fmt.Sprintf("%.120q: %s", host, why)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < mostRefused && !slices.Contains(p.refused, text) {
		p.refused = append(p.refused, text)
	}
	return text
}

func (p *Proxy) refuse(w http.ResponseWriter, host, why string) {
	http.Error(w, "prloop: refused: "+p.note(host, why), http.StatusForbidden)
}

func (p *Proxy) fail(w http.ResponseWriter, host string, err error) {
	var no *refusedError
	if errors.As(err, &no) {
		p.refuse(w, host, no.why)
		return
	}
	http.Error(w, fmt.Sprintf("prloop: %.120q cannot be reached", host), http.StatusBadGateway)
}

// dial connects to what the list allows, wherever names lead.
func (p *Proxy) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &refusedError{"it is no host and port"}
	}
	host = strings.ToLower(host)
	at := slices.IndexFunc(p.allowed, func(e entry) bool { return e.covers(host, port) })
	if at < 0 {
		return nil, &refusedError{"it is none of verify_registries"}
	}
	dialer := p.dialer
	if !p.allowed[at].exact() {
		dialer.Control = public
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "127.0.0.1" // what RFC 6761 says of these names; not every resolver knows it
	}
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
}

// public looks at an address right before it is connected to.
func public(_, address string, _ syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err != nil || !addresses.Public(at.Addr()) {
		return &refusedError{"it leads to an address that is not public; list it with its port if it is meant"}
	}
	return nil
}

// tunnel carries TLS to the server that was asked for.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil || port == "" {
		p.refuse(w, r.Host, "it is no host and port")
		return
	}
	far, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		p.fail(w, r.Host, err)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	defer context.AfterFunc(p.ended, func() { near.Close(); far.Close() })()
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	_ = near.SetReadDeadline(time.Now().Add(helloTime))
	first, name, err := clientHello(buffered.Reader)
	if err == nil && !named(name, host) {
		err = &refusedError{fmt.Sprintf("the client wants %.120q there", name)}
	}
	if err != nil {
		p.note(r.Host, err.Error())
		return
	}
	_ = near.SetReadDeadline(time.Time{})
	if _, err := (*meter)(p).Write(first); err != nil {
		return
	}
	if _, err := far.Write(first); err != nil {
		return
	}
	p.both(near, far, buffered.Reader)
}

// named reports whether a client calls a server by the name it asked for. One that asked for an address gives no name.
func named(name, host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return name == ""
	}
	return strings.EqualFold(name, host)
}

// both carries both ways until both have ended.
func (p *Proxy) both(near, far net.Conn, from *bufio.Reader) {
	var done sync.WaitGroup
	done.Go(func() {
		_, err := io.Copy(far, io.TeeReader(from, (*meter)(p)))
		closeWrite(far)
		if err != nil {
			near.Close()
			far.Close()
		}
	})
	done.Go(func() {
		_, err := io.Copy(near, far)
		closeWrite(near)
		if err != nil {
			near.Close()
			far.Close()
		}
	})
	done.Wait()
}

func closeWrite(c net.Conn) {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite()
	}
}

// counts counts a plain request, and reports whether it may be sent: names and values can hold as much as a body.
func (p *Proxy) counts(r *http.Request) bool {
	_, err := io.WriteString((*meter)(p), r.Method+" "+r.URL.String())
	return errors.Join(err, r.Header.Write((*meter)(p))) == nil
}

// meter counts what is sent, and ends it at the limit.
type meter Proxy

func (m *meter) Write(b []byte) (int, error) {
	if m.sent.Add(int64(len(b))) > m.limit {
		p := (*Proxy)(m)
		p.note("all of them", fmt.Sprintf("more than %d bytes were sent", m.limit))
		p.end()
		return 0, errors.New("too much is sent")
	}
	return len(b), nil
}
