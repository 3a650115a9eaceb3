package daemon

import (
	"context"
	"time"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/review"
)

// cancelNote begins the note by which another process asks those that serve to cancel a run.
const cancelNote = "cancel "

// Cancel asks whoever serves to interrupt a run, and not to go on with it.
func Cancel(ctx context.Context, s *store.Store, run string) error {
	return s.SetNote(ctx, cancelNote+run, wallclock.Now().UTC().Format(time.RFC3339))
}

// Resume asks whoever serves to go on with a run about a pull request that stopped before its end, also with one that somebody cancelled.
func Resume(ctx context.Context, s *store.Store, run string, t review.Target) error {
	if err := s.SetNote(ctx, cancelNote+run, ""); err != nil {
		return err
	}
	name := fullName(t.Repo)
	return s.Want(ctx, store.Want{Subject: store.Subject(name, t.PR, 0), Repo: name, PR: t.PR, Priority: intake.Command})
}

// cancelWanted interrupts the runs of this process that somebody cancelled.
func (d *Daemon) cancelWanted(ctx context.Context) error {
	for _, run := range d.service.Live() {
		note, err := d.record.Note(ctx, cancelNote+run)
		if err != nil {
			return err
		}
		if note != "" && d.service.Cancel(run) {
			d.Said("run " + run + " is cancelled")
		}
	}
	return nil
}
