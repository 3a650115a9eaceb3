// Package appcli has the commands below `prloop app`: it registers a GitHub App by GitHub's manifest flow.
package appcli

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/sanitize"
)

// Commands is `prloop app`.
func Commands() subcommand.Command {
	return subcommand.Command{
		Use: "app", Short: "Register a GitHub App for prloop", Members: []subcommand.Command{create()},
		Long: "With a GitHub App, prloop has an account of its own and reaches only the repositories it is installed on (docs/daemon.md).",
	}
}

// order is what the flags say.
type order struct {
	host, organization, name, hook, dir, listen string
	reads                                       bool
}

func create() subcommand.Command {
	var o order
	f := subcommand.Flags("create")
	f.StringVar(&o.organization, "org", "", "register the App for the organization `NAME` (default: your own account)")
	f.StringVar(&o.name, "name", "", "`NAME` of the App, which must be unused on GitHub (default \"prloop ORG\")")
	f.StringVar(&o.hook, "webhook", "", "public `URL` of /webhook of prloop serve (default: no webhooks, for prloop serve --poll)")
	f.StringVar(&o.dir, "dir", "prloop-app", "`DIR` for the App's file, its key and the secret of its webhook")
	f.StringVar(&o.host, "host", "", "GitHub `HOST` (default: that of gh)")
	f.BoolVar(&o.reads, "no-push", false, "do not ask for the right to push: no fixes, and threads stay open")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "local `ADDRESS` that GitHub sends your browser back to")
	return subcommand.Command{
		Use:   "create",
		Short: "Register a GitHub App and save its key",
		Long: "Prints an address of this machine. Open it in a browser that is logged in to GitHub: it leads to GitHub with what prloop needs filled in, and back here\n" +
			"once you have created the App. Its key and the secret of its webhook are then written to files that only you can read. What is there is not replaced.",
		Example: "  prloop app create --org acme --webhook https://prloop.example/webhook --dir /etc/prloop\n  export PRLOOP_APP=/etc/prloop/app.json\n  prloop serve 'acme/*'",
		Flags:   f,
		Run:     func(ctx context.Context, p subcommand.Process, _ []string) error { return o.run(ctx, p) },
	}
}

// patience is how long the browser may take: the code that it brings is good for an hour.
const patience = time.Hour

func (o order) run(ctx context.Context, p subcommand.Process) error {
	if o.host == "" {
		o.host = github.DefaultHost(p.Env)
	}
	if o.name == "" {
		o.name = strings.TrimSpace("prloop " + o.organization)
	}
	o.dir = p.Path(o.dir)
	switch {
	case !login.MatchString(o.organization) && o.organization != "":
		return advice.Misuse("prloop app create --org acme", "--org %q is no name of an organisation", o.organization)
	case len(o.name) > longestName:
		return advice.Misuse("--name NAME", "the name %q has %d characters, and GitHub takes %d", o.name, len(o.name), longestName)
	}
	if o.hook != "" {
		if u, err := url.Parse(o.hook); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return advice.Misuse("--webhook https://prloop.example/webhook", "--webhook %q is no address", o.hook)
		}
	}
	if err := appfile.Free(o.dir); err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return advice.Misuse("--listen 127.0.0.1:0", "%w", err)
	}
	v, err := newVisit(o, l.Addr().String(), func(ctx context.Context, code string) (github.Registered, error) {
		return github.Register(ctx, github.Options{Host: o.host, Env: p.Env}, code)
	})
	if err != nil {
		l.Close()
		return err
	}
	fmt.Fprintf(p.Stdout, "Open %s in a browser that is logged in to %s.\n", sanitize.Terminal(v.start()), sanitize.Terminal(o.host))
	made, path, err := v.serve(ctx, l)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "The GitHub App %s is registered. Its file is %s; only you can read its key.\n", sanitize.Terminal(made.Slug), sanitize.Terminal(path))
	fmt.Fprintf(p.Stdout, "Next: install it: %s\n      then: export %s=%s and prloop doctor\n", sanitize.Terminal(made.URL+"/installations/new"), appfile.Env, sanitize.Terminal(path))
	return nil
}

// longestName is what GitHub takes.
const longestName = 34

var (
	login = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$`)
	code  = lazyregexp.New(`^[0-9A-Za-z]{8,100}$`)
)

// visit is the browser's way to GitHub and back.
type visit struct {
	order
	address, key, state string
	manifest            string
	register            func(ctx context.Context, code string) (github.Registered, error)

	mu   sync.Mutex
	over bool
	done chan result
}

type result struct {
	made github.Registered
	path string
	err  error
}

func newVisit(o order, address string, register func(context.Context, string) (github.Registered, error)) (*visit, error) {
	v := &visit{order: o, address: address, key: secret(), state: secret(), register: register, done: make(chan result, 1)}
	type hook struct {
		URL    string `json:"url"`
		Active bool   `json:"active"`
	}
	m := struct {
		Name        string            `json:"name"`
		URL         string            `json:"url"`
		Hook        *hook             `json:"hook_attributes,omitempty"`
		Redirect    string            `json:"redirect_url"`
		Public      bool              `json:"public"`
		Permissions map[string]string `json:"default_permissions"`
		Events      []string          `json:"default_events"`
	}{Name: o.name, URL: "https://github.com/prloop/prloop", Redirect: "http://" + address + "/created", Permissions: github.AppPermissions(!o.reads), Events: []string{}}
	if o.hook != "" {
		m.Hook, m.Events = &hook{o.hook, true}, github.AppEvents()
	}
	text, err := json.Marshal(m)
	v.manifest = string(text)
	return v, err
}

func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// start is where the browser begins. The key in it keeps other programs of this machine from the state.
func (v *visit) start() string { return "http://" + v.address + "/" + v.key }

// serve waits for the browser to come back.
func (v *visit) serve(ctx context.Context, l net.Listener) (github.Registered, string, error) {
	server := &http.Server{Handler: v.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	defer func() {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		_ = server.Shutdown(soon) // the last page is on its way
	}()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return github.Registered{}, "", context.Cause(ctx)
	case <-t.C:
		return github.Registered{}, "", advice.Misuse("give the command again", "nobody created the App within an hour")
	case err := <-failed:
		return github.Registered{}, "", fmt.Errorf("serve %s: %w", v.address, err)
	case r := <-v.done:
		return r.made, r.path, r.err
	}
}

//go:embed *.html
var files embed.FS

var pages = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "*.html")) })

func (v *visit) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /"+v.key, func(w http.ResponseWriter, _ *http.Request) {
		to := url.URL{Scheme: "https", Host: v.host, Path: "/settings/apps/new", RawQuery: url.Values{"state": {v.state}}.Encode()}
		if v.organization != "" {
			to.Path = "/organizations/" + v.organization + "/settings/apps/new"
		}
		v.show(w, http.StatusOK, "start.html", map[string]any{"Action": to.String(), "Manifest": v.manifest, "Name": v.name, "Host": v.host, "Permissions": github.AppPermissions(!v.reads)})
	})
	m.HandleFunc("GET /created", v.created)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != v.address { // another site made its name lead here
			http.Error(w, "this is "+v.address, http.StatusMisdirectedRequest)
			return
		}
		m.ServeHTTP(w, r)
	})
}

// created takes the code that GitHub sends the browser back with. It counts once, and only with the state of this visit.
func (v *visit) created(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(v.state)) != 1 || !code.MatchString(q.Get("code")) {
		v.show(w, http.StatusForbidden, "end.html", map[string]any{"Text": "This is not the answer to what prloop asked for. Nothing was written. Open the address that prloop printed."})
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over {
		v.show(w, http.StatusConflict, "end.html", map[string]any{"Text": "prloop has its answer already."})
		return
	}
	v.over = true
	out := v.keep(r.Context(), q.Get("code"))
	if out.err != nil {
		v.show(w, http.StatusBadGateway, "end.html", map[string]any{"Text": "It failed; prloop says why where you started it."})
	} else {
		v.show(w, http.StatusOK, "end.html", map[string]any{"Text": "prloop has the key of the GitHub App " + out.made.Slug + ".", "Install": out.made.URL + "/installations/new"})
	}
	v.done <- out
}

// keep exchanges the code for the App, and writes it down.
func (v *visit) keep(ctx context.Context, code string) (out result) {
	if out.made, out.err = v.register(ctx, code); out.err != nil {
		return out
	}
	app := appfile.App{Host: v.host, ID: out.made.ID, Slug: out.made.Slug}
	if out.path, out.err = appfile.Write(v.dir, app, out.made.Key, out.made.WebhookSecret); out.err != nil {
		out.err = errors.Join(out.err, fmt.Errorf("the App %s is registered: delete it at %s and begin again, or make a new key there", out.made.Slug, out.made.URL))
	}
	if abs, err := filepath.Abs(out.path); err == nil && out.err == nil {
		out.path = abs
	}
	return out
}

func (v *visit) show(w http.ResponseWriter, status int, page string, data any) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	// After the form, GitHub leads back here, which counts as part of it.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action https://"+v.host+" http://"+v.address)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = pages().ExecuteTemplate(w, page, data) // who went away sees nothing
}
