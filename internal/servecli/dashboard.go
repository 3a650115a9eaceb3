package servecli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/daemon"
	"github.com/prloop/prloop/internal/dashboard"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Dashboard is `prloop dashboard`.
func Dashboard(h host.Host) subcommand.Command {
	f := subcommand.Flags("dashboard")
	o := pages{named: "add --address URL, with the address that people use, or listen on 127.0.0.1"}
	f.StringVar(&o.listen, "listen", "127.0.0.1:7447", "`ADDRESS` to listen on")
	f.StringVar(&o.address, "address", "", "public `URL` of the dashboard, if it differs from the address")
	return subcommand.Command{
		Use:   "dashboard",
		Short: "Show runs, findings and usage in a browser",
		Long: "Serves pages about the runs of this machine until you stop it, and prints a link that signs you in once. If the output is not a terminal,\n" +
			"prloop dashboard link prints the link. With PRLOOP_OAUTH_ID and PRLOOP_OAUTH_SECRET_FILE, people sign in with GitHub and see\n" +
			"the repositories that they administer (docs/dashboard.md).",
		Example: "  prloop dashboard\n  prloop dashboard --listen 0.0.0.0:8080 --address https://prloop.example",
		Flags:   f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			s, err := h.Open(ctx)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			d, err := o.open(p, dashboard.Options{Runs: s, Policies: s, Settings: settings(h, s), Keys: keys(s.State()), Log: h.Log()})
			if err != nil {
				return err
			}
			defer d.end()
			fmt.Fprintf(p.Stdout, "%s\nCtrl-c stops the dashboard.\n", d.welcome(p.Terminal))
			return d.Serve(ctx, d.listener)
		},
		Members: []subcommand.Command{{
			Use:   "link",
			Short: "Print a link that signs you in once",
			Long:  "The link leads to the dashboard of prloop dashboard, or prloop serve --dashboard, on this machine and state folder. It works once,\nwithin 15 minutes. Only users who can read the state folder can print one.",
			Run: func(_ context.Context, p subcommand.Process, _ []string) error {
				state, err := h.StateFolder()
				if err != nil {
					return err
				}
				link, err := keys(state).Link(time.Now())
				if errors.Is(err, dashboard.ErrNotServed) {
					return advice.Misuse("prloop dashboard, or prloop serve --dashboard ADDRESS, with the same state folder", "%w", err)
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(p.Stdout, sanitize.Terminal(link))
				return nil
			},
		}},
	}
}

// keys are the sign-in links of a state folder.
func keys(state string) dashboard.Keys { return dashboard.Keys{Dir: filepath.Join(state, "sign-in")} }

// pages says where pages are served. named is the advice where it takes an address.
type pages struct{ listen, address, named string }

// servedPages is a dashboard that is about to be served.
type servedPages struct {
	*dashboard.Dashboard
	listener net.Listener
	// end says that it is served no more.
	end func()
}

// open listens, so that a bad address is told before anything begins.
func (o pages) open(p subcommand.Process, d dashboard.Options) (servedPages, error) {
	who, err := dashboard.SignIn(p.Getenv, o.address)
	if err != nil {
		return servedPages{}, advice.Misuse("docs/dashboard.md names the variables", "%w", err)
	}
	if d.Operator, err = config.ReadOperator(p.Getenv); err != nil {
		return servedPages{}, err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return servedPages{}, advice.Misuse("choose another address for the dashboard", "%w", err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok && at.IP.IsUnspecified() && o.address == "" {
		l.Close()
		return servedPages{}, advice.Misuse(o.named, "the dashboard would listen on every address of this machine, and its links name none")
	}
	d.GitHub, d.Address = who.GitHub, who.Address
	if o.address == "" {
		d.Address = url.URL{Scheme: "http", Host: l.Addr().String()}
	}
	end, err := d.Keys.Announce(d.Address)
	if err != nil {
		l.Close()
		return servedPages{}, err
	}
	return servedPages{dashboard.New(d), daemon.Bounded(l), end}, nil
}

// control asks whoever serves to interrupt runs.
type control struct{ *app.Service }

func (c control) Cancel(ctx context.Context, run string) error {
	return daemon.Cancel(ctx, c.Record(), run)
}

func (c control) Resume(ctx context.Context, run string, t review.Target) error {
	return daemon.Resume(ctx, c.Record(), run, t)
}

// settings resolves what holds for a repository, as a run without flags would have it.
func settings(h host.Host, s *app.Service) dashboard.Settings {
	return func(ctx context.Context, repo review.Repo, row *policy.Row) (config.Settings, string, error) {
		o, err := h.Order()
		if err != nil {
			return config.Settings{}, "", err
		}
		return s.SettingsOf(ctx, o, repo, row)
	}
}

// welcome says how the operator gets in. A log is read by others than the operator, so that no link stands there.
func (s servedPages) welcome(terminal bool) string {
	if !terminal {
		return "dashboard: " + sanitize.Terminal(s.Address.String()) + " (prloop dashboard link makes a link that signs you in)"
	}
	return "dashboard: open " + sanitize.Terminal(s.Link()) + " (it signs you in once, for the next 15 minutes)"
}
