// Package globs chooses paths by patterns of doublestar, as commands, schedules and write scopes of .reviewerc do. It is pure.
package globs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Globs choose paths: those that an including pattern matches, or all without one, but none that an excluding one matches.
type Globs struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// mostExpansions bounds the patterns that the braces of one stand for. Each is held against a path by itself, which takes as long as the product of both lengths.
const mostExpansions = 64

// Check says what is wrong with a pattern, as the end of a sentence that it begins. Whoever reads one that is not prloop's own checks it, and bounds its length. A
// pattern that passes still does after bytes are taken out of it, as long as it is valid (neverread).
func Check(pattern string) error {
	braces, commas := float64(strings.Count(pattern, "{")), float64(strings.Count(pattern, ","))
	switch {
	case !doublestar.ValidatePattern(pattern):
		return errors.New("is not a valid glob")
	case braces > 0 && math.Pow(commas/braces+1, braces) > mostExpansions: // no way to share the commas among the braces gives more
		return fmt.Errorf("has braces that may stand for more than %d globs; write several globs instead", mostExpansions)
	}
	return nil
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
