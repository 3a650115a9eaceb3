package webfetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/addresses"
)

// Bounds of one reading.
const (
	bodyLimit = 1 << 20
	// textLimit is how much of the text an agent is given, in bytes.
	textLimit    = 20 << 10
	timeLimit    = 10 * time.Second
	redirectsMax = 3
)

// Page is what was read.
type Page struct {
	// URL is where it came from, after redirects.
	URL    string `json:"url"`
	Status int    `json:"status"`
	Type   string `json:"contentType"`
	// Text is the page's text, without markup if it was HTML.
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
}

// Fetcher reads pages of the hosts it was made for.
type Fetcher struct {
	hosts  []string
	client *http.Client

	// port, public and dialer are other than the real ones in tests only.
	port   string
	public func(netip.Addr) bool
	dialer net.Dialer
	roots  *x509.CertPool
}

// New makes a fetcher for hosts of the form HostPattern.
func New(hosts []string) *Fetcher {
	f := &Fetcher{hosts: hosts, port: "443", public: addresses.Public}
	f.connect()
	return f
}

// connect builds the client: a connection is checked when its address is known, whoever resolved it and whatever led here.
func (f *Fetcher) connect() {
	f.dialer.Timeout = timeLimit
	f.dialer.Control = f.control
	f.client = &http.Client{
		Transport: &http.Transport{
			Proxy: nil, // it would resolve names out of sight
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(addr)
				if err != nil {
					return nil, err
				}
				return f.dialer.DialContext(ctx, network, net.JoinHostPort(host, f.port))
			},
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.roots},
			TLSHandshakeTimeout:    timeLimit,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true, // what is small on the wire is small here
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
		},
	}
}

// redirect looks at where a page sends on.
func (f *Fetcher) redirect(r *http.Request, before []*http.Request) error {
	if len(before) > redirectsMax {
		return refuse("more than %d redirects", redirectsMax)
	}
	u, err := f.check(r.URL.String())
	if err != nil {
		return fmt.Errorf("a redirect: %w", err)
	}
	r.URL = u
	r.Header.Del("Referer")
	return nil
}

// control looks at an address right before it is connected to.
func (f *Fetcher) control(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || !f.public(at.Addr()) || fmt.Sprint(at.Port()) != f.port {
		return refuse("the host leads to an address that is not public")
	}
	return nil
}

// Fetch reads one page. What may not be read is a *RefusedError; other errors are the network's. asked is told each host that is asked, whatever it answers.
func (f *Fetcher) Fetch(ctx context.Context, address string, asked func(host string)) (Page, error) {
	u, err := f.check(address)
	if err != nil {
		return Page{}, err
	}
	asked(u.Host)
	client := *f.client
	client.CheckRedirect = func(r *http.Request, before []*http.Request) error {
		err := f.redirect(r, before)
		if err == nil {
			asked(r.URL.Host)
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, refuse("this is no address")
	}
	req.Header.Set("User-Agent", "prloop")
	req.Header.Set("Accept", "text/html, text/plain, application/json;q=0.9, text/*;q=0.8")
	resp, err := client.Do(req)
	if err != nil {
		var no *RefusedError
		if errors.As(err, &no) {
			return Page{}, no
		}
		return Page{}, fmt.Errorf("read a page of %s: %w", u.Host, plain(ctx, err))
	}
	defer resp.Body.Close()
	kind, err := textual(resp)
	if err != nil {
		return Page{}, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit+1))
	if err != nil {
		return Page{}, fmt.Errorf("read a page of %s: %w", resp.Request.URL.Host, plain(ctx, err))
	}
	if len(data) > bodyLimit {
		return Page{}, refuse("the page is larger than %d bytes", bodyLimit)
	}
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return Page{}, refuse("the page is no text")
	}
	p := Page{URL: resp.Request.URL.String(), Status: resp.StatusCode, Type: kind, Text: string(data)}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		p.Text = words(p.Text)
	}
	if len(p.Text) > textLimit {
		p.Text, p.Truncated = strings.ToValidUTF8(p.Text[:textLimit], ""), true
	}
	return p, nil
}

// textual names the kind of an answer, and refuses what is no text.
func textual(resp *http.Response) (string, error) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return "", refuse("the page does not say what it is")
	case resp.Header.Get("Content-Encoding") != "":
		return "", refuse("the page is packed, which was not asked for")
	case strings.HasPrefix(kind, "text/"), kind == "application/json", kind == "application/xml", kind == "application/xhtml+xml",
		strings.HasPrefix(kind, "application/") && (strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")):
		return kind, nil
	}
	return "", refuse("the page is of kind %.60q, and only text is read", kind)
}

// plain takes addresses off an error of the network.
func plain(ctx context.Context, err error) error {
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("no answer within %v", timeLimit)
	case errors.As(err, &dns):
		return errors.New("its name is not known")
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return errors.New("its certificate is not valid")
	}
	return errors.New("it cannot be reached")
}
