package orchestrator

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// round is a complete review by two reviewers and the comments analyzer of a one-file pull request; rows of the tables
// below change one thing about it.
func round() Inputs {
	req := Request{
		Run: "20260124T000000.000Z_0123456789abcdef", ReviewID: "0123456789abcdef", Started: time.Date(2026, 1, 24, 0, 0, 0, 0, time.UTC),
		Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "o", Name: "r"}, PR: 7}, Head: headSHA,
		Agents: []AgentPlan{
			{Name: "alpha", Role: review.RoleReviewer, Kind: "command"},
			{Name: "beta", Role: review.RoleReviewer, Kind: "command"},
			{Name: "comments-analyzer", Role: review.RoleCommentsAnalyzer, Kind: "static"},
		},
	}
	return Inputs{
		Request: req, Round: 1,
		Snapshot: Snapshot{
			PR:    review.PullRequest{Repo: req.Target.Repo, Number: 7, HeadSHA: headSHA, URL: "https://github.com/o/r/pull/7", ChangedFiles: 1},
			Range: Range{Base: baseSHA, MergeBase: baseSHA, Head: headSHA},
			Brief: review.Brief{Status: "ok", Files: []review.BriefFile{changed("a.go")}},
		},
		Reports: []AgentReport{answered("alpha"), answered("beta"), {Answer: review.Answer{
			Receipt: review.AgentReceipt{Name: "comments-analyzer", Role: review.RoleCommentsAnalyzer, Kind: "static", State: review.AgentComplete},
		}}},
	}
}

const (
	headSHA = "1111111111111111111111111111111111111111"
	baseSHA = "2222222222222222222222222222222222222222"
)

// changed is a file with one changed line, given whole.
func changed(path string) review.BriefFile {
	return review.BriefFile{
		Path: path, Change: "modified", Additions: 1, Deletions: 1, Hunks: 1, HunksGiven: 1,
		Diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -3 +3 @@\n-old\n+new\n",
	}
}

func answered(name string, findings ...review.Finding) AgentReport {
	h := AgentReport{Answer: review.Answer{
		Reviewer: &review.ReviewerResult{Agent: name, PRNumber: 7, Conclusion: review.Approve, Findings: findings},
		Receipt:  review.AgentReceipt{Name: name, Role: review.RoleReviewer, Kind: "command", State: review.AgentComplete},
	}}
	for range findings {
		h.Evidence = append(h.Evidence, evidence.Result{Status: evidence.None})
	}
	return h
}

func found(p review.Priority, title string) review.Finding {
	line := 3
	return review.Finding{ID: "X-1", Priority: p, Category: "bug", File: "a.go", Line: &line, Title: title, Description: title + " in detail"}
}

func failed(name string) AgentReport {
	return AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{
		Name: name, Role: review.RoleReviewer, Kind: "command", State: review.AgentFailed, Reason: "timeout after 60 s",
	}}}
}

// byRules makes the static reviewer the only one.
func byRules(in *Inputs, findings ...review.Finding) {
	in.Request.Agents = in.Request.Agents[:1]
	in.Request.Agents[0].Kind = review.KindStatic
	in.Reports = []AgentReport{answered("alpha", findings...)}
	in.Reports[0].Answer.Receipt.Kind = review.KindStatic
	for i := range in.Reports[0].Answer.Reviewer.Findings {
		in.Reports[0].Answer.Reviewer.Findings[i].Source = review.Source{Type: "agent", Name: "alpha"}
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*Inputs)
		want   review.Outcome
		says   review.Conclusion // "" when no verdict may be shown
	}{
		{"a complete review without findings converges (loop termination)", func(*Inputs) {}, review.Converged, review.Approve},
		{"a P3 alone approves (spec.md A6 rule 4)", func(in *Inputs) { in.Reports[0] = answered("alpha", found(review.P3, "nit")) }, review.Converged, review.Approve},
		{"a P2 asks for changes (spec.md A6 rule 3)", func(in *Inputs) { in.Reports[0] = answered("alpha", found(review.P2, "slow")) }, review.ChangesRequested, review.RequestChanges},
		{"a P0 needs major work (spec.md A6 rule 1)", func(in *Inputs) { in.Reports[1] = answered("beta", found(review.P0, "leak")) }, review.ChangesRequested, review.NeedsMajorWork},
		{"an empty diff was not reviewed", func(in *Inputs) { in.Snapshot.Brief.Files = nil; in.Reports = nil }, review.NotReviewed, ""},
		{"only left out files: not reviewed", func(in *Inputs) {
			in.Snapshot.Brief.Files = []review.BriefFile{{Path: "go.sum", Hunks: 1, Omitted: "lock file"}}
			in.Reports = nil
		}, review.NotReviewed, ""},
		{"all reviewers failed: not reviewed", func(in *Inputs) { in.Reports[0], in.Reports[1] = failed("alpha"), failed("beta") }, review.NotReviewed, ""},
		{"one of two failed is no majority: partial, and no approval is shown", func(in *Inputs) { in.Reports[0] = failed("alpha") }, review.Partial, ""},
		{"one of two is enough when min_reviewers says so", func(in *Inputs) { in.Reports[0] = failed("alpha"); in.Request.MinReviewers = 1 }, review.Converged, review.Approve},
		{"a number that cannot be reached is not lowered", func(in *Inputs) { in.Request.MinReviewers = 3 }, review.Partial, ""},
		{"static does not stand in for the reviewer that failed", func(in *Inputs) {
			in.Reports[0], in.Request.Agents[1].Kind, in.Reports[1].Answer.Receipt.Kind = failed("alpha"), review.KindStatic, review.KindStatic
		}, review.NotReviewed, ""},
		{"one reviewer beside static is enough by itself", func(in *Inputs) {
			in.Request.Agents[1].Kind, in.Reports[1].Answer.Receipt.Kind = review.KindStatic, review.KindStatic
		}, review.Converged, review.Approve},
		{"what a limit kept back may be as grave as the last that was told (threats.md T489)", func(in *Inputs) { in.Reports[0].Answer.Reviewer.Omitted = 2 }, review.Partial, ""},
		{"behind a P3 there is nothing graver", func(in *Inputs) {
			in.Reports[0] = answered("alpha", found(review.P3, "nit"))
			in.Reports[0].Answer.Reviewer.Omitted = 2
		}, review.Converged, review.Approve},
		{"secrets have a limit of their own", func(in *Inputs) {
			byRules(in, found(review.P3, "nit"))
			said := in.Reports[0].Answer.Reviewer
			said.Omitted = 1
			for range review.MostSecrets {
				said.Findings = append(said.Findings, review.Finding{ID: secretRule + "X", Priority: review.P3, File: "a.go", Title: "nit"})
				in.Reports[0].Evidence = append(in.Reports[0].Evidence, evidence.Result{})
			}
		}, review.Partial, ""},
		{"and so have other grave findings (threats.md T505)", func(in *Inputs) {
			byRules(in, found(review.P3, "nit"))
			said := in.Reports[0].Answer.Reviewer
			said.Omitted = 1
			for range review.MostGrave {
				said.Findings = append(said.Findings, review.Finding{ID: "STATIC-HIDDEN-TEXT-X", Priority: review.P3, Category: review.CategorySecurity, File: "a.go", Title: "nit"})
				in.Reports[0].Evidence = append(in.Reports[0].Evidence, evidence.Result{})
			}
		}, review.Partial, ""},
		{"a partial review may ask for changes", func(in *Inputs) {
			in.Reports[0] = failed("alpha")
			in.Reports[1] = answered("beta", found(review.P1, "crash"))
		}, review.Partial, review.RequestChanges},
		{"a degraded answer does not count towards min_reviewers", func(in *Inputs) {
			in.Reports[0].Answer.Receipt.State = review.AgentDegraded
		}, review.Partial, ""},
		{"findings of a degraded answer count all the same", func(in *Inputs) {
			in.Reports[0] = answered("alpha", found(review.P1, "crash"))
			in.Reports[0].Answer.Receipt.State = review.AgentDegraded
			in.Request.MinReviewers = 1
		}, review.ChangesRequested, review.RequestChanges},
		{"reviewers stopped by a budget: budget", func(in *Inputs) {
			in.Reports[0], in.Reports[1] = failed("alpha"), failed("beta")
			in.Reports[0].Answer.Receipt.OutOf = "wall time"
		}, review.Budget, ""},
		{"a change that was cut is not approved (decision 15)", func(in *Inputs) { in.Snapshot.Brief.Status = "truncated" }, review.Partial, ""},
		{"a discussion that was not read whole is not approved (decision 15)", func(in *Inputs) { in.Snapshot.Discussion.Truncated = true }, review.Partial, ""},
		{"an unresolved thread blocks convergence (loop termination)", func(in *Inputs) {
			in.Snapshot.Discussion.Threads = []review.Thread{{ID: "T1", File: "a.go", Comments: []review.Comment{{Body: "nit: name", Author: review.Person{Login: "ann"}}}}}
		}, review.ChangesRequested, ""},
		{"a member's CHANGES_REQUESTED beats everything (spec.md A6 rule 0)", func(in *Inputs) {
			in.Snapshot.Discussion.Reviews = []review.Review{{ID: "R1", State: "CHANGES_REQUESTED", Author: review.Person{Login: "ann", Association: "MEMBER"}}}
			in.Reports[0] = answered("alpha", found(review.P0, "leak"))
		}, review.ChangesRequested, review.RequestChanges},
		{"no analyzer can argue rule 0 away (decision 16)", func(in *Inputs) {
			in.Snapshot.Discussion.Reviews = []review.Review{{ID: "R1", State: "CHANGES_REQUESTED", Author: review.Person{Login: "ann", Association: "OWNER"}}}
			in.Reports[2].Answer.Comments = &review.CommentsResult{Agent: "comments-analyzer", PRNumber: 7}
		}, review.ChangesRequested, review.RequestChanges},
		{"a finding with false evidence is set apart and not counted", func(in *Inputs) {
			in.Reports[0] = answered("alpha", found(review.P0, "made up"))
			in.Reports[0].Evidence[0] = evidence.Result{Status: evidence.False, Reason: "quotes code that is not there"}
		}, review.SetAside, ""},
		{"nor does a P1 that its reviewer did not confirm (decision 32)", func(in *Inputs) {
			f := found(review.P1, "crash")
			f.Unconfirmed = "was not confirmed by gpt-4.1"
			in.Reports[0] = answered("alpha", f)
		}, review.SetAside, ""},
		{"nor what could not be read of a reviewer that the quorum does not need", func(in *Inputs) {
			in.Request.MinReviewers = 1
			in.Reports[0] = answered("alpha", unreadAnswer())
			in.Reports[0].Answer.Receipt.State = review.AgentDegraded
		}, review.SetAside, ""},
		{"nor what could not be read of the comments analyzer", func(in *Inputs) {
			in.Reports[2].Answer.Comments = &review.CommentsResult{Agent: "comments-analyzer", PRNumber: 7, PendingIssues: []review.Finding{unreadAnswer()}}
		}, review.SetAside, ""},
		{"what could not be read of the static reviewer is no fault of prloop's", func(in *Inputs) {
			in.Request.MinReviewers = 1
			in.Reports[0] = answered("alpha", unreadAnswer())
			in.Reports[0].Answer.Receipt.Kind = review.KindStatic
			in.Reports[0].Evidence[0] = evidence.Result{Status: evidence.False, Reason: "has no evidence"}
		}, review.SetAside, ""},
		{"a P2 that is set aside is listed and no more", func(in *Inputs) {
			in.Reports[0] = answered("alpha", found(review.P2, "made up"))
			in.Reports[0].Evidence[0] = evidence.Result{Status: evidence.False, Reason: "quotes code that is not there"}
		}, review.Converged, review.Approve},
		{"what counts is more urgent than what is set aside", func(in *Inputs) {
			in.Reports[0] = answered("alpha", found(review.P0, "made up"), found(review.P2, "slow"))
			in.Reports[0].Evidence[0] = evidence.Result{Status: evidence.False, Reason: "quotes code that is not there"}
		}, review.ChangesRequested, review.RequestChanges},
		{"a finding of the static reviewer is never set aside", func(in *Inputs) {
			in.Reports[0] = answered("alpha", found(review.P3, "hidden"))
			in.Reports[0].Answer.Receipt.Kind = review.KindStatic
			in.Reports[0].Evidence[0] = evidence.Result{Status: evidence.False, Reason: "quotes code that is not there"}
		}, review.Failed, ""},
		{"rules alone do not approve", func(in *Inputs) { byRules(in) }, review.StaticOnly, ""},
		{"nor do they by finding suggestions", func(in *Inputs) { byRules(in, found(review.P3, "marker")) }, review.StaticOnly, ""},
		{"what they find asks for changes", func(in *Inputs) { byRules(in, found(review.P1, "secret")) }, review.StaticOnly, review.RequestChanges},
		{"what people ask for is asked for, whoever reviewed", func(in *Inputs) {
			byRules(in)
			in.Snapshot.Discussion.Threads = []review.Thread{{ID: "T1", File: "a.go", Comments: []review.Comment{{Body: "nit: name", Author: review.Person{Login: "ann"}}}}}
		}, review.ChangesRequested, ""},
		{"the static reviewer's answer is none of those that are needed", func(in *Inputs) {
			in.Request.Agents[0].Kind, in.Reports[0].Answer.Receipt.Kind = review.KindStatic, review.KindStatic
			in.Reports[1] = failed("beta")
		}, review.NotReviewed, ""},
		{"but without it there is no approval", func(in *Inputs) {
			in.Request.Agents[0].Kind, in.Reports[0] = review.KindStatic, failed("alpha")
			in.Reports[0].Answer.Receipt.Kind = review.KindStatic
		}, review.Partial, ""},
		{"more answers than there are reviewers cannot be had", func(in *Inputs) { in.Request.MinReviewers = 3 }, review.Partial, ""},
		{"a file that is too large was not read (decision 30)", func(in *Inputs) {
			in.Snapshot.Brief.Files = append(in.Snapshot.Brief.Files, review.BriefFile{Path: "big.py", Change: "added", Omitted: "too large"})
		}, review.Partial, ""},
		{"one that a rule leaves out may go unread", func(in *Inputs) {
			in.Snapshot.Brief.Files = append(in.Snapshot.Brief.Files, review.BriefFile{Path: "go.sum", Change: "modified", Omitted: "lock file", Excused: true})
		}, review.Converged, review.Approve},
		{"a file whose hunks were cut was not read", func(in *Inputs) {
			f := changed("b.go")
			f.Hunks, f.Additions = 2, 3
			in.Snapshot.Brief.Files = append(in.Snapshot.Brief.Files, f)
		}, review.Partial, ""},
		{"nor one that lost a line on its way", func(in *Inputs) {
			f := changed("b.go")
			f.Additions = 2
			in.Snapshot.Brief.Files = append(in.Snapshot.Brief.Files, f)
		}, review.Partial, ""},
		{"nor one with a line that is masked and no secret", func(in *Inputs) {
			f := changed("b.go")
			f.Diff = strings.Replace(f.Diff, "+new", "+"+sanitize.Redacted+"(q)", 1)
			in.Snapshot.Brief.Files, in.Snapshot.Opaque = append(in.Snapshot.Brief.Files, f), []masks.Added{{Line: masks.Line{File: "b.go", Line: 3}}}
		}, review.Partial, ""},
		{"unless the operator lets models see what was masked", func(in *Inputs) {
			f := changed("b.go")
			f.Diff = strings.Replace(f.Diff, "+new", "+"+sanitize.Redacted+"(q)", 1)
			in.Snapshot.Brief.Files, in.Snapshot.Opaque, in.Request.Secrets = append(in.Snapshot.Brief.Files, f), []masks.Added{{Line: masks.Line{File: "b.go", Line: 3}}}, ShowSecrets
		}, review.Converged, review.Approve},
		{"a P0 of an earlier round is not settled by the silence of others", func(in *Inputs) {
			f := found(review.P0, "leak")
			f.Source = review.Source{Type: "agent", Name: "alpha"}
			in.Round, in.Earlier, in.Request.MinReviewers = 2, []Tracked{{Findings: []review.Finding{f}, Round: 1}}, 1
			in.Reports[0] = failed("alpha")
		}, review.Partial, ""},
		{"it is once its finder does not raise it again", func(in *Inputs) {
			f := found(review.P0, "leak")
			f.Source = review.Source{Type: "agent", Name: "alpha"}
			in.Round, in.Earlier = 2, []Tracked{{Findings: []review.Finding{f}, Round: 1}}
		}, review.Converged, review.Approve},
		{"nor one that too few reviewers were given", func(in *Inputs) {
			in.Reports[0].Missed = []string{"a.go"}
		}, review.Partial, ""},
		{"a rename has no lines to read", func(in *Inputs) {
			in.Snapshot.Brief.Files = append(in.Snapshot.Brief.Files, review.BriefFile{Path: "new", OldPath: "old", Change: "renamed",
				Diff: "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n"})
		}, review.Converged, review.Approve},
	} {
		t.Run(c.what, func(t *testing.T) {
			in := round()
			c.change(&in)
			got := Judge(in)
			if got.Result.Outcome != c.want {
				t.Errorf("outcome %s (%s), want %s", got.Result.Outcome, got.Result.Reason, c.want)
			}
			if c.want != review.Converged && got.Result.ExitStatus() == 0 {
				t.Error("exit status 0 without convergence")
			}
			switch word := got.Result.Consensus; {
			case c.says == "" && word != nil && *word == string(review.Approve) && c.want != review.ChangesRequested:
				t.Errorf("shows the verdict %s", *word)
			case c.says != "" && (word == nil || *word != string(c.says)):
				t.Errorf("shows the verdict %v, want %s", word, c.says)
			}
			if !strings.Contains(got.Report, in.Request.ReviewID) {
				t.Error("the report has no receipt")
			}
		})
	}
}

func TestReportDoesNotDependOnOrder(t *testing.T) {
	in := round()
	in.Reports = []AgentReport{
		answered("alpha", found(review.P1, "the map is written by two goroutines"), found(review.P3, "long function")),
		answered("beta", found(review.P1, "two goroutines write the map"), found(review.P2, "error of Close is lost")),
		answered("gamma", found(review.P0, "token in source")),
		failed("delta"), in.Reports[2],
	}
	want := Judge(in)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		shuffled := in
		shuffled.Reports = append([]AgentReport{}, in.Reports...)
		r.Shuffle(len(shuffled.Reports), func(i, j int) {
			shuffled.Reports[i], shuffled.Reports[j] = shuffled.Reports[j], shuffled.Reports[i]
		})
		got := Judge(shuffled)
		if diff := cmp.Diff(want.Report, got.Report); diff != "" {
			t.Fatalf("another order gave another report:\n%s", diff)
		}
		if diff := cmp.Diff(want.Result, got.Result); diff != "" {
			t.Fatalf("another order gave another result:\n%s", diff)
		}
	}
}

func TestReplayFromStoredInputsGivesTheSameBytes(t *testing.T) {
	in := round()
	in.Reports[0] = answered("alpha", found(review.P1, "crash"))
	first := Judge(in)
	data, err := json.Marshal(first.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	var stored Inputs
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Report, Judge(stored).Report); diff != "" {
		t.Errorf("replay differs:\n%s", diff)
	}
}

func TestReviewID(t *testing.T) {
	target := review.Target{Repo: review.Repo{Owner: "o", Name: "r"}, PR: 7}
	plans := []AgentPlan{{Name: "a", Kind: "builtin", Model: "m"}, {Name: "b", Kind: "static"}}
	swapped := []AgentPlan{plans[1], plans[0]}
	base := ReviewID(target, headSHA, "v1", plans, review.DefaultLimits())
	if len(base) != 16 {
		t.Errorf("%q is not 16 hex digits", base)
	}
	if got := ReviewID(target, headSHA, "v1", swapped, review.DefaultLimits()); got != base {
		t.Error("the order of reviewers changes the id (decision 11: sorted)")
	}
	other := review.DefaultLimits()
	other.LLMCalls++
	for what, id := range map[string]string{
		"head":    ReviewID(target, baseSHA, "v1", plans, review.DefaultLimits()),
		"prompts": ReviewID(target, headSHA, "v2", plans, review.DefaultLimits()),
		"model":   ReviewID(target, headSHA, "v1", []AgentPlan{{Name: "a", Kind: "builtin", Model: "n"}, plans[1]}, review.DefaultLimits()),
		"budget":  ReviewID(target, headSHA, "v1", plans, other),
		"target":  ReviewID(review.Target{Repo: target.Repo, PR: 8}, headSHA, "v1", plans, review.DefaultLimits()),
	} {
		if id == base {
			t.Errorf("another %s gives the same id", what)
		}
	}
}

// unreadAnswer is what wire leaves of an answer that it could not read.
func unreadAnswer() review.Finding {
	kept, _ := answer.SalvageReviewer([]byte(`{"findings":[{"priority":"P0"`))
	return kept[0]
}
