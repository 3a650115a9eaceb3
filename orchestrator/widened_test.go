package orchestrator

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// auditing is a round with a command about auth/** that counts, beside reviewers, and with a thread about a P0 that it raised.
func auditing() Inputs {
	p0 := saidBy("!audit", foundAt(review.P0, 3, subjects[0]), subjects[0])
	in := disputedInputs(p0)
	in.Request.Disputes = nil
	in.Reports[0].Answer.Reviewer.Findings = nil
	in.Request.Agents = append(in.Request.Agents, AgentPlan{Name: "!audit", Role: review.RoleCommand, Kind: review.KindBuiltin, Command: &CommandPlan{ID: "audit", Mode: review.FeedMain, Counts: true, Include: []string{"auth/**"}}})
	in.Reports = append(in.Reports, AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{Name: "!audit", Role: review.RoleCommand, State: review.AgentComplete, FilesGiven: 1}, Command: &review.CommandAnswer{}}})
	th := &in.Snapshot.Conversation.Threads[0]
	th.DeveloperReplies, th.RaisedBy, th.By = nil, []string{"!audit"}, "!audit"
	return in
}

// A command that counts and has raised something grave is given the whole change until that is settled: the author, or a fix, may have moved it (threats.md T842).
func TestACommandThatOwesAnAnswerIsGivenAll(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*Inputs, *CommandPlan)
		wide   bool
	}{
		"its thread is open": {func(*Inputs, *CommandPlan) {}, true},
		"its author closed the thread": {func(in *Inputs, _ *CommandPlan) {
			t := &in.Snapshot.Conversation.Threads[0]
			t.Closed, t.ClosedBy = true, "ada"
		}, true},
		"a person who may closed the thread": {func(in *Inputs, _ *CommandPlan) {
			t := &in.Snapshot.Conversation.Threads[0]
			t.Closed, t.ClosedBy = true, "boss"
		}, false},
		"another raised it": {func(in *Inputs, _ *CommandPlan) {
			in.Snapshot.Conversation.Threads[0].By = "one"
			in.Snapshot.Conversation.Threads[0].RaisedBy = []string{"one"}
		}, false},
		"it counts for nothing":              {func(_ *Inputs, c *CommandPlan) { c.Counts = false }, false},
		"its answer is a comment of its own": {func(_ *Inputs, c *CommandPlan) { c.Mode = review.SeparateComment }, false},
		"it is all that the run does":        {func(in *Inputs, _ *CommandPlan) { in.Request.Alone = true }, false},
		"what it raised has no thread": {func(in *Inputs, _ *CommandPlan) {
			in.Snapshot.Conversation, in.Snapshot.Owing = nil, []string{sanitize.RaisedBy("!audit")}
		}, true},
		"it raised that in an earlier round":  {earlier(review.P0, false), true},
		"it settled that in an earlier round": {earlier(review.P0, true), false},
		"it raised a nit in an earlier round": {earlier(review.P3, false), false},
		"it has raised nothing":               {func(in *Inputs, _ *CommandPlan) { in.Snapshot.Conversation = nil }, false},
	} {
		in := auditing()
		plan := &in.Request.Agents[len(in.Request.Agents)-1]
		row.change(&in, plan.Command)
		plan.Command.Files, plan.Command.DiffLines = 1, 1 // which bind it as long as it owes nothing (threats.md T855)
		given := in.Request.narrowed(in.widened(*plan), review.Brief{Files: []review.BriefFile{changed("auth/a.go"), changed("lib/login.go")}})
		if n, _ := given.Given(); (n == 2) != row.wide {
			t.Errorf("%s: is given %d of 2 files", what, n)
		}
		if plan.Command.wide {
			t.Errorf("%s: the request was changed", what)
		}
	}
}

// earlier is an earlier round in which the command raised something, and no thread.
func earlier(p review.Priority, settled bool) func(*Inputs, *CommandPlan) {
	return func(in *Inputs, _ *CommandPlan) {
		in.Snapshot.Conversation, in.Earlier = nil, []Tracked{{Findings: []review.Finding{saidBy("!audit", foundAt(p, 3, subjects[0]), subjects[0])}, Round: 1, Settled: settled}}
	}
}

// What a command that counts raised is open until it has looked again, as with reviewers. One that was given no file has not (threats.md T842).
func TestACommandThatWasNotAskedIsNotHeard(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*Inputs, *review.AgentReceipt)
		want   review.Outcome
	}{
		"it looked again":  {func(*Inputs, *review.AgentReceipt) {}, review.Converged},
		"it was not asked": {func(_ *Inputs, r *review.AgentReceipt) { r.FilesGiven = 0 }, review.Partial},
		"it was not asked, a P3": {func(in *Inputs, r *review.AgentReceipt) {
			r.FilesGiven = 0
			in.Snapshot.Conversation.Threads[0].Priority = review.P3
		}, review.Converged},
		"it failed": {func(_ *Inputs, r *review.AgentReceipt) { r.State = review.AgentFailed }, review.Partial},
		"the code is gone, it was not": {func(in *Inputs, r *review.AgentReceipt) {
			r.FilesGiven = 0
			in.Snapshot.Gone = []string{in.Snapshot.Conversation.Threads[0].ID}
		}, review.Partial},
		"without a thread, not asked": {func(in *Inputs, r *review.AgentReceipt) {
			r.FilesGiven, in.Snapshot.Conversation, in.Snapshot.Owing = 0, nil, []string{sanitize.RaisedBy("!audit")}
		}, review.Partial},
		"without a thread, it looked": {func(in *Inputs, _ *review.AgentReceipt) {
			in.Snapshot.Conversation, in.Snapshot.Owing = nil, []string{sanitize.RaisedBy("!audit")}
		}, review.Converged},
		"in an earlier round, not asked": {func(in *Inputs, r *review.AgentReceipt) { r.FilesGiven = 0; earlier(review.P0, false)(in, nil) }, review.Partial},
		"in an earlier round, it looked": {func(in *Inputs, _ *review.AgentReceipt) { earlier(review.P0, false)(in, nil) }, review.Converged},
	} {
		in := auditing()
		row.change(&in, &in.Reports[len(in.Reports)-1].Answer.Receipt)
		if in.Earlier != nil {
			in.Round = 2
		}
		j := Judge(in)
		if r := j.Result; r.Outcome != row.want || row.want == review.Partial && len(j.cured) > 0 || strings.Contains(r.Reason, "!audit") && !slices.Contains(j.raised, sanitize.RaisedBy("!audit")) {
			t.Errorf("%s: %s: %s, %d threads settled; want %s", what, r.Outcome, r.Reason, len(j.cured), row.want)
		}
	}
	threads := []conversation.Thread{}
	in := auditing()
	if got := outOfThreads([]string{inThreads("!audit", 1)}, in.Request.deciding(), threads); !slices.Equal(got, []string{sanitize.RaisedBy("!audit")}) {
		t.Errorf("its thread is no more ours: %q", got)
	}
	then := Stored{Inputs: in}
	if then.Inputs.Snapshot.Conversation = nil; !then.asked([]string{"!audit"}) || !then.raisedSince(in.Snapshot) {
		t.Error("an earlier run is lent its answer, although it raised something grave on another commit since (threats.md T411)")
	}
	if in.Request.Agents[len(in.Request.Agents)-1].Command.Counts = false; then.asked([]string{"!audit"}) {
		t.Error("what counts for nothing is asked anew")
	}
}

// Who was not given all settles nothing by what they do not say, in threads as without: a command that was not given all that it was asked about, and anybody where
// something of the change went unread (threats.md T855).
func TestSilenceOfWhoWasNotGivenAllSettlesNothing(t *testing.T) {
	p0 := saidBy("!audit", foundAt(review.P0, 3, subjects[0]), subjects[0])
	for what, row := range map[string]struct {
		change  func(*Inputs)
		want    review.Outcome
		unheard []string
	}{
		"all":               {func(*Inputs) {}, review.Converged, nil},
		"beyond its limits": {func(in *Inputs) { in.Request.Agents[len(in.Request.Agents)-1].Command.Files = 1 }, review.Partial, []string{"!audit"}},
		"a lock file that it names": {func(in *Inputs) {
			in.Request.Agents[len(in.Request.Agents)-1].Command.Include = []string{"**/go.sum"}
			in.Reports[len(in.Reports)-1].Wide = true
			in.Snapshot.Brief.Files[1] = review.BriefFile{Path: "go.sum", Omitted: "lock file", Excused: true}
		}, review.Partial, []string{"!audit"}},
		"too large": {func(in *Inputs) {
			in.Snapshot.Brief.Files[1] = review.BriefFile{Path: "lib/login.go", Omitted: "too large"}
		}, review.Partial, []string{"!audit", "one"}},
		"too few reviewers": {func(in *Inputs) { in.Request.MinReviewers = 9 }, review.Partial, nil},
	} {
		for _, threads := range []bool{true, false} {
			in := auditing()
			in.Round = 2
			in.Snapshot.Brief.Files = []review.BriefFile{changed("auth/a.go"), changed("auth/b.go")}
			if !threads {
				in.Snapshot.Conversation, in.Snapshot.Owing = nil, []string{sanitize.RaisedBy("!audit"), sanitize.RaisedBy("one")}
				in.Earlier = []Tracked{{Findings: []review.Finding{p0}, Round: 1}}
			} else {
				in.Snapshot.Gone = []string{in.Snapshot.Conversation.Threads[0].ID}
			}
			row.change(&in)
			j := Judge(in)
			var unheard []string
			for _, a := range j.Result.Receipt.Agents {
				if a.Unheard {
					unheard = append(unheard, a.Name)
				}
			}
			if j.Result.Outcome != row.want || !slices.Equal(unheard, row.unheard) || row.want == review.Partial && len(j.cured) > 0 {
				t.Errorf("%s: %s: %s, %q unheard, %d threads settled", what, j.Result.Outcome, j.Result.Reason, unheard, len(j.cured))
			}
			for _, name := range []string{"!audit", "one"} {
				if owes := slices.Contains(row.unheard, name); !threads && slices.Contains(j.raised, sanitize.RaisedBy(name)) != owes {
					t.Errorf("%s: reports name %s as owing: %v, want %v", what, name, !owes, owes)
				}
			}
			if settled := gather(in).settled(Tracked{Findings: []review.Finding{p0}, Round: 1}); settled != (row.unheard == nil) {
				t.Errorf("%s: what it raised in an earlier round is settled: %v", what, settled)
			}
		}
	}
}

// Nor does the record take it for heard (threats.md T842, T855).
func TestTheRecordKnowsWhoWasNotAsked(t *testing.T) {
	for n, receipt := range []review.AgentReceipt{{FilesGiven: 0}, {FilesGiven: 1}, {FilesGiven: 1, Unheard: true}} { // of the newer run
		want := []int{1, 0, 1}[n]
		receipt.Name, receipt.Role, receipt.State = "!audit", review.RoleCommand, review.AgentComplete
		in := auditing()
		newer, older := Stored{Base: "main"}, Stored{Base: "main"}
		newer.Result.Review = &review.ReviewResult{}
		newer.Result.Outcome, newer.Result.Receipt = review.ChangesRequested, review.Receipt{HeadSHA: sha(8), Agents: []review.AgentReceipt{receipt}}
		older.Result.Outcome, older.Result.Receipt.HeadSHA = review.ChangesRequested, sha(9)
		older.Result.Findings = []review.Finding{saidBy("!audit", foundAt(review.P0, 3, subjects[0]), subjects[0])}
		l := &Loop{Stored: func(context.Context, Request) iter.Seq2[Stored, error] {
			return func(yield func(Stored, error) bool) { _ = yield(newer, nil) && yield(older, nil) }
		}}
		in.Snapshot.Conversation, in.Snapshot.PR.BaseRef = nil, "main"
		if names, _, err := l.recordedRaisers(t.Context(), in.Request, in.Snapshot); err != nil || len(names) != want {
			t.Errorf("%+v: %q %v", receipt, names, err)
		}
		in.Snapshot.Conversation = auditing().Snapshot.Conversation // what is open in a thread, that tells
		if names, _, err := l.recordedRaisers(t.Context(), in.Request, in.Snapshot); err != nil || len(names) > 0 {
			t.Errorf("its thread is open: %q %v", names, err)
		}
		th := &in.Snapshot.Conversation.Threads[0]
		th.Cured, th.Head = true, sha(6) // cured on another head: no person settled it
		if names, _, err := l.recordedRaisers(t.Context(), in.Request, in.Snapshot); err != nil || len(names) != want {
			t.Errorf("its thread was cured, %+v: %q %v", receipt, names, err)
		}
	}
}

// Of each run that nobody has settled since, the record tells on which commit something grave was raised, also where the run was overtaken before anybody judged it. One of which
// nobody knows what it found, or that found less, or whose raiser nobody asks any more, tells none (threats.md T871).
func TestTheRecordKnowsSinceWhen(t *testing.T) {
	grave := saidBy("!audit", foundAt(review.P0, 3, subjects[0]), subjects[0])
	receipt := review.AgentReceipt{Name: "!audit", Role: review.RoleCommand, State: review.AgentComplete, FilesGiven: 1, Findings: 1}
	for what, row := range map[string]struct {
		then Stored
		want []string
	}{
		"it judged":                    {Stored{Result: review.RunResult{Outcome: review.ChangesRequested, Findings: []review.Finding{grave}, Review: &review.ReviewResult{}}}, []string{sha(9)}},
		"it was overtaken":             {Stored{Result: review.RunResult{Outcome: review.Superseded, Receipt: review.Receipt{Agents: []review.AgentReceipt{{Name: "!audit", Findings: 2, Grave: 1}}}}}, []string{sha(9)}},
		"what it found is less":        {Stored{Result: review.RunResult{Outcome: review.Superseded, Receipt: review.Receipt{Agents: []review.AgentReceipt{receipt}}}}, nil},
		"it has not ended":             {Stored{Unfinished: true}, nil},
		"its raiser is asked no more":  {Stored{Result: review.RunResult{Outcome: review.Superseded, Receipt: review.Receipt{Agents: []review.AgentReceipt{{Name: "gone", Findings: 1, Grave: 1}}}}}, nil},
		"a review found nothing there": {Stored{Result: review.RunResult{Outcome: review.Converged, Receipt: review.Receipt{Agents: []review.AgentReceipt{receipt}}}}, nil},
	} {
		in := auditing()
		row.then.Base, row.then.Result.Receipt.HeadSHA = "main", sha(9)
		l := &Loop{Stored: func(context.Context, Request) iter.Seq2[Stored, error] {
			overtaken := Stored{Base: "main", Result: review.RunResult{Outcome: review.Superseded, Receipt: review.Receipt{HeadSHA: sha(8), Agents: []review.AgentReceipt{{Name: "!audit", State: review.AgentComplete, FilesGiven: 1}}}}}
			return func(yield func(Stored, error) bool) { _ = yield(overtaken, nil) && yield(row.then, nil) } // nobody asked what went unread there
		}}
		in.Snapshot.Conversation, in.Snapshot.PR.BaseRef = nil, "main"
		if _, since, err := l.recordedRaisers(t.Context(), in.Request, in.Snapshot); err != nil || !slices.Equal(since, row.want) {
			t.Errorf("%s: %q %v", what, since, err)
		}
	}
}
