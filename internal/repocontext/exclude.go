package repocontext

import "github.com/bmatcuk/doublestar/v4"

// excluded reports whether configuration keeps a path away from everybody.
func (o *Options) excluded(path string) bool {
	return matches(o.Exclude, path) || (len(o.Include) > 0 && !matches(o.Include, path))
}

func matches(patterns []string, path string) bool {
	for _, p := range patterns {
		if doublestar.MatchUnvalidated(p, path) {
			return true
		}
	}
	return false
}
