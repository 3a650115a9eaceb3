package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// commandInputs is a command alone that found things at lines of a.go, whose hunk has the lines 1 to 20.
func commandInputs(kind review.CommentType, findings ...review.Finding) Inputs {
	in := inlineInputs()
	r := &in.Request
	r.Run, r.ReviewID, r.Alone = "20260124T000000.000Z_0123456789abcdef", "0123456789abcdef", true
	r.Agents = []AgentPlan{{Name: "!sec", Role: review.RoleCommand, Kind: review.KindBuiltin, Command: &CommandPlan{ID: "sec", Mode: review.SeparateComment, Type: kind, Counts: true}}}
	in.Snapshot.PR = review.PullRequest{Repo: r.Target.Repo, Number: 7, State: open, HeadSHA: headSHA}
	in.Snapshot.Range.Head = headSHA
	in.Reports = []AgentReport{{Evidence: make([]evidence.Result, len(findings)), Answer: review.Answer{
		Command: &review.CommandAnswer{Summary: "Look.", Findings: findings},
		Receipt: review.AgentReceipt{Name: "!sec", Role: review.RoleCommand, Kind: review.KindBuiltin, State: review.AgentComplete},
	}}}
	return in
}

// picky is GitHub that takes no comment on some lines.
type picky struct {
	*world
	refuses []int
	sent    [][]effects.LineComment
}

func (p *picky) Review(_ context.Context, _ review.PullRequest, _ string, body sanitize.Text, comments []effects.LineComment) (string, error) {
	for _, c := range comments {
		if slices.Contains(p.refuses, c.Line) {
			return "", misplaced{c.Line}
		}
	}
	p.sent = append(p.sent, comments)
	return fmt.Sprintf("https://github.com/o/r/pull/7#pullrequestreview-%d", len(p.sent)), nil
}

// misplaced is what the edge makes of it.
type misplaced struct{ line int }

func (m misplaced) Error() string { return fmt.Sprintf("line %d must be part of the diff", m.line) }
func (misplaced) Unwrap() error   { return effects.ErrMisplaced }
func (misplaced) Refused() bool   { return true }

func (p *picky) Reviews(context.Context, review.PullRequest) ([]review.Comment, error) {
	return nil, nil
}

// A line that GitHub does not take costs no other finding of a command its comment, and that one stands in the summary.
func TestARefusedLineCostsNoOtherComment(t *testing.T) {
	findings := []review.Finding{
		foundAt(review.P2, 2, "Two is bad"), foundAt(review.P2, 4, "Four is bad"), foundAt(review.P2, 6, "Six is bad"), foundAt(review.P2, 8, "Eight is bad"), foundAt(review.P2, 99, "Nowhere is bad"),
	}
	for _, c := range []struct {
		what    string
		kind    review.CommentType
		refuses []int
		// on are the lines with comments, in the summary stand these titles with their details; none is no summary.
		on []int
		in []string
	}{
		{"all are taken", review.BothComments, nil, []int{2, 4, 6, 8}, []string{"Nowhere is bad"}},
		{"all are taken, and the review says all", review.LineComments, nil, []int{2, 4, 6, 8}, nil},
		{"one is not", review.BothComments, []int{6}, []int{2, 4, 8}, []string{"Six is bad", "Nowhere is bad"}},
		{"one is not, and a summary is needed", review.LineComments, []int{2}, []int{4, 6, 8}, []string{"Two is bad", "Nowhere is bad"}},
		{"none is", review.BothComments, []int{2, 4, 6, 8}, nil, []string{"Two is bad", "Four is bad", "Six is bad", "Eight is bad", "Nowhere is bad"}},
	} {
		in := commandInputs(c.kind, findings...)
		w := &picky{world: &world{now: time.Unix(1_800_000_000, 0), head: headSHA}, refuses: c.refuses}
		l := w.loop()
		l.Reviewer = w
		urls, overtaken, err := l.publishCommand(t.Context(), inline{}, in, in.Reports[0])
		if err != nil || overtaken != "" {
			t.Fatalf("%s: %v, %q", c.what, err, overtaken)
		}
		var on []int
		for _, comments := range w.sent {
			for _, one := range comments {
				on = append(on, one.Line)
			}
		}
		if slices.Sort(on); !slices.Equal(on, c.on) {
			t.Errorf("%s: comments on %v, want %v", c.what, on, c.on)
		}
		want := len(w.sent)
		if c.in != nil {
			want++
		}
		if len(urls) != want || len(w.comments) != want-len(w.sent) {
			t.Errorf("%s: %d addresses and %d comments on the pull request", c.what, len(urls), len(w.comments))
			continue
		}
		for _, f := range findings {
			if c.in != nil && strings.Contains(w.comments[0].Body, "\n#### P2: "+f.Title) != slices.Contains(c.in, f.Title) {
				t.Errorf("%s: %q in the summary:\n%s", c.what, f.Title, w.comments[0].Body)
			}
		}
	}
}

// A command's comment may stand where one of a review may: on the lines of a range that the diff has, in files that GitHub has a name for.
func TestPlacesOfACommandAreThoseOfAReview(t *testing.T) {
	end := 30
	f := foundAt(review.P2, 18, "It goes on behind the hunk")
	f.LineEnd = &end
	in := commandInputs(review.BothComments, f)
	if got := in.placed(in.Reports[0]); len(got) != 1 || got[0].at.Start != 18 || got[0].at.Line != 20 {
		t.Errorf("%+v", got)
	}
	name := spelling.Name("\xff.go")
	in.Snapshot.Brief.Files[0].Path, in.Reports[0].Answer.Command.Findings[0].File = name, name
	if got := in.placed(in.Reports[0]); len(got) != 0 {
		t.Errorf("a name that is no UTF-8: %+v", got)
	}
}

// What people dismissed is dismissed for a command as well, whether it runs alone, feeds a report or speaks for itself: it is listed, and not said again.
func TestDismissalsHoldForCommands(t *testing.T) {
	small, grave := foundAt(review.P2, 4, "Count is slow"), foundAt(review.P1, 9, "Password leaks into the log")
	for _, f := range []*review.Finding{&small, &grave} {
		f.Category, f.Source = "sec", review.Source{Type: "agent", Name: "!sec"}
	}
	line := func(f review.Finding, commit string) dismissals.Dismissal {
		d := dismissals.Dismissal{File: dismissals.Name, Line: 1, By: "mona", Why: "so", Commit: commit,
			Mark: &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: f.Category, File: f.File, Title: f.Title}}
		if f.Priority.Severe() {
			d.Priority = f.Priority
		}
		return d
	}
	in := commandInputs(review.IssueComment, small, grave)
	in.Snapshot.Dismissals = &Dismissals{Today: "2026-11-22", List: []dismissals.Dismissal{line(small, ""), line(grave, "c1")}}
	j := Judge(in)
	if r := j.Result; r.Outcome != review.ChangesRequested || len(r.Findings) != 1 || len(r.Dismissed) != 1 || len(r.DismissalNotes) != 1 || r.Dismissed[0].Finding.Title != small.Title {
		t.Errorf("%s: %+v, dismissed %+v, %q", r.Outcome, r.Findings, r.Dismissed, r.DismissalNotes)
	}
	if strings.Contains(j.Report, "#### P2: Count is slow") || !strings.Contains(j.Report, "| P2 | Count is slow |") {
		t.Errorf("the comment says it, or does not list it:\n%s", j.Report)
	}
	in.Merged = map[string]string{"c1": "boss"}
	if r := Judge(in).Result; r.Outcome != review.Answered || len(r.Dismissed) != 2 {
		t.Errorf("somebody else merged it: %s, dismissed %+v", r.Outcome, r.Dismissed)
	}
	in.Merged = nil
	for _, counts := range []bool{true, false} {
		in.Request.Alone, in.Request.Agents[0].Command.Mode, in.Request.Agents[0].Command.Counts = false, review.FeedBoth, counts
		if g := (gathered{in: in}); g.sections(cleaner{})[0].Found != 1 {
			t.Errorf("a section with what is dismissed, counts %t", counts)
		}
		if own := in.commandReport(in.Reports[0], nil); strings.Contains(own, "#### P2: Count is slow") {
			t.Errorf("counts %t: its own comment says it:\n%s", counts, own)
		}
	}
}
