package git

import (
	"context"
	"fmt"
)

// Commits are those that lead from base to tip, oldest first, each with one parent: *TakeError when history is not linear,
// or tip does not descend from base.
func (r *Repository) Commits(ctx context.Context, base, tip string) ([]Taken, error) {
	if !IsOID(base) || !IsOID(tip) {
		return nil, fmt.Errorf("commits from %q to %q: %w", base, tip, ErrName)
	}
	all, err := (&quarantined{git: r.git, dir: r.dir}).walk(ctx, tip, base)
	if err != nil {
		return nil, fmt.Errorf("commits from %s to %s: %w", base, tip, err)
	}
	return all, nil
}
