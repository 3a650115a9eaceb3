package eval

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// Shape of a played file: how many lines each problem has for itself, and how far off a reviewer reports one.
const (
	playedFile     = "src/played.go"
	linesByProblem = 25
	offLines       = 4
)

// turn is two rounds on one file with a fix between them.
type turn struct {
	before, after []noted
	fix           *diff.Diff
}

// newTurn places all findings in one file. What is one expected finding stands at one place; every other finding has its
// own. The fix rewrites some of the places and puts lines in elsewhere.
func newTurn(draw *rand.Rand, first, second []ToolPairs) turn {
	var t turn
	for _, tool := range first {
		t.before = append(t.before, tool.noted()...)
	}
	for _, tool := range second {
		t.after = append(t.after, tool.noted()...)
	}
	total := max(1, len(t.before)+len(t.after)) * linesByProblem
	places := map[int]int{}
	for _, f := range slices.Concat(t.before, t.after) {
		for _, e := range f.about {
			if places[e] == 0 {
				places[e] = 1 + draw.IntN(total)
			}
		}
	}
	t.fix = playFix(draw, total, slices.Sorted(maps.Values(places)))
	for i, id := range draw.Perm(len(t.before)) {
		t.before[i].Finding = put(draw, t.before[i], places, total, id, nil)
	}
	for i, id := range draw.Perm(len(t.after)) {
		t.after[i].Finding = put(draw, t.after[i], places, total, id, t.fix)
	}
	return t
}

// put gives a finding the file, a line near its problem, a category such a problem may have, and an id that tells nothing.
func put(draw *rand.Rand, f noted, places map[int]int, total, id int, fix *diff.Diff) review.Finding {
	at := 1 + draw.IntN(total)
	if len(f.about) > 0 {
		at = places[f.about[0]]
	}
	at = max(1, at+draw.IntN(2*offLines+1)-offLines)
	if fix != nil {
		_, at, _ = fix.MapLine(playedFile, min(at, total))
	}
	out := f.Finding
	out.ID, out.File, out.Line = fmt.Sprintf("F-%d", id+1), playedFile, &at
	out.Category = []string{review.CategoryBug, review.CategoryLogic, review.CategoryErrorHandling}[draw.IntN(3)]
	return out
}

// playFix is a diff of the file: a third of the places is rewritten into more lines, and lines are put in at random, enough
// above everything that no line keeps its number.
func playFix(draw *rand.Rand, total int, places []int) *diff.Diff {
	put := map[int]int{1: 20 + draw.IntN(40)} // old line -> lines put in before it
	for range total / 60 {
		put[1+draw.IntN(total)] += 1 + draw.IntN(12)
	}
	rewritten := map[int]bool{}
	for _, p := range places {
		rewritten[p] = draw.IntN(3) == 0
	}
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nindex 1111111..2222222 100644\n--- a/%[1]s\n+++ b/%[1]s\n", playedFile)
	shift := 0
	for line := 1; line <= total; line++ {
		fresh, gone := put[line], 0
		if rewritten[line] {
			fresh, gone = fresh+2, 1
		}
		if fresh == 0 {
			continue
		}
		from := line
		if gone == 0 {
			from-- // git counts from the line before when nothing is taken out
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s%s", from, gone, line+shift, fresh, strings.Repeat("-old\n", gone), strings.Repeat("+new\n", fresh))
		shift += fresh - gone
	}
	d, err := diff.Parse(b.String())
	if err != nil {
		panic("a played fix is no diff: " + err.Error()) // the writer above is wrong, not the data
	}
	return d
}

func (t turn) findings() (before, after []review.Finding) {
	for _, f := range t.before {
		before = append(before, f.Finding)
	}
	for _, f := range t.after {
		after = append(after, f.Finding)
	}
	return before, after
}

// mapped matches as a run does: the older findings are taken to where their lines stand now, those that are gone to
// where they would stand.
func (t turn) mapped() []identity.Pair {
	before, after := t.findings()
	for i, f := range before {
		_, at, _ := t.fix.MapLine(f.File, *f.Line)
		before[i].Line = &at
	}
	return identity.Match(before, after, nil)
}

func (t turn) unmapped() []identity.Pair {
	before, after := t.findings()
	return identity.Match(before, after, nil)
}

func (t turn) words() []identity.Pair {
	before, after := t.findings()
	for _, list := range [][]review.Finding{before, after} {
		for i := range list {
			list[i].Line = nil
		}
	}
	return identity.Match(before, after, nil)
}

func (t turn) ids() []identity.Pair {
	var out []identity.Pair
	for i, a := range t.before {
		for k, b := range t.after {
			if a.ID == b.ID {
				out = append(out, identity.Pair{A: i, B: k})
			}
		}
	}
	return out
}

// score counts what was recognised. A problem has returned when both rounds raise it, and is recognised when any finding of
// it is matched with any of the earlier ones: a run then keeps it from the fixer.
func (t turn) score(matches []identity.Pair, tally *StuckTally) {
	matched := map[int]int{}
	for _, m := range matches {
		matched[m.B] = m.A
	}
	returned := map[int]bool{}
	for k, b := range t.after {
		fresh := !b.unclear
		for i, a := range t.before {
			same, known := label(a, b)
			at, hit := matched[k]
			hit = hit && at == i
			switch {
			case !known:
				fresh = fresh && !hit && len(b.about) > 0
			case same:
				fresh = false
				for _, e := range b.about {
					if slices.Contains(a.about, e) {
						returned[e] = returned[e] || hit
					}
				}
			default:
				tally.Compared++
				if hit {
					tally.Mistaken++
				}
			}
		}
		if !fresh {
			continue
		}
		tally.New++
		if _, hit := matched[k]; hit {
			tally.Blamed++
		}
	}
	for _, hit := range returned {
		tally.Returned++
		if hit {
			tally.Recognised++
		}
	}
}
