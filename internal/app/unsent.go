package app

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/store"
)

// A Refusal is a kind of change on GitHub that a run wanted to make and could not.
type Refusal struct {
	// Kind is that of the effect, such as "review".
	Kind string
	// Run is the newest run that wanted it.
	Run string
}

// Refused are the kinds of changes that the newest run of those that wanted them could not make, of the newest runs of all pull requests. What a run left
// unfinished is not among them. wrote is false when no run wanted to change anything.
func (s *Service) Refused(ctx context.Context) (out []Refusal, wrote bool, err error) {
	runs, err := s.store.ListRuns(ctx, store.Filter{State: store.Finished, Limit: mostEarlier})
	if err != nil {
		return nil, false, err
	}
	seen := map[string]bool{}
	for _, r := range runs {
		all, err := s.store.Outbox(ctx, r.ID)
		if err != nil {
			return nil, false, err
		}
		for _, e := range slices.Backward(all) {
			if seen[e.Kind] {
				continue
			}
			seen[e.Kind] = true
			if e.State == store.StateAbsent && e.Attempts > 0 {
				out = append(out, Refusal{e.Kind, r.ID})
			}
		}
	}
	return out, len(seen) > 0, nil
}
