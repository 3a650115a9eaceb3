package tools

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/sanitize"
)

// Bounds of one search. They count, they do not measure time: the same tree gives the same answer.
const (
	matchLimit     = 60
	matchesPerFile = 8
	countedFiles   = 100
	searchFiles    = 20_000
	searchBytes    = 64 << 20
	snippetLimit   = 240
)

// searchArgs are those of search_code.
type searchArgs struct {
	Query    string `json:"query"`
	Regexp   bool   `json:"regexp"`
	Language string `json:"language"`
	// Under is a folder or a file.
	Under string `json:"under"`
	// Limit is how many lines are shown at most, 1 to matchLimit; 0 is matchLimit. A search in one file shows that many of it.
	Limit int `json:"limit"`
	// Count asks for the number of lines in each file, and none of them.
	Count bool `json:"count"`
}

// Match is one line that search_code found.
type Match struct {
	File    string
	Line    int
	Snippet string
}

// Matches is what search_code answers, in the order of paths and lines.
type Matches struct {
	Matches []Match
	// Counts are the files with matching lines, when no lines were asked for.
	Counts []FileCount
	// Lines is how many lines match, shown or not, and Found in how many files. Files is how many were read.
	Lines, Found, Files int
	// Ended is true when the tree is larger than what is read for one search.
	Ended bool
}

// FileCount is how many lines of a file match.
type FileCount struct {
	File  string
	Lines int
}

func (b *Box) search(ctx context.Context, a searchArgs) (Matches, error) {
	var out Matches
	p, err := expression(a.Query, a.Regexp)
	if err != nil {
		return out, err
	}
	if a.Language != "" && b.o.Language == nil {
		return out, fail(Unavailable, "languages are not known here; leave the filter out")
	}
	if a.Limit < 0 || a.Limit > matchLimit {
		return out, fail(BadArguments, "limit is a number from 1 to %d", matchLimit)
	}
	limit, perFile := cmp.Or(a.Limit, matchLimit), matchesPerFile
	under, err := b.check(a.Under)
	if err != nil {
		return out, err
	}
	// asShown reports whether a text matches with its hidden characters as a model is shown them.
	asShown := func(text string) bool {
		visible, hidden := sanitize.Visible(text)
		return len(hidden) > 0 && p.MatchString(visible)
	}
	size := 0
	look := func(name string) bool {
		if a.Language != "" && !strings.EqualFold(b.o.Language(name), a.Language) {
			return true
		}
		text, err := b.text(name)
		if err != nil { // too large or binary
			return true
		}
		if out.Files == searchFiles || size+len(text) > searchBytes {
			out.Ended = true
			return false
		}
		out.Files++
		size += len(text)
		// Without a match before masking there is none behind it, unless masks are looked for: most files need not be masked.
		if raw := spelling.Text(sanitize.Spelled(string(text))); !p.MatchString(raw) && !asShown(raw) && !strings.Contains(a.Query, "REDACTED") {
			return true
		}
		found := 0
		for i, l := range splitLines(b.shown(text)) {
			if !p.MatchString(l) && !asShown(l) {
				continue
			}
			if found++; a.Count || found > perFile || len(out.Matches) == limit {
				continue
			}
			out.Matches = append(out.Matches, Match{b.label(name), i + 1, sanitize.Beginning(strings.TrimSpace(l), snippetLimit)})
		}
		if found == 0 {
			return true
		}
		if out.Lines, out.Found = out.Lines+found, out.Found+1; a.Count && len(out.Counts) < countedFiles {
			out.Counts = append(out.Counts, FileCount{b.label(name), found})
		}
		return true
	}
	if info, err := b.stat(under); under != "." && err == nil && info.Mode().IsRegular() {
		if _, err := b.text(under); err != nil {
			return out, err // a file that is named is not passed over
		}
		perFile = limit
		look(under)
		return out, nil
	}
	_, err = b.walk(ctx, under, look)
	return out, err
}

// depthLimit bounds how deep folders may lie.
const depthLimit = 64

// walk visits the files below a folder in order until visit returns false.
func (b *Box) walk(ctx context.Context, folder string, visit func(string) bool) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	if strings.Count(folder, "/") > depthLimit {
		return true, nil
	}
	entries, err := b.entries(folder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		var more bool
		if e.IsDir() {
			more, err = b.walk(ctx, name, visit)
		} else {
			more = visit(name)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
