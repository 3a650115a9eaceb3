package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

// Options of a client; the zero value is github.com as gh is logged in there.
type Options struct {
	// Host is the GitHub host; default DefaultHost.
	Host string
	// Named are hosts that the operator named, beside KnownHosts: only to these goes a token of Env.
	Named []string
	// Env is the environment gh and its settings are read from, as of os.Environ, which is the default.
	Env []string
	// GH is the gh binary; default "gh" in PATH.
	GH string
	// Temp is where the file of a comment stands while gh reads it; default the system's folder for such things.
	Temp string
	// ReadOnly allows a machine without gh: reads work if a token is in the environment, and Post gives ErrNoGH.
	ReadOnly bool
	// GitURL is the prefix of clone addresses, for hosts whose git is served elsewhere; default PRLOOP_GIT_URL in Env,
	// else https://HOST/.
	GitURL string
	// MaxWait bounds how long one read may wait for GitHub in all; over it the read fails with ErrRateLimited or
	// ErrUnavailable. Default 90 seconds, which covers the minute that GitHub asks for after a secondary limit.
	MaxWait time.Duration
	// Broker is the socket of a process that holds the credential; this one then has none. Empty where it has its own.
	Broker string
	// Places are those that the processes of an account share for what they create; default this client's own.
	Places Places
	// Log is told of retries; default none. It never sees bodies or credentials.
	Log hclog.Logger
}

// Client talks to one GitHub host. It is safe for concurrent use; writes go one at a time.
type Client struct {
	host  string
	env   environment
	gh    string
	token string
	// minted is true where the token is one of an App's installations.
	minted bool
	gitURL string
	// relay is the way of git to the broker that holds the credential; nil where there is none.
	relay *relay
	temp  string
	log   hclog.Logger

	graphql *api.GraphQLClient
	http    *http.Client
	rest    string // prefix of REST addresses

	// outgoing reads what all clients of the host send.
	outgoing *outgoing
	// run starts gh; other than proc.Run only in tests.
	run func(context.Context, proc.Spec) (proc.Result, error)

	maxWait   time.Duration
	firstWait time.Duration // before the first retry; shorter in tests
	bounds    bounds

	*shared
	tally *Tally

	// app is set when the credential is a GitHub App's key and not token; at and repo are then the installation and the repository that the
	// client is for.
	app  *appLogin
	at   Installation
	repo string
	// settings are those of the host.
	settings settings
}

// shared is what all clients of one login in a process have in common.
type shared struct {
	limits    *limits
	transport *transport

	asking sync.Mutex
	viewer *review.Person // whom the token belongs to, once GitHub has said

	writers writers

	writing   turn
	lastWrite time.Time
	pace      pace
	writeGap  time.Duration // GitHub asks for a second between writes (threats.md T57)
}

// New finds gh and the credential for a host. Errors: ErrNoGH, ErrNotLoggedIn, ErrHost.
func New(ctx context.Context, o Options) (*Client, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	env := environment(o.Env)
	if o.Host == "" {
		o.Host = DefaultHost(o.Env)
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 90 * time.Second
	}
	limits := &limits{}
	c := &Client{
		host: strings.ToLower(o.Host), env: env, gitURL: o.GitURL, temp: o.Temp, log: o.Log, maxWait: o.MaxWait, firstWait: 500 * time.Millisecond, run: proc.Run,
		bounds: defaultBounds, shared: &shared{writing: make(turn, 1), writeGap: time.Second, limits: limits, pace: pace{places: o.Places, clock: limits.now}},
	}
	op := "connect to " + c.host
	if strings.ContainsAny(c.host, ":/@ ") { // gh keeps no login for a host with a port, and go-gh sends none
		return nil, &Error{Op: op, Kind: ErrHost, Detail: "a host has neither scheme nor port"}
	}
	if err := c.findGH(o); err != nil && !o.ReadOnly {
		return nil, &Error{Op: op, Kind: ErrNoGH, Cause: err}
	}
	if c.gitURL == "" {
		c.gitURL = env.get("PRLOOP_GIT_URL")
	}
	if c.gitURL == "" {
		c.gitURL = "https://" + c.host + "/"
	}
	c.settings, c.outgoing = env.settings(c.host), &outgoing{host: c.host}
	if o.Broker != "" {
		return c, c.borrow(ctx, o.Broker)
	}
	app, err := appfile.Find(env.get(appfile.Env), c.host)
	if err == nil && app != nil {
		c.app, err = newApp(ctx, app, c)
	}
	if err != nil {
		return nil, err
	}
	if c.app != nil {
		return c, c.wire(nowhere{})
	}
	var withheld string
	if c.token, withheld = c.findToken(ctx, c.settings, append(KnownHosts(o.Env), o.Named...)); c.token == "" {
		e := &Error{Op: op, Kind: ErrNotLoggedIn}
		if withheld != "" {
			e.Unnamed, e.Detail = c.host, withheld+" is not sent to a host that neither GH_HOST nor gh's configuration names"
		}
		return nil, e
	}
	c.minted = strings.HasPrefix(c.token, "ghs_")
	return c, c.connect()
}

// nowhere refuses what an App's client is asked before it is said for which repository.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("a GitHub App is asked for one repository at a time")
}

func (c *Client) findGH(o Options) error {
	name := o.GH
	if name == "" {
		name = c.env.get("GH_PATH")
	}
	if name == "" {
		name = "gh"
	}
	gh, err := proc.LookPath(name)
	c.gh = gh
	return err
}

// connect makes go-gh's clients from explicit options only, so that nothing is read behind our back.
func (c *Client) connect() error {
	c.outgoing.add(c.token)
	c.transport = newTransport(c.host, c.settings, c.limits, c.outgoing)
	return c.wire(c.transport)
}

// wire has them send their requests by a transport. That of an App puts a token of its own in the place of this one.
func (c *Client) wire(by http.RoundTripper) error {
	s, token := c.settings, c.token
	if c.app != nil {
		token = "app"
	}
	options := api.ClientOptions{
		Host: c.host, APIHost: s.apiHost, AuthToken: token, LogIgnoreEnv: true, Transport: by,
		CheckRedirect: stayHere, Headers: map[string]string{"User-Agent": "prloop"},
	}
	var err error
	if c.graphql, err = api.NewGraphQLClient(options); err != nil {
		return fmt.Errorf("connect to %s: %w", c.host, err)
	}
	options.Headers = map[string]string{"User-Agent": "prloop", "Accept": "application/vnd.github+json"}
	if c.http, err = api.NewHTTPClient(options); err != nil {
		return fmt.Errorf("connect to %s: %w", c.host, err)
	}
	c.rest = s.restPrefix(c.host)
	return nil
}

// Host is the host the client talks to.
func (c *Client) Host() string { return c.host }

// Clock is the time by GitHub's clock, as its last answer has it; this machine's where there was none. It is no later than now.
func (c *Client) Clock() time.Time {
	if at := c.limits.answered(); !at.IsZero() {
		return at
	}
	return time.Now()
}

// Secrets are the credentials the client holds, for the tripwire that keeps them out of every text (threats.md "Secrets").
func (c *Client) Secrets() []string {
	if c.app != nil {
		return c.app.held()
	}
	if c.relay != nil {
		return []string{c.relay.password}
	}
	return []string{c.token}
}
