package orchestrator

import (
	"context"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// unseen refuses a fix that writes where the next round reads nothing (decision 30). What that is says the brief of the head that
// the fix would make.
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
	brief, err := j.loop.Briefer.Brief(ctx, at, j.req.Context, j.req.Limits)
	if err != nil {
		return err
	}
	var files []review.LeftOut
	for _, f := range brief.Files {
		if wrote[sanitize.MaskSpelled(f.Path)] {
			files = append(files, review.LeftOut{Path: f.Path, Reason: f.Omitted, Excused: f.Excused})
		}
	}
	if refused := pushpolicy.Unread(files, j.req.Fix.Allow); len(refused) > 0 {
		work.Refusals = append(work.Refusals, refused...)
		work.Tip, work.Commits = "", nil // nothing of it is let through
	}
	return nil
}
