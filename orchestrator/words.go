package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// onlyPeople reports whether no agent says any of these.
func onlyPeople(findings []review.Finding) bool {
	return !slices.ContainsFunc(findings, func(f review.Finding) bool { return f.Source.Type == "agent" })
}

// words name what people say of findings, as it stands now: by who began it and by those who may have it fixed. Thanks are no words, and
// what others say changes nothing. Nor does what the author of the pull request answers somebody, which that person judges ("done, please have a look").
func (s Snapshot) words(findings []review.Finding) (names []string) {
	for _, f := range findings {
		if f.Source.Type == "agent" {
			continue
		}
		said := []string{f.ID}
		for _, t := range s.Discussion.Threads {
			for _, c := range t.Comments {
				began := c.Author.Login == f.Source.Name
				answers := s.persons().Voice(c.Author.Login, c.Author.Bot).Author
				if "thread-"+t.ID == f.ID && (began || s.instructs(c.Author) && !answers) && !c.Minimized && !conversation.OnlyThanks(c.Body) {
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

// fixedThen is what people said that fixes are said to have done, as our newest report keeps it: names of words, the commit that the report is about, and that of
// the newest report before which does not have a name, which is the code that the fix found. Commits that no report tells are empty.
type fixedThen struct {
	names  []string
	at     string
	before map[string]string
}

func newestFixed(comments []review.Comment, ours func(review.Comment) bool) fixedThen {
	out := fixedThen{before: map[string]string{}}
	about := func(c review.Comment) string {
		return report.About(allParts(c, comments, ours))
	}
	c, _ := newestReport(comments, ours)
	m, _ := sanitize.ParseMarker(c.Body)
	out.names, out.at = m.Fixed, about(c)
	for _, name := range out.names {
		without, _ := newestReport(comments, func(c review.Comment) bool {
			m, _ := sanitize.ParseMarker(c.Body)
			return !slices.Contains(m.Fixed, name) && ours(c)
		})
		out.before[name] = about(without)
	}
	return out
}

// fixedStill leaves out what people said of lines that a fix changed, and that are at the head as the fix found them: somebody took it away, with force or by a
// commit. Of what is about no line of the head, and of commits that nobody has any more, nobody can tell.
func (l *Loop) fixedStill(ctx context.Context, snap Snapshot, then fixedThen) ([]string, error) {
	if len(then.names) == 0 || then.at == snap.Range.Head {
		return then.names, nil
	}
	var undone []string
	for _, f := range threads.Analyze(snap.Discussion, snap.PR.Number).PendingIssues {
		for _, name := range snap.words([]review.Finding{f}) {
			if f.Line == nil || !slices.Contains(then.names, name) {
				continue
			}
			fixed, err := l.changedNear(ctx, then.at, snap.Range.Head, f)
			if err != nil {
				return nil, err
			}
			if before, err := l.changedNear(ctx, then.before[name], snap.Range.Head, f); err != nil {
				return nil, err
			} else if fixed == besideChanged && before == besideSame {
				undone = append(undone, name)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(then.names), func(name string) bool { return slices.Contains(undone, name) }), nil
}

// beside is what became of the code beside the line of a finding.
type beside int

const (
	besideUnknown beside = iota
	besideSame
	besideChanged
)

// changedNear tells whether the code beside the line of a finding is another one at the head than at a commit.
func (l *Loop) changedNear(ctx context.Context, commit, head string, f review.Finding) (beside, error) {
	if commit == "" {
		return besideUnknown, nil
	}
	if have, err := l.History.Have(ctx, commit); err != nil || !have {
		return besideUnknown, err
	}
	d, err := l.History.Diff(ctx, commit, head)
	if err != nil {
		return besideUnknown, fmt.Errorf("what changed since commit %s: %w", commit, err)
	}
	near := func(r [2]int) bool { return r[0] <= *f.Line+unquoted && *f.Line-unquoted <= r[1] }
	if slices.ContainsFunc(changedIn(d, f.File), near) {
		return besideChanged, nil
	}
	return besideSame, nil
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
