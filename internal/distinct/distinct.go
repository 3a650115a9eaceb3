// Package distinct lists the distinct findings of a finished run as every output of it does: those that must be fixed
// first, and the most urgent of them first. It is pure.
package distinct

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// Finding is one distinct finding.
type Finding struct {
	// Wordings are what was said of it, the most urgent first; there is at least one.
	Wordings []review.Finding
	// ID is its identity.
	ID string
	// Must is true when it has to be fixed; the others are optional.
	Must bool
}

// Level is how grave a finding is to tools that know three levels.
type Level int

// The levels: P0 and P1 that must be fixed, P2 that must be fixed, and all that is optional.
const (
	Error Level = iota
	Warning
	Note
)

// Level is the level of a finding.
func (f Finding) Level() Level {
	switch {
	case !f.Must:
		return Note
	case f.Wordings[0].Priority == review.P2:
		return Warning
	}
	return Error
}

// Of gives the findings of a run as its report joins them.
func Of(r review.RunResult) []Finding {
	var out []Finding
	for _, g := range groups(r) {
		one := Finding{ID: g.ID, Must: g.Counts || g.Stuck}
		for _, i := range g.Findings {
			if i >= 0 && i < len(r.Findings) {
				one.Wordings = append(one.Wordings, r.Findings[i])
			}
		}
		if len(one.Wordings) == 0 {
			continue
		}
		slices.SortStableFunc(one.Wordings, urgency)
		one.ID = cmp.Or(one.ID, identity.ID(one.Wordings))
		one.Must = one.Must && one.Wordings[0].Priority != review.P3
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		switch {
		case a.Must && !b.Must:
			return -1
		case b.Must && !a.Must:
			return 1
		}
		return urgency(a.Wordings[0], b.Wordings[0])
	})
	return out
}

// groups are those of a result. One that was stored before results had them is joined as a run joins.
func groups(r review.RunResult) []review.Group {
	if r.Groups != nil {
		return r.Groups
	}
	var out []review.Group
	for _, g := range identity.Join(r.Findings) {
		out = append(out, review.Group{Findings: g, Counts: true})
	}
	return out
}

// urgency orders findings for people: priority, then place.
func urgency(a, b review.Finding) int {
	return cmp.Or(cmp.Compare(a.Priority.Rank(), b.Priority.Rank()), cmp.Compare(a.File, b.File),
		cmp.Compare(number(a.Line), number(b.Line)), cmp.Compare(a.Title, b.Title))
}

func number(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}
