package masks

import (
	"strings"

	"github.com/prloop/prloop/sanitize"
)

// Overwrites reports whether a diff of one file takes a line with a value out and brings one with a mask in. keys are the file's, known what was learned of the change.
func Overwrites(raw string, keys sanitize.KeyLines, known *sanitize.Learned) bool {
	lines, shown := strings.Split(raw, "\n"), strings.Split(known.MaskDiff(raw, keys), "\n")
	held, wrote := false, false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "-"):
			held = held || shown[i] != line
		case strings.HasPrefix(line, "+"):
			wrote = wrote || strings.Contains(line, sanitize.Redacted)
		}
	}
	return held && wrote
}
