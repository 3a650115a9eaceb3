package app

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// What is grave is known by its own quote alone, so each grave wording has a line, also where another one names the finding (threats.md T910).
func TestEachGraveWordingHasALine(t *testing.T) {
	first := review.Finding{Priority: review.P0, Category: "bug", File: "a.go", Title: "Close error is ignored", Source: review.Source{Type: "agent", Name: "one"}}
	second := first
	second.Evidence, second.Source.Name = "defer resp.Body.Close()", "two"
	f := distinct.Finding{Wordings: []review.Finding{first, second}}
	f.ID = identity.ID(f.Wordings)
	all := marks(f)
	of := dismissals.Case{Wordings: f.Wordings}
	for _, w := range f.Wordings {
		if !slices.ContainsFunc(all, func(m identity.Mark) bool { return of.Takes(m, w) }) {
			t.Errorf("no line of %v is for what %s says", all, w.Source.Name)
		}
	}
	f.Wordings[0].Priority, f.Wordings[1].Priority = review.P2, review.P2
	if all := marks(f); len(all) != 1 || all[0].ID != f.ID {
		t.Errorf("a small one is known by its words: %v", all)
	}
}
