package orchestrator

import (
	"slices"

	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/review"
)

// namesOf are the names of a changed file as they are spelled: its own, and the one it had.
func namesOf(f review.BriefFile) []string {
	if f.OldPath == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.OldPath}
}

// unknown says why a changed file may have other names than those it is called by, so that no pattern rules it out: a part of one is masked (threats.md T325), or
// a merge brings the change to wherever the base has moved the file (threats.md T845). Empty where its names are known.
func unknown(f review.BriefFile) string {
	switch {
	case slices.ContainsFunc(namesOf(f), masks.InName):
		return "a part of its name is masked"
	case f.Moved:
		return "the base has no file of that name any more, and a merge may bring the change elsewhere"
	}
	return ""
}
