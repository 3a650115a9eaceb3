package orchestrator

import (
	"context"
	"io/fs"

	"github.com/prloop/prloop/review"
)

// files is a history in memory: "commit:path" to content.
type files map[string]string

func (files) Have(context.Context, string) (bool, error) { return true, nil }

func (files) MergeBase(_ context.Context, base, _ string) (string, error) { return base, nil }

func (files) FixedTests(context.Context, Range) (changed, added []string, err error) {
	return nil, nil, nil
}

func (files) Sensitive(context.Context, Range, []string) (bool, error) { return false, nil }

func (f files) Pin(context.Context, review.Target, review.PullRequest, string) (Range, error) {
	return Range{Base: baseSHA, MergeBase: baseSHA, Head: headSHA}, nil
}

func (f files) ReadFile(_ context.Context, commit, path string) ([]byte, error) {
	if s, ok := f[commit+":"+path]; ok {
		return []byte(s), nil
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}
