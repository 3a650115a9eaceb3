package pushpolicy

import (
	"maps"
	"slices"
)

// bounds are how much is read of a tree where files name others.
type bounds struct {
	files int
	bytes int64
	// depth counts the first files as well.
	depth int
}

// follow reads files, and then those among the rest that are named by then. note takes the text of each, named reports what is to be read. sizes are the files of the
// tree, in bytes. beyond is true where there is more than may be read.
func (b bounds) follow(first []string, sizes map[string]int64, read func(names []string) (map[string][]byte, error), note func(name, text string), named func(string) bool) (beyond bool, err error) {
	all, next := slices.Sorted(maps.Keys(sizes)), first
	files, bytes, seen := 0, int64(0), map[string]bool{}
	for range b.depth {
		if len(next) == 0 {
			return false, nil
		}
		var names []string
		for _, name := range next {
			if !seen[name] && files < b.files && bytes+sizes[name] <= b.bytes {
				seen[name], names, files, bytes = true, append(names, name), files+1, bytes+sizes[name]
			}
		}
		if len(names) < len(next) {
			return true, nil
		}
		texts, err := read(names)
		if err != nil {
			return false, err
		}
		for _, name := range names {
			note(name, string(texts[name]))
		}
		next = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return seen[name] || !named(name) })
	}
	return false, nil
}
