package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/hashicorp/go-hclog"
)

// bridge hands DBOS's log to ours, two levels quieter: what it calls information is of use only to somebody who debugs
// the engine, and its errors reach the caller as errors.
type bridge struct {
	log hclog.Logger
	// lost, if set, hears why the outcome of a workflow could not be stored. DBOS only logs it when the workflow was started
	// from a queue; without this the wait for the outcome would have to last storeWait.
	lost func(error)
}

// lostMessage begins what DBOS v1.4 logs then; TestFullDiskAtTheEnd holds it.
const lostMessage = "Error recording workflow outcome"

// level maps DBOS's levels to ours.
func level(l slog.Level) hclog.Level {
	switch {
	case l >= slog.LevelError:
		return hclog.Warn
	case l >= slog.LevelWarn:
		return hclog.Debug
	}
	return hclog.Trace
}

// Enabled spares DBOS the work of composing what nobody reads.
func (b bridge) Enabled(_ context.Context, l slog.Level) bool {
	have := b.log.GetLevel()
	return b.lost != nil && l >= slog.LevelError || have != hclog.Off && level(l) >= have
}

// Handle passes one record on; "error" becomes "err", the key used everywhere else.
func (b bridge) Handle(_ context.Context, r slog.Record) error {
	args, expected := make([]any, 0, 2*r.NumAttrs()), false
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && errors.Is(err, dbos.ErrQueueDeduplicated) {
			expected = true
		}
		args = append(args, key(a.Key), a.Value.Resolve().Any())
		if b.lost != nil && a.Key == "error" && strings.HasPrefix(r.Message, lostMessage) {
			b.lost(asError(a.Value.Any()))
		}
		return true
	})
	if expected { // Add says so; DBOS logs it as an error each time
		b.log.Trace(r.Message, args...)
		return nil
	}
	b.log.Log(level(r.Level), r.Message, args...)
	return nil
}

// WithAttrs keeps attributes for all later records.
func (b bridge) WithAttrs(attrs []slog.Attr) slog.Handler {
	args := make([]any, 0, 2*len(attrs))
	for _, a := range attrs {
		args = append(args, key(a.Key), a.Value.Resolve().Any())
	}
	return bridge{b.log.With(args...), b.lost}
}

// WithGroup becomes a name, hclog having no groups.
func (b bridge) WithGroup(name string) slog.Handler { return bridge{b.log.Named(name), b.lost} }

func key(k string) string {
	if k == "error" {
		return "err"
	}
	return k
}

func asError(v any) error {
	if err, ok := v.(error); ok {
		return err
	}
	return fmt.Errorf("%v", v)
}
