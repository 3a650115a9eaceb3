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

// keys are the lines of keys in the files of which a piece is shown that may hold some. A piece may have neither the header nor the footer of its key, nor the
// id of its secret, so the files are read whole, changed ones in both versions; a version that cannot be read is taken to have a key wherever its pieces look like one.
// What only the name of a file makes a secret is among them.
func (l *Loop) keys(ctx context.Context, snap Snapshot) (map[string]sanitize.KeyLines, error) {
	all, read := map[string]sanitize.KeyLines{}, map[string]bool{}
	for _, f := range snap.Brief.Files {
		keys := namedKeys(f)
		all[f.Path] = keys
		if !piecesMayHoldKey(f) {
			continue
		}
		read[f.Path] = true
		for _, side := range []struct{ commit, path string }{{snap.Range.Head, f.Path}, {snap.Range.MergeBase, cmp.Or(f.OldPath, f.Path)}} {
			if err := l.learnKeys(ctx, keys, side.commit, spelling.Raw(side.path), append(texts(f.Context), f.Diff)...); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range snap.Brief.Related {
		if all[f.Path] == nil {
			all[f.Path] = sanitize.KeyLines{}
		}
		for _, r := range f.Regions {
			all[f.Path].LearnNamed(spelling.Raw(f.Path), r.Text)
		}
		if read[f.Path] || !slices.ContainsFunc(f.Regions, mayHoldKey) {
			continue
		}
		if err := l.learnKeys(ctx, all[f.Path], snap.Range.Head, spelling.Raw(f.Path), texts(f.Regions)...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// namedKeys are the lines in what is shown of a changed file that hold what only its name makes a secret.
func namedKeys(f review.BriefFile) sanitize.KeyLines {
	keys := sanitize.KeyLines{}
	for _, name := range []string{f.Path, cmp.Or(f.OldPath, f.Path)} {
		keys.LearnNamedDiff(spelling.Raw(name), f.Diff)
		for _, r := range f.Context {
			keys.LearnNamed(spelling.Raw(name), r.Text)
		}
	}
	return keys
}

// learnKeys adds the lines of keys in a version of a file; of one that cannot be read, what looks like them in its pieces.
func (l *Loop) learnKeys(ctx context.Context, keys sanitize.KeyLines, commit, path string, pieces ...string) error {
	data, err := l.History.ReadFile(ctx, commit, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		for _, p := range pieces {
			keys.LearnPiece(p)
		}
	case err != nil:
		return err
	default:
		keys.Learn(spelling.Text(string(data)))
	}
	return nil
}

// keysOf are the lines of keys in the files of which a diff between two commits shows a piece that may hold some.
func (l *Loop) keysOf(ctx context.Context, from, to string, files []diff.File) (sanitize.KeyLines, error) {
	keys := sanitize.KeyLines{}
	for i := range files {
		f := &files[i]
		if raw := spelling.Text(f.Raw); sanitize.MayHoldKey(raw) {
			err := errors.Join(l.learnKeys(ctx, keys, from, cmp.Or(f.OldPath, f.Path), raw), l.learnKeys(ctx, keys, to, f.Path, raw))
			if err != nil {
				return nil, err
			}
		}
	}
	return keys, nil
}

// piecesMayHoldKey reports whether a line that is shown of a file may be one of a key. All of a new or a deleted file is in its diff.
func piecesMayHoldKey(f review.BriefFile) bool {
	if f.Change == string(diff.Added) || f.Change == string(diff.Deleted) {
		return false
	}
	return sanitize.MayHoldKey(f.Diff) || slices.ContainsFunc(f.Context, mayHoldKey)
}

// mayHoldKey reports whether a line of a region may be one of a key.
func mayHoldKey(r review.Region) bool { return sanitize.MayHoldKey(r.Text) }

// texts are what regions show.
func texts(regions []review.Region) (out []string) {
	for _, r := range regions {
		out = append(out, r.Text)
	}
	return out
}
