package servecli

import (
	"context"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/backup"
	"github.com/prloop/prloop/internal/command"
	"github.com/prloop/prloop/internal/command/host"
	"github.com/prloop/prloop/sanitize"
)

// Backup are the commands that copy the record of runs, and put a copy back.
func Backup(h host.Host, open func(func(context.Context, command.Process, *app.Service, []string) error) func(context.Context, command.Process, []string) error) []command.Command {
	return []command.Command{
		{
			Use: "backup FILE", Short: "Copy the record of runs and their files into one file, while servers go on",
			Long:    "Writes an archive of the record of runs, as it is at one moment, and of the files of runs. Only you can read it; a FILE that is there is not replaced.\nA record in PostgreSQL is copied with pg_dump.",
			Example: "  prloop backup /var/backups/prloop-$(date +%F).tar.gz",
			Run: open(func(ctx context.Context, p command.Process, s *app.Service, args []string) error {
				n, err := backup.Write(ctx, s.Record(), s.State(), p.Path(args[0]), time.Now())
				if err == nil {
					fmt.Fprintf(p.Stdout, "%s has the record of runs and %s\n", sanitize.Terminal(args[0]), command.Plural(n, "file", "files"))
				}
				return err
			}),
		},
		{
			Use: "restore FILE", Short: "Put a backup into a state folder that has no record yet",
			Long: "Puts what prloop backup wrote into the state folder (PRLOOP_STATE). What happened after the backup is asked of GitHub again by prloop serve:\ncommits that were reviewed since are reviewed anew. Let no two servers work for the same repositories, the old one and the restored one.",
			Run: func(ctx context.Context, p command.Process, args []string) error {
				state, err := h.StateFolder()
				if err != nil {
					return err
				}
				n, err := backup.Restore(ctx, p.Path(args[0]), state)
				if err == nil {
					fmt.Fprintf(p.Stdout, "%s has the record of runs and %s\n", sanitize.Terminal(state), command.Plural(n, "file", "files"))
				}
				return err
			},
		},
	}
}
