package daemon

import (
	"context"
	"time"

	"github.com/prloop/prloop/internal/store"
)

// cancelNote begins the note by which another process asks those that serve to cancel a run.
const cancelNote = "cancel "

// Cancel asks whoever serves to interrupt a run, and not to go on with it.
func Cancel(ctx context.Context, s *store.Store, run string) error {
	return s.SetNote(ctx, cancelNote+run, time.Now().UTC().Format(time.RFC3339))
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
