package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/neverread"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// fileLimitBytes is the largest file that is read whole, for evidence and context.
const fileLimitBytes = 2 << 20

// fetching is where a kill has to be survived (threats.md K05).
var fetching = failpoint.New("git: fetching")

// history lends the loop prloop's own repository of one target.
type history struct {
	repo *git.Repository
	// from says where the target's commits come from and with which credential; unused for a local range.
	from git.FetchOptions
	// short is whether a fetch ended because the disk has too little left.
	short atomic.Bool
}

// fetch downloads refs, or commits by their ids.
func (h *history) fetch(ctx context.Context, refs ...string) (map[string]string, error) {
	opts := h.from
	opts.Refs = refs
	got, err := h.repo.Fetch(ctx, opts)
	if errors.Is(err, git.ErrNoRoom) {
		h.short.Store(true)
	}
	return got, err
}

// Pin fetches the pull request's head and base, or reads a local range, and names the commits.
func (h *history) Pin(ctx context.Context, target review.Target, pr review.PullRequest, checkout string) (orchestrator.Range, error) {
	if target.Local() {
		l, err := h.local(ctx, target, checkout)
		if err != nil {
			return orchestrator.Range{}, err
		}
		return orchestrator.Range{Base: l.Base, MergeBase: l.MergeBase, Head: l.Head, Skipped: skipped(l.Skipped), Subjects: l.Subjects}, nil
	}
	if err := fetching.Hit(); err != nil {
		return orchestrator.Range{}, err
	}
	head, base := fmt.Sprintf("refs/pull/%d/head", pr.Number), "refs/heads/"+pr.BaseRef
	got, err := h.fetch(ctx, head, base)
	if err != nil {
		return orchestrator.Range{}, err
	}
	// The server may have moved on since the pull request was read; objects of a moment ago are still there by id.
	for ref, want := range map[string]string{head: pr.HeadSHA, base: pr.BaseSHA} {
		if got[ref] == want {
			continue
		}
		if _, err := h.repo.Resolve(ctx, want); err == nil {
			continue
		}
		if _, err := h.fetch(ctx, want); err != nil {
			return orchestrator.Range{}, fmt.Errorf("%s is at %s now, not at %s: %w", ref, got[ref], want, err)
		}
	}
	mergeBase, err := h.repo.MergeBase(ctx, pr.BaseSHA, pr.HeadSHA)
	if err != nil {
		return orchestrator.Range{}, err
	}
	commits, err := h.repo.Since(ctx, mergeBase, pr.HeadSHA)
	if err != nil {
		return orchestrator.Range{}, err
	}
	r := orchestrator.Range{Base: pr.BaseSHA, MergeBase: mergeBase, Head: pr.HeadSHA}
	for _, c := range commits[:min(len(commits), orchestrator.MostHeads)] {
		r.Commits = append(r.Commits, orchestrator.Commit{ID: c.Commit, Parents: c.Parents})
	}
	return r, nil
}

// FixedTests names the files of tests that prloop's own commits of a pull request change, and those that they add.
func (h *history) FixedTests(ctx context.Context, r orchestrator.Range) (changed, added []string, err error) {
	changed, added, err = fixspace.Tests(ctx, h.repo, r.MergeBase, r.Head)
	for _, names := range [][]string{changed, added} {
		for i, name := range names {
			names[i] = spelling.Name(name)
		}
	}
	return changed, added, err
}

// MergeBase is the commit on which two others were made.
func (h *history) MergeBase(ctx context.Context, base, head string) (string, error) {
	return h.repo.MergeBase(ctx, base, head)
}

// Sensitive reports whether a fixer might not have made the change of a range. So it is where the commits cannot be compared.
func (h *history) Sensitive(ctx context.Context, r orchestrator.Range, guidance []string) (bool, error) {
	refused, err := fixspace.Sensitive(ctx, h.repo, guidance, r.MergeBase, r.Head, r.Base)
	return err != nil || len(refused) > 0, context.Cause(ctx)
}

// local reads a local change.
func (h *history) local(ctx context.Context, target review.Target, checkout string) (git.LocalRange, error) {
	if target.Change != "" {
		return h.repo.OneCommit(ctx, target.Commit)
	}
	return h.repo.Local(ctx, checkout, target.Base)
}

// settled is the target with the commit it is about, when it is a local change of one commit: what the person names is looked at
// once.
func (h *history) settled(ctx context.Context, o Order, checkout string) (t review.Target, err error) {
	t = o.Target
	switch t.Change {
	case review.ChangeStaged:
		t.Commit, err = h.repo.Staged(ctx, checkout, o.Index)
	case review.ChangeCommit:
		t.Commit, err = h.repo.Named(ctx, checkout, o.Revision)
	case review.ChangePatch:
		t.Commit, err = h.repo.Patched(ctx, checkout, o.Patch)
	}
	return t, err
}

// skipped says of files that a local range leaves out whether they may go unread.
func skipped(files []git.SkippedFile) []review.LeftOut {
	var out []review.LeftOut
	for _, f := range files {
		l := review.LeftOut{Path: spelling.Name(f.Path), Reason: git.OmittedTooLarge}
		switch {
		case f.Inside != "": // what submodules bring in is no part of a review (decision 30)
			l.Reason, l.Excused = f.Inside, true
		case len(f.Begins) > 0 && !repocontext.HoldsText(f.Path, f.Begins):
			l.Reason, l.Excused = repocontext.OmittedBinary, true
		case f.Filter != "":
			l.Reason = fmt.Sprintf("not staged, and git keeps other bytes of it (filter=%s)", f.Filter)
		}
		out = append(out, l)
	}
	return out
}

// ReadFile reads a file at a commit, by its name or by what MaskPath makes of it. One that is too large to check reads as
// missing: evidence in it cannot be verified. So does a name that no tree can hold: reviewers write any.
func (h *history) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	path, err := sanitize.UnmaskPath(path, func(folder string) ([]string, error) { return h.names(ctx, commit, folder) })
	var data []byte
	if err == nil {
		data, err = h.repo.ReadFile(ctx, commit, path, fileLimitBytes)
	}
	if errors.Is(err, git.ErrTooLarge) || errors.Is(err, git.ErrName) || errors.Is(err, git.ErrMalformedTree) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return data, err
}

// names are those in a folder at a commit.
func (h *history) names(ctx context.Context, commit, folder string) ([]string, error) {
	prefix := ""
	if folder != "." {
		prefix = folder + "/"
	}
	paths, err := h.repo.Files(ctx, commit, prefix)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range paths {
		name, _, _ := strings.Cut(strings.TrimPrefix(p, prefix), "/")
		if n := len(names); n == 0 || names[n-1] != name {
			names = append(names, name)
		}
	}
	return names, nil
}

// Diff compares two commits. Its files have the names that findings have; the text is as it is. A base that is not here, as after a force-push, is
// fetched by its id.
func (h *history) Diff(ctx context.Context, base, head string) (*diff.Diff, error) {
	if err := h.fetchMissing(ctx, base); err != nil {
		return nil, err
	}
	d, err := h.repo.Diff(ctx, base, head, git.DiffOptions{})
	if err != nil {
		return nil, err
	}
	for i := range d.Files {
		f := &d.Files[i]
		f.Path, f.OldPath = sanitize.MaskPath(f.Path), sanitize.MaskPath(f.OldPath)
	}
	return d, nil
}

// Have reports whether a commit is here, or was fetched.
func (h *history) Have(ctx context.Context, commit string) (bool, error) {
	err := h.fetchMissing(ctx, commit)
	if errors.Is(err, git.ErrUnknownRevision) {
		return false, nil
	}
	return err == nil, err
}

// fetchMissing fetches a commit of a pull request by its id, unless it is here.
func (h *history) fetchMissing(ctx context.Context, commit string) error {
	if h.from.URL == "" || !git.IsOID(commit) {
		return nil
	}
	if _, err := h.repo.Resolve(ctx, commit); !errors.Is(err, git.ErrUnknownRevision) {
		return err
	}
	_, err := h.fetch(ctx, commit)
	return err
}

// withhold keeps the content of some paths from whoever reads the repository from now on, this program included.
func (h *history) withhold(paths []string) {
	if len(paths) > 0 {
		h.repo = h.repo.Without(neverread.Paths(paths).Has)
	}
}

// contextOf is what settings keep from being read.
func contextOf(s config.Settings) orchestrator.ContextOptions {
	return orchestrator.ContextOptions{
		Exclude: append(globs.Below(s.Context.Exclude), neverread.Paths(s.Context.NeverRead).Globs()...), NeverRead: s.Context.NeverRead, VerifyMayRead: s.Context.VerifyMayRead, HideWithheld: s.Context.HideWithheld,
	}
}
