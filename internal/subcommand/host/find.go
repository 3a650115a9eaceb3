package host

import (
	"context"
	"errors"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/internal/store"
)

// Find finds a run by a part of its id, as a person typed it, and says what to do where there is none.
func Find(ctx context.Context, s *app.Service, part string) (store.Run, error) {
	run, err := s.Find(ctx, part)
	var many *store.AmbiguousError
	switch {
	case errors.Is(err, store.ErrNotFound) && part == app.Latest:
		return run, advice.Misuse("review something first: prloop run 123, or prloop run --base REVISION", "no runs yet: none is the latest")
	case errors.Is(err, store.ErrNotFound):
		next := "prloop runs lists them"
		if nearest.Name(part, []string{app.Latest}) != "" {
			next = "latest is the newest; " + next
		}
		return run, advice.Misuse(next, "there is no run %q here", part)
	case errors.As(err, &many):
		return run, advice.Misuse("give more of the id", "%w", many)
	}
	return run, err
}
