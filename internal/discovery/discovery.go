// Package discovery is what a finder is shown of a repository, what of it is read when the finder asks, and which lines reviewers are
// given in the end. The finder wishes, and the rules here decide: only files of the listings are read, only lines of these files are
// given, and every bound is ours. What is excluded is neither listed nor read.
package discovery

import (
	"context"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Source reads the repository at a commit.
type Source interface {
	// ReadFiles reads files; those that do not exist or are larger than limit bytes are left out of the map.
	ReadFiles(ctx context.Context, commit string, paths []string, limit int) (map[string][]byte, error)
	// Files lists the paths below prefix, Links the symbolic links at prefix and below it.
	Files(ctx context.Context, commit, prefix string) ([]string, error)
	Links(ctx context.Context, commit, prefix string) ([]string, error)
}

// Bounds are how much a finder is shown, and may have.
type Bounds struct {
	// Fragments is how many files may be asked for, Chars how many characters one excerpt may have.
	Fragments int `json:"fragments"`
	Chars     int `json:"chars"`
	// Dirs is how many folders are listed, Entries how many names of each.
	Dirs    int `json:"dirs"`
	Entries int `json:"entries"`
}

const (
	// fileLimit is the largest file that is read, in bytes; perFragment how many excerpts of the largest size are shown of one.
	fileLimit   = 1 << 20
	perFragment = 3
	// mostExcerpts is how many excerpts are given.
	mostExcerpts = 20
	// mostReason bounds a finder's words, in characters.
	mostReason = 200
)

// Options say where to look.
type Options struct {
	Bounds
	// Commit is the version that is looked at, by its full object id.
	Commit string
	// Include and Exclude are doublestar patterns of paths. With Include only what matches is listed; what matches Exclude never is.
	Include, Exclude []string
	// Always are folders that are listed whether or not the change touches them.
	Always []string
	// Learned are values that no text shows.
	Learned *sanitize.Learned
}

func (o Options) excluded(name string) bool {
	match := func(p string) bool { return doublestar.MatchUnvalidated(p, name) }
	return slices.ContainsFunc(o.Exclude, match) || len(o.Include) > 0 && !slices.ContainsFunc(o.Include, match)
}

// what names a wish for a person: whatever a finder wrote is one short line.
func what(w review.Wanted) string { return sanitize.Line(sanitize.Redact(w.File), mostReason) }

// reason is why, in the finder's words.
func reason(text string) string { return sanitize.Line(sanitize.Redact(text), mostReason) }
