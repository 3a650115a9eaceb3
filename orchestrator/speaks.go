package orchestrator

import (
	"cmp"
	"slices"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A review speaks for a commit and a base branch: against another one it reads another diff, by other rules. What was said of a change to another branch, or nobody knows to
// which, can keep something from passing, and neither settles nor hides what was said of this one (threats.md T780).

// base is the branch that a review of a pull request is about, as requests have it.
func (r Request) base(pr review.PullRequest) string {
	return cmp.Or(r.BaseRef, sanitize.Mask(pr.BaseRef))
}

// sayings tells of reviews, the newest first, which have a say about a change to a base branch: of each branch that one is about, the newest alone.
type sayings struct {
	base string
	seen map[string]bool
}

// next reports whether a review about a base branch has a say, and whether it is the last one, as it is the newest about this very branch. The branch is empty where nobody knows it.
func (s *sayings) next(base string) (says, last bool) {
	switch {
	case base == "":
		return true, false
	case s.seen[base]:
		return false, false
	case s.seen == nil:
		s.seen = map[string]bool{}
	}
	s.seen[base] = true
	return true, base == s.base
}

// speaking are those of some reports, the newest first, that have a say about a change to a base branch, as markers name it.
func speaking[T any](reports []T, base string, about func(T) string) (out []T) {
	s := sayings{base: base}
	for _, r := range reports {
		says, last := s.next(about(r))
		if says {
			out = append(out, r)
		}
		if last {
			break
		}
	}
	return out
}

// aReport is the comment with which a report begins, what it says, and when it was written. since is as in its marker.
type aReport struct {
	comment review.Comment
	says    OurComment
	raised  []string
	since   string
	at      time.Time
}

// reportsAbout are the reports from somebody that have a say about a change to a base branch, the newest first.
func reportsAbout(comments []review.Comment, from func(review.Comment) bool, base string) []aReport {
	var all []aReport
	for _, c := range comments {
		if !sanitize.HasMarker(c.Body) || !from(c) {
			continue
		}
		m, _ := sanitize.ParseMarker(c.Body)
		if known := ourComment(c, m); known.Asks || known.Approves {
			all = append(all, aReport{c, known, m.Raised, m.Since, writtenAt(c, m)})
		}
	}
	slices.Reverse(all) // of two of one moment the later one is the newer
	slices.SortStableFunc(all, func(a, b aReport) int { return b.at.Compare(a.at) })
	return speaking(all, sanitize.BaseNamed(base), func(r aReport) string { return r.says.Base })
}

// firstAsking is the address of the newest report that does not approve, of those in reports for which a condition holds; empty when there is none.
func firstAsking(reports []aReport, holds func(review.Comment) bool) string {
	for _, r := range reports {
		if r.says.Asks && holds(r.comment) {
			return r.comment.URL
		}
	}
	return ""
}

// saidAbout is who has had another word in newer runs about one base branch: in any of them (heard), and in those about the head (here). over is true when one of these runs converged.
type saidAbout struct {
	heard, here map[string]bool
	over        bool
}

// words keeps that for base branches.
type words map[string]*saidAbout

// about is what is kept for a base branch; of one that nobody knows, nothing ever is.
func (a words) about(base string) *saidAbout {
	if base == "" {
		return &saidAbout{heard: map[string]bool{}, here: map[string]bool{}}
	}
	if a[base] == nil {
		a[base] = &saidAbout{heard: map[string]bool{}, here: map[string]bool{}}
	}
	return a[base]
}

// had reports whether somebody has had another word; here, about the head.
func (a *saidAbout) had(name string, here bool) bool {
	if here {
		return a.here[name]
	}
	return a.heard[name]
}
