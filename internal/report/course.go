package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

const (
	divergingStart = "**The fixes do not settle:** "
	revertOffer    = "To take these fixes back, in a clone of the branch:"
	revertPrefix   = "git revert --no-edit "
)

func (p *page) diverging(d *Diverging) {
	if d == nil {
		return
	}
	p.add(strings.TrimSpace(divergingStart + span(d.Region) + " " + d.Sentence))
	if len(d.Commits) > 0 {
		newest := slices.Clone(d.Commits)
		slices.Reverse(newest)
		p.add(revertOffer, fence(revertPrefix+strings.Join(newest, " "), "sh"))
	}
}

// rounds is a table of the rounds, from the second on: the first has nothing to compare with.
func (p *page) rounds(course []RoundLine) {
	if len(course) == 0 {
		return
	}
	lines := []string{header("Round>", "Head", "Consensus", "P0>", "P1>", "P2>", "P3>", "Fixed>", "Rejected>", "Stuck>")}
	for _, r := range course {
		cells := []string{strconv.Itoa(r.Round), p.links.id(r.Head), span(string(r.Consensus))}
		for _, n := range []int{r.P0, r.P1, r.P2, r.P3, r.Fixed, r.Rejected, r.Stuck} {
			cells = append(cells, strconv.Itoa(n))
		}
		lines = append(lines, row(cells...))
	}
	p.add(strings.Join(lines, "\n"))
}

// course is in the order of the rounds; a single round has no course.
func course(list []RoundLine) []RoundLine {
	var out []RoundLine
	for _, r := range list {
		r.Head, r.Consensus = oid(r.Head), review.Conclusion(word(string(r.Consensus)))
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b RoundLine) int { return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Head, b.Head)) })
	out = slices.CompactFunc(out, func(a, b RoundLine) bool { return a.Round == b.Round })
	if len(out) < 2 {
		return nil
	}
	return out
}

func diverging(d Diverging) *Diverging {
	out := Diverging{Region: word(d.Region), Sentence: inline(d.Sentence)}
	for _, c := range d.Commits {
		if c = oid(c); c != "" {
			out.Commits = append(out.Commits, c)
		}
	}
	return &out
}

var objectID = lazyregexp.New(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

// oid keeps a full object id, which is fit for a command line and a link, and drops anything else.
func oid(s string) string {
	if !objectID.MatchString(s) {
		return ""
	}
	return s
}
