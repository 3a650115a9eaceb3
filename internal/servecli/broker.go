package servecli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/daemon"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/sanitize"
)

// Broker is `prloop broker`.
func Broker(h host.Host) subcommand.Command {
	return subcommand.Command{
		Use: "broker", Short: "Hold credentials for other prloop processes", Members: []subcommand.Command{githubBroker(h), modelBroker(h)},
		Long: "A broker holds credentials so that prloop run, serve and worker on this machine need none. Whoever can open its socket can use it, within what\n" +
			"prloop does; the socket is open to the broker's user and group (docs/daemon.md).",
	}
}

// socketFlag says where a broker is reached.
func socketFlag(f *pflag.FlagSet, socket *string) {
	f.StringVar(socket, "socket", "", "listen at the unix socket `PATH` (required)")
}

func githubBroker(h host.Host) subcommand.Command {
	var socket string
	f := subcommand.Flags("github")
	socketFlag(f, &socket)
	return subcommand.Command{
		Use:   "github [REPO...]",
		Short: "Hold the credential of GitHub",
		Long: "Does on GitHub what other prloop processes ask for: reading, comments, reviews, statuses, pull requests, fetches and pushes. Everything else is refused, such as\n" +
			"approving reviews, merges, other statuses than prloop's, and pushes to the default branch. With REPO, only those repositories are served:\n" +
			"[HOST/]OWNER/NAME, or 'OWNER/*'. Give the others the socket as " + operator.EnvGitHubBroker + ".",
		Example: "  PRLOOP_APP=/etc/prloop/app.json prloop broker github 'acme/*' --socket /run/prloop/github.sock\n  PRLOOP_GITHUB_BROKER=/run/prloop/github.sock prloop serve 'acme/*'",
		Flags:   f,
		Run: func(ctx context.Context, p subcommand.Process, repos []string) error {
			if p.Getenv(operator.EnvGitHubBroker) != "" {
				return advice.Misuse("unset "+operator.EnvGitHubBroker, "a broker has its own credential, and asks no other broker")
			}
			where, only := github.DefaultHost(p.Env), daemon.Served(nil)
			if len(repos) > 0 {
				var err error
				if where, only, err = served(repos, p.Env); err != nil {
					return err
				}
			}
			c, err := github.New(ctx, github.Options{Host: where, Named: []string{where}, Env: p.Env, GH: p.Getenv("PRLOOP_GH"), ReadOnly: true, Log: h.Log().Named("github")})
			if err != nil {
				return err
			}
			b, err := github.NewBroker(c, only, h.Log().Named("broker"))
			if err != nil {
				return err
			}
			what := where
			if len(repos) > 0 {
				what = strings.Join(repos, ", ")
			}
			return serveBroker(ctx, p, socket, b, "the credential of "+what)
		},
	}
}

func modelBroker(h host.Host) subcommand.Command {
	var socket string
	f := subcommand.Flags("models")
	socketFlag(f, &socket)
	return subcommand.Command{
		Use:   "models",
		Short: "Hold the keys of model endpoints",
		Long: "Makes calls to the configured model endpoints, and to the search provider, with their keys. Budgets are kept by the processes that ask. Both sides need the same\n" +
			"configuration, but for the keys. Give the others the socket as " + operator.EnvModelBroker + ".",
		Example: "  OPENAI_API_KEY=... prloop broker models --socket /run/prloop/models.sock\n  PRLOOP_MODEL_BROKER=/run/prloop/models.sock prloop run 123",
		Flags:   f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			if p.Getenv(operator.EnvModelBroker) != "" {
				return advice.Misuse("unset "+operator.EnvModelBroker, "a broker has its own keys, and asks no other broker")
			}
			order, err := h.Order()
			if err != nil {
				return err
			}
			settings, err := order.EarlySettings(true)
			if err != nil {
				return err
			}
			list := slices.DeleteFunc(app.Endpoints(settings), func(e broker.Endpoint) bool { return e.Key == "" })
			keys, err := broker.Keys(list, h.Log().Named("broker"))
			if err != nil {
				return advice.Misuse("set OPENAI_API_KEY, or the variables that the operator's file names", "%w", err)
			}
			var names []string
			for _, e := range list {
				names = append(names, e.Name)
			}
			return serveBroker(ctx, p, socket, keys, "the keys of "+strings.Join(names, ", "))
		},
	}
}

// serveBroker serves a broker at its socket until ctx ends.
func serveBroker(ctx context.Context, p subcommand.Process, socket string, h http.Handler, what string) error {
	if socket == "" {
		return advice.Misuse("--socket /run/prloop/NAME.sock", "--socket is missing: nobody could reach the broker")
	}
	l, err := broker.Listen(p.Path(socket))
	if err != nil {
		return advice.Error{Err: fmt.Errorf("listen for other processes: %w", err), Next: "give another path: --socket PATH", Status: advice.Usage}
	}
	fmt.Fprintf(p.Stdout, "holding %s at %s\n", sanitize.Terminal(what), sanitize.Terminal(socket))
	return broker.Serve(ctx, broker.NewServer(h), daemon.Bounded(l), 10*time.Second)
}
