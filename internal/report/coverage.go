package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// Beginnings of the lines about files that were not reviewed, or not with all that is around their changes; they are made of the receipt, and Parse passes over them.
const (
	unreadStart  = "**Not reviewed:** "
	excusedStart = "Left out by rule: "
	aroundStart  = "Reviewers saw "
)

const (
	// maxLeftOut bounds each list of files that were left out: those that had to be reviewed, and the others. The rest of a
	// list is one line with their number.
	maxLeftOut = 20
	// filesNamed is how many files a sentence names.
	filesNamed = 5
)

var moreFiles = lazyregexp.New(`^(\d{1,9}) (?:more|withheld) files are not (?:listed|named) here$`)

// leftOut are the files left out as a report lists them: those first that had to be reviewed, each list sorted and cut.
func leftOut(files []review.LeftOut) []review.LeftOut {
	var lists [2][]review.LeftOut
	for _, l := range files {
		i := boolRank(l.Excused)
		lists[i] = append(lists[i], review.LeftOut{Path: word(l.Path), Reason: pipes(inline(l.Reason)), Excused: l.Excused})
	}
	var out []review.LeftOut
	for i, list := range lists {
		slices.SortFunc(list, func(a, b review.LeftOut) int {
			return cmp.Or(cmp.Compare(boolRank(stands(a)), boolRank(stands(b))), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
		})
		if n := len(list); n > maxLeftOut+1 {
			list = append(list[:maxLeftOut:maxLeftOut], review.LeftOut{Reason: fmt.Sprintf("%d more files are not listed here", sizes(list[maxLeftOut:])), Excused: i == 1})
		}
		out = append(out, list...)
	}
	return out
}

// stands reports whether an entry stands for files that are not listed.
func stands(l review.LeftOut) bool { return l.Path == "" && moreFiles.MatchString(l.Reason) }

// size is how many files an entry of a list stands for.
func size(l review.LeftOut) int {
	if !stands(l) {
		return 1
	}
	n, _ := strconv.Atoi(moreFiles.FindStringSubmatch(l.Reason)[1])
	return n
}

func sizes(files []review.LeftOut) int {
	n := 0
	for _, l := range files {
		n += size(l)
	}
	return n
}

// Unread says which files were not reviewed although they had to be, such as "2 files: `a.py` (too large), `b.py` (over budget)";
// empty when there are none.
func Unread(files []review.LeftOut) string {
	files = of(files, false)
	if len(files) == 0 {
		return ""
	}
	var names []string
	for _, l := range files {
		if !stands(l) {
			names = append(names, span(l.Path)+" ("+l.Reason+")")
		}
	}
	return count(sizes(files), "file") + ": " + named(names, sizes(files))
}

// Masked begins the reason for a file of which values were masked; which lines they are on follows.
const Masked = "masked as a possible secret: "

// ByHand says what helps where files were not reviewed though no reviewer is missing; empty where that is not so.
func ByHand(o review.Outcome, r review.Receipt) string {
	nothing := o == review.NotReviewed && r.Nothing()
	switch {
	case Unread(r.LeftOut) != "" && (nothing || r.Complete >= r.MinReviewers):
		said := "Review by hand what was not read, or leave it out on purpose (`context.exclude`)."
		if slices.ContainsFunc(of(r.LeftOut, false), func(l review.LeftOut) bool { return strings.HasPrefix(l.Reason, Masked) }) {
			said += " A value that says that it is made up, such as `test-token-1`, is not masked."
		}
		return said
	case nothing && Excused(r.LeftOut) != "":
		return "Review the change by hand: it holds only files that are left out by rule, so no reviewer read any of it."
	}
	return ""
}

// Excused says which files a rule or the configuration leaves out of the review, and for what reasons.
func Excused(files []review.LeftOut) string {
	files = of(files, true)
	if len(files) == 0 {
		return ""
	}
	names := map[string][]string{}
	more := 0
	for _, l := range files {
		if stands(l) {
			more += size(l)
			continue
		}
		names[l.Reason] = append(names[l.Reason], span(l.Path))
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(names)) {
		parts = append(parts, fmt.Sprintf("%d %s (%s)", len(names[why]), why, named(names[why], len(names[why]))))
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if len(parts) == 1 {
		return parts[0] // which says how many itself
	}
	return count(sizes(files), "file") + ": " + strings.Join(parts, ", ")
}

// shortAround is the warning of package repocontext about code around changes that did not fit.
var shortAround = lazyregexp.New(`^(\d{1,9}) files were given without all of the code around their changes: `)

// Around says how many files reviewers were given without all of the code around their changes; empty when there are none. All changes of a file may be read,
// and what they mean depend on what was not.
func Around(r review.Receipt) string {
	for _, w := range r.Warnings {
		if m := shortAround.FindStringSubmatch(w); m != nil {
			n, _ := strconv.Atoi(m[1])
			whose := "their"
			if n == 1 {
				whose = "its"
			}
			return fmt.Sprintf("%s%s without all of the code around %s changes: the change is larger than the context budget.", aroundStart, count(n, "file"), whose)
		}
	}
	return ""
}

// of are the files of one list, as a report lists them.
func of(files []review.LeftOut, excused bool) []review.LeftOut {
	return slices.DeleteFunc(leftOut(files), func(l review.LeftOut) bool { return l.Excused != excused })
}

// named joins the first names of n.
func named(names []string, n int) string {
	names = names[:min(len(names), filesNamed)]
	if more := n - len(names); more > 0 {
		names = append(names[:len(names):len(names)], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
