package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/store"
)

// The notes by which other processes speak to those that serve.
const (
	pausedNote = "paused"
	cancelNote = "cancel "
)

// Paused says since when no reviews begin; the zero time when they do.
func Paused(ctx context.Context, s *store.Store) (time.Time, error) {
	note, err := s.Note(ctx, pausedNote)
	if err != nil || note == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, note)
	if err != nil {
		return time.Now(), fmt.Errorf("read since when the queue is paused: %w", err)
	}
	return t, nil
}

// Pause lets no reviews begin any more, whoever serves. Those that are under way end as they would.
func Pause(ctx context.Context, s *store.Store) error {
	since, err := Paused(ctx, s)
	if err != nil || !since.IsZero() {
		return err
	}
	return s.SetNote(ctx, pausedNote, time.Now().UTC().Format(time.RFC3339))
}

// Unpause lets them begin again.
func Unpause(ctx context.Context, s *store.Store) error {
	if err := s.SetNote(ctx, pausedNote, ""); err != nil {
		return err
	}
	return s.HastenAll(ctx)
}

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
