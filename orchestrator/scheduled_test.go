package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// What the agent of a scheduled command found is checked as in a review: evidence, identity, bounds and secrets. What its own work changed is settled.
func TestWorkOfAScheduledCommandIsChecked(t *testing.T) {
	const before, after = "1111111111111111111111111111111111111111", "3333333333333333333333333333333333333333"
	history := filesAlone{all: files{
		before + ":a.md": "one\ntwo\nwidgets [flags] takes no flag\n", before + ":gone.md": "old words\n",
		after + ":a.md": "one\nzwei\nwidgets [flags] takes no flag\n",
	}}
	at := func(n int) *int { return &n }
	found := func(title string, p review.Priority, file, quote string, line *int) review.Finding {
		return review.Finding{ID: title, Title: title, Priority: p, Category: "command", File: file, Evidence: quote, Line: line, Description: "It is so."}
	}
	plan := AgentPlan{Name: "!docs", Role: review.RoleCommand, Kind: review.KindCommand, Command: &CommandPlan{ID: "docs", Floor: "medium", Findings: 5, Exclude: []string{"vendor/**"}}}
	work := func(tip string) review.JobWork {
		return review.JobWork{Tip: tip, Pull: &review.PullWish{Title: "Mend " + planted, Body: planted, Branch: "prloop/x"}, Answer: review.Answer{
			Receipt: review.AgentReceipt{Name: "liar", State: review.AgentComplete}, Log: planted,
			Command: &review.CommandAnswer{Summary: planted, Wishes: []review.Wish{{Kind: review.WishPush, Title: planted, Branch: planted}}, Findings: []review.Finding{
				found("off by a line", review.P1, "a.md", "widgets [flags] takes no flag", at(1)), found("made up", review.P0, "a.md", "four", nil), found("mended", review.P2, "a.md", "two", nil),
				found("deleted", review.P2, "gone.md", "old words", nil), found("small", review.P3, "a.md", "one", nil), found("elsewhere", review.P2, "vendor/x.md", "", nil), found("severe elsewhere", review.P1, "vendor/y.md", "", nil),
			}},
		}}
	}
	for _, row := range []struct {
		tip                    string
		stands, aside, settled []string
	}{
		{after, []string{"off by a line"}, []string{"made up", "severe elsewhere"}, []string{"mended", "deleted"}},
		{"", []string{"off by a line", "mended", "deleted"}, []string{"made up", "severe elsewhere"}, nil},
	} {
		l := &Loop{History: history, Briefer: &jobBrief{}, Secrets: []string{"correct-horse-battery-staple-93"}}
		if row.tip != "" {
			history.all[after+":gone.md"] = "other words\n"
		}
		got, err := l.CheckWork(t.Context(), Request{}, plan, review.JobOrder{Run: "r", Head: before, From: before}, work(row.tip), nil)
		if err != nil {
			t.Fatal(err)
		}
		titles := func(all []review.Finding) (out []string) {
			for _, f := range all {
				out = append(out, f.Title)
			}
			return out
		}
		var aside []string
		for _, u := range got.Unverified {
			if aside = append(aside, u.Finding.Title); u.Reason == "" {
				t.Errorf("%s is set aside without a reason", u.Finding.Title)
			}
		}
		if d := cmp.Diff(row.stands, titles(got.Answer.Command.Findings)) + cmp.Diff(row.aside, aside) + cmp.Diff(row.settled, titles(got.Settled)); d != "" {
			t.Errorf("tip %q: %s", row.tip, d)
		}
		f, r := got.Answer.Command.Findings[0], got.Answer.Receipt
		if f.Category != "docs" || f.Fingerprint == "" || f.Source.Name != "!docs" || *f.Line != 3 || r.Name != "!docs" || r.Findings != len(row.stands) {
			t.Errorf("tip %q: %+v\n%+v", row.tip, f, r)
		}
		for _, note := range []string{"findings/0: its line was 1, and its quote stands at 3", "1 finding left out: below the severity floor medium", "1 finding left out: about a file that is not one of the command's files"} {
			if !slices.Contains(r.Notes, note) {
				t.Errorf("tip %q: the receipt does not say %q: %q", row.tip, note, r.Notes)
			}
		}
		if text := cmp.Diff(nil, got); strings.Contains(text, planted) {
			t.Errorf("a secret is left:\n%s", text)
		}
	}
}

// A credential of prloop's own in an answer is an incident: nothing is left of the work.
func TestWorkThatHoldsACredential(t *testing.T) {
	const secret = "correct-horse-battery-staple-93"
	incidents := 0
	l := &Loop{History: filesAlone{all: files{}}, Secrets: []string{secret}, Incident: func(context.Context, string, string) error { incidents++; return nil }}
	plan := AgentPlan{Name: "!docs", Role: review.RoleCommand, Kind: review.KindBuiltin, Command: &CommandPlan{ID: "docs"}}
	got, err := l.CheckWork(t.Context(), Request{}, plan, review.JobOrder{}, review.JobWork{Tip: headSHA, Commits: []review.FixCommit{{SHA: headSHA}}, Pull: &review.PullWish{}, Answer: review.Answer{
		Command: &review.CommandAnswer{Notes: []string{secret}}, Receipt: review.AgentReceipt{State: review.AgentComplete},
	}}, nil)
	if err != nil || got.Tip != "" || got.Pull != nil || got.Commits != nil || got.Answer.Command != nil || got.Answer.Receipt.State != review.AgentFailed || incidents != 1 {
		t.Errorf("%+v, %d incidents, %v", got, incidents, err)
	}
}

// So is one in what it committed, also where a later commit takes it back.
func TestWorkThatCommitsACredential(t *testing.T) {
	const secret = "q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po"
	commits := []review.FixCommit{{SHA: sha(2)}, {SHA: sha(3)}}
	for what, c := range map[string]struct {
		diffs map[string]string
		held  bool
	}{
		"in its work":               {map[string]string{"1..3": strings.ReplaceAll(edited(10), "+new", "+"+secret)}, true},
		"in a file's name":          {map[string]string{"1..3": strings.ReplaceAll(edited(10), "a.go", secret+".go")}, true},
		"in a commit on the way":    {map[string]string{"1..2": strings.ReplaceAll(edited(10), "+new", "+"+secret)}, true},
		"in what stood there first": {map[string]string{"0..1": strings.ReplaceAll(edited(10), "+new", "+"+secret)}, false},
	} {
		s := newStage()
		maps.Copy(s.diffs, map[string]string{"1..2": edited(10), "2..3": edited(11), "1..3": edited(10)})
		maps.Copy(s.diffs, c.diffs)
		incidents := 0
		l := &Loop{History: s, Briefer: &jobBrief{}, Secrets: []string{secret}, Incident: func(context.Context, string, string) error { incidents++; return nil }}
		plan := AgentPlan{Name: "!docs", Role: review.RoleCommand, Kind: review.KindCommand, Command: &CommandPlan{ID: "docs"}}
		got, err := l.CheckWork(t.Context(), Request{}, plan, review.JobOrder{Head: sha(1), From: sha(1)}, review.JobWork{Tip: sha(3), Commits: commits, Pull: &review.PullWish{}, Answer: review.Answer{
			Command: &review.CommandAnswer{}, Receipt: review.AgentReceipt{State: review.AgentComplete},
		}}, nil)
		if err != nil || (got.Tip == "") != c.held || (got.Pull == nil) != c.held || (incidents == 1) != c.held {
			t.Errorf("%s: %+v, %d incidents, %v", what, got, incidents, err)
		}
		if r := got.Answer.Receipt; c.held && (r.State != review.AgentFailed || !strings.HasPrefix(r.Reason, "known-secret: its commits held")) {
			t.Errorf("%s: %+v", what, r)
		}
	}
}

// So is one in the message of a commit, which fails the agent alone; what else ends the asking ends the job.
func TestWorkWhoseMessageHoldsACredential(t *testing.T) {
	incidents := 0
	l := &Loop{Incident: func(context.Context, string, string) error { incidents++; return nil }}
	w := review.JobWork{Answer: review.Answer{Command: &review.CommandAnswer{}, Receipt: review.AgentReceipt{State: review.AgentComplete}}}
	got, err := l.CheckWork(t.Context(), Request{}, AgentPlan{Name: "docs"}, review.JobOrder{}, w, fmt.Errorf("commit messages of docs: %w", sanitize.ErrKnownSecret))
	if r := got.Answer.Receipt; err != nil || incidents != 1 || got.Answer.Command != nil || r.State != review.AgentFailed || !strings.HasPrefix(r.Reason, "known-secret: its commit messages held") {
		t.Errorf("%+v, %d incidents, %v", got, incidents, err)
	}
	if _, err := l.CheckWork(t.Context(), Request{}, AgentPlan{Name: "docs"}, review.JobOrder{}, w, errOutage); !errors.Is(err, errOutage) {
		t.Errorf("it ends with %v", err)
	}
}

func (filesAlone) Diff(context.Context, string, string) (*diff.Diff, error) { return diff.Parse("") }

// jobBrief is the brief of what a job would push, and what it was asked about.
type jobBrief struct {
	files []review.BriefFile
	about Range
}

func (b *jobBrief) Brief(_ context.Context, r Range, _ ContextOptions, _ review.Limits) (review.Brief, error) {
	b.about = r
	return review.Brief{Files: b.files}, nil
}

// A job pushes nothing that the review of its pull request leaves out (threats.md T345). What it does not read for another reason keeps that review from approving.
func TestWorkThatNoReviewReads(t *testing.T) {
	plan := AgentPlan{Name: "!docs", Role: review.RoleCommand, Kind: review.KindCommand, Command: &CommandPlan{ID: "docs"}}
	for _, row := range []struct {
		file review.BriefFile
		rule string
	}{
		{review.BriefFile{Path: "vendor/x/a.go", Omitted: "vendored", Excused: true}, pushpolicy.RuleUnread},
		{review.BriefFile{Path: "large.go", Omitted: "too large"}, ""},
		{changed("b.go"), ""},
	} {
		b := &jobBrief{files: []review.BriefFile{changed("a.go"), row.file}}
		l := &Loop{History: filesAlone{all: files{}}, Briefer: b}
		got, err := l.CheckWork(t.Context(), Request{}, plan, review.JobOrder{Head: sha(1), From: sha(2)}, review.JobWork{Tip: sha(3), Answer: review.Answer{
			Command: &review.CommandAnswer{}, Receipt: review.AgentReceipt{State: review.AgentComplete},
		}}, nil)
		if err != nil || (row.rule != "") != (got.Tip == "") || row.rule != "" && (len(got.Refusals) != 1 || got.Refusals[0].Rule != row.rule || got.Refusals[0].Path != row.file.Path) {
			t.Errorf("%s: %+v, %v", row.file.Path, got, err)
		}
		if want := (Range{Base: sha(1), MergeBase: sha(1), Head: sha(3)}); !b.about.Same(want) {
			t.Errorf("what is looked at is %+v, want %+v", b.about, want)
		}
	}
}

// overwriting is a history in which some commit takes a value out, and writes the mask elsewhere.
type overwriting struct{ filesAlone }

func (overwriting) Diff(context.Context, string, string) (*diff.Diff, error) {
	return diff.Parse("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +0,0 @@\n-k = \"" + planted + "\"\n" +
		"diff --git a/b.go b/b.go\n--- a/b.go\n+++ b/b.go\n@@ -0,0 +1 @@\n+k = \"[REDACTED]\"\n")
}

// A job writes no mask in the place of a value, as a fix does not (threats.md T792).
func TestWorkThatWritesMasks(t *testing.T) {
	plan := AgentPlan{Name: "!docs", Role: review.RoleCommand, Kind: review.KindCommand, Command: &CommandPlan{ID: "docs"}}
	l := &Loop{History: overwriting{filesAlone{all: files{}}}, Briefer: &jobBrief{}}
	got, err := l.CheckWork(t.Context(), Request{}, plan, review.JobOrder{Head: sha(1), From: sha(2)}, review.JobWork{Tip: sha(3), Answer: review.Answer{
		Command: &review.CommandAnswer{}, Receipt: review.AgentReceipt{State: review.AgentComplete},
	}}, nil)
	if err != nil || got.Tip != "" || len(got.Refusals) != 1 || got.Refusals[0].Rule != ruleMasked || got.Refusals[0].Path != "b.go" {
		t.Errorf("%+v, %v", got, err)
	}
}
