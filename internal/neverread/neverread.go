// Package neverread says which paths nothing may read (spec.md G1): neither an agent, nor a tool, nor prloop itself. It is pure.
package neverread

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Paths are doublestar globs of what is withheld. A pattern that matches a folder withholds all that is in it. People write folders as
// gitignore has them, such as /customer_data/: a slash at the beginning or at the end says no more than the name does.
type Paths []string

// plain is a pattern as paths are written: without slashes at its ends, double ones and dots.
func plain(pattern string) string {
	if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, ".") && !strings.HasSuffix(pattern, "/") && !strings.Contains(pattern, "//") && !strings.Contains(pattern, "/.") {
		return pattern // as most are
	}
	return strings.TrimPrefix(path.Clean("/"+pattern), "/")
}

// Has reports whether a path is withheld, itself or with a folder it is in.
func (p Paths) Has(name string) bool {
	if len(p) == 0 {
		return false
	}
	for at := name; at != "." && at != "/" && at != ""; at = path.Dir(at) {
		if slices.ContainsFunc(p, func(pattern string) bool { return doublestar.MatchUnvalidated(plain(pattern), at) }) {
			return true
		}
	}
	return false
}

// Globs are the patterns for who matches whole paths alone: each, and what is below it.
func (p Paths) Globs() (all []string) {
	for _, pattern := range p {
		pattern = plain(pattern)
		all = append(all, pattern, path.Join(pattern, "**"))
	}
	return all
}
