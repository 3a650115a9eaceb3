package repocontext

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/symbols"
)

// Source reads the repository at a commit (a full object id). internal/git's Repository is one.
type Source interface {
	// ReadFiles reads files; those that do not exist or are larger than limit bytes are left out of the map.
	ReadFiles(ctx context.Context, commit string, paths []string, limit int) (map[string][]byte, error)
	// Begins reads the first n bytes of files, however large they are; those that do not exist are left out of the map.
	Begins(ctx context.Context, commit string, paths []string, n int) (map[string][]byte, error)
	// Files lists the paths below prefix.
	Files(ctx context.Context, commit, prefix string) ([]string, error)
	// Attributes says what the .gitattributes files of a commit, but those that skip tells, say of some attributes of paths, as git understands
	// them: values by path and name, "set" and "unset" for those without. What is unspecified is left out.
	Attributes(ctx context.Context, commit string, skip func(file string) bool, paths, names []string) (map[string]map[string]string, error)
	// AttributesAnyCase is Attributes where git takes capitals for small letters: an answer for each file that can stand in the place of another there.
	AttributesAnyCase(ctx context.Context, commit string, skip func(file string) bool, paths, names []string) ([]map[string]map[string]string, error)
	// Regular lists the files at prefix and below it that are no symbolic links, no submodules and not empty.
	Regular(ctx context.Context, commit, prefix string) ([]string, error)
	// Links lists the symbolic links at prefix and below it.
	Links(ctx context.Context, commit, prefix string) ([]string, error)
}

// Options say what to brief about.
type Options struct {
	// Diff is the whole diff under review, from the merge base to Head.
	Diff *diff.Diff
	// Base is the commit that attributes and guidance are read at; Head the one under review. Full object ids.
	Base, Head string
	// From is the commit Diff starts from; empty means Base.
	From string
	// Rules is the commit guidance is read at instead of Base; empty means Base.
	Rules string
	// MaxTokens bounds the brief by Estimate; 0 means 100,000.
	MaxTokens int
	// Include and Exclude are doublestar patterns of paths. With Include, only what matches is reviewed. What matches
	// Exclude is read by nothing, under its old name either.
	Include, Exclude []string
	// Guidance are further names of guidance files beside DefaultGuidance. A plain name is looked for in every folder on
	// the way to a changed file, one with a slash from the root only; doublestar patterns are taken from the root.
	Guidance []string
	// DiffOnly leaves code outside the diff away, but for the region around each change.
	DiffOnly bool
	// HunksOnly leaves that region away too.
	HunksOnly bool
	// Symbols is the file in which what was read of source code is kept for the next brief; empty for nowhere.
	Symbols string
}

// cache opens the file of Symbols.
func (o *Options) cache() *symbols.Cache {
	if o.Symbols == "" {
		return nil
	}
	return symbols.OpenCache(o.Symbols)
}

// DefaultMaxTokens is Options.MaxTokens when it is 0.
const DefaultMaxTokens = 100_000

// checkPatterns refuses globs that would silently match nothing.
func (o *Options) checkPatterns() error {
	for _, list := range [][]string{o.Include, o.Exclude, o.Guidance} {
		for _, p := range list {
			if err := globs.Check(p); err != nil {
				return fmt.Errorf("path pattern %q %w", p, err)
			}
		}
	}
	return nil
}
