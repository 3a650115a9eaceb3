// Package servecli is the daemon on the command line: what it is told by flags, files and variables.
package servecli

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/daemon"
	"github.com/prloop/prloop/internal/dashboard"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/internal/troubleshoot"
	"github.com/prloop/prloop/internal/webhook"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// EnvSecret holds the secrets of webhooks, separated by white space.
const EnvSecret = "PRLOOP_WEBHOOK_SECRET"

// options are the flags of `prloop serve`.
type options struct {
	listen      string
	front       string
	secretFiles []string
	reviewers   []string
	tier        string
	fix, poll   bool
	pages       pages
	metrics     string
	retention   string
	quiet       string
	daemon.Options
}

// rules are the flags that say what is reviewed and by whom: serve and its workers have the same.
func (o *options) rules(f *pflag.FlagSet) {
	f.BoolVar(&o.Rules.Drafts, "drafts", false, "review drafts too")
	f.BoolVar(&o.Rules.Forks, "forks", false, "review pull requests from forks without being asked")
	f.BoolVar(&o.Rules.NoBots, "no-bots", false, "do not review pull requests of bots")
	f.StringSliceVar(&o.Rules.Labels, "label", nil, "review only pull requests with one of `LABELS`")
	f.StringVar(&o.quiet, "quiet-hours", "", "start no review in these `HOURS` of the day unless somebody asks, such as '22:00-06:00 Europe/Berlin' (default zone UTC)")
	f.IntVar(&o.Rules.PerAuthor, "author-limit", 0, "start at most `N` reviews a day per author unless somebody asks; 0 means no limit")
	f.StringSliceVar(&o.reviewers, "reviewers", nil, "configured `NAMES`, builtin, static, or exec:PATH for any program")
	f.StringVar(&o.tier, "tier", "", "`TIER` of reviews that nobody asked for: quick, auto or full (default: as repositories and policies say)")
	f.BoolVar(&o.fix, "fix", false, "fix findings")
	f.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at `ADDRESS`, such as 127.0.0.1:9464")
	f.StringVar(&o.Bot, "bot-name", "", "`LOGIN` that people mention in comments")
}

// Serve is `prloop serve`.
func Serve(h host.Host) subcommand.Command {
	o := options{pages: pages{named: "add --dashboard-url URL, with the address that people use, or serve the dashboard on 127.0.0.1"}}
	f := subcommand.Flags("serve")
	o.rules(f)
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "receive webhooks at `ADDRESS`: HOST:PORT, or unix:PATH")
	f.StringSliceVar(&o.secretFiles, "secret-file", nil, "read the webhook secret from `FILE`; give two files while you rotate it ("+EnvSecret+")")
	f.StringVar(&o.front, "front", "", "take deliveries that prloop front has verified, at the unix socket `PATH`, instead of webhooks")
	f.BoolVar(&o.poll, "poll", false, "poll GitHub instead of receiving webhooks, such as behind a firewall")
	f.DurationVar(&o.Every, "every", 5*time.Minute, "ask GitHub every `TIME`, and at start, for events that no webhook reported; every minute with --poll")
	f.IntVar(&o.Reviews, "reviews", 2, "review `N` pull requests at a time")
	f.DurationVar(&o.Settle, "settle", 10*time.Second, "start a review when nobody has pushed for `TIME`")
	f.StringVar(&o.retention, "retention", "", "delete finished runs older than `AGE`, such as 90d, every hour (default: never; see prloop runs prune)")
	f.StringVar(&o.pages.listen, "dashboard", "", "serve the dashboard at `ADDRESS`, such as 127.0.0.1:7447 (docs/dashboard.md)")
	f.StringVar(&o.pages.address, "dashboard-url", "", "public `URL` of the dashboard, if it differs from the address")
	return subcommand.Command{
		Use:   "serve REPO...",
		Short: "Review pull requests as GitHub reports them",
		Long: "REPO is [HOST/]OWNER/NAME, or [HOST/]OWNER/* for all repositories of an owner. Webhooks are received at /webhook; docs/daemon.md explains the set-up on GitHub.\n" +
			"A pull request is reviewed when it is opened or made ready, and after a push; comments such as \"!prloop review\" are answered.\n" +
			"At its first start on a repository, all its open pull requests are reviewed.\n" +
			"Nothing is lost when the process is stopped or killed: the next prloop serve continues its runs.",
		Example: "  prloop serve acme/widgets --poll\n  prloop serve acme/widgets --secret-file webhook.secret\n  prloop serve 'acme/*' --listen 0.0.0.0:8080 --reviews 4",
		Flags:   f,
		Run: func(ctx context.Context, p subcommand.Process, repos []string) error {
			if o.poll && !f.Changed("every") {
				o.Every = time.Minute
			}
			return o.serve(ctx, h, p, repos)
		},
	}
}

// limits reads the flags that say when reviews begin.
func (o *options) limits() (err error) {
	if o.Rules.Quiet, err = intake.ParseHours(o.quiet); err != nil {
		return advice.Misuse("--quiet-hours '22:00-06:00 Europe/Berlin'", "--quiet-hours: %w", err)
	}
	if o.Rules.PerAuthor < 0 {
		return advice.Misuse("--author-limit 20; 0 for any number", "--author-limit %d is no number of reviews", o.Rules.PerAuthor)
	}
	return nil
}

func (o options) serve(ctx context.Context, h host.Host, p subcommand.Process, repos []string) (err error) {
	if err := o.limits(); err != nil {
		return err
	}
	if o.Options.Host, o.Serves, err = served(repos, p.Env); err != nil {
		return err
	}
	if o.Retention, err = app.Age(o.retention); err != nil || o.Retention > 0 && o.Retention < leastRetention {
		return advice.Misuse("--retention 90d", "--retention %q is no time of a day or more", o.retention)
	}
	if o.Every < time.Second {
		return advice.Misuse("--every 5m", "--every %s: GitHub is not asked that often", o.Every)
	}
	asApp, err := asApp(ctx, p, o.Options.Host)
	if err != nil {
		return err
	}
	if o.poll && !asApp && slices.ContainsFunc(o.Serves, func(r review.Repo) bool { return r.Name == "" }) {
		return advice.Misuse("name each repository: prloop serve --poll acme/widgets acme/gadgets", "without webhooks nobody tells which repositories an owner has")
	}
	o.Fronted = o.front != ""
	if o.poll && o.Fronted {
		return advice.Misuse("leave out --poll or --front", "with --poll, no deliveries are taken")
	}
	if !o.poll && !o.Fronted {
		if o.Secrets, err = secrets(p, o.Options.Host, o.secretFiles); err != nil {
			return err
		}
	}
	order, err := h.Order()
	if err != nil {
		return err
	}
	o.Order = func(fixes bool) (app.Order, error) { return o.order(order, fixes), nil }
	if err := app.Preflight(o.order(order, o.fix), false); err != nil {
		return err
	}
	s, err := h.OpenToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	s.Name(o.Options.Host)
	if o.Reviews < 0 || o.Reviews == 0 && !s.Shared() {
		return advice.Misuse("--reviews 2; to leave reviews to prloop worker: --reviews 0 and PRLOOP_DATABASE", "--reviews %d: nobody would review", o.Reviews)
	}
	var mu sync.Mutex
	o.Said = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(p.Stdout, sanitize.Terminal(sanitize.Redact(line)))
	}
	o.Lasting = func(err error) bool { return troubleshoot.Explain(err).Status == advice.Usage }
	o.Fix, o.Log = o.fix, h.Log().Named("serve")
	unmeasured, err := o.measure(ctx, h, p, s)
	if err != nil {
		return err
	}
	defer unmeasured()
	d, err := daemon.New(ctx, s, o.Options)
	if err != nil {
		return err
	}
	if !o.poll {
		if o.Fronted {
			o.listen = "unix:" + o.front
		}
		if d.Listen, err = listen(o.listen); err != nil {
			return advice.Error{Err: err, Next: "give another address: --listen 127.0.0.1:0", Status: advice.Usage}
		}
	}
	if o.pages.listen != "" {
		ended, err := o.showPages(ctx, h, p, s)
		if err != nil {
			return err
		}
		defer ended()
	}
	o.warnOfKeys(p, s)
	switch {
	case o.Fronted:
		o.Said(fmt.Sprintf("serving %s: webhooks from prloop front at %s", strings.Join(repos, ", "), o.front))
	case o.poll:
		o.Said(fmt.Sprintf("serving %s: GitHub is asked every %s", strings.Join(repos, ", "), o.Every))
	default:
		o.Said(fmt.Sprintf("serving %s: webhooks at %s/webhook", strings.Join(repos, ", "), d.Listen.Addr()))
	}
	return d.Run(ctx)
}

// showPages shows the dashboard until ctx ends, or until the function is called, which waits for the end.
func (o options) showPages(ctx context.Context, h host.Host, p subcommand.Process, s *app.Service) (end func(), err error) {
	feed := new(dashboard.Feed)
	s.Watch(feed.Run)
	pages, err := o.pages.open(p, dashboard.Options{Runs: s, Policies: s, Settings: settings(h, s), Control: control{s}, Serves: o.Serves.Has, Feed: feed, Keys: keys(s.State()), Log: h.Log()})
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(p.Stdout, pages.welcome(p.Terminal))
	ended := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		if err := pages.Serve(ctx, pages.listener); err != nil {
			h.Log().Error("the dashboard ended", "err", err)
		}
	}()
	return func() { stop(); <-ended; pages.end() }, nil
}

// leastRetention is the shortest time for which runs are kept: budgets of a day are counted from them.
const leastRetention = 24 * time.Hour

// order is an order of a review, without its target.
func (o options) order(order app.Order, fixes bool) app.Order {
	if len(o.reviewers) > 0 {
		order.Layers.Reviewers = o.reviewers
	}
	given := order.Layers.Given
	if o.tier != "" {
		given = append(given[:len(given):len(given)], config.Given{Key: "tier", Value: o.tier, From: "--tier"})
		order.Layers.Given = given
	}
	if !fixes {
		order.Layers.Given = append(given[:len(given):len(given)], config.Given{Key: "fixer", Value: config.UseNone, From: "serve without --fix"})
	}
	return order
}

// served reads which repositories are served, all of one host.
func served(words, env []string) (host string, all daemon.Served, err error) {
	for _, word := range words {
		name, whole := strings.CutSuffix(word, "/*")
		if whole {
			name += "/any" // a name for all of them
		}
		r, err := github.ParseRepo(name, github.DefaultHost(env))
		if err != nil {
			return "", nil, advice.Misuse("prloop serve OWNER/NAME, or 'OWNER/*'", "%q: %w", word, err)
		}
		if whole {
			r.Name = ""
		}
		if host == "" {
			host = r.Host
		}
		if r.Host != host {
			return "", nil, advice.Misuse("start one prloop serve for each host", "%s and %s are different hosts", host, r.Host)
		}
		all = append(all, review.Repo{Host: r.Host, Owner: r.Owner, Name: r.Name})
	}
	return host, all, nil
}

// asApp reports whether the credential is a GitHub App's, which a broker may hold.
func asApp(ctx context.Context, p subcommand.Process, host string) (bool, error) {
	if socket := p.Getenv(operator.EnvGitHubBroker); socket != "" {
		c, err := github.New(ctx, github.Options{Host: host, Env: p.Env, ReadOnly: true, Broker: socket})
		return err == nil && c.IsApp(), err
	}
	app, err := appfile.Find(p.Getenv(appfile.Env), host)
	return app != nil, err
}

// secrets are those of the files and of the variable, and that of the GitHub App where there are none.
func secrets(p subcommand.Process, host string, files []string) ([]string, error) {
	all := strings.Fields(p.Getenv(EnvSecret))
	if len(all)+len(files) == 0 {
		app, err := appfile.Find(p.Getenv(appfile.Env), host)
		if err != nil {
			return nil, err
		}
		if app != nil {
			secret, err := app.WebhookSecret()
			if err != nil {
				return nil, err
			}
			all = strings.Fields(secret)
		}
	}
	for _, name := range files {
		data, err := p.Read(name)
		if err != nil {
			return nil, advice.Error{Err: fmt.Errorf("read the secret of the webhook: %w", err), Next: "check --secret-file", Status: advice.Usage}
		}
		all = append(all, strings.Fields(string(data))...)
	}
	const next = "openssl rand -hex 32 > webhook.secret, give GitHub the same one, and: --secret-file webhook.secret"
	if len(all) == 0 {
		return nil, advice.Misuse(next, "webhooks are taken with a secret only, and there is none")
	}
	for _, s := range all {
		if len(s) < webhook.ShortestSecret {
			return nil, advice.Misuse(next, "a secret of the webhook has %d characters: it can be guessed", len(s))
		}
	}
	return all, nil
}

// listen listens at an address.
func listen(address string) (net.Listener, error) {
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		return broker.Listen(path)
	}
	return net.Listen("tcp", address)
}
