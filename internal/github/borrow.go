package github

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/review"
)

// claimed begins what stands in the place of a token where a broker holds the credential. An App's says what for: OWNER/NAME, OWNER/ for all
// repositories of an owner, or nothing for any.
const claimed = "prloop-claim:"

func claim(owner, name string) string {
	if owner == "" {
		return claimed
	}
	return claimed + owner + "/" + name
}

// Where a broker answers about itself, and for git.
const (
	aboutPath = "/prloop/about"
	gitPath   = "/prloop/git/"
)

// account is what a broker tells of its credential.
type account struct {
	Host string `json:"host"`
	// Minted is true for a token that belongs to an App's installation.
	Minted bool `json:"minted,omitempty"`
	// App is set for an App's key.
	App *appfile.App `json:"app,omitempty"`
}

// borrow connects by a broker that holds the credential (decision 94).
func (c *Client) borrow(ctx context.Context, socket string) error {
	op := "connect to the broker of " + c.host
	var a account
	if err := askBroker(ctx, socket, aboutPath, &a); err != nil {
		return &Error{Op: op, Kind: ErrUnavailable, Cause: err, Detail: describe(err)}
	}
	if !strings.EqualFold(a.Host, c.host) {
		return &Error{Op: op, Kind: ErrHost, Detail: "it is logged in to " + oneLine(a.Host)}
	}
	c.settings = settings{apiHost: c.settings.apiHost, broker: socket}
	c.minted, c.token = a.Minted, claimed
	c.relay = newRelay(socket)
	c.outgoing.add(c.relay.password)
	if a.App == nil {
		return c.connect()
	}
	l := c.newLogin(a.App)
	l.asks = &http.Client{Transport: l.base, CheckRedirect: stayHere, Timeout: answerTimeout}
	c.app = l
	return c.wire(nowhere{})
}

// askBroker asks a broker about itself.
func askBroker(ctx context.Context, socket, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://broker"+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: broker.Transport(socket), Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if down := new(broker.DownError); errors.As(err, &down) {
		return down
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("what answers at %s is no broker", socket)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(into)
}

// aboutHeader names the repository that a request is about, where its address does not say.
const aboutHeader = "Prloop-About"

// The headers by which a broker says that GitHub was not asked.
const (
	notSentHeader = "Prloop-Not-Sent"
	untilHeader   = "Prloop-Until"
)

// borrowed sends requests to a broker, and knows what it did not send.
type borrowed struct{ next http.RoundTripper }

func (b borrowed) RoundTrip(r *http.Request) (*http.Response, error) {
	if repo, ok := r.Context().Value(aboutKey{}).(review.Repo); ok {
		r = r.Clone(r.Context())
		r.Header.Set(aboutHeader, repo.Owner+"/"+repo.Name)
	}
	resp, err := b.next.RoundTrip(r)
	if down := new(broker.DownError); errors.As(err, &down) {
		return nil, notSent(ErrUnavailable, down)
	}
	if err != nil {
		return nil, err
	}
	word := resp.Header.Get(notSentHeader)
	if word == "" {
		return resp, nil
	}
	defer resp.Body.Close()
	why, err := io.ReadAll(io.LimitReader(resp.Body, 1<<12))
	if err != nil {
		return nil, err
	}
	if until, err := time.Parse(time.RFC3339, resp.Header.Get(untilHeader)); err == nil {
		return nil, limitedUntil(until)
	}
	for _, kind := range toldKinds {
		if kind.Error() == word {
			return nil, notSent(kind, errors.New(oneLine(string(why))))
		}
	}
	return nil, notSent(ErrForbidden, errors.New(oneLine(string(why))))
}

// relay is how git, which speaks to no socket, reaches the broker: at an address of this machine, with a password that is another in each process.
type relay struct {
	password string
	// listen gives the address, and begins to listen when it is asked first.
	listen func() (string, error)
}

func newRelay(socket string) *relay {
	r := &relay{password: rand.Text()}
	to := &url.URL{Scheme: "http", Host: "broker", Path: gitPath}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Header.Del("Authorization")
		},
		Transport: broker.Transport(socket), FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	}
	r.listen = sync.OnceValues(func() (string, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("listen for git: %w", err)
		}
		server := &http.Server{ReadHeaderTimeout: answerTimeout, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if _, given, _ := req.BasicAuth(); subtle.ConstantTimeCompare([]byte(given), []byte(r.password)) != 1 {
				w.Header().Set("WWW-Authenticate", `Basic realm="prloop"`)
				http.Error(w, "the password is another", http.StatusUnauthorized)
				return
			}
			proxy.ServeHTTP(w, req)
		})}
		go func() { _ = server.Serve(l) }() // for as long as the process lives
		return "http://" + l.Addr().String(), nil
	})
	return r
}

// remote is a repository as git reaches it.
func (r *relay) remote(repo review.Repo) Clone {
	address, err := r.listen()
	if err != nil {
		return Clone{Env: func(context.Context) ([]string, error) { return nil, err }}
	}
	return Clone{
		URL: address + "/" + repo.Owner + "/" + repo.Name + ".git", Helper: helper,
		Env: func(context.Context) ([]string, error) {
			return []string{"PRLOOP_GIT_ORIGIN=" + address, "PRLOOP_GIT_TOKEN=" + r.password}, nil
		},
	}
}
