package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/broker"
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

// Endpoint is the upstream for whoever holds its key in the place of gateways.
func (u Upstream) Endpoint() broker.Endpoint {
	return broker.Endpoint{Name: u.Name, BaseURL: u.BaseURL, Key: u.Key.s, Calls: []string{
		http.MethodPost + " " + pathChat, http.MethodPost + " " + pathResponses, http.MethodPost + " " + pathMessages, http.MethodGet + " " + pathModels,
	}}
}

// Options configure a gateway. The zero value of each field but Upstreams is its default.
type Options struct {
	Upstreams []Upstream
	// Broker is the socket of the process that holds the keys; a Key is then broker.Held. Empty where this process has them.
	Broker string
	// Prices replace or add to the built-in table, by model name.
	Prices map[string]Price
	Log    hclog.Logger
	// Dir is a short path under which the private folder of the socket is made; default: the system's temporary folder,
	// or /tmp when its path is too long for a socket.
	Dir string
	// Retries is how often a refused or broken call is made again, default 3; negative is never.
	Retries int
	// RequestLimit bounds a request in bytes, and all requests of one agent that are in memory together; default 4 MiB, which
	// holds a million tokens of text. ResponseLimit bounds an answer, default 8 MiB.
	RequestLimit, ResponseLimit int64

	// AgentTokens bounds the tokens of one agent; 0 is without bound.
	AgentTokens int
	// Run bounds what all agents spend together.
	Run Totals
	// Spent is what was spent of Run's bounds before this gateway was started. Its wall time is not looked at.
	Spent Totals
	// Keep is told what is spent or reserved of Run's bounds, Spent included, before a call is made and when it has ended. An error
	// refuses the call. It must be safe for concurrent use; nil tells nobody.
	Keep func(Totals) error
	// Caps bound money beyond this run, such as per pull request and per day.
	Caps []Cap
	// RefuseUnpriced refuses models without a known price. Set it when the operator chose the bound in dollars; a bound of
	// Run or Caps in dollars has the same effect. Otherwise such calls are made, and their cost is reported as unknown.
	RefuseUnpriced bool
	// AdmitUnpriced takes that effect from the bound of Run. Set it when nobody chose that bound.
	AdmitUnpriced bool
	// FreeTools are function names that do not count as tool calls: those that only hand results over.
	FreeTools []string
	// Fallbacks are the models asked, in this order, when a model's endpoint refuses or cannot be reached.
	Fallbacks map[string][]string
	// Cassette records conversations, or answers from recorded ones.
	Cassette Cassette
	// Fetch reads a page of the web for agents that Permit names; what it gives is handed over as JSON, and its errors are shown
	// to the agent. asked is told each host that is asked, whatever it answers. Nil reads none.
	Fetch func(ctx context.Context, url string, asked func(host string)) (any, error)
	// Search is the same for questions to a search provider.
	Search func(ctx context.Context, query string) (any, error)
	// TCP listens on a free port of the loopback interface too, for agents that cannot speak over a unix socket. The same
	// tokens are asked for; every user of the machine can reach it.
	TCP bool
	// Mask takes out of a text what no model may see. It is applied once to every text a model reads: messages, instructions,
	// results and arguments of tools, descriptions, thoughts; never to ids, signatures, base64 data and what a provider encrypted.
	// It must be a pure function that keeps lines, safe for concurrent use; nil masks nothing. Lines that Gateway.Show names stay.
	Mask func(text string) string
	// MaskKnown is applied to what Mask leaves, shown lines included. It too must be pure and safe for concurrent use.
	MaskKnown func(text string) string
	// MaskLearned is applied last, to every text of every call but the lines that were shown: what it masks may grow. It must be safe for concurrent use.
	MaskLearned func(text string) string
	// Observe is told how every call to a model ended; nil observes nothing. It must be safe for concurrent use.
	Observe func(Observation)
	// Note is told what a person should see: a model answering for another, tool calls cut off. It must be safe for concurrent use;
	// nil drops it.
	Note func(agent, message string)

	// transport replaces the network and now the clock, in tests.
	transport http.RoundTripper
	now       func() time.Time
	// bodyTimeout bounds how long a caller may take to send its request, roomTimeout how long one waits until others of the same
	// agent are done; default 30 s each.
	bodyTimeout, roomTimeout time.Duration
	// idle and call replace those of an agent's limits, in tests.
	idle, call time.Duration
	// retryMin is the first pause before a retry, without Retry-After.
	retryMin time.Duration
}

func (o *Options) defaults() {
	o.Retries = max(0, cmp.Or(o.Retries, 3))
	o.RequestLimit = cmp.Or(o.RequestLimit, 4<<20)
	o.ResponseLimit = cmp.Or(o.ResponseLimit, 8<<20)
	o.bodyTimeout = cmp.Or(o.bodyTimeout, 30*time.Second)
	o.roomTimeout = cmp.Or(o.roomTimeout, 30*time.Second)
	o.retryMin = cmp.Or(o.retryMin, 500*time.Millisecond)
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Note == nil {
		o.Note = func(string, string) {}
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.transport == nil {
		o.transport = broker.Through(o.Broker, network())
	}
}

// Cap bounds the dollars of something that outlives the run.
type Cap struct {
	// Name is for people, such as pull request or day.
	Name string
	USD  float64
	// Spent tells what was spent outside this gateway: what it charged itself is added to it. It is asked before every call;
	// an error refuses the call.
	Spent func(ctx context.Context) (usd float64, err error)
}

// before is a Cap at the time of a call.
type before struct {
	name       string
	cap, spent float64
}

func (o *Options) spentBefore(ctx context.Context) ([]before, error) {
	var out []before
	for _, c := range o.Caps {
		spent, err := c.Spent(ctx)
		if err == nil && (spent < 0 || spent != spent) {
			err = fmt.Errorf("$%f is no amount", spent)
		}
		if err != nil {
			return nil, &SpentError{c.Name, err}
		}
		out = append(out, before{c.Name, c.USD, spent})
	}
	return out, nil
}

// priced reports whether every call must have a known price.
func (o *Options) priced() bool {
	return o.RefuseUnpriced || o.Run.CostUSD > 0 && !o.AdmitUnpriced || len(o.Caps) > 0
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
		case base.Scheme == "http" && !u.Key.Empty() && u.Key.s != broker.Held && !loopback(base.Hostname()):
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
