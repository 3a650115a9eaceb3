package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// keys are the lines of private keys in the changed files of which a piece is shown that may hold some. A piece may have neither the
// header nor the footer of its key, so both versions are read whole; a version that cannot be read is taken to have a key wherever
// its pieces look like one.
func (l *Loop) keys(ctx context.Context, snap Snapshot) (map[string]sanitize.KeyLines, error) {
	all := map[string]sanitize.KeyLines{}
	for _, f := range snap.Brief.Files {
		if !piecesMayHoldKey(f) {
			continue
		}
		keys := sanitize.KeyLines{}
		for _, side := range []struct{ commit, path string }{{snap.Range.Head, f.Path}, {snap.Range.MergeBase, cmp.Or(f.OldPath, f.Path)}} {
			data, err := l.History.ReadFile(ctx, side.commit, spelling.Raw(side.path))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				keys.LearnPiece(f.Diff)
				for _, r := range f.Context {
					keys.LearnPiece(r.Text)
				}
			case err != nil:
				return nil, err
			default:
				keys.Learn(spelling.Text(string(data)))
			}
		}
		all[f.Path] = keys
	}
	return all, nil
}

// piecesMayHoldKey reports whether a line that is shown of a file may be one of a key. All of a new or a deleted file is in its diff.
func piecesMayHoldKey(f review.BriefFile) bool {
	if f.Change == string(diff.Added) || f.Change == string(diff.Deleted) {
		return false
	}
	return sanitize.MayHoldKey(f.Diff) || slices.ContainsFunc(f.Context, func(r review.Region) bool { return sanitize.MayHoldKey(r.Text) })
}
