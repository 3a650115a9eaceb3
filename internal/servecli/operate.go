package servecli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/command"
	"github.com/prloop/prloop/internal/command/host"
	"github.com/prloop/prloop/internal/daemon"
	"github.com/prloop/prloop/internal/metrics"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/sanitize"
)

// Operate are the commands that look at servers and speak to them.
func Operate(h host.Host) []command.Command {
	with := func(do func(ctx context.Context, p command.Process, s *app.Service, args []string) error) func(context.Context, command.Process, []string) error {
		return func(ctx context.Context, p command.Process, args []string) error {
			s, err := h.Open(ctx)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			return do(ctx, p, s, args)
		}
	}
	f := command.Flags("status")
	asJSON, limit := f.Bool("json", false, "print JSON"), f.IntP("limit", "L", 20, "at most `N` of a kind")
	return []command.Command{
		{
			Use: "status", Short: "Show what runs, what waits, and why", Flags: f,
			Long: "Shows the runs that are under way, what waits for its turn and why, what was seen to last with what became of it, and the\ndeliveries that led to nothing with the reason.",
			Run: with(func(ctx context.Context, p command.Process, s *app.Service, _ []string) error {
				st, err := statusOf(ctx, s, *limit)
				if err != nil {
					return err
				}
				if *asJSON {
					return progress.JSON(p.Stdout, st)
				}
				st.print(p)
				return nil
			}),
		},
		{
			Use: "pause", Short: "Let no reviews begin on any server of this database", Long: "Reviews that are under way end as they would, and comments are answered that need no review. prloop resume-queue ends it.",
			Run: with(func(ctx context.Context, _ command.Process, s *app.Service, _ []string) error {
				return daemon.Pause(ctx, s.Record())
			}),
		},
		{
			Use: "resume-queue", Short: "Let reviews begin again after a pause",
			Run: with(func(ctx context.Context, _ command.Process, s *app.Service, _ []string) error {
				return daemon.Unpause(ctx, s.Record())
			}),
		},
		{
			Use: "cancel RUN", Short: "Interrupt a run that a server is at work on", Long: "The server does not go on with it; prloop resume RUN does. RUN is an id, a part of one, or latest.",
			Run: with(func(ctx context.Context, p command.Process, s *app.Service, args []string) error {
				run, err := s.Find(ctx, args[0])
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
	}
}

// Status is what runs, what waits, and what became of the rest.
type status struct {
	Paused     time.Time `json:"paused,omitzero"`
	Running    []running `json:"running"`
	Waiting    []wanted  `json:"waiting"`
	SeenTo     []wanted  `json:"seenTo"`
	Deliveries []unheard `json:"deliveries"`
}

type running struct {
	Run   string    `json:"run"`
	What  string    `json:"what"`
	State string    `json:"state"`
	Since time.Time `json:"since"`
}

type wanted struct {
	What     string    `json:"what"`
	Priority string    `json:"priority"`
	Since    time.Time `json:"since"`
	Due      time.Time `json:"due"`
	Tries    int       `json:"tries,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Why      string    `json:"why,omitempty"`
	Run      string    `json:"run,omitempty"`
	Updated  time.Time `json:"updated"`
}

// unheard is a delivery that led to nothing.
type unheard struct {
	Delivery string    `json:"delivery"`
	Event    string    `json:"event"`
	Action   string    `json:"action,omitempty"`
	Why      string    `json:"why"`
	Received time.Time `json:"received"`
}

func statusOf(ctx context.Context, s *app.Service, limit int) (st status, err error) {
	st = status{Running: []running{}, Waiting: []wanted{}, SeenTo: []wanted{}, Deliveries: []unheard{}}
	record := s.Record()
	if st.Paused, err = daemon.Paused(ctx, record); err != nil {
		return st, err
	}
	runs, err := s.Runs(ctx, store.Filter{State: store.Running, Limit: limit})
	if err != nil {
		return st, err
	}
	for _, r := range runs {
		st.Running = append(st.Running, running{r.ID, r.Target.String(), string(r.State), r.Created})
	}
	waiting, err := record.Waiting(ctx, limit)
	if err != nil {
		return st, err
	}
	seen, err := record.SeenTo(ctx, limit)
	if err != nil {
		return st, err
	}
	for _, w := range waiting {
		st.Waiting = append(st.Waiting, wantedOf(w))
	}
	for _, w := range seen {
		st.SeenTo = append(st.SeenTo, wantedOf(w))
	}
	deliveries, err := record.Deliveries(ctx, 5*limit)
	for _, d := range deliveries {
		if d.Why != "" && len(st.Deliveries) < limit {
			st.Deliveries = append(st.Deliveries, unheard{d.GUID, d.Event, d.Action, d.Why, d.Received})
		}
	}
	return st, err
}

func wantedOf(w store.Wanted) wanted {
	return wanted{w.Subject, metrics.Priorities[w.Priority], w.Since, w.Due, w.Tries, w.Outcome, w.Why, w.Run, w.Updated}
}

// print prints it for a person.
func (st status) print(p command.Process) {
	line := func(format string, args ...any) {
		fmt.Fprintln(p.Stdout, sanitize.Terminal(fmt.Sprintf(format, args...)))
	}
	when := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
	if !st.Paused.IsZero() {
		line("paused since %s: prloop resume-queue lets reviews begin again", when(st.Paused))
	}
	for _, r := range st.Running {
		line("%-11s %s since %s (run %s)", r.State, r.What, when(r.Since), r.Run)
	}
	for _, w := range st.Waiting {
		why := cmp.Or(w.Why, "its turn has not come")
		if w.Outcome != store.Waits && w.Tries == 0 {
			why = "its turn has not come"
		}
		line("waits       %s, %s, since %s: %s", w.What, w.Priority, when(w.Since), why)
	}
	for _, w := range st.SeenTo {
		text := fmt.Sprintf("%-11s %s at %s", w.Outcome, w.What, when(w.Updated))
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
	if len(st.Running)+len(st.Waiting)+len(st.SeenTo)+len(st.Deliveries) == 0 {
		line("nothing was ever asked for")
	}
}
