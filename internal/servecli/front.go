package servecli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/daemon"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/internal/webhook"
	"github.com/prloop/prloop/sanitize"
)

// Front is `prloop front`.
func Front(h host.Host) subcommand.Command {
	var address, to string
	var secretFiles []string
	f := subcommand.Flags("front")
	f.StringVar(&address, "listen", "127.0.0.1:8080", "receive webhooks at `ADDRESS`: HOST:PORT, or unix:PATH")
	f.StringVar(&to, "to", "", "unix socket `PATH` of prloop serve --front (required)")
	f.StringSliceVar(&secretFiles, "secret-file", nil, "read the webhook secret from `FILE`; give two files while you rotate it ("+EnvSecret+")")
	return subcommand.Command{
		Use:   "front",
		Short: "Receive webhooks for prloop serve",
		Long: "Verifies the signatures of webhooks and hands them to prloop serve --front, so that the process that strangers can reach holds the secret of the webhook\n" +
			"and nothing else. A webhook that cannot be handed on is answered with an error; prloop serve finds what it missed when it asks GitHub.",
		Example: "  prloop front --listen 0.0.0.0:8080 --secret-file webhook.secret --to /run/prloop/front.sock\n  prloop serve 'acme/*' --front /run/prloop/front.sock",
		Flags:   f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			if to == "" {
				return advice.Misuse("prloop front --to /run/prloop/front.sock, and the same path for prloop serve --front", "--to is missing: nobody would write the webhooks down")
			}
			known, err := secrets(p, github.DefaultHost(p.Env), secretFiles)
			if err != nil {
				return err
			}
			deliveries, err := webhook.New(webhook.Options{Secrets: known, Take: webhook.Forward(broker.Transport(to)), Log: h.Log().Named("front")})
			if err != nil {
				return err
			}
			l, err := listen(address)
			if err != nil {
				return advice.Error{Err: err, Next: "give another address: --listen 127.0.0.1:0", Status: advice.Usage}
			}
			fmt.Fprintf(p.Stdout, "webhooks at %s/webhook go to %s\n", sanitize.Terminal(l.Addr().String()), sanitize.Terminal(to))
			return broker.Serve(ctx, daemon.NewServer(frontMux(deliveries, to)), daemon.Bounded(l), 3*time.Second)
		},
	}
}

// frontMux is what strangers can reach. It is ready when what stands behind it is.
func frontMux(deliveries http.Handler, to string) http.Handler {
	behind := http.Client{Transport: broker.Transport(to), Timeout: 3 * time.Second}
	m := http.NewServeMux()
	m.Handle("/webhook", deliveries)
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://serve/readyz", nil)
		if err == nil {
			var resp *http.Response
			if resp, err = behind.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<12))
				resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					fmt.Fprintln(w, "ok")
					return
				}
			}
		}
		http.Error(w, "prloop serve does not answer", http.StatusServiceUnavailable)
	})
	return m
}
