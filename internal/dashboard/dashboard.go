// Package dashboard is what people open in a browser: runs, pull requests, repositories, and what reviews cost and came to. Pages
// work without scripts; what is live uses htmx and server-sent events. Every text on them is untrusted: templates escape it, Markdown
// passes bluemonday, and no page may load anything from elsewhere (threats.md T210 to T213).
package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alexedwards/scs/v2"
	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/signin"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// Runs are what pages are made of.
type Runs interface {
	Runs(ctx context.Context, f store.Filter) ([]store.Run, error)
	Usage(ctx context.Context, over store.Over) (stats.Usage, error)
	Find(ctx context.Context, part string) (store.Run, error)
	Queue(ctx context.Context, keys []review.RepoKey, limit int) (queue.Status, error)
	Repositories(ctx context.Context) ([]store.Repository, error)
	Rounds(ctx context.Context, run string) ([]store.Round, error)
	Merge(ctx context.Context, key review.RepoKey, pr int) (store.Merge, error)
	Observations(ctx context.Context, f store.NoticedFilter) ([]store.Noticed, error)
	Effects(ctx context.Context, run string) ([]store.Entry, error)
	Incidents(ctx context.Context, run string) ([]store.Incident, error)
	Files(run string) ([]string, error)
	File(run, name string) ([]byte, error)
	Talk(run string, round int) (app.Talk, error)
	Replay(run string, round int) (app.Replayed, error)
}

// Control ends runs that this process, or another that it knows, is at work on, and has those gone on with that stopped.
type Control interface {
	Cancel(ctx context.Context, run string) error
	Resume(ctx context.Context, run string, t review.Target) error
}

// Options are what a dashboard shows, and to whom.
type Options struct {
	Runs Runs
	// Feed hears of the runs of this process while they go on; nil when they are all elsewhere.
	Feed *Feed
	// Control cancels and resumes runs; nil when nothing here can.
	Control Control
	// Serves reports whether this process serves the repository HOST/OWNER/NAME; nil when it serves none. Pages have nothing asked and fetched about
	// others; where it is nil, about those without runs.
	Serves func(name string) bool
	// Policies are what administrators decide; nil when nobody can here. Operator is the operator's file, which bounds them.
	Policies Policies
	Operator *config.File
	// Settings resolves what holds for a repository; nil when nobody can here.
	Settings Settings
	// GitHub signs people in; without a client id only links do.
	GitHub signin.GitHub
	// Address is where people reach the dashboard: its scheme says whether cookies need TLS.
	Address url.URL
	// Keys are links that other processes of the operator make; without a folder there are none.
	Keys Keys
	// Log hears of faults; nil for nobody.
	Log hclog.Logger
	// Now is the time; nil for that of the machine.
	Now func() time.Time
	// live is how long one connection follows a run; 0 for liveTime.
	live time.Duration
}

// How long a session lasts: rights may have changed since.
const (
	sessionLife = 8 * time.Hour
	sessionIdle = time.Hour
	linkLife    = 15 * time.Minute
	// visitLife is how long somebody may take to come back from GitHub.
	visitLife = 10 * time.Minute
	// liveTime is how long one connection follows a run. The browser comes again, and has to be signed in still.
	liveTime = 5 * time.Minute
)

// A Dashboard serves the pages.
type Dashboard struct {
	Options
	sessions *scs.SessionManager
	handler  http.Handler

	mu    sync.Mutex
	link  string // of the one that may still be used; empty for none
	until time.Time
	// at counts what is being answered to people other than the operator (comes).
	at map[string]int
}

// visitor is who is signed in.
type visitor struct {
	Name string
	// Operator may see and do everything; others what concerns the repositories they administer.
	Operator bool
	Repos    []signin.Repo
}

func init() {
	gob.Register(visitor{})
}

// may reports whether a visitor may see what concerns a repository. What has no key is of the operator alone: local changes, and runs that
// were kept before keys were, whose repository may have been another of the same name.
func (v visitor) may(key review.RepoKey) bool {
	return v.Operator || key != "" && slices.ContainsFunc(v.Repos, func(r signin.Repo) bool { return r.Key == key })
}

// called reports whether a visitor may see what concerns the repository that has a name today.
func (v visitor) called(name string) bool {
	return v.Operator || slices.ContainsFunc(v.Repos, func(r signin.Repo) bool { return r.Name == name })
}

// keys are the repositories whose runs a visitor may see; nil for all.
func (v visitor) keys() []review.RepoKey {
	if v.Operator {
		return nil
	}
	keys := []review.RepoKey{}
	for _, r := range v.Repos {
		keys = append(keys, r.Key)
	}
	return keys
}

// New makes a dashboard.
func New(o Options) *Dashboard {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.live == 0 {
		o.live = liveTime
	}
	d := &Dashboard{Options: o, sessions: scs.New(), at: map[string]int{}}
	d.sessions.Lifetime, d.sessions.IdleTimeout = sessionLife, sessionIdle
	d.sessions.Cookie.Name, d.sessions.Cookie.HttpOnly, d.sessions.Cookie.SameSite = "prloop", true, http.SameSiteLaxMode
	if o.Address.Scheme == "https" {
		d.sessions.Cookie.Name, d.sessions.Cookie.Secure = "__Host-prloop", true
	}
	d.sessions.HashTokenInStore = true
	d.sessions.ErrorFunc = func(w http.ResponseWriter, r *http.Request, err error) { d.fault(w, r, err) }
	d.handler = d.guard(d.routes())
	return d
}

// ServeHTTP serves a page.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

// Link gives an address that signs the operator in once, within a quarter of an hour. An older one is worth nothing then.
func (d *Dashboard) Link() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	d.mu.Lock()
	defer d.mu.Unlock()
	d.link, d.until = hex.EncodeToString(secret), d.Now().Add(linkLife)
	return linkWith(d.Address, d.link)
}

// linkWith is the address that takes a key.
func linkWith(at url.URL, key string) string {
	at = *at.JoinPath("sign-in", "link")
	at.RawQuery = url.Values{"key": {key}}.Encode()
	return at.String()
}

// useLink reports whether a key is that of the link, which ends with it.
func (d *Dashboard) useLink(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link == "" || d.Now().After(d.until) || subtle.ConstantTimeCompare([]byte(key), []byte(d.link)) != 1 {
		return d.Keys.use(key, d.Now())
	}
	d.link = ""
	return true
}

func (d *Dashboard) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", assets())
	mux.HandleFunc("GET /sign-in", d.signIn)
	mux.HandleFunc("GET /sign-in/link", d.signInByLink)
	mux.HandleFunc("GET /sign-in/github", d.signInAtGitHub)
	mux.HandleFunc("GET /sign-in/callback", d.signedInAtGitHub)
	mux.HandleFunc("POST /sign-out", d.signOut)
	for pattern, page := range map[string]page{
		"GET /{$}":                                  d.home,
		"GET /runs":                                 d.runsPage,
		"GET /runs/{run}":                           d.runPage,
		"GET /runs/{run}/live":                      d.follow,
		"GET /runs/{run}/replay":                    d.replay,
		"GET /runs/{run}/files/{name...}":           d.file,
		"POST /runs/{run}/cancel":                   d.cancel,
		"GET /pulls/{host}/{owner}/{name}/{number}": d.pullPage,
		"POST /runs/{run}/resume":                   d.resume,
		"GET /queue":                                d.queuePage,
		"GET /observations":                         d.observationsPage,
		"GET /settings/{host}/{owner}/{name}":       d.settingsPage,
		"GET /repositories":                         d.repositoriesPage,
		"GET /policies/{host}/{owner}/{name}":       d.policyPage,
		"POST /policies/{host}/{owner}/{name}":      d.savePolicy,
		"POST /previews/{host}/{owner}/{name}":      d.previewPolicy,
		"GET /audit":                                d.auditPage,
		"GET /usage":                                d.usagePage,
		"/":                                         func(http.ResponseWriter, *http.Request, visitor) error { return errNotHere },
	} {
		mux.HandleFunc(pattern, d.signedIn(page))
	}
	return mux
}

// A page answers a visitor who is signed in.
type page func(w http.ResponseWriter, r *http.Request, v visitor) error

// errNotHere is said of what is not there and of what the visitor may not see alike.
var errNotHere = errors.New("there is nothing here, or nothing that you may see")

// mostAtOnce is how many answers one person waits for at a time: some of them have git at work.
const mostAtOnce = 16

// comes counts somebody in until leave is called; not ok when as many are in.
func (d *Dashboard) comes(who string, most int) (leave func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at[who] >= most {
		return nil, false
	}
	d.at[who]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.at[who]--; d.at[who] == 0 {
			delete(d.at, who)
		}
	}, true
}

// signedIn lets those alone pass who are signed in.
func (d *Dashboard) signedIn(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := d.sessions.Get(r.Context(), "visitor").(visitor)
		if !ok {
			if r.Method != http.MethodGet {
				d.refuse(w, r, http.StatusForbidden, "You are not signed in, or your session has ended.")
				return
			}
			if r.Header.Get("Accept") == "text/event-stream" {
				w.WriteHeader(http.StatusNoContent) // the browser does not come again
				return
			}
			http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
			return
		}
		if !v.Operator {
			leave, ok := d.comes(v.Name, mostAtOnce)
			if !ok {
				d.refuse(w, r, http.StatusTooManyRequests, "You have asked for many pages at once. Wait for one of them, and try again.")
				return
			}
			defer leave()
		}
		if !isText(r) {
			d.refuse(w, r, http.StatusBadRequest, "The address or the form is not valid text (UTF-8 without NUL bytes).")
			return
		}
		err := p(w, r, v)
		var unanswered *unansweredError
		switch {
		case err == nil:
		case errors.Is(err, errNotHere), errors.Is(err, store.ErrNotFound), errors.Is(err, github.ErrNotFound):
			d.refuse(w, r, http.StatusNotFound, "There is nothing here, or nothing that you may see.")
		case errors.As(err, &unanswered):
			d.Log.Error("GitHub was asked for a page, and did not answer", "path", r.URL.Path, "err", err)
			d.refuse(w, r, http.StatusBadGateway, "GitHub could not be asked about this repository. prloop needs a login for its host; the log says what is wrong.")
		default:
			d.fault(w, r, err)
		}
	}
}

// isText reports whether what a request asks for is text that a database takes.
func isText(r *http.Request) bool {
	if r.ParseForm() != nil {
		return false
	}
	text := func(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }
	for name, values := range r.Form {
		if !text(name) || slices.ContainsFunc(values, func(v string) bool { return !text(v) }) {
			return false
		}
	}
	return text(r.URL.Path)
}

// guard is what holds for every answer: nothing is loaded from elsewhere, no script but ours runs, nobody frames a page, and no other
// site can send a form.
func (d *Dashboard) guard(next http.Handler) http.Handler {
	checked := http.NewCrossOriginProtection().Handler(d.sessions.LoadAndSave(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v, _ := d.sessions.Get(r.Context(), "visitor").(visitor); !v.Operator { // every account of GitHub may sign in: nobody else holds a connection longer than for one answer
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		checked.ServeHTTP(w, r)
	})
}
