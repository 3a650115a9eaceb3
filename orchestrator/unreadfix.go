package orchestrator

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// unseen refuses a fix that writes where the next round reads nothing: where no review looks, and where this round was given a file that the fix makes unreadable, such as
// by the name of an encoding (threats.md T783).
func (j *fixing) unseen(ctx context.Context, work *review.FixWork) error {
	if work.Tip == "" {
		return nil
	}
	at := j.judged.Inputs.Snapshot.Range
	d, err := j.loop.History.Diff(ctx, at.Head, work.Tip)
	if err != nil {
		return err
	}
	wrote := map[string]bool{}
	for i := range d.Files {
		wrote[spelling.Name(d.Files[i].Path)] = true
	}
	at.Head = work.Tip
	files, err := j.loop.unread(ctx, j.req, at)
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for _, f := range j.judged.Inputs.Snapshot.Brief.Files {
		if f.Omitted != "" {
			left[sanitize.MaskSpelled(f.Path)] = true
		}
	}
	files = slices.DeleteFunc(files, func(f review.LeftOut) bool {
		name := sanitize.MaskSpelled(f.Path)
		return !wrote[name] || !f.Excused && left[name]
	})
	if refused := pushpolicy.Unread(files, j.req.Fix.Allow); len(refused) > 0 {
		work.Refusals = append(work.Refusals, refused...)
		work.Tip, work.Commits = "", nil // nothing of it is let through
	}
	return nil
}

// unseenWork refuses work of a scheduled job that writes where the review of its pull request reads nothing. The operator's word for fixers opens nothing here.
func (l *Loop) unseenWork(ctx context.Context, req Request, o review.JobOrder, w *review.JobWork) error {
	if w.Tip == "" {
		return nil
	}
	req.Context.DiffOnly, req.Context.HunksOnly = true, true // nobody reads this brief
	files, err := l.unread(ctx, req, Range{Base: o.Head, MergeBase: o.Head, Head: w.Tip})
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f review.LeftOut) bool { return !f.Excused })
	if refused := pushpolicy.Unread(files, nil); len(refused) > 0 {
		w.Refusals = append(w.Refusals, refused...)
		w.Tip = ""
	}
	return nil
}

// unread are the files that a review of a range leaves out (decision 30). What they are says the brief of it.
func (l *Loop) unread(ctx context.Context, req Request, at Range) (files []review.LeftOut, err error) {
	brief, err := l.Briefer.Brief(ctx, at, req.Context, req.Limits)
	for _, f := range brief.Files {
		if f.Omitted != "" {
			files = append(files, review.LeftOut{Path: f.Path, Reason: f.Omitted, Excused: f.Excused})
		}
	}
	return files, err
}
