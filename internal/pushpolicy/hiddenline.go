package pushpolicy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/lineends"
	"github.com/prloop/prloop/review"
)

// RuleHiddenLine is the rule against text that stands in one line for git, and so for every other rule and for reviewers, and in another for what runs it
// (threats.md T783).
const RuleHiddenLine = "hidden-line"

// hiddenLines refuses a file in which a change leaves more of the signs that do so than were there. No glob opens it: who needs such a sign writes an escape.
func hiddenLines(c Change) []review.Refusal {
	if c.gone() {
		return nil
	}
	had := map[string]int{}
	for _, l := range c.Removed {
		for _, sign := range signs(c.names()[0], l.Text) {
			had[sign]++
		}
	}
	for _, l := range c.Added {
		for _, sign := range signs(c.Path, l.Text) {
			if had[sign]--; had[sign] < 0 {
				return []review.Refusal{refuse(RuleHiddenLine, c.Path, fmt.Sprintf("it adds %s, which makes other lines for some of those who read or run it than for git (line %d)", sign, l.N))}
			}
		}
	}
	return nil
}

var (
	// translated are languages in which an escape is what it stands for before anything else is read, in a comment too (JLS 3.3). Kotlin is none.
	translated = lazyregexp.New(`(?i)\.(java|jav|aj|jsp|jspf|jspx|tag|tagx|groovy|gvy|gy|gsh|gradle|scala|sc|sbt)$`)
	escape     = lazyregexp.New(`(\\+)u+([0-9a-fA-F]{4})`)
)

// signs are those of a line at which it ends for anybody but git, and in some languages the escapes of such signs and of those that programs are written in. Escapes of
// other signs, such as \u0000 and \u001b, are common in texts.
func signs(name, line string) (found []string) {
	for _, r := range lineends.Text(line) {
		if lineends.Is(r) {
			found = append(found, fmt.Sprintf("U+%04X", r))
		}
	}
	if !translated.MatchString(name) {
		return found
	}
	for _, m := range escape.FindAllStringSubmatch(line, -1) {
		r, err := strconv.ParseUint(m[2], 16, 16)
		if even := len(m[1])%2 == 0; err != nil || even { // that backslash is escaped itself
			continue
		}
		if r >= ' ' && r <= '~' || slices.Contains([]uint64{'\t', '\n', '\f', '\r'}, r) {
			found = append(found, fmt.Sprintf(`the escape \u%04x`, r))
		}
	}
	return found
}

// apart gives every part of a line that may be one to somebody a line of its own, with the number it has for git.
func apart(lines []Line) []Line {
	var all []Line
	for i, l := range lines {
		parts := lineends.Split(l.Text)
		if all == nil && len(parts) > 1 {
			all = slices.Clone(lines[:i])
		}
		if all != nil {
			for _, p := range parts {
				all = append(all, Line{N: l.N, Text: p})
			}
		}
	}
	if all == nil {
		return lines
	}
	return all
}
