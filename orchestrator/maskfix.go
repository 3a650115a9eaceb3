package orchestrator

import (
	"context"

	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ruleMasked is the rule against fixes that write a mask where a value stood.
const ruleMasked = "masked-value"

// overwritten refuses a fix that writes masks over values: a model that is shown a mask and writes whole files or lines puts it
// there. The builtin fixer's tools do not let it; others work in their clone by their own means.
func (j *fixing) overwritten(ctx context.Context, work *review.FixWork) error {
	if work.Tip == "" {
		return nil
	}
	head := j.judged.Inputs.Snapshot.Range.Head
	d, err := j.loop.History.Diff(ctx, head, work.Tip)
	if err != nil {
		return err
	}
	raw, shown := make([]string, len(d.Files)), make([]string, len(d.Files))
	for i := range d.Files {
		keys, err := j.loop.keysOf(ctx, head, work.Tip, d.Files[i:i+1])
		if err != nil {
			return err
		}
		raw[i] = d.Files[i].Raw
		shown[i] = j.loop.Learned.MaskDiff(raw[i], keys)
	}
	for _, i := range masks.Overwriting(raw, shown) {
		work.Refusals = append(work.Refusals, review.Refusal{Rule: ruleMasked, Path: spelling.Name(d.Files[i].Path),
			Detail: sanitize.Redacted + " stands for a value you are not shown: leave it where it is, or take it out"})
	}
	if len(work.Refusals) > 0 {
		work.Tip, work.Commits = "", nil // nothing of it is let through
	}
	return nil
}
