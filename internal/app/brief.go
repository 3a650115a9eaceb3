package app

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// briefer lends the loop the context builder on prloop's own repository.
type briefer struct {
	repo *git.Repository
	// early is the brief of the commits a run begins with; nil when nobody began it.
	early *earlyBrief
	// own is true where the written rules are those of the change itself.
	own bool

	// last is the brief that was built last: who reads what others are shown masked asks for the same one again.
	mu   sync.Mutex
	last *earlyBrief
}

// Brief builds what reviewers are given to read about a range. The options are the same for all of a run.
func (b *briefer) Brief(ctx context.Context, r orchestrator.Range, o orchestrator.ContextOptions, limits review.Limits) (review.Brief, error) {
	if b.early != nil && b.early.commits.Same(r) {
		return b.early.wait(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last != nil && b.last.commits.Same(r) {
		return b.last.brief, nil
	}
	brief, err := b.build(ctx, r, o, limits)
	if err == nil {
		b.last = &earlyBrief{commits: r, brief: brief}
	}
	return brief, err
}

func (b *briefer) build(ctx context.Context, r orchestrator.Range, o orchestrator.ContextOptions, limits review.Limits) (review.Brief, error) {
	d, err := b.repo.Diff(ctx, r.MergeBase, r.Head, git.DiffOptions{})
	if err != nil {
		return review.Brief{}, err
	}
	opts := repocontext.Options{
		Diff: d, From: r.MergeBase, Base: r.Base, Head: r.Head, MaxTokens: limits.ContextTokens, Include: o.Include, Exclude: o.Exclude, Guidance: o.Guidance, DiffOnly: o.DiffOnly, HunksOnly: o.HunksOnly,
		Symbols: filepath.Join(b.repo.Dir(), "prloop-symbols"),
	}
	if b.own {
		opts.Rules = r.Head
	}
	return repocontext.Build(ctx, b.repo, opts)
}

// earlyBrief is a brief that is being built while the run is still being settled: a grammar alone takes a tenth of a second
// to load.
type earlyBrief struct {
	commits orchestrator.Range
	done    chan struct{}
	brief   review.Brief
	err     error
}

func (b *earlyBrief) wait(ctx context.Context) (review.Brief, error) {
	select {
	case <-b.done:
		return b.brief, b.err
	case <-ctx.Done():
		return review.Brief{}, context.Cause(ctx)
	}
}

// beginBrief begins the brief of a range. It ends with the run.
func (r *run) beginBrief(ctx context.Context, commits orchestrator.Range, o orchestrator.ContextOptions, limits review.Limits, own bool) {
	ctx, cancel := context.WithCancel(ctx)
	b := &earlyBrief{commits: commits, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.brief, b.err = (&briefer{repo: r.history.repo, own: own}).build(ctx, commits, o, limits)
	}()
	r.cleanup.add(func() {
		cancel()
		<-b.done // git is at work until then
	})
	r.early = b
}
