package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/auth"

	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/effects"
)

// Bounds of one answer (threats.md T61).
const (
	answerLimitBytes = 32 << 20
	answerTimeout    = 60 * time.Second
)

var errTooLarge = fmt.Errorf("it is larger than %d MB", answerLimitBytes>>20)

// transport is the base of every request: it goes to the API's host only, over gh's unix socket if one is configured,
// and bounds and checks what comes back.
type transport struct {
	hosts  []string
	next   http.RoundTripper
	limits *limits
	etags  *etags
	// outgoing reads what is sent.
	outgoing *outgoing
}

func newTransport(host string, s settings, l *limits, o *outgoing) *transport {
	hosts := []string{host, s.apiHost}
	if !auth.IsEnterprise(host) {
		hosts = append(hosts, "api."+host)
	}
	if s.broker != "" {
		return &transport{hosts: hosts, next: borrowed{broker.Transport(s.broker)}, limits: l, etags: newETags(), outgoing: o}
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = answerTimeout
	if s.socket != "" {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", s.socket)
		}
		base.Proxy, base.DialContext, base.DialTLSContext = nil, dial, dial
	}
	return &transport{hosts: hosts, next: base, limits: l, etags: newETags(), outgoing: o}
}

// RoundTrip makes no request before the time GitHub named, and refuses hosts that are not the API's: the layer above adds the credential to whatever it thinks belongs to
// the host, and a redirect must not carry it away (threats.md T60).
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	known := false
	for _, h := range t.hosts {
		known = known || strings.EqualFold(h, r.URL.Host)
	}
	if !known || r.URL.Scheme != "https" {
		return nil, fmt.Errorf("refused to send a request to %s", r.URL.Host)
	}
	if until := t.limits.until(resource(r)); !until.IsZero() && resource(r) != free {
		return nil, limitedUntil(until)
	}
	r, err := t.outgoing.read(r)
	if err != nil {
		return nil, err
	}
	if r.Method != http.MethodGet {
		if err := effects.Sure(r.Context()); err != nil { // the last moment at which it can be kept back (threats.md T231)
			return nil, notSent(ErrUnavailable, err)
		}
	}
	resp, err := t.next.RoundTrip(t.etags.ask(r))
	if err != nil {
		return nil, err
	}
	resp.Body = &bounded{body: resp.Body, left: answerLimitBytes}
	if err := t.limits.heed(r, resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
			_ = resp.Body.Close()
			return nil, fmt.Errorf("%w: it is %q instead of JSON", ErrBadAnswer, kind)
		}
	}
	return t.etags.answer(r, resp)
}

// stayHere never follows a redirect: the API redirects only for what has moved, and that is for a person to decide.
func stayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// bounded ends a body that is too large, after decompression.
type bounded struct {
	body io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: %w", ErrBadAnswer, errTooLarge)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	if errors.Is(err, io.EOF) && b.left <= 0 {
		return n, io.EOF
	}
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }
