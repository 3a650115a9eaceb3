package broker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Held stands where a key would, in a process that has none.
const Held = "held-by-the-broker"

// EndpointHeader names the endpoint that a request is for.
const EndpointHeader = "Prloop-Endpoint"

// Endpoint is one that a broker holds the key of.
type Endpoint struct {
	// Name is the operator's; callers give it.
	Name string
	// BaseURL is where calls go, and nowhere else.
	BaseURL string
	Key     string
	// Calls are the methods and the paths below BaseURL that may be asked for, as in "POST /chat/completions".
	Calls []string
}

// longestCall bounds a request, in bytes.
const longestCall = 32 << 20

var (
	// sent are the headers of a caller that the endpoint sees; the key stands in one of the credentials. given are those of the answer.
	sent        = []string{"Accept", "Content-Type", "User-Agent", "Anthropic-Version"}
	credentials = []string{"Authorization", "X-Api-Key", "X-Subscription-Token"}
	given       = []string{"Content-Type", "Retry-After"}
)

type keys struct {
	endpoints []Endpoint
	bases     []*url.URL
	log       hclog.Logger
	proxy     *httputil.ReverseProxy
}

// Keys makes the calls of processes that have no keys. An endpoint without a key is none of its own.
func Keys(list []Endpoint, log hclog.Logger) (http.Handler, error) {
	k := &keys{log: log}
	for _, e := range list {
		base, err := url.Parse(e.BaseURL)
		switch {
		case err != nil:
			return nil, fmt.Errorf("base URL of %s: %w", e.Name, errors.Unwrap(err)) // without the address: it may hold a password
		case base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "":
			return nil, fmt.Errorf("base URL of %s: want http(s)://host/path", e.Name)
		case base.Scheme == "http" && !loopback(base.Hostname()):
			return nil, fmt.Errorf("base URL of %s: a key is only sent over https, or to this machine", e.Name)
		case e.Key == "":
			continue
		}
		base.Path = strings.TrimRight(base.Path, "/")
		k.endpoints, k.bases = append(k.endpoints, e), append(k.bases, base)
	}
	if len(k.endpoints) == 0 {
		return nil, errors.New("no endpoint has a key")
	}
	k.proxy = &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, FlushInterval: -1,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second,
		},
		ErrorLog: log.StandardLogger(nil),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				log.Warn("an endpoint was not reached", "endpoint", r.Header.Get(EndpointHeader), "err", err)
			}
			answer(w, http.StatusBadGateway, "the endpoint cannot be reached")
		},
	}
	return k, nil
}

func loopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// ServeHTTP makes one call, if it is one of those that an endpoint of its own may be asked for.
func (k *keys) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Header.Get(EndpointHeader)
	at := slices.IndexFunc(k.endpoints, func(e Endpoint) bool { return e.Name == name })
	if at < 0 {
		answer(w, http.StatusNotFound, "the broker holds no key for this endpoint: configure it where prloop broker runs")
		return
	}
	e, base := k.endpoints[at], k.bases[at]
	path, below := strings.CutPrefix(r.URL.Path, base.Path)
	switch {
	case !strings.EqualFold(r.Host, base.Host) || !below:
		answer(w, http.StatusMisdirectedRequest, "the broker has another base URL for this endpoint: configure both processes alike")
		return
	case !slices.Contains(e.Calls, r.Method+" "+path):
		answer(w, http.StatusForbidden, "the broker makes no such call")
		return
	}
	to := *base
	to.Path, to.RawQuery = r.URL.Path, r.URL.RawQuery
	out := r.Clone(r.Context())
	out.URL, out.Host, out.RequestURI, out.Body = &to, to.Host, "", http.MaxBytesReader(w, r.Body, longestCall)
	out.Header = http.Header{}
	for _, h := range sent {
		if v := r.Header.Get(h); v != "" {
			out.Header.Set(h, v)
		}
	}
	for _, h := range credentials {
		if v := r.Header.Get(h); strings.Contains(v, Held) {
			out.Header.Set(h, strings.ReplaceAll(v, Held, e.Key))
		}
	}
	proxy := *k.proxy
	proxy.ModifyResponse = func(resp *http.Response) error {
		header := resp.Header
		resp.Header = http.Header{}
		for _, h := range given {
			if v := header.Get(h); v != "" {
				resp.Header.Set(h, strings.ReplaceAll(v, e.Key, hidden))
			}
		}
		resp.ContentLength = -1 // it may change
		resp.Body = &scrubbed{body: resp.Body, key: []byte(e.Key)}
		return nil
	}
	proxy.ServeHTTP(w, out)
}

// answer is an error in the form in which endpoints tell errors.
func answer(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": why, "type": "prloop_broker"}})
}

const hidden = "***"

// scrubbed takes a key out of what an endpoint sends back, should it echo it. Nothing waits but what may be the beginning of the key.
type scrubbed struct {
	body  io.ReadCloser
	key   []byte
	ready []byte
	held  []byte
	err   error
}

func (s *scrubbed) Read(p []byte) (int, error) {
	for len(s.ready) == 0 && s.err == nil {
		chunk := make([]byte, max(len(p), 512))
		n, err := s.body.Read(chunk)
		all := bytes.ReplaceAll(append(s.held, chunk[:n]...), s.key, []byte(hidden))
		keep := 0
		if s.err = err; err == nil {
			for i := min(len(s.key)-1, len(all)); i > 0 && keep == 0; i-- {
				if bytes.HasSuffix(all, s.key[:i]) {
					keep = i
				}
			}
		}
		s.ready, s.held = all[:len(all)-keep], bytes.Clone(all[len(all)-keep:])
	}
	if len(s.ready) == 0 {
		return 0, s.err
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

func (s *scrubbed) Close() error { return s.body.Close() }
