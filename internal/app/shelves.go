package app

import (
	"context"

	"github.com/prloop/prloop/internal/discovery"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// shelves lend the loop prloop's own repository for what a finder asks for. The repository is the one that has nothing of what is withheld.
type shelves struct {
	repo    *git.Repository
	learned *sanitize.Learned
}

func (s shelves) lookingAt(r orchestrator.Range, o orchestrator.ContextOptions, p orchestrator.FindPlan) discovery.Options {
	return discovery.Options{Bounds: p.Bounds, Commit: r.Head, Include: o.Include, Exclude: o.Exclude, Always: p.Always, Learned: s.learned}
}

// List lists folders for a finder.
func (s shelves) List(ctx context.Context, r orchestrator.Range, o orchestrator.ContextOptions, p orchestrator.FindPlan, changed []string) ([]review.Listing, error) {
	raw := make([]string, len(changed))
	for i, name := range changed {
		raw[i] = spelling.Raw(name)
	}
	return discovery.List(ctx, s.repo, s.lookingAt(r, o, p), raw)
}

// Read reads what it asks for.
func (s shelves) Read(ctx context.Context, r orchestrator.Range, o orchestrator.ContextOptions, p orchestrator.FindPlan, listings []review.Listing, wanted []review.Wanted) ([]review.Fragment, []string, error) {
	return discovery.Read(ctx, s.repo, s.lookingAt(r, o, p), listings, wanted)
}
