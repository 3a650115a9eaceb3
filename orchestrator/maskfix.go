package orchestrator

import (
	"context"

	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ruleMasked is the rule against work that writes a mask where a value stood.
const ruleMasked = "masked-value"

// overwritten refuses work between two commits, of a fixer or of a scheduled agent, that writes masks over values: a model that is shown a mask and writes whole files or
// lines puts it there. The builtin agents' tools do not let it; others work in their clone by their own means (threats.md T792).
func (l *Loop) overwritten(ctx context.Context, from, tip string) (refused []review.Refusal, err error) {
	d, err := l.History.Diff(ctx, from, tip)
	if err != nil {
		return nil, err
	}
	raw, shown := make([]string, len(d.Files)), make([]string, len(d.Files))
	for i := range d.Files {
		keys, err := l.keysOf(ctx, from, tip, d.Files[i:i+1])
		if err != nil {
			return nil, err
		}
		raw[i] = d.Files[i].Raw
		shown[i] = l.Learned.MaskDiff(raw[i], keys)
	}
	for _, i := range masks.Overwriting(raw, shown) {
		refused = append(refused, review.Refusal{Rule: ruleMasked, Path: spelling.Name(d.Files[i].Path),
			Detail: sanitize.Redacted + " stands for a value you are not shown: leave it where it is, or take it out"})
	}
	return refused, nil
}
