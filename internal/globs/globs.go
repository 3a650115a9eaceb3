// Package globs chooses paths by patterns of doublestar, as commands, schedules and write scopes of .reviewerc do. It is pure.
package globs

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Globs choose paths: those that an including pattern matches, or all without one, but none that an excluding one matches.
type Globs struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// Empty reports whether they choose every path.
func (g Globs) Empty() bool { return len(g.Include)+len(g.Exclude) == 0 }

// Match reports whether a path, with slashes, is chosen.
func (g Globs) Match(path string) bool {
	return (len(g.Include) == 0 || Any(g.Include, path)) && !Any(g.Exclude, path)
}

// Below are patterns for who matches whole paths alone: one that ends in a slash is a folder, and means what is in it.
func Below(patterns []string) []string {
	all := slices.Clone(patterns)
	for i, p := range all {
		if strings.HasSuffix(p, "/") {
			all[i] = p + "**"
		}
	}
	return all
}

// Any reports whether one of the patterns matches a path, with slashes.
func Any(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, path) })
}
