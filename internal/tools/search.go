package tools

import (
	"context"
	"path"
	"strings"
)

// Bounds of one search. They count, they do not measure time: the same tree gives the same answer.
const (
	matchLimit     = 60
	matchesPerFile = 8
	searchFiles    = 20_000
	searchBytes    = 64 << 20
	snippetLimit   = 240
)

// searchArgs are those of search_code.
type searchArgs struct {
	Query    string `json:"query"`
	Regexp   bool   `json:"regexp"`
	Language string `json:"language"`
	Under    string `json:"under"`
}

// Match is one line that search_code found.
type Match struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Snippet string `json:"snippet"`
}

// Matches is what search_code answers, in the order of paths and lines.
type Matches struct {
	Matches []Match `json:"matches"`
	// Files is how many files were read.
	Files int `json:"filesRead"`
	// Truncated is true when a bound ended the search or hid matches.
	Truncated bool `json:"truncated,omitempty"`
}

func (b *Box) search(ctx context.Context, a searchArgs) (Matches, error) {
	out := Matches{Matches: []Match{}}
	p, err := expression(a.Query, a.Regexp)
	if err != nil {
		return out, err
	}
	if a.Language != "" && b.o.Language == nil {
		return out, fail(Unavailable, "languages are not known here; leave the filter out")
	}
	under, err := b.check(a.Under)
	if err != nil {
		return out, err
	}
	size := 0
	_, err = b.walk(ctx, under, func(name string) bool {
		if a.Language != "" && !strings.EqualFold(b.o.Language(name), a.Language) {
			return true
		}
		text, err := b.text(name)
		if err != nil { // too large or binary
			return true
		}
		out.Files++
		if size += len(text); out.Files > searchFiles || size > searchBytes {
			out.Truncated = true
			return false
		}
		if !p.Match(text) {
			return true
		}
		found := 0
		for i, l := range splitLines(b.shown(text)) {
			if !p.MatchString(l) {
				continue
			}
			if found++; found > matchesPerFile || len(out.Matches) == matchLimit {
				out.Truncated = true
				break
			}
			l = cut(strings.TrimSpace(l))
			if len(l) > snippetLimit {
				l = strings.ToValidUTF8(l[:snippetLimit], "") + "…"
			}
			out.Matches = append(out.Matches, Match{b.label(name), i + 1, l})
		}
		return len(out.Matches) < matchLimit
	})
	if len(out.Matches) == matchLimit {
		out.Truncated = true
	}
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
