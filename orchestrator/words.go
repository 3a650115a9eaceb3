package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// onlyPeople reports whether no agent says any of these.
func onlyPeople(findings []review.Finding) bool {
	return !slices.ContainsFunc(findings, func(f review.Finding) bool { return f.Source.Type == "agent" })
}

// words name what people say of findings, as it stands now: by who began it and by those who may have it fixed. Thanks are no words, and
// what others say changes nothing.
func (s Snapshot) words(findings []review.Finding) (names []string) {
	for _, f := range findings {
		if f.Source.Type == "agent" {
			continue
		}
		said := []string{f.ID}
		for _, t := range s.Discussion.Threads {
			for _, c := range t.Comments {
				began := c.Author.Login == f.Source.Name
				if "thread-"+t.ID == f.ID && (began || s.instructs(c.Author)) && !c.Minimized && !conversation.OnlyThanks(c.Body) {
					said = append(said, fmt.Sprintf("%d %s", c.DatabaseID, strings.TrimSpace(c.Body)))
				}
			}
		}
		for _, r := range s.Discussion.Reviews {
			if "review-"+r.ID == f.ID {
				said = append(said, strings.TrimSpace(r.Body))
			}
		}
		names = append(names, sanitize.SaidThen(strings.Join(said, "\x00")))
	}
	return names
}

// unsaid reports whether some words are neither among those of before a fix nor among what an earlier run fixed.
func (s Snapshot) unsaid(words, before []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(before, w) && !slices.Contains(s.Fixed, w) })
}

// newestFixed is what people said that fixes are said to have done, as our newest report keeps it.
func newestFixed(comments []review.Comment, ours func(review.Comment) bool) []string {
	c, _ := newestReport(comments, ours)
	m, _ := sanitize.ParseMarker(c.Body)
	return m.Fixed
}

// fixedSaid is what the next run has to know of what people said that fixes are said to have done. A review that converged leaves nothing open.
func (d verdict) fixedSaid() []string {
	if d.outcome == review.Converged {
		return nil
	}
	return fixedWords(d.tracked, d.in.Snapshot.Fixed)
}

// fixedWords are what people said of findings that are said to be fixed, and what was known before, as much as a marker keeps.
func fixedWords(tracked []Tracked, before []string) (names []string) {
	for _, t := range tracked {
		if t.FixedIn > 0 && !t.Stuck {
			names = append(names, t.Words...)
		}
	}
	for _, w := range before {
		if !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	return names[:min(len(names), sanitize.MostRaised)]
}
