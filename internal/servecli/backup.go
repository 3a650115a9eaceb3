package servecli

import (
	"context"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/backup"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/sanitize"
)

// Backup are the commands that copy the record of runs, and put a copy back.
func Backup(h host.Host, open func(func(context.Context, subcommand.Process, *app.Service, []string) error) func(context.Context, subcommand.Process, []string) error) []subcommand.Command {
	return []subcommand.Command{
		{
			Use: "backup FILE", Short: "Back up runs and their files, also while servers run",
			Long:    "Writes an archive with a consistent copy of the database and the files of runs. Only you can read it, and an existing FILE is\nnot replaced. Back up a PostgreSQL database with pg_dump.",
			Example: "  prloop backup /var/backups/prloop-$(date +%F).tar.gz",
			Run: open(func(ctx context.Context, p subcommand.Process, s *app.Service, args []string) error {
				n, err := backup.Write(ctx, s.Record(), s.State(), p.Path(args[0]), time.Now())
				if err == nil {
					fmt.Fprintf(p.Stdout, "%s has the record of runs and %s\n", sanitize.Terminal(args[0]), subcommand.Plural(n, "file", "files"))
					if p.Getenv(operator.EnvBlobs) != "" {
						fmt.Fprintln(p.Stdout, "it has no files that are in the blob store alone")
					}
				}
				return err
			}),
		},
		{
			Use: "restore FILE", Short: "Restore a backup into an empty state folder",
			Long: "Restores a backup into the state folder (PRLOOP_STATE). prloop serve asks GitHub for everything that happened after the backup, and\nreviews commits again that were reviewed since. Stop the old server first: two servers must not serve the same repositories.",
			Run: func(ctx context.Context, p subcommand.Process, args []string) error {
				state, err := h.StateFolder()
				if err != nil {
					return err
				}
				n, err := backup.Restore(ctx, p.Path(args[0]), state)
				if err == nil {
					fmt.Fprintf(p.Stdout, "%s has the record of runs and %s\n", sanitize.Terminal(state), subcommand.Plural(n, "file", "files"))
				}
				return err
			},
		},
	}
}
