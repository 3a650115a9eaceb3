package repocontext

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// DefaultGuidance are the files rules for reviewers and coding agents are written in. The names without a slash
// count in every folder on the way to a changed file.
var DefaultGuidance = []string{"CLAUDE.md", "AGENTS.md", "AGENT.md", ".cursorrules", ".github/copilot-instructions.md"}

// Bounds of guidance.
const (
	guidanceLimit = 32 << 10 // of one file, in bytes; more is cut
	guidanceRead  = 1 << 20  // larger files are not read at all
	guidanceFiles = 40
	guidanceShare = 4 // guidance takes at most one part in so many of the budget
)

// folders are all folders on the way to the paths, the root ("") first, outer before inner.
func folders(paths []string) []string {
	seen := map[string]bool{"": true}
	for _, p := range paths {
		for dir := path.Dir(p); dir != "." && dir != "/" && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	all := make([]string, 0, len(seen))
	for dir := range seen {
		all = append(all, dir)
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := depth(a) - depth(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return all
}

func depth(dir string) int {
	if dir == "" {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// guidance reads the rules that hold for the folders.
func guidance(ctx context.Context, src Source, o *Options, dirs []string, budget int) (files []review.GuidanceFile, cut int, err error) {
	names, err := guidanceNames(ctx, src, o, dirs)
	if err != nil {
		return nil, 0, err
	}
	texts, err := src.ReadFiles(ctx, cmp.Or(o.Rules, o.Base), names, guidanceRead)
	if err != nil {
		return nil, 0, err
	}
	files = []review.GuidanceFile{}
	for _, name := range names {
		text, ok := texts[name]
		if !ok || isLink(name, text, texts) {
			continue
		}
		g := review.GuidanceFile{Path: spelling.Name(name), Text: spelling.Text(string(text))}
		g.Text, g.Truncated = cutText(g.Text, min(guidanceLimit, budget*bytesPerToken))
		cost := Estimate(g.Text)
		if g.Text == "" && g.Truncated || len(files) == guidanceFiles || cost > budget {
			cut++
			continue
		}
		if g.Truncated {
			cut++
		}
		budget -= cost
		files = append(files, g)
	}
	return files, cut, nil
}

func guidanceNames(ctx context.Context, src Source, o *Options, dirs []string) ([]string, error) {
	var names []string
	add := func(name string) {
		if !matches(o.Exclude, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	all := slices.Concat(DefaultGuidance, o.Guidance)
	for _, dir := range dirs {
		for _, name := range all {
			switch {
			case strings.ContainsAny(name, "*?[{"):
			case !strings.Contains(name, "/"), dir == "":
				add(path.Join(dir, name))
			}
		}
	}
	for _, pattern := range o.Guidance {
		if !strings.ContainsAny(pattern, "*?[{") {
			continue
		}
		prefix := path.Dir(pattern[:strings.IndexAny(pattern, "*?[{")] + "x")
		if prefix == "." {
			prefix = ""
		}
		files, err := src.Files(ctx, cmp.Or(o.Rules, o.Base), prefix)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if matches([]string{pattern}, f) {
				add(f)
			}
		}
	}
	return names, nil
}

// isLink recognises a link to another guidance file (CLAUDE.md -> AGENTS.md), which reads as the name of its target.
func isLink(name string, text []byte, texts map[string][]byte) bool {
	if len(text) > 512 || strings.ContainsAny(string(text), "\n\r") {
		return false
	}
	target := path.Join(path.Dir(name), string(text))
	_, ok := texts[target]
	return ok && target != name
}

// cutText cuts a text at the end of a line before limit bytes.
func cutText(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	if limit <= 0 {
		return "", true
	}
	s = s[:limit]
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		return s[:i+1], true
	}
	for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-4):]) {
		s = s[:len(s)-1]
	}
	return s, true
}
