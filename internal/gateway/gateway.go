package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/prloop/prloop/review"
)

// Gateway is a running proxy.
type Gateway struct {
	crowd     crowd
	options   Options
	upstreams []*upstream
	prices    map[string]Price
	client    *retryablehttp.Client
	run       *runBudget
	recording *recording
	web       webLedger
	checks    checkLedger
	// masks are Options.Mask, MaskKnown and MaskLearned with a memory; mask is nil without any.
	masks Masks
	mask  func(string) string
	// garbage is how many bytes requests left behind since the last sweep, at most.
	garbage atomic.Int64

	dir    string
	socket string
	addr   string
	save   sync.Once
	server *http.Server
	done   chan struct{}
	stop   func() bool

	mu sync.Mutex
	// tokens are the live placeholder tokens; accounts the newest account of each agent; past those replaced by it.
	tokens   map[string]*account
	accounts map[string]*account
	past     []*account
	// cooling is when a model may be asked again.
	cooling map[string]time.Time
	// served are the models each endpoint listed, by its name.
	served map[string][]string
}

// socketLimit is the longest path of a unix socket that every system takes, in bytes.
const socketLimit = 100

// Start listens on a new socket in a private folder until Close is called or ctx ends.
func Start(ctx context.Context, o Options) (*Gateway, error) {
	o.defaults()
	recording, err := openRecording(o.Cassette)
	if err != nil {
		return nil, fmt.Errorf("start model gateway: %w", err)
	}
	var list []*upstream
	if recording.Mode != Replay {
		if list, err = resolve(o.Upstreams); err != nil {
			return nil, fmt.Errorf("start model gateway: %w", err)
		}
	}
	g := &Gateway{
		options: o, upstreams: list, prices: priceTable(o.Prices), client: client(o),
		tokens: map[string]*account{}, accounts: map[string]*account{}, cooling: map[string]time.Time{}, served: map[string][]string{}, done: make(chan struct{}),
	}
	g.recording = recording
	if g.masks.Values, g.masks.Known, g.masks.Learned = o.Mask, o.MaskKnown, o.MaskLearned; o.Mask != nil || o.MaskKnown != nil || o.MaskLearned != nil {
		g.mask = g.masks.Mask
	}
	g.run = newPurse(o)
	if o.Run.WallTime > 0 {
		g.run.until = o.now().Add(o.Run.WallTime)
	}
	l, err := g.listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("start model gateway: %w", err)
	}
	listeners := []net.Listener{l}
	if o.TCP {
		tcp, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("start model gateway: %w", errors.Join(err, l.Close(), os.RemoveAll(g.dir)))
		}
		g.addr = tcp.Addr().String()
		listeners = append(listeners, tcp)
	}
	g.server = &http.Server{
		Handler:           g,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       idleTime,
		ConnState:         g.crowd.watch,
		ConnContext:       know,
		MaxHeaderBytes:    longestHead,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          o.Log.StandardLogger(nil),
	}
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() { _ = g.server.Serve(door{l, &g.crowd, g.agents, g.litter}) }) // always an error: closed
	}
	go func() {
		defer close(g.done)
		serving.Wait()
	}()
	g.stop = context.AfterFunc(ctx, func() { _ = g.server.Close() })
	return g, nil
}

func (g *Gateway) listen(ctx context.Context) (net.Listener, error) {
	parents := []string{cmp.Or(g.options.Dir, os.TempDir())}
	if g.options.Dir == "" {
		parents = append(parents, "/tmp")
	}
	var last error
	for _, parent := range parents {
		dir, err := os.MkdirTemp(parent, "prloop-") // 0700: only this user reaches the socket
		if err != nil {
			last = err
			continue
		}
		path := filepath.Join(dir, "model.sock")
		if len(path) > socketLimit {
			last = errors.Join(fmt.Errorf("socket path %s is longer than %d bytes", path, socketLimit), os.Remove(dir))
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
		if err == nil {
			err = os.Chmod(path, 0o600)
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		g.dir, g.socket = dir, path
		return l, nil
	}
	return nil, last
}

// Socket is the path of the unix socket.
func (g *Gateway) Socket() string { return g.socket }

// Addr is host and port of the loopback listener; empty without Options.TCP.
func (g *Gateway) Addr() string { return g.addr }

// Close cuts all calls, stops listening, removes the socket and writes the cassette. It may be called more than once.
func (g *Gateway) Close() error {
	g.stop()
	err := g.server.Close()
	<-g.done
	g.save.Do(func() { err = errors.Join(err, g.recording.save()) })
	return errors.Join(err, os.RemoveAll(g.dir))
}

// Issue opens an account for an agent, with all of limits unspent and the wall time starting now, and returns the
// placeholder token that stands for it. The token is worth nothing outside this gateway. An earlier token of the same
// agent is revoked. Zero limits are the defaults of spec.md R3. models are the names the agent may ask for, as they
// are written there: without any it may ask for none.
func (g *Gateway) Issue(agent string, limits review.Limits, models ...string) (token string) {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails: the process would have been stopped
	token = "prloop-" + hex.EncodeToString(random)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revoke(agent)
	if old := g.accounts[agent]; old != nil {
		g.past = append(g.past, old)
	}
	a := newAccount(agent, limits, g.options.AgentTokens, g.options.RequestLimit, g.run, g.options.now())
	a.allowed = slices.Clone(models)
	a.idle, a.call = cmp.Or(g.options.idle, a.idle), cmp.Or(g.options.call, a.call)
	g.accounts[agent], g.tokens[token] = a, a
	return token
}

// Release revokes an agent's token. Its usage stays readable.
func (g *Gateway) Release(agent string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revoke(agent)
}

func (g *Gateway) revoke(agent string) {
	for token, a := range g.tokens {
		if a.agent == agent {
			delete(g.tokens, token)
		}
	}
}

// agents is how many have a token.
func (g *Gateway) agents() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.tokens)
}

func (g *Gateway) account(token string) *account {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tokens[token]
}

// Usage is what an agent has spent since its token was issued; zero for an agent that never had one. Figures that a
// model endpoint did not report are nil.
func (g *Gateway) Usage(agent string) review.Usage {
	g.mu.Lock()
	a := g.accounts[agent]
	g.mu.Unlock()
	if a == nil {
		return review.Usage{}
	}
	return a.usage()
}

// Err is the newest reason why calls of an agent went wrong: *EndpointError, *UnreachableError, *BudgetError, *ModelError,
// *PriceError, *SpentError or nil. A later call that succeeds clears it.
func (g *Gateway) Err(agent string) error {
	g.mu.Lock()
	a := g.accounts[agent]
	g.mu.Unlock()
	if a == nil {
		return nil
	}
	return a.err()
}

// TimeUp is the *BudgetError of an agent whose wall time, or the run's, is over; nil while there is some left.
func (g *Gateway) TimeUp(agent string) error {
	g.mu.Lock()
	a := g.accounts[agent]
	g.mu.Unlock()
	if now := g.options.now(); a != nil && !now.Before(a.until()) {
		return a.timeOver(now)
	}
	return nil
}

// Models are the names of all models that answered any agent, sorted.
func (g *Gateway) Models() []string {
	g.mu.Lock()
	all := slices.Clone(g.past)
	for _, a := range g.accounts {
		all = append(all, a)
	}
	g.mu.Unlock()
	var names []string
	for _, a := range all {
		names = append(names, a.usage().Models...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
