package pushpolicy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
)

// MostLinkBytes bounds the target of a symbolic link. No system follows a longer one.
const MostLinkBytes = 4096

const (
	// mostFollowed bounds the links on the way of one, as systems do.
	mostFollowed = 40
	// mostNames bounds the names that links give a file.
	mostNames = 1000
)

// Links are the symbolic links of trees that lead to something in them: what they lead to has their names too (threats.md T732). The zero value is of no tree.
type Links struct {
	// to are the names of links by what they lead to. Paths are those in the tree, without links on their way.
	to map[string][]string
}

// Add takes the links of a tree, by their names, with what git keeps as their targets. A link to a folder that holds it says nothing of what is
// there: it would give all of that its own folder's name.
func (l *Links) Add(targets map[string]string) {
	if l.to == nil {
		l.to = map[string][]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		target, inside := follow(targets, path.Dir(name), targets[name])
		if inside && target != "." && !strings.HasPrefix(name, target+"/") {
			l.to[target] = append(l.to[target], name)
		}
	}
}

// follow goes a way from a folder of the tree; inside is false where it leads out of the tree, or has no end.
func follow(targets map[string]string, at, way string) (end string, inside bool) {
	steps := strings.Split(way, "/")
	for followed := 0; ; {
		if way == "" || path.IsAbs(way) || followed > mostFollowed {
			return "", false
		}
		if len(steps) == 0 {
			return at, true
		}
		if at, steps = path.Join(at, steps[0]), steps[1:]; at == ".." {
			return "", false
		}
		if target, is := targets[at]; is {
			way, followed = target, followed+1
			at, steps = path.Dir(at), append(strings.Split(target, "/"), steps...)
		}
	}
}

// aliases are the names that links give a path, and those that other links give these; all is false where they are more than are looked at.
func (l *Links) aliases(name string) (names []string, all bool) {
	names = []string{name}
	from := 0
	for range 2 {
		until := len(names)
		for _, known := range names[from:until] {
			for target := known; target != "."; target = path.Dir(target) {
				for _, link := range l.to[target] {
					alias := link + strings.TrimPrefix(known, target)
					switch {
					case slices.Contains(names, alias):
					case len(names) > mostNames:
						return names[1:], false
					default:
						names = append(names, alias)
					}
				}
			}
		}
		from = until
	}
	return names[1:], true
}

// protected says why a path is protected by the names that links give it. Of names that nobody knows any may be protected.
func (l *Links) protected(name string, why func(string) string) string {
	aliases, all := l.aliases(name)
	for _, alias := range aliases {
		if w := why(alias); w != "" {
			return fmt.Sprintf("a symbolic link leads to it from %s: %s", spelling.Code(alias), w)
		}
	}
	if !all {
		return "symbolic links give it more names than are looked at"
	}
	return ""
}

// Tests names what Tests does, and files that links give the names of tests.
func (l *Links) Tests(changes []Change) []TestChange {
	found := Tests(changes)
	for _, c := range changes {
		if !slices.ContainsFunc(found, func(t TestChange) bool { return slices.Contains(c.names(), t.Path) }) {
			found = append(found, l.altered(c)...)
		}
	}
	return found
}

// altered is what a change does in a file of tests, under the first of the names from links that makes it one.
func (l *Links) altered(c Change) []TestChange {
	for _, name := range c.names() {
		aliases, _ := l.aliases(name)
		for _, alias := range aliases {
			as := c
			as.Path, as.OldPath = alias, ""
			found := altered(as)
			for i := range found {
				found[i].Path = c.Path
				found[i].Detail += ", to which a symbolic link leads from " + spelling.Code(alias)
			}
			if len(found) > 0 {
				return found
			}
		}
	}
	return nil
}
