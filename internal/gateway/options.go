package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Upstream is one OpenAI-compatible endpoint.
type Upstream struct {
	// Name is for people: log, errors, doctor.
	Name string
	// BaseURL is what clients of the endpoint are configured with, such as https://api.openai.com/v1. Calls go to this
	// host and nowhere else; redirects are not followed.
	BaseURL string
	// Key is sent as bearer token; empty sends none (local models).
	Key Secret
	// Models are the names routed here; empty takes every name no upstream before it names.
	Models []string
}

// Options configure a gateway. The zero value of each field but Upstreams is its default.
type Options struct {
	Upstreams []Upstream
	// Prices replace or add to the built-in table, by model name.
	Prices map[string]Price
	Log    hclog.Logger
	// Dir is a short path under which the private folder of the socket is made; default: the system's temporary folder,
	// or /tmp when its path is too long for a socket.
	Dir string
	// CallTimeout bounds one call with its retries, default 5 minutes; the agent's wall time bounds it too.
	CallTimeout time.Duration
	// IdleTimeout bounds the silence inside a stream, default 90 s.
	IdleTimeout time.Duration
	// Retries is how often a refused or broken call is made again, default 3; negative is never.
	Retries int
	// RequestLimit and ResponseLimit bound bodies in bytes, default 16 MiB and 8 MiB.
	RequestLimit, ResponseLimit int64

	// transport replaces the network and now the clock, in tests.
	transport http.RoundTripper
	now       func() time.Time
	// retryMin is the first pause before a retry, without Retry-After.
	retryMin time.Duration
}

func (o *Options) defaults() {
	o.CallTimeout = cmp.Or(o.CallTimeout, 5*time.Minute)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 90*time.Second)
	o.Retries = max(0, cmp.Or(o.Retries, 3))
	o.RequestLimit = cmp.Or(o.RequestLimit, 16<<20)
	o.ResponseLimit = cmp.Or(o.ResponseLimit, 8<<20)
	o.retryMin = cmp.Or(o.retryMin, 500*time.Millisecond)
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.transport == nil {
		o.transport = network()
	}
}

// upstream is an Upstream whose address was checked.
type upstream struct {
	Upstream
	base *url.URL
}

func resolve(list []Upstream) ([]*upstream, error) {
	if len(list) == 0 {
		return nil, errors.New("no model endpoint is configured")
	}
	var out []*upstream
	for _, u := range list {
		base, err := url.Parse(u.BaseURL)
		switch {
		case err != nil:
			return nil, fmt.Errorf("base URL of %s: %w", u.Name, errors.Unwrap(err)) // without the address: it may hold a password
		case base.Scheme != "https" && base.Scheme != "http" || base.Host == "":
			return nil, fmt.Errorf("base URL of %s: want http(s)://host/path", u.Name)
		case base.User != nil || base.RawQuery != "" || base.Fragment != "":
			return nil, fmt.Errorf("base URL of %s: user, query and fragment are not allowed", u.Name)
		case base.Scheme == "http" && !u.Key.Empty() && !loopback(base.Hostname()):
			return nil, fmt.Errorf("base URL of %s: a key is only sent over https, or to this machine", u.Name)
		}
		base.Path = strings.TrimRight(base.Path, "/")
		out = append(out, &upstream{u, base})
	}
	return out, nil
}

func loopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// route finds the upstream of a model; nil when none takes it.
func route(list []*upstream, model string) *upstream {
	var open *upstream
	for _, u := range list {
		if slices.Contains(u.Models, model) {
			return u
		}
		if len(u.Models) == 0 && open == nil {
			open = u
		}
	}
	return open
}
