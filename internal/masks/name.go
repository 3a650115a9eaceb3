package masks

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/sanitize"
)

// InName reports whether a part of a file's name is masked. Such a name cannot be held against a pattern: whatever a match
// would decide for safety is taken to be decided.
func InName(name string) bool { return strings.Contains(name, sanitize.Redacted) }

// NameHidden reports whether the mask of a file's name hides more than values that can be nothing but secrets. A name may decide
// what runs a file, and a rename shows nothing else.
func NameHidden(spelled string) bool {
	raw := spelling.Raw(spelled)
	shown := strings.Split(sanitize.MaskPath(raw), "/")
	for i, part := range strings.Split(raw, "/") {
		if shown[i] == part {
			continue
		}
		spans := sanitize.Secrets(part)
		if len(spans) == 0 || slices.ContainsFunc(spans, func(p sanitize.Span) bool { return !sanitize.Random(part[p.Start:p.End]) }) {
			return true
		}
	}
	return false
}
