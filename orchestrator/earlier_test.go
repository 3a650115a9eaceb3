package orchestrator

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// there are comments that are listed.
func there(urls ...string) map[string]string {
	out := map[string]string{}
	for _, url := range urls {
		out[url] = ""
	}
	return out
}

// ended is an earlier run of round(), posted, whose every agent was complete.
func ended(t *testing.T) Stored {
	t.Helper()
	in := round()
	r := Judge(in).Result
	r.Run, r.Comments = "earlier", []string{"https://github.com/o/r/pull/7#issuecomment-1"}
	return Stored{Inputs: in, Result: r}
}

// What is listed are comments with our marker, collapsed or not, and nothing where the list may have an end too early.
func TestListed(t *testing.T) {
	marked := "<!-- pr-review-loop-marker -->\n"
	sticky, err := sanitize.Comment("A report.", sanitize.Marker{ReviewID: "4f1c", Run: "today", Round: 1, Nonce: "n", Key: []byte("key"), Sticky: true}, sanitize.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	d := review.Discussion{Comments: []review.Comment{{URL: "a", Body: marked}, {URL: "b", Body: "Thanks"}, {URL: "c", Body: marked, Minimized: true}, {URL: "d", Body: sticky[0].String()}}}
	if got, want := listed(d), map[string]string{"a": "", "c": "", "d": "today"}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := listed(review.Discussion{}); got == nil {
		t.Error("no comments are not unknown ones")
	}
	if d.Truncated = true; listed(d) != nil {
		t.Error("a list that was cut names what is there as if it were all")
	}
}

// Only the newest run whose reviewers answered about a commit stands for it (threats.md T331): a description that is edited there and back, or a reviewer who gives no
// answer, brings no older approval back.
func TestOnlyTheNewestAnswers(t *testing.T) {
	named := func(run string, change func(*Stored)) Stored {
		s := ended(t)
		s.Result.Run = run
		change(&s)
		return s
	}
	approved := named("approved", func(*Stored) {})
	for name, c := range map[string]struct {
		newest Stored
		want   string
	}{
		"another description":         {named("newest", func(s *Stored) { s.Inputs.Snapshot.PR.Body = "Another" }), ""},
		"an agent without its answer": {named("newest", func(s *Stored) { s.Inputs.Reports[0].Answer.Receipt.State = review.AgentFailed }), ""},
		"a partial run":               {named("newest", func(s *Stored) { s.Result.Outcome = review.Partial }), ""},
		"an earlier round was about it": {named("newest", func(s *Stored) {
			s.Inputs, s.Result.Receipt.HeadSHA = Inputs{}, sha(9)
			s.Result.Rounds = append(s.Result.Rounds, review.RoundResult{Round: 2, Head: sha(9)})
		}), ""},
		"it was about another commit": {named("newest", func(s *Stored) {
			s.Inputs, s.Result.Rounds, s.Result.Receipt.HeadSHA = Inputs{}, nil, sha(9)
		}), "approved"},
		"it failed before anybody answered": {named("newest", func(s *Stored) {
			s.Inputs, s.Result.Rounds, s.Result.Outcome, s.Result.Receipt.Agents = Inputs{}, nil, review.Failed, nil
		}), "approved"},
		"it was overtaken before anybody was asked": {named("newest", func(s *Stored) {
			s.Inputs, s.Result.Rounds, s.Result.Outcome, s.Result.Receipt.Agents = Inputs{}, nil, review.Superseded, nil
		}), "approved"},
		"it was overtaken when they had answered": {named("newest", func(s *Stored) { s.Inputs, s.Result.Rounds, s.Result.Outcome = Inputs{}, nil, review.Superseded }), ""},
		"it answers": {named("newest", func(*Stored) {}), "newest"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Loop{Emit: func(review.Event) {}, Now: time.Now}
			l.Stored = func(context.Context, Request) iter.Seq2[Stored, error] {
				return func(yield func(Stored, error) bool) { _ = yield(c.newest, nil) && yield(approved, nil) }
			}
			a, err := l.reuseEarlier(t.Context(), approved.Inputs.Request, approved.Inputs.Snapshot)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if a != nil {
				got = a.Run
			}
			if got != c.want {
				t.Errorf("the answers are those of %q, want %q", got, c.want)
			}
		})
	}
}

// Who has raised something grave on another commit since is asked again, also where that has no thread (threats.md T411).
func TestRaisedOnAnotherCommit(t *testing.T) {
	f := foundAt(review.P1, 3, subjects[0])
	f.Source = review.Source{Type: "agent", Name: "alpha"}
	by := []review.Voice{{Name: "alpha"}}
	found := func(f review.Finding) func(*review.RunResult, *Snapshot) {
		return func(r *review.RunResult, _ *Snapshot) {
			r.Findings, r.Groups = []review.Finding{f}, []review.Group{{Findings: []int{0}, ID: "f"}}
		}
	}
	changed := func(change func(*review.Finding)) review.Finding {
		g := f
		change(&g)
		return g
	}
	threaded := func(status conversation.Status, by string) func(*review.RunResult, *Snapshot) {
		return func(r *review.RunResult, n *Snapshot) {
			found(f)(r, n)
			t := n.raised("alpha", sha(9))
			t.Identity, t.Status, t.Closed, t.ClosedBy = "f", status, true, by
		}
	}
	for name, c := range map[string]struct {
		change func(*review.RunResult, *Snapshot)
		asked  bool
	}{
		"nothing":               {func(*review.RunResult, *Snapshot) {}, false},
		"a P1":                  {found(f), true},
		"a P2":                  {found(changed(func(f *review.Finding) { f.Priority = review.P2 })), false},
		"a P2 about security":   {found(changed(func(f *review.Finding) { f.Priority, f.Category = review.P2, "security" })), true},
		"a P1 of somebody else": {found(changed(func(f *review.Finding) { f.Source.Name = "gamma" })), false},
		"a P1 of a person":      {found(changed(func(f *review.Finding) { f.Source.Type = "comment" })), false},
		"a P1 that was set aside": {func(r *review.RunResult, _ *Snapshot) {
			r.Unverified = []review.Unverified{{Finding: f}}
		}, true},
		"a P1 of an earlier round": {func(r *review.RunResult, _ *Snapshot) {
			r.Round, r.Fates = 2, []review.FindingFate{{Fate: review.FateFixed, Priority: review.P1, First: 1, Last: 1, By: by}}
		}, true},
		"a P3 of an earlier round": {func(r *review.RunResult, _ *Snapshot) {
			r.Round, r.Fates = 2, []review.FindingFate{{Fate: review.FateFixed, Priority: review.P3, First: 1, Last: 1, By: by}}
		}, false},
		"a P1 whose thread who may resolved": {threaded(conversation.Pending, "boss"), false},
		"a P1 that has another identity since": {func(r *review.RunResult, n *Snapshot) {
			threaded(conversation.Pending, "boss")(r, n)
			n.Conversation.Threads[0].Identity, n.Conversation.Threads[0].Assessment.Finding, n.Conversation.Threads[0].Assessment.Assessment = "g", f.Title, f.Description
		}, false},
		"a P1 on other lines than one that was resolved": {func(r *review.RunResult, n *Snapshot) {
			threaded(conversation.Pending, "boss")(r, n)
			n.Conversation.Threads[0].Identity, n.Conversation.Threads[0].Assessment.Finding, n.Conversation.Threads[0].Line = "g", f.Title, 13
		}, true},
		"a P1 whose thread the author resolved": {threaded(conversation.Pending, "ada"), true},
		"a P1 that was cured there":             {threaded(conversation.Resolved, "prloop"), true},
		"it was overtaken, and something was found": {func(r *review.RunResult, _ *Snapshot) {
			r.Outcome, r.Review, r.Receipt.Agents = review.Superseded, nil, []review.AgentReceipt{{Name: "alpha", Role: review.RoleReviewer, Findings: 1}}
		}, true},
		"it was overtaken, and nothing was found": {func(r *review.RunResult, _ *Snapshot) {
			r.Outcome, r.Review, r.Receipt.Agents = review.Superseded, nil, []review.AgentReceipt{{Name: "alpha", Role: review.RoleReviewer}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, newer := ended(t), ended(t)
			newer.Inputs, newer.Result.Run, newer.Result.Receipt.HeadSHA, newer.Result.Rounds = Inputs{}, "newer", sha(9), nil
			newer.Result.Findings, newer.Result.Groups, newer.Result.Fates = nil, nil, nil
			snap := s.Inputs.Snapshot
			c.change(&newer.Result, &snap)
			s.Inputs.Snapshot.Conversation = snap.Conversation // its thread is known: that alone is no question here
			l := &Loop{Emit: func(review.Event) {}, Now: time.Now}
			l.Stored = func(context.Context, Request) iter.Seq2[Stored, error] {
				return func(yield func(Stored, error) bool) { _ = yield(newer, nil) && yield(s, nil) }
			}
			a, err := l.reuseEarlier(t.Context(), s.Inputs.Request, snap)
			if err != nil || (a == nil) != c.asked {
				t.Errorf("asked again: %v (%v)", a == nil, err)
			}
			s.Result.Outcome, s.Base = review.Converged, "main"
			s.Inputs.Request.BaseRef, newer.Base = "main", "dev"
			why, err := l.unapproved(t.Context(), s.Inputs.Request, snap)
			if err != nil || (why != "") != c.asked {
				t.Errorf("no scan passes it: %q (%v)", why, err)
			}
		})
	}
}

// The newest full review of a commit for the base branch of now decides whether a scan may pass it: approvals for another branch, or nobody knows for which, settle nothing (threats.md T780).
func TestUnapprovedForThisBase(t *testing.T) {
	type run struct {
		base    string
		outcome review.Outcome
	}
	for name, c := range map[string]struct {
		runs []run // the newest first
		want string
	}{
		"approved":                         {[]run{{"main", review.Converged}, {"main", review.ChangesRequested}}, ""},
		"approved there":                   {[]run{{"dev", review.Converged}, {"main", review.ChangesRequested}}, "run 1"},
		"approved somewhere":               {[]run{{"", review.Converged}, {"main", review.ChangesRequested}}, "run 1"},
		"approved there, and here before":  {[]run{{"dev", review.Converged}, {"main", review.Converged}, {"main", review.ChangesRequested}}, ""},
		"refused there, and approved here": {[]run{{"dev", review.ChangesRequested}, {"main", review.Converged}}, "run 0"},
		"refused there, and then approved": {[]run{{"dev", review.Converged}, {"dev", review.ChangesRequested}}, ""},
		"refused somewhere":                {[]run{{"", review.Converged}, {"", review.ChangesRequested}}, "run 1"},
	} {
		first := ended(t)
		first.Inputs.Request.BaseRef = "main"
		l := &Loop{Stored: func(context.Context, Request) iter.Seq2[Stored, error] {
			return func(yield func(Stored, error) bool) {
				for i, r := range c.runs {
					s := ended(t)
					s.Base, s.Result.Outcome, s.Result.Run = r.base, r.outcome, fmt.Sprint(i)
					s.Result.Findings, s.Result.Groups, s.Result.Fates, s.Result.Unverified = nil, nil, nil, nil
					if !yield(s, nil) {
						return
					}
				}
			}
		}}
		why, err := l.unapproved(t.Context(), first.Inputs.Request, first.Inputs.Snapshot)
		if err != nil || (why != "") != (c.want != "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, %v; want %q", name, why, err, c.want)
		}
	}
}

// No scan passes over a full review for this base branch that was cut short, whatever commit it was about, before another one comes to a verdict (threats.md T797).
func TestUnapprovedIsWhatWasCutShort(t *testing.T) {
	scan, full := []review.AgentReceipt{{Name: "scout", Role: review.RoleScout}}, []review.AgentReceipt{{Name: "alpha", Role: review.RoleReviewer}}
	run := func(base string, o review.Outcome, agents []review.AgentReceipt) Stored {
		return Stored{Base: base, Unfinished: o == "", Result: review.RunResult{Run: "earlier", Outcome: o, Receipt: review.Receipt{HeadSHA: sha(9), Agents: agents}}}
	}
	cut := run("main", review.Superseded, full)
	for name, c := range map[string]struct {
		runs []Stored // the newest first
		want bool
	}{
		"overtaken":                             {[]Stored{cut}, true},
		"not ended":                             {[]Stored{run("main", "", nil)}, true},
		"failed":                                {[]Stored{run("main", review.Failed, full)}, true},
		"nobody knows for which branch":         {[]Stored{run("", review.Superseded, full)}, true},
		"for another branch":                    {[]Stored{run("dev", review.Superseded, full)}, false},
		"only its scan was at work":             {[]Stored{run("main", review.Superseded, scan)}, false},
		"another one approved since":            {[]Stored{run("main", review.Converged, full), cut}, false},
		"another one asked for changes since":   {[]Stored{run("main", review.ChangesRequested, full), cut}, false},
		"one for another branch approved since": {[]Stored{run("dev", review.Converged, full), cut}, true},
		"a scan was overtaken since":            {[]Stored{run("main", review.Superseded, scan), cut}, true},
	} {
		first := ended(t)
		first.Inputs.Request.BaseRef = "main"
		l := &Loop{Stored: func(context.Context, Request) iter.Seq2[Stored, error] {
			return func(yield func(Stored, error) bool) {
				for _, s := range c.runs {
					if !yield(s, nil) {
						return
					}
				}
			}
		}}
		if why, err := l.unapproved(t.Context(), first.Inputs.Request, first.Inputs.Snapshot); err != nil || (why != "") != c.want {
			t.Errorf("%s: %q, %v; want %v", name, why, err, c.want)
		}
	}
}

// A run that another machine has on record, and not this one, has reported last: answers of before are not the last word.
func TestAReportOfAnotherRecord(t *testing.T) {
	own := review.Person{Login: "bot", ID: 1}
	said := func(run, body string, created time.Time, by review.Person) review.Comment {
		text, err := sanitize.Comment(body, sanitize.Marker{ReviewID: "4f1c", Run: run, Round: 1, Nonce: "n", Key: []byte("key")}, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{Author: by, Body: text[0].String(), CreatedAt: created}
	}
	at := time.Unix(1_800_000_000, 0)
	text, err := sanitize.Comment("x", sanitize.Marker{ReviewID: "4f1c", Run: "there", Round: 1, Nonce: "n", Key: []byte("key"), Sticky: true}, sanitize.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	edited := review.Comment{Author: own, Body: text[0].String(), CreatedAt: at.Add(-time.Hour), UpdatedAt: at.Add(time.Hour)}
	touched := said("there", "x", at.Add(-time.Hour), own)
	touched.UpdatedAt = at.Add(time.Hour)
	unread := said("there", "x", at.Add(-time.Hour), own)
	unread.Body, unread.UpdatedAt = strings.Replace(unread.Body, "prloop v1", "prloop v0", 1), at.Add(time.Hour)
	answer := func(run string) review.Comment {
		text, err := sanitize.Comment("Asked for by mona.", sanitize.Marker{Run: run, Nonce: "n", Asked: "12.1", Key: []byte("key")}, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{Author: own, Body: text[0].String(), CreatedAt: at.Add(time.Hour)}
	}
	for name, c := range map[string]struct {
		comments []review.Comment
		want     string
	}{
		"answers, which are no reports":             {[]review.Comment{answer("answer"), answer("stopped:" + strings.Repeat("a", 40))}, ""},
		"an older comment with a newer report":      {[]review.Comment{edited, said("here", "x", at, own)}, "run there,"},
		"an older report that was touched":          {[]review.Comment{touched, said("here", "x", at, own)}, ""},
		"nobody reported":                           {nil, ""},
		"a newer one, whatever its place":           {[]review.Comment{said("there", "x", at.Add(time.Hour), own), said("here", "x", at, own)}, "run there,"},
		"a newer one, whatever came after it":       {[]review.Comment{said("there", "x", at.Add(time.Hour), own), said("here", "x", at.Add(2*time.Hour), own)}, "run there,"},
		"one that stood before":                     {[]review.Comment{said("there", "x", at, own), said("here", "x", at.Add(time.Hour), own)}, ""},
		"also where somebody collapsed it":          {[]review.Comment{{Author: own, Body: said("there", "x", at, own).Body, CreatedAt: at.Add(time.Hour), Minimized: true}}, "run there,"},
		"also where somebody took its marker apart": {[]review.Comment{unread}, "somebody"},
		"not what somebody else posts":              {[]review.Comment{said("there", "x", at.Add(time.Hour), review.Person{Login: "mallory", ID: 2})}, ""},
	} {
		here := func(_ context.Context, run string) (bool, error) { return run == "here", nil }
		if got, err := Unrecorded(t.Context(), Reports(c.comments, own), at, here); err != nil || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
		}
	}
}

// raised gives the snapshot a thread about a P1 that a reviewer raised on some head.
func (s *Snapshot) raised(by, head string) *conversation.Thread {
	t := threadOf(foundAt(review.P1, 3, subjects[0]), 1)
	t.Head, t.RaisedBy = head, []string{by}
	s.People = &conversation.People{Author: "ada", Own: "prloop", Permissions: map[string]string{"boss": "admin"}}
	s.Conversation = &conversation.State{Threads: []conversation.Thread{t}}
	return &s.Conversation.Threads[0]
}

// An earlier run stands, or lends its answers, or why not is said (decision 43).
func TestAnswersOfAnEarlierRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Stored, req *Request, snap *Snapshot)
		why    string
		stands bool
	}{
		"nothing has changed":  {func(*Stored, *Request, *Snapshot) {}, "", true},
		"another run and time": {func(_ *Stored, r *Request, _ *Snapshot) { r.Run, r.ReviewID = "today", "other" }, "", true},
		"a comment that changes none": {func(_ *Stored, _ *Request, n *Snapshot) {
			n.Discussion.Comments = []review.Comment{{ID: "1", Body: "Thanks"}}
		}, "", true},
		"a dry run":                  {func(_ *Stored, r *Request, _ *Snapshot) { r.DryRun = true }, "", false},
		"after a dry run":            {func(s *Stored, _ *Request, _ *Snapshot) { s.Inputs.Request.DryRun = true }, "", false},
		"what was never posted":      {func(s *Stored, _ *Request, _ *Snapshot) { s.Result.Comments = nil }, "", false},
		"another fixer":              {func(_ *Stored, r *Request, _ *Snapshot) { r.FixOff = "off" }, "", false},
		"somebody pretends to be us": {func(_ *Stored, _ *Request, n *Snapshot) { n.Pretenders = []string{"mallory"} }, "", false},
		"a thread was opened": {func(_ *Stored, _ *Request, n *Snapshot) {
			n.Discussion.Threads = []review.Thread{{ID: "T", File: "a.go", Comments: []review.Comment{{ID: "2", Body: "No."}}}}
		}, "", false},
		"a later round, a new thread": {func(s *Stored, _ *Request, n *Snapshot) {
			s.Inputs.Round = 2
			n.Discussion.Threads = []review.Thread{{ID: "T", File: "a.go", Comments: []review.Comment{{ID: "2", Body: "No."}}}}
		}, "went on from an earlier one", false},
		"its report is listed": {func(s *Stored, _ *Request, n *Snapshot) { n.Listed = there(s.Result.Comments...) }, "", true},
		"its sticky report stands": {func(s *Stored, _ *Request, n *Snapshot) {
			n.Listed = map[string]string{s.Result.Comments[0]: "earlier"}
		}, "", true},
		"it came to the same as one whose sticky report stands": {func(s *Stored, _ *Request, n *Snapshot) {
			s.Inputs.Says, n.Listed = "the first", map[string]string{s.Result.Comments[0]: "the first"}
		}, "", true},
		"another report has taken the place of its sticky one": {func(s *Stored, _ *Request, n *Snapshot) { n.Listed = map[string]string{s.Result.Comments[0]: "later"} }, "", false},
		"its report was deleted": {func(_ *Stored, _ *Request, n *Snapshot) {
			n.Listed = there("https://github.com/o/r/pull/7#issuecomment-12")
		}, "", false},
		"a part of its report was deleted": {func(s *Stored, _ *Request, n *Snapshot) {
			n.Listed = there(s.Result.Comments...)
			s.Result.Comments = append(s.Result.Comments[:1:1], "https://github.com/o/r/pull/7#issuecomment-2")
		}, "", false},
		"its report is listed, its review and an answer are not": {func(s *Stored, _ *Request, n *Snapshot) {
			n.Listed, s.Result.Answers = there(s.Result.Comments...), []review.CommandComment{{URL: "https://github.com/o/r/pull/7#issuecomment-3"}}
			s.Result.Comments = append(s.Result.Comments[:1:1], "https://github.com/o/r/pull/7#pullrequestreview-9", s.Result.Answers[0].URL)
		}, "", true},
		"the report of a later round was deleted": {func(s *Stored, _ *Request, n *Snapshot) {
			s.Inputs.Round, n.Listed = 2, there(s.Result.Comments...)
			s.Result.Comments = append(s.Result.Comments[:1:1], "https://github.com/o/r/pull/7#issuecomment-2")
		}, "its report was deleted", false},
		"the report of an earlier round was deleted": {func(s *Stored, _ *Request, n *Snapshot) {
			s.Inputs.Round, n.Listed = 2, there("https://github.com/o/r/pull/7#issuecomment-2")
			s.Result.Comments = append(s.Result.Comments[:1:1], "https://github.com/o/r/pull/7#issuecomment-2")
		}, "", true},
		"another head":        {func(_ *Stored, _ *Request, n *Snapshot) { n.Range.Head = sha(9) }, "the head has moved", false},
		"another base":        {func(_ *Stored, _ *Request, n *Snapshot) { n.Range.Base = sha(9) }, "the base has moved", false},
		"another merge base":  {func(_ *Stored, _ *Request, n *Snapshot) { n.Range.MergeBase = sha(9) }, "the base has moved", false},
		"another description": {func(_ *Stored, _ *Request, n *Snapshot) { n.PR.Body += "!" }, "edited", false},
		"another diff": {func(_ *Stored, _ *Request, n *Snapshot) {
			n.Brief.Files = append([]review.BriefFile{{Path: "new"}}, n.Brief.Files...)
		}, "what reviewers are given has changed", false},
		"other prompts": {func(_ *Stored, r *Request, _ *Snapshot) { r.PromptVersion = "x" }, "agents, rules or prompts have changed", false},
		"another program": {func(_ *Stored, r *Request, _ *Snapshot) {
			r.Agents = append([]AgentPlan{}, r.Agents...)
			r.Agents[0].Program = "x"
		}, "agents, rules or prompts have changed", false},
		"other models":                    {func(s *Stored, _ *Request, _ *Snapshot) { s.Other = "models have changed" }, "models have changed", false},
		"a P1 was raised on another head": {func(_ *Stored, _ *Request, n *Snapshot) { n.raised("alpha", sha(9)) }, "raised something grave", false},
		"it was known then": {func(s *Stored, _ *Request, n *Snapshot) {
			n.raised("alpha", sha(9))
			s.Inputs.Snapshot.Conversation = n.Conversation
		}, "", true},
		"it is less":                {func(_ *Stored, _ *Request, n *Snapshot) { n.raised("alpha", sha(9)).Priority = review.P2 }, "", true},
		"somebody else raised it":   {func(_ *Stored, _ *Request, n *Snapshot) { n.raised("gamma", sha(9)) }, "", true},
		"it was raised on this one": {func(_ *Stored, _ *Request, n *Snapshot) { n.raised("alpha", n.Range.Head) }, "", true},
		"who may resolved it": {func(_ *Stored, _ *Request, n *Snapshot) {
			t := n.raised("alpha", sha(9))
			t.Closed, t.ClosedBy = true, "boss"
		}, "", true},
		"a partial run":       {func(s *Stored, _ *Request, _ *Snapshot) { s.Result.Outcome = review.Partial }, "it ended as partial", false},
		"a run out of budget": {func(s *Stored, _ *Request, _ *Snapshot) { s.Result.Outcome = review.Budget }, "it ended as budget", false},
		"an agent without its answer": {func(s *Stored, _ *Request, _ *Snapshot) {
			s.Inputs.Reports[0].Answer.Receipt.State = review.AgentDegraded
		}, "gave no complete answer", false},
		"an agent that was not asked": {func(s *Stored, _ *Request, _ *Snapshot) { s.Inputs.Reports = s.Inputs.Reports[1:] }, "not every agent was asked", false},
		"a verifier without an answer": {func(s *Stored, _ *Request, _ *Snapshot) {
			s.Inputs.Verifier = &AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed}}}
		}, "gave no complete answer", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := ended(t)
			req, snap := s.Inputs.Request, s.Inputs.Snapshot
			c.change(&s, &req, &snap)
			a, why := s.answers(req, snap)
			switch {
			case c.why != "" && (a != nil || !strings.Contains(why, c.why)):
				t.Errorf("%q, want %q", why, c.why)
			case c.why == "" && (a == nil || (a.Stands != nil) != c.stands):
				t.Errorf("%+v, %q; want that it stands: %v", a, why, c.stands)
			case c.why == "" && !c.stands:
				for _, h := range a.Reports {
					if u := h.Answer.Receipt.Usage; u.CostUSD == nil || *u.CostUSD != 0 || u.LLMCalls != 0 {
						t.Errorf("what was not asked costs %+v", u)
					}
				}
			}
		})
	}
}
