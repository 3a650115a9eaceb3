// Package escalate decides which pull requests are reviewed in full where a quick scan comes first (decision 71). It is pure.
package escalate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/neverread"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// Tier is how much a change is looked at.
type Tier string

// The tiers, from the one that costs least.
const (
	// Quick: one scan, and no full review unless somebody asks for it.
	Quick Tier = "quick"
	// Auto: one scan, and a full review where a trigger says so.
	Auto Tier = "auto"
	// Full: a full review, and no scan.
	Full Tier = "full"
)

// Tiers are all of them, in that order.
var Tiers = []Tier{Quick, Auto, Full}

// Triggers say what makes a full review of a scan, or comes in its place. They count in the tier Auto alone.
type Triggers struct {
	// OnComplex and OnFlag are what the scan itself says.
	OnComplex bool `json:"onComplex,omitempty"`
	OnFlag    bool `json:"onFlag,omitempty"`
	// Untrusted: whoever opened the pull request may not write to the repository.
	Untrusted bool `json:"untrusted,omitempty"`
	// Paths are globs of changed files and of folders they are in, Labels are labels of the pull request; one is enough.
	Paths  []string `json:"paths,omitempty"`
	Labels []string `json:"labels,omitempty"`
	// OverLines: more changed lines than that; 0 is never.
	OverLines int `json:"overLines,omitempty"`
}

// Facts are what is known of a change before anybody has looked at it.
type Facts struct {
	// Paths are the names of changed files as they are in the tree, those of before too.
	Paths []string
	// Unknown is a changed file that may have other names than Paths says, and Why says why; empty when there is none. No path is ruled out for it.
	Unknown, Why string
	// Lines is how many lines were added and removed; a long one counts as several (review.BriefFile.Lines).
	Lines int
	// Labels are those that stand, Held others that were taken off by nobody who may.
	Labels, Held []string
	// Untrusted is true when whoever opened the pull request may not write to the repository, or when that cannot be told.
	Untrusted bool
}

// Scan is what a scan came to.
type Scan struct {
	// Whole is true when the scout gave a complete answer and every changed line was in its request. What it says counts only then.
	Whole      bool
	Complexity review.Complexity
	Verdict    review.ScanVerdict
}

// Before says why a change is reviewed in full without a scan; empty when it is scanned first.
func Before(t Tier, tr Triggers, f Facts) string {
	if t == Full {
		return "every change is reviewed in full"
	}
	if t != Auto {
		return ""
	}
	asks := func(label string) bool {
		return slices.ContainsFunc(tr.Labels, func(l string) bool { return strings.EqualFold(l, label) })
	}
	if i := slices.IndexFunc(f.Labels, asks); i >= 0 {
		return fmt.Sprintf("the pull request has the label %q", f.Labels[i])
	}
	if i := slices.IndexFunc(f.Held, asks); i >= 0 {
		return fmt.Sprintf("the label %q holds: nobody who may has taken it off", f.Held[i])
	}
	// However case and accents of a name are spelled, and whatever is in a folder that a pattern names.
	exact, folded := neverread.Paths(tr.Paths), neverread.Paths{}
	for _, p := range tr.Paths {
		folded = append(folded, spelling.Fold(p))
	}
	for _, p := range f.Paths {
		if exact.Has(p) || folded.Has(spelling.Fold(p)) {
			return fmt.Sprintf("it changes %q", p)
		}
	}
	switch {
	case len(tr.Paths) > 0 && f.Unknown != "":
		return fmt.Sprintf("it changes %q, which may be one of the paths that are reviewed in full: %s", f.Unknown, f.Why)
	case tr.OverLines > 0 && f.Lines > tr.OverLines:
		return fmt.Sprintf("it changes %d lines, and more than %d are reviewed in full", f.Lines, tr.OverLines)
	case tr.Untrusted && f.Untrusted:
		return "its author may not write to the repository"
	}
	return ""
}

// After says why a full review follows on a scan; empty when none does. A scan that did not see all of a change, or gave no answer, rules
// nothing out: the triggers count as if they had been pulled.
func After(t Tier, tr Triggers, s Scan) string {
	if t != Auto || !tr.OnComplex && !tr.OnFlag {
		return ""
	}
	switch {
	case !s.Whole:
		return "the quick scan did not see the whole change"
	case tr.OnFlag && s.Verdict != review.LooksGood:
		return "the quick scan flags the change"
	case tr.OnComplex && s.Complexity != review.TrivialChange && s.Complexity != review.SimpleChange:
		return "the quick scan calls the change complex"
	}
	return ""
}
