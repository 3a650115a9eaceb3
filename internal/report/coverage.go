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

// Lines that stand for files: how many they are, and the reason that they share, if they do.
var (
	moreFiles     = lazyregexp.New(`^(\d{1,9}) more files are not listed here(?:: (.+))?$`)
	withheldFiles = lazyregexp.New(`^(\d{1,9}) (withheld) files are not named here$`)
)

// leftOut are the files left out as a report lists them: those first that had to be reviewed, each list sorted and cut.
func leftOut(files []review.LeftOut) []review.LeftOut {
	var lists [2][]review.LeftOut
	for _, l := range files {
		i := boolRank(l.Excused)
		lists[i] = append(lists[i], review.LeftOut{Path: word(l.Path), Reason: pipes(inline(l.Reason)), Excused: l.Excused})
	}
	return append(cut(lists[0], func(review.LeftOut) string { return "" }), cut(lists[1], reason)...)
}

// cut sorts a list, and keeps the first files of each kind, taken in turn, so that many of one hide none of another. One line counts the others of a kind.
func cut(list []review.LeftOut, kind func(review.LeftOut) string) []review.LeftOut {
	order := func(a, b review.LeftOut) int {
		return cmp.Or(cmp.Compare(boolRank(stands(a)), boolRank(stands(b))), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
	}
	slices.SortFunc(list, order)
	kinds, n := map[string][]review.LeftOut{}, 0
	for _, l := range list {
		if l.Path != "" || !moreFiles.MatchString(l.Reason) {
			kinds[kind(l)], n = append(kinds[kind(l)], l), n+1
		}
	}
	if n <= maxLeftOut+1 {
		return list
	}
	var out []review.LeftOut
	for turn := 0; len(out) < maxLeftOut; turn++ {
		for _, k := range slices.Sorted(maps.Keys(kinds)) {
			if turn < len(kinds[k]) && len(out) < maxLeftOut {
				out = append(out, kinds[k][turn])
			}
		}
	}
	more := map[string]int{}
	for _, l := range list {
		k := kind(l)
		if !slices.ContainsFunc(out, func(l review.LeftOut) bool { return kind(l) == k }) {
			k = "" // of too many kinds
		}
		more[k] += size(l)
	}
	for _, l := range out {
		more[kind(l)] -= size(l)
	}
	for k, n := range more {
		if n > 0 {
			out = append(out, review.LeftOut{Reason: strings.TrimSuffix(fmt.Sprintf("%d more files are not listed here: %s", n, k), ": "), Excused: list[0].Excused})
		}
	}
	slices.SortFunc(out, order)
	return out
}

// fileLine are the parts of a line that stands for files; nothing for a file.
func fileLine(l review.LeftOut) []string {
	if l.Path != "" {
		return nil
	}
	if m := moreFiles.FindStringSubmatch(l.Reason); m != nil {
		return m
	}
	return withheldFiles.FindStringSubmatch(l.Reason)
}

// stands reports whether an entry stands for files that are not listed.
func stands(l review.LeftOut) bool { return fileLine(l) != nil }

// size is how many files an entry of a list stands for.
func size(l review.LeftOut) int {
	m := fileLine(l)
	if m == nil {
		return 1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// reason is why the files of an entry were left out; empty where they share no reason.
func reason(l review.LeftOut) string {
	if m := fileLine(l); m != nil {
		return m[2]
	}
	return l.Reason
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

// Later is in the reason for a file that is not excused while something grave is open that may be in it now.
const Later = "; new or changed since commit "

// ByHand says what helps where files were not reviewed though no reviewer is missing; empty where that is not so.
func ByHand(o review.Outcome, r review.Receipt) string {
	nothing := o == review.NotReviewed && r.Nothing()
	switch {
	case Unread(r.LeftOut) != "" && (nothing || r.Complete >= r.MinReviewers):
		said := "Review by hand what was not read, or leave it out on purpose (`context.exclude`)."
		if slices.ContainsFunc(of(r.LeftOut, false), func(l review.LeftOut) bool { return strings.Contains(l.Reason, Later) }) {
			said = "Review by hand what was not read."
		}
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
	names, counts := map[string][]string{}, map[string]int{}
	for _, l := range files {
		why := cmp.Or(reason(l), "more")
		counts[why] += size(l)
		if !stands(l) {
			names[why] = append(names[why], span(l.Path))
		}
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		part := fmt.Sprintf("%d %s", counts[why], why)
		if names[why] != nil {
			part += fmt.Sprintf(" (%s)", named(names[why], counts[why]))
		}
		parts = append(parts, part)
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
