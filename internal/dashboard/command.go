package dashboard

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/command"
	"github.com/prloop/prloop/internal/command/host"
	"github.com/prloop/prloop/sanitize"
)

// Command is `prloop dashboard`.
func Command(h host.Host) command.Command {
	f := command.Flags("dashboard")
	listen := f.String("listen", "127.0.0.1:7447", "`ADDRESS` to listen on")
	address := f.String("address", "", "`URL` people reach the dashboard under, when it is another one")
	return command.Command{
		Use:   "dashboard",
		Short: "Show runs, findings and usage in a browser",
		Long: "Serves pages about the runs of this machine until you stop it, and prints a link that signs you in once. With the variables\n" +
			"PRLOOP_OAUTH_ID and PRLOOP_OAUTH_SECRET_FILE, people sign in with GitHub and see the repositories that they administer\n" +
			"(docs/dashboard.md).",
		Example: "  prloop dashboard\n  prloop dashboard --listen 0.0.0.0:8080 --address https://prloop.example",
		Flags:   f,
		Run: func(ctx context.Context, p command.Process, _ []string) error {
			who, err := SignIn(p.Getenv, *address)
			if err != nil {
				return advice.Misuse("docs/dashboard.md names the variables", "%w", err)
			}
			s, err := h.Open(ctx)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			l, err := net.Listen("tcp", *listen)
			if err != nil {
				return advice.Misuse("choose another address with --listen", "%w", err)
			}
			at := url.URL{Scheme: "http", Host: l.Addr().String()}
			if *address != "" {
				at = who.Address
			}
			d := New(Options{Runs: s, GitHub: who.GitHub, Address: at, Log: h.Log()})
			fmt.Fprintf(p.Stdout, "Open %s\nIt signs you in once, for the next 15 minutes. Ctrl-c stops the dashboard.\n", sanitize.Terminal(d.Link()))
			return d.Serve(ctx, l)
		},
	}
}
