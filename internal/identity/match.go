package identity

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// closeLines is how far apart the lines of one problem may be reported: reviewers point at the call, its definition or
// the head of the function. Words decide within it.
const closeLines = 15

// Move maps a place of the older version to the newer one: the file after renames, and the line after the edits between.
// ok is false when the line is gone; newFile counts even then.
type Move func(file string, line int) (newFile string, newLine int, ok bool)

// Pair says that findings a[A] and b[B] are the same one.
type Pair struct {
	A, B int
	// Score is the similarity of their words, 0 to 1.
	Score float64
	// Exact is true when the fingerprints are equal.
	Exact bool
}

// Match finds the same findings in two lists, such as those of two rounds: a older, b newer. Each finding stands in at
// most one pair. Equal fingerprints go first, then the most similar. A nil move means that nothing has moved. Pairs are
// sorted by A.
func Match(a, b []review.Finding, move Move) []Pair {
	return MatchAmong(a, b, move, func(int, int) bool { return true })
}

// MatchAmong is Match of the pairs that may be one: may is asked by their indexes. What may not be pairs takes no finding from another.
func MatchAmong(a, b []review.Finding, move Move, may func(a, b int) bool) []Pair {
	left, right := seen(a, move), seen(b, nil)
	var candidates []candidate
	for i := range left {
		for j := range right {
			if !may(i, j) {
				continue
			}
			if c, ok := compare(left[i], right[j]); ok {
				c.a, c.b = i, j
				candidates = append(candidates, c)
			}
		}
	}
	rank(candidates, left, right)
	usedA, usedB := make([]bool, len(a)), make([]bool, len(b))
	var pairs []Pair
	for _, c := range candidates {
		if usedA[c.a] || usedB[c.b] {
			continue
		}
		usedA[c.a], usedB[c.b] = true, true
		pairs = append(pairs, Pair{c.a, c.b, c.score, c.exact})
	}
	slices.SortFunc(pairs, func(x, y Pair) int { return cmp.Compare(x.A, y.A) })
	return pairs
}

// Join groups the findings of one round by what they are about. A group holds at most one finding of each source, so
// its length is the number of reviewers who support it: nobody supports a finding by saying it twice. Sources are told
// apart by Source.Name. Each index stands in exactly one group; groups and their members are in the order of the
// findings' content, which does not depend on the order they are passed in.
func Join(findings []review.Finding) [][]int { return join(seen(findings, nil)) }

func join(all []sight) [][]int {
	var candidates []candidate
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if all[i].Source.Name == all[j].Source.Name {
				continue
			}
			if c, ok := compare(all[i], all[j]); ok {
				if c.a, c.b = i, j; order(all[j].Finding, all[i].Finding) < 0 {
					c.a, c.b = j, i
				}
				candidates = append(candidates, c)
			}
		}
	}
	rank(candidates, all, all)
	group := make([]int, len(all)) // finding -> its group's first member
	members := make([][]int, len(all))
	for i := range all {
		group[i], members[i] = i, []int{i}
	}
	for _, c := range candidates {
		g, h := group[c.a], group[c.b]
		if g == h || shareSource(all, members[g], members[h]) {
			continue
		}
		for _, m := range members[h] {
			group[m] = g
		}
		members[g], members[h] = append(members[g], members[h]...), nil
	}
	members = slices.DeleteFunc(members, func(m []int) bool { return m == nil })
	byContent := func(i, j int) int { return order(all[i].Finding, all[j].Finding) }
	for _, m := range members {
		slices.SortStableFunc(m, byContent)
	}
	slices.SortStableFunc(members, func(m, n []int) int { return byContent(m[0], n[0]) })
	return members
}

func shareSource(all []sight, g, h []int) bool {
	for _, i := range g {
		for _, j := range h {
			if all[i].Source.Name == all[j].Source.Name {
				return true
			}
		}
	}
	return false
}

// sight is a finding ready to be compared.
type sight struct {
	review.Finding
	print      string
	text       profile
	start, end int // lines after the move; 0 when not known
}

func seen(findings []review.Finding, move Move) []sight {
	out := make([]sight, len(findings))
	for i, f := range findings {
		s := sight{Finding: f, text: profileOf(f.Title + "\n" + f.Description)}
		if f.Line != nil {
			s.start, s.end = *f.Line, *f.Line
			if f.LineEnd != nil && *f.LineEnd > s.start {
				s.end = *f.LineEnd
			}
		}
		if move != nil && f.File != "" {
			s.follow(move)
		}
		if s.print = quoted(s.Finding); s.Several() {
			s.print = s.Fingerprint
		}
		out[i] = s
	}
	return out
}

// follow takes a finding to the newer version. A line that is gone is not known any more.
func (s *sight) follow(move Move) {
	file, start, ok := move(s.File, max(s.start, 1))
	_, end, okEnd := move(s.File, max(s.end, 1))
	s.File = file
	switch {
	case s.start == 0:
	case ok && okEnd:
		s.start, s.end = start, max(start, end)
	case ok:
		s.end = start
		s.start = start
	case okEnd:
		s.start, s.end = end, end
	default:
		s.start, s.end = 0, 0
	}
}

type candidate struct {
	a, b  int
	exact bool
	score float64
	// apart is the number of lines between the two; 0 when they overlap or a line is not known.
	apart int
}

// compare holds two findings against the rule of the package comment.
func compare(x, y sight) (candidate, bool) {
	c := candidate{exact: x.print != "" && x.print == y.print}
	if x.Several() || y.Several() { // by nothing else (threats.md T857)
		c.exact = c.exact && x.Several() && y.Several()
		if c.exact {
			c.score = 1
		}
		return c, c.exact
	}
	if x.start > 0 && y.start > 0 {
		c.apart = max(0, x.start-y.end, y.start-x.end)
	}
	near := x.File == y.File && c.apart <= closeLines && related(x.Category, y.Category)
	if !c.exact && !near {
		return c, false
	}
	c.score = x.text.similarity(y.text)
	return c, c.exact || c.score >= Threshold
}

// Likeness is how alike two findings are in words, from 0 to 1; same is false when they are not about the same problem by the rule of the package comment.
func Likeness(a, b review.Finding) (likeness float64, same bool) {
	both := seen([]review.Finding{a, b}, nil)
	c, same := compare(both[0], both[1])
	return c.score, same
}

// Akin reports whether two findings of one reviewer may be about the same problem by what they say, also where they quote the same code.
func Akin(a, b review.Finding) bool {
	likeness, same := Likeness(a, b)
	return same && likeness >= akin
}

// Alike reports whether two findings are about the same problem by what they say, also where they quote the same code.
func Alike(a, b review.Finding) bool {
	likeness, same := Likeness(a, b)
	return same && likeness >= Threshold
}

// rank puts the surest candidates first; ties are broken by content, never by position.
func rank(list []candidate, left, right []sight) {
	slices.SortStableFunc(list, func(c, d candidate) int {
		exact := 0
		if c.exact != d.exact {
			if exact = 1; c.exact {
				exact = -1
			}
		}
		first := cmp.Compare(d.score, c.score)
		if c.exact && d.exact { // the same code quoted at several places: the nearest is the one
			first = cmp.Or(cmp.Compare(c.apart, d.apart), first)
		}
		return cmp.Or(exact, first, cmp.Compare(c.apart, d.apart),
			order(left[c.a].Finding, left[d.a].Finding), order(right[c.b].Finding, right[d.b].Finding))
	})
}

// order is a total order on what a finding says and who says it.
func order(x, y review.Finding) int {
	return cmp.Or(
		cmp.Compare(x.Priority.Rank(), y.Priority.Rank()), strings.Compare(x.File, y.File), cmp.Compare(deref(x.Line), deref(y.Line)),
		cmp.Compare(deref(x.LineEnd), deref(y.LineEnd)), strings.Compare(x.Title, y.Title), strings.Compare(x.Description, y.Description),
		strings.Compare(x.Category, y.Category), strings.Compare(x.Source.Name, y.Source.Name), strings.Compare(x.ID, y.ID),
		strings.Compare(x.Evidence, y.Evidence), strings.Compare(x.Suggestion, y.Suggestion))
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
