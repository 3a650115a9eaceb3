package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// door is the only way on which gh reaches GitHub: a socket of this process, behind which its requests go the way of all others. What it
// sends is read there, the times that GitHub names hold for it and are learned from its answers, and the credential is added here, so
// that gh has none (threats.md T241).
type door struct {
	client *Client
	repo   review.Repo
	// node is what the one comment is on, by GraphQL's id.
	node  string
	token string
	// of makes the context of a request one of the write that gh was started for.
	of     func(context.Context) context.Context
	server *http.Server
	over   chan struct{}

	mu sync.Mutex
	// wrote counts the requests that write and were handed to the network, failed is the first error of a request that has no answer.
	wrote  int
	failed error
}

// doorName is the socket in gh's folder. gh is started in that folder: the address of a socket may be 100 bytes long, and no folder's is bounded.
const doorName = "s"

// openDoor makes gh's folder ready: the socket, and a configuration that names it.
func (c *Client) openDoor(ctx context.Context, dir string, pr review.PullRequest, token string) (*door, error) {
	if err := os.WriteFile(filepath.Join(dir, "config.yml"), []byte("version: \"1\"\nprompt: disabled\nhttp_unix_socket: "+doorName+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("write gh's configuration: %w", err)
	}
	l, err := listenIn(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("make the socket for gh: %w", err)
	}
	d := &door{client: c, repo: pr.Repo, node: pr.NodeID, token: token, over: make(chan struct{}), of: func(asked context.Context) context.Context { return effects.Carrying(asked, ctx) }}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: answerTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(d.over)
		_ = d.server.Serve(l)
	}()
	return d, nil
}

// maxSocketName is how long the address of a socket may be on every system.
const maxSocketName = 100

// listenIn listens at the socket in a folder, whatever the folder's name is.
func listenIn(ctx context.Context, dir string) (net.Listener, error) {
	name := filepath.Join(dir, doorName)
	if len(name) > maxSocketName {
		short, err := os.MkdirTemp("", "prloop-gh-") // 0700
		if err != nil {
			return nil, err
		}
		if err := os.Symlink(filepath.Join(short, doorName), name); err != nil {
			return nil, errors.Join(err, os.RemoveAll(short))
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(short, doorName))
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(short))
		}
		return removing{l, short}, nil
	}
	return (&net.ListenConfig{}).Listen(ctx, "unix", name)
}

// removing is a listener whose folder goes with it.
type removing struct {
	net.Listener
	dir string
}

func (l removing) Close() error { return errors.Join(l.Listener.Close(), os.RemoveAll(l.dir)) }

// close ends what gh began and waits for it.
func (d *door) close() {
	_ = d.server.Close()
	<-d.over
}

// told is what passed through the door: whether a request that writes was sent, and why one had no answer.
func (d *door) told() (wrote bool, failed error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wrote > 0, d.failed
}

func (d *door) writes(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrote += n
}

// carried are the headers of gh that GitHub is to see.
var carried = []string{"Accept", "Content-Type", "User-Agent", "Graphql-Features", "X-Github-Next-Global-Id", "Time-Zone"}

// ServeHTTP hands one request of gh on, and its answer back once it is there as a whole.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeoutCause(about(d.of(r.Context()), d.repo), answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	resp, body, err := d.hand(ctx, r) //nolint:bodyclose // hand has read and closed it
	if err != nil {
		d.mu.Lock()
		if d.failed == nil {
			d.failed = err
		}
		d.mu.Unlock()
		http.Error(w, "prloop had no answer of GitHub", http.StatusBadGateway)
		return
	}
	for _, name := range []string{"Content-Type", "Link", "Location", "X-Oauth-Scopes", "X-Accepted-Oauth-Scopes", "X-Github-Sso", "Retry-After", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		if v := resp.Header.Values(name); len(v) > 0 {
			w.Header()[name] = v
		}
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(body)
}

// aComment is the one request that writes which gh has a reason to make.
var aComment = lazyregexp.New(`^mutation\w*\(\$input:AddCommentInput!\)\{addComment\(input:\$input\)\{[\w{}]*\}\}$`)

// refuses says why a request is none that gh makes to add one comment to the pull request; empty when it is. The credential is good for more than
// that, and where agents are confined by less than namespaces, others than gh may find the socket.
func (d *door) refuses(r *http.Request, raw []byte, change bool) string {
	var asked struct {
		Query     string
		Variables struct{ Input map[string]any }
	}
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	switch {
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return ""
	case resource(r) != graphql || json.Unmarshal(raw, &asked) != nil:
		return "it is no request that gh makes for a comment"
	case !change && !strings.Contains(asked.Query, "mutation"):
		return ""
	case !change || !aComment.MatchString(bare(asked.Query)):
		return "it changes something else than gh does for a comment"
	case d.node != "" && asked.Variables.Input["subjectId"] != d.node:
		return "it comments on something else than the pull request"
	}
	if wrote, _ := d.told(); wrote {
		return "it is the second comment of one gh"
	}
	return ""
}

func (d *door) hand(ctx context.Context, r *http.Request) (*http.Response, []byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, largestRequest))
	if err != nil {
		return nil, nil, notSent(ErrUnavailable, err)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "https://"+r.Host+r.URL.RequestURI(), onlyOnce{strings.NewReader(string(raw))})
	if err != nil {
		return nil, nil, notSent(ErrBadAnswer, err)
	}
	req.ContentLength = int64(len(raw))
	for _, name := range carried {
		if v := r.Header.Values(name); len(v) > 0 {
			req.Header[name] = v
		}
	}
	req.Header.Set("Authorization", "token "+d.token)
	var e *Error
	change := changes(req, raw)
	if why := d.refuses(req, raw, change); why != "" {
		return nil, nil, notSent(sanitize.ErrUnsafe, errors.New(why))
	}
	if change { // before: whoever gives up meanwhile must not take it for unsent
		d.writes(1)
	}
	resp, err := d.client.transport.RoundTrip(req)
	if err != nil {
		if change && errors.As(err, &e) && e.unsent {
			d.writes(-1)
		}
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}
