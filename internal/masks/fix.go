package masks

import (
	"strings"

	"github.com/prloop/prloop/sanitize"
)

// Overwriting lists the files, by their place in a fix, into which it brings a line with a mask. It is none where the fix takes no line with a value out, anywhere: a line
// may go to another file. A line that the fix took out as it is had the word itself. raw are the diffs of the files, shown the same with their values masked.
func Overwriting(raw, shown []string) (files []int) {
	held, had := false, map[string]int{}
	for i := range raw {
		masked := strings.Split(shown[i], "\n")
		each(raw[i], '-', func(n int, line string) {
			held = held || masked[n] != "-"+line
			had[strings.TrimSpace(line)]++
		})
	}
	for i := range raw {
		wrote := false
		each(raw[i], '+', func(_ int, line string) {
			if strings.Contains(line, sanitize.Redacted) {
				line = strings.TrimSpace(line)
				had[line]--
				wrote = wrote || had[line] < 0
			}
		})
		if held && wrote {
			files = append(files, i)
		}
	}
	return files
}

// each visits the lines of a diff's hunks that have a mark, without it, and with their place in the diff.
func each(diff string, mark byte, visit func(n int, line string)) {
	hunks := false
	for n, line := range strings.Split(diff, "\n") {
		if hunks = hunks || strings.HasPrefix(line, "@@ "); hunks && line != "" && line[0] == mark {
			visit(n, line[1:])
		}
	}
}
