package orchestrator

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/aftermerge"
	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
)

// Merged reads what is known of findings that were posted on a merged pull request: our threads as they are left, and whether the code that
// each finding quotes stands in the merged head. newest is the newest run's result. Without seen the code is not looked at.
func (l *Loop) Merged(ctx context.Context, pr review.PullRequest, posted []aftermerge.Finding, newest review.RunResult, seen bool, about ContextOptions) (aftermerge.Facts, error) {
	f := aftermerge.Facts{Head: pr.HeadSHA, Dismissed: newest.Dismissed, Code: make([]aftermerge.Quoted, len(posted))}
	for _, u := range newest.Unverified {
		f.Aside = append(f.Aside, u.Finding)
	}
	discussion, err := l.Forge.Discussion(ctx, pr)
	if err != nil {
		return f, err
	}
	viewer, err := l.Forge.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return f, err
	}
	kind := l.comment(pr.Repo)
	state := conversation.Rebuild(discussion, l.opener(pr, func(c review.Comment) bool { return kind.Authentic(c, pr, viewer) }, viewer))
	f.Threads = state.Threads
	f.Blind = slices.ContainsFunc(state.Metadata.Ignored, func(i conversation.Ignored) bool { return i.Own })
	people, err := l.people(ctx, Request{}, pr, discussion, state, conversation.People{Author: pr.Author.Login, ByApp: pr.Author.Bot, Own: viewer.Login}, nil)
	if err != nil {
		return f, err
	}
	f.People = *people
	if !seen {
		return f, nil
	}
	c := evidence.New(l.History, pr.HeadSHA, "", nil)
	for i, one := range posted {
		if f.Code[i], err = l.quoted(ctx, c, pr.HeadSHA, one, about); err != nil {
			return f, err
		}
	}
	return f, nil
}

// quoted looks for the code that a finding quotes, in its file of the merged head or in what that was renamed to. Files that nothing reads
// are not read here either.
func (l *Loop) quoted(ctx context.Context, c *evidence.Checker, head string, one aftermerge.Finding, about ContextOptions) (aftermerge.Quoted, error) {
	i := slices.IndexFunc(one.Wordings, func(w review.Finding) bool { return w.Fingerprint != "" && w.File != "" })
	if i < 0 { // quotes nothing, or so little that it stands everywhere
		return aftermerge.Unseen, nil
	}
	w := one.Wordings[i]
	if about.unread(w.File) {
		return aftermerge.Unseen, nil
	}
	stands := func(file evidence.File) bool { return file.Exists && file.Bears(w.Evidence) }
	// Some quote what a change takes away, which is in no head.
	if was, err := c.Read(ctx, one.Head, w.File); err != nil || !stands(was) {
		return aftermerge.Unseen, nil //nolint:nilerr // that commit may be gone, as after a forced push
	}
	file, err := c.Read(ctx, head, w.File)
	if err != nil || file.Exists {
		return lookedUp(stands(file)), err
	}
	name, known := l.renamed(ctx, one.Head, head, w.File)
	switch {
	case !known, name != "" && about.unread(name):
		return aftermerge.Unseen, nil
	case name == "":
		return aftermerge.Gone, nil
	}
	if file, err = c.Read(ctx, head, name); err != nil || !file.Exists {
		return aftermerge.Unseen, err
	}
	return lookedUp(stands(file)), nil
}

func lookedUp(stands bool) aftermerge.Quoted {
	if stands {
		return aftermerge.Stands
	}
	return aftermerge.Gone
}

// renamed is what a file of one commit is called in another that has none of its name; empty when it was removed. known is false when nobody
// can tell.
func (l *Loop) renamed(ctx context.Context, from, to, file string) (name string, known bool) {
	d, err := l.History.Diff(ctx, from, to)
	if err != nil {
		return "", false
	}
	for _, f := range d.Files {
		switch {
		case f.OldPath == file && f.Change == diff.Renamed:
			return f.Path, true
		case f.Path == file && f.Change == diff.Deleted:
			return "", true
		}
	}
	return "", false
}
