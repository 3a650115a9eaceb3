package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/globs"
)

// findLimit is how many files find gives.
const findLimit = 300

// findArgs are those of find; without a folder it is the whole tree.
type findArgs struct {
	Pattern string `json:"pattern"`
	Under   string `json:"under"`
}

// Found is what find answers, in the order of paths.
type Found struct {
	Paths []string
	// Missing is how many more there are.
	Missing int
}

// find lists files whose path matches a glob as it is shown, so that nobody finds out letter by letter what is masked in it. One without a slash is about the last name, as
// people mean it.
func (b *Box) find(ctx context.Context, a findArgs) (Found, error) {
	var out Found
	if a.Pattern == "" || len(a.Pattern) > 200 {
		return out, fail(BadArguments, "pattern is a glob such as docs/**/*.md, of 200 bytes at most")
	}
	if err := globs.Check(a.Pattern); err != nil {
		return out, fail(BadArguments, "pattern %v", err)
	}
	if !strings.Contains(a.Pattern, "/") {
		a.Pattern = "**/" + a.Pattern
	}
	under, err := b.check(a.Under)
	if err != nil {
		return out, err
	}
	_, err = b.walk(ctx, under, func(name string) bool {
		if !doublestar.MatchUnvalidated(a.Pattern, b.path(name)) {
			return true
		}
		if len(out.Paths) == findLimit {
			out.Missing++
			return true
		}
		out.Paths = append(out.Paths, b.label(name))
		return true
	})
	return out, err
}

func (f Found) text() string {
	if len(f.Paths) == 0 {
		return "no files\n"
	}
	out := strings.Join(f.Paths, "\n") + "\n"
	if f.Missing > 0 {
		out += fmt.Sprintf("(%d more are missing)\n", f.Missing)
	}
	return out
}
