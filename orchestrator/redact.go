package orchestrator

import (
	"slices"

	"github.com/prloop/prloop/sanitize"
)

// redactSnapshot takes secrets out of what people wrote before a snapshot becomes an artifact. Diffs stay: they are what
// was reviewed, and the folder is private.
func redactSnapshot(s Snapshot) Snapshot {
	s.PR.Title, s.PR.Body = sanitize.Redact(s.PR.Title), sanitize.Redact(s.PR.Body)
	return s
}

func sortedSet(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}
