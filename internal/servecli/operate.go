package servecli

import (
	"context"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/daemon"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Operate are the commands that look at servers and speak to them.
func Operate(h host.Host) []subcommand.Command {
	with := func(do func(ctx context.Context, p subcommand.Process, s *app.Service, args []string) error) func(context.Context, subcommand.Process, []string) error {
		return func(ctx context.Context, p subcommand.Process, args []string) error {
			s, err := h.Open(ctx)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			return do(ctx, p, s, args)
		}
	}
	f := subcommand.Flags("status")
	asJSON, limit := f.Bool("json", false, "print JSON"), f.IntP("limit", "L", 20, "at most `N` of a kind")
	return append([]subcommand.Command{
		{
			Use: "status", Short: "Show running and waiting reviews", Flags: f,
			Long: "Shows running reviews, waiting reviews with the reason, the latest finished reviews, repositories that cannot be\nread, and webhook deliveries that were ignored, with the reason.",
			Run: with(func(ctx context.Context, p subcommand.Process, s *app.Service, _ []string) error {
				st, err := s.Queue(ctx, nil, *limit)
				if err != nil {
					return err
				}
				if *asJSON {
					return progress.JSON(p.Stdout, st)
				}
				printStatus(p, st)
				return nil
			}),
		},
		{
			Use: "pause", Short: "Pause the queue: no new reviews start", Long: "Pauses every server of this database. Running reviews finish, and comments that need no review are answered.\nprloop resume-queue ends the pause.",
			Run: with(func(ctx context.Context, p subcommand.Process, s *app.Service, _ []string) error {
				if err := queue.Pause(ctx, s.Record()); err != nil {
					return err
				}
				fmt.Fprintln(p.Stdout, "paused: no server of this database starts a review; to undo it: prloop resume-queue")
				return nil
			}),
		},
		{
			Use: "resume-queue", Short: "Resume the queue after a pause",
			Run: with(func(ctx context.Context, p subcommand.Process, s *app.Service, _ []string) error {
				if err := queue.Unpause(ctx, s.Record()); err != nil {
					return err
				}
				fmt.Fprintln(p.Stdout, "not paused: servers of this database start reviews; to undo it: prloop pause")
				return nil
			}),
		},
		{
			Use: "cancel RUN", Short: "Cancel a run of a server", Long: "The server does not continue the run; prloop resume RUN does. RUN is an id, a part of one, or latest.",
			Run: with(func(ctx context.Context, p subcommand.Process, s *app.Service, args []string) error {
				run, err := host.Find(ctx, s, args[0])
				if err != nil {
					return err
				}
				if run.State == store.Finished {
					return advice.Misuse("prloop status shows what is under way", "run %s has ended", run.ID)
				}
				if err := daemon.Cancel(ctx, s.Record(), run.ID); err != nil {
					return err
				}
				fmt.Fprintf(p.Stdout, "run %s is to be cancelled\n", run.ID)
				return nil
			}),
		},
	}, Backup(h, with)...)
}

// printStatus prints what servers are at for a person.
func printStatus(p subcommand.Process, st queue.Status) {
	line := func(format string, args ...any) {
		fmt.Fprintln(p.Stdout, sanitize.Terminal(fmt.Sprintf(format, args...)))
	}
	when := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
	if !st.Paused.IsZero() {
		line("paused since %s: prloop resume-queue lets reviews begin again", when(st.Paused))
	}
	for _, u := range st.Unread {
		line("not seen    %s since %s: %s", u.Repo, when(u.Since), u.Why)
	}
	for _, r := range st.Running {
		line("%-11s %s since %s (run %s)", r.State, r.What, when(r.Since), r.Run)
	}
	for _, w := range st.Waiting {
		line("waits       %s, %s, since %s: %s", w.What, w.Priority, when(w.Since), w.Waits())
	}
	wide := 11
	for _, w := range st.SeenTo {
		wide = max(wide, len(progress.Kind(review.Outcome(w.Outcome))))
	}
	for _, w := range st.SeenTo {
		text := fmt.Sprintf("%-*s %s at %s", wide, progress.Kind(review.Outcome(w.Outcome)), w.What, when(w.Updated))
		if w.Why != "" {
			text += ": " + w.Why
		}
		if w.Run != "" {
			text += " (run " + w.Run + ")"
		}
		line("%s", text)
	}
	for _, d := range st.Deliveries {
		line("not heard   %s %s at %s: %s", d.Event, d.Action, when(d.Received), d.Why)
	}
	for _, r := range st.Processes {
		line("process     %s since %s, at %d runs", r.Name, when(r.Began), r.Runs)
	}
	for _, c := range st.Created {
		text := fmt.Sprintf("created     %s: %s in the last hour", c.Account, subcommand.Plural(c.Hour, "comment or review", "comments and reviews"))
		if c.Waiting > 0 {
			text += fmt.Sprintf("; %d wait for GitHub's limits", c.Waiting)
		}
		line("%s", text)
	}
	if st.Unkept.Files > 0 {
		line("files       %d wait for the blob store, the oldest since %s", st.Unkept.Files, when(st.Unkept.Oldest))
	}
	if st.Empty() {
		line("no server was asked for anything yet; all runs: prloop runs")
	}
}
