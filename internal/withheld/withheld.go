// Package withheld says which paths nothing may read (spec.md G1): neither an agent, nor a tool, nor prloop itself. It is pure.
package withheld

import (
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// Paths are doublestar globs of what is withheld. A pattern that matches a folder withholds all that is in it.
type Paths []string

// Has reports whether a path is withheld, itself or with a folder it is in.
func (p Paths) Has(name string) bool {
	if len(p) == 0 {
		return false
	}
	for at := name; at != "." && at != "/" && at != ""; at = path.Dir(at) {
		if slices.ContainsFunc(p, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, at) }) {
			return true
		}
	}
	return false
}

// Globs are the patterns for who matches whole paths alone: each, and what is below it.
func (p Paths) Globs() (all []string) {
	for _, pattern := range p {
		all = append(all, pattern, path.Join(pattern, "**"))
	}
	return all
}
