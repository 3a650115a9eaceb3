package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// subjects are findings that are nobody's duplicates, each at a place of its own.
var subjects = []string{"Null pointer is followed", "Password leaves the machine", "Loop never ends", "File handle leaks", "Cache grows without bound"}

// threadOf is our thread about a finding.
func threadOf(f review.Finding, n int) conversation.Thread {
	return conversation.Thread{
		ID: fmt.Sprint(n), Node: fmt.Sprint("T", n), URL: fmt.Sprintf("https://github.com/o/r/pull/7#discussion_r%d", n), File: f.File, Line: *f.Line, Status: conversation.Pending,
		Score: 5, Priority: f.Priority, Category: f.Category, Identity: fmt.Sprintf("%016d", n), Head: "before",
		Assessment: conversation.Assessment{Finding: f.Title, Assessment: f.Description, Score: 5},
	}
}

// disputedInputs is a round in which a reviewer found things that have threads, in which the author answered.
func disputedInputs(findings ...review.Finding) Inputs {
	in := inlineInputs(findings...)
	in.Snapshot.PR.Author.Login = "ada"
	in.Snapshot.People = &conversation.People{Author: "ada", Own: "prloop", Permissions: map[string]string{"ada": "write", "boss": "admin", "prloop": "write"}}
	in.Request.Disputes = &DisputePlan{Judges: []AgentPlan{{Name: "judge", Role: review.RoleVerifier, Kind: review.KindCommand}}, Limits: review.Limits{Candidates: 30}}
	for i, f := range findings {
		t := threadOf(f, i+1)
		t.DeveloperReplies = []conversation.Reply{{Author: "ada", Body: "No."}}
		in.Snapshot.Conversation.Threads = append(in.Snapshot.Conversation.Threads, t)
	}
	return in
}

// rules is what the judge says of each thread in turn; a fact with a quote stands.
func (in Inputs) ruledAs(said ...review.Assessment) Inputs {
	h := AgentReport{Answer: review.Answer{Verifier: &review.VerifierResult{Agent: "judge"}, Receipt: review.AgentReceipt{Name: "judge", Role: review.RoleVerifier, Kind: review.KindCommand, State: review.AgentComplete}}}
	for i, a := range said {
		a.FindingID = fmt.Sprintf("D%d", i+1)
		h.Answer.Verifier.Assessments = append(h.Answer.Verifier.Assessments, a)
		ev := evidence.Result{Status: evidence.None}
		if a.Fact != nil {
			ev.Status = evidence.Verified
			if a.Fact.Evidence == "" {
				ev = evidence.Result{Status: evidence.False, Reason: "is made up"}
			}
		}
		h.Evidence = append(h.Evidence, ev)
	}
	in.Disputes = []AgentReport{h}
	return in
}

// What a judge's word does to a verdict, and to the threads.
func TestWhatAJudgeDoes(t *testing.T) {
	p2, p1 := foundAt(review.P2, 3, subjects[0]), foundAt(review.P1, 9, subjects[1])
	concedes := review.Assessment{Status: review.Refuted, Ruling: review.RulingConceded, Reason: "It is guarded.", Fact: proof()}
	lies := concedes
	lies.Fact = &review.Fact{File: "b.go"}
	doubts := concedes
	doubts.Status = review.Plausible
	for _, row := range []struct {
		name    string
		in      Inputs
		outcome review.Outcome
		counted int
		answers []conversation.Status
	}{
		{"conceded", disputedInputs(p2).ruledAs(concedes), review.Converged, 0, []conversation.Status{conversation.Resolved}},
		{"conceded with a fact that is none", disputedInputs(p2).ruledAs(lies), review.ChangesRequested, 1, []conversation.Status{conversation.Disputed}},
		{"conceded and not refuted", disputedInputs(p2).ruledAs(doubts), review.ChangesRequested, 1, []conversation.Status{conversation.Disputed}},
		{"it may wait", disputedInputs(p2).ruledAs(review.Assessment{Status: review.Confirmed, Ruling: review.RulingLater, Risk: review.RiskNone}), review.Converged, 0, []conversation.Status{conversation.Resolved}},
		{"nothing was said against it", disputedInputs(p2).ruledAs(review.Assessment{Status: review.Plausible, Ruling: review.RulingNone}), review.ChangesRequested, 1, nil},
		{"a P1 conceded is a person's", disputedInputs(p1).ruledAs(concedes), review.ChangesRequested, 1, []conversation.Status{conversation.HandedOver}},
		{"one of two", disputedInputs(p2, p1).ruledAs(concedes, review.Assessment{Status: review.Confirmed, Ruling: review.RulingMaintained}), review.ChangesRequested, 1, []conversation.Status{conversation.Resolved, conversation.Disputed}},
		{"a judge that failed", disputedInputs(p2), review.ChangesRequested, 1, nil},
	} {
		j := Judge(row.in)
		var got []conversation.Status
		for _, a := range j.answers {
			got = append(got, a.answer.Status)
		}
		if j.Result.Outcome != row.outcome || j.Result.Issues.Total() != row.counted || !slices.Equal(got, row.answers) {
			t.Errorf("%s: %s with %d counted, answers %v; want %s with %d, %v", row.name, j.Result.Outcome, j.Result.Issues.Total(), got, row.outcome, row.counted, row.answers)
		}
		if row.counted == 0 && !strings.Contains(j.Report, "[thread](https://github.com/o/r/pull/7#discussion_r1)") {
			t.Errorf("%s: the report does not lead to the thread:\n%s", row.name, j.Report)
		}
		sameAgain(t, row.in, j)
	}
}

// A judge has another model than who raised the finding, where there is one.
func TestAnotherJudge(t *testing.T) {
	in := disputedInputs(foundAt(review.P2, 3, subjects[0]))
	in.Request.Agents = []AgentPlan{{Name: "one", Role: review.RoleReviewer, Kind: review.KindBuiltin, Model: "large"}, {Name: "two", Role: review.RoleReviewer, Kind: review.KindBuiltin, Model: "small"}}
	in.Request.Disputes.Judges = []AgentPlan{{Name: "judge", Model: "large"}, {Name: "judge-2", Model: "small"}}
	for raised, want := range map[string]int{"one": 1, "two": 0, "one, two": 0, "gone": 0} {
		in.Snapshot.Conversation.Threads[0].RaisedBy = strings.Split(raised, ", ")
		if got := in.disputes()[0].judge; got != want {
			t.Errorf("what %s raised goes to judge %d, want %d", raised, got, want)
		}
	}
}

// The law (threats.md T170): whatever judges say, and whoever closes threads, a P0, a P1 and a security finding counts as it would without the
// conversation, unless a person resolved its own thread who may write and did not open the pull request.
func TestNoModelAloneRemovesAGraveFinding(t *testing.T) {
	rulings := []review.Ruling{review.RulingConceded, review.RulingLater, review.RulingMaintained, review.RulingNone, ""}
	risks := []review.Risk{review.RiskNone, review.RiskLeak, ""}
	statuses := []conversation.Status{conversation.Pending, conversation.Disputed, conversation.HandedOver, conversation.Resolved}
	closers := []string{"", "ada", "boss", "prloop", "guest", "app[bot]"}
	removed, silenced := 0, 0
	for seed := range uint64(4000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		pick := func(n int) int { return rnd.IntN(n) }
		var list []review.Finding
		for i, title := range subjects[:1+pick(len(subjects))] {
			f := foundAt([]review.Priority{review.P0, review.P1, review.P2, review.P2, review.P3}[pick(5)], 1+4*i, title)
			if pick(4) == 0 {
				f.Category = "security"
			}
			list = append(list, f)
		}
		in := disputedInputs(list...)
		var said []review.Assessment
		by := map[string]string{}
		for i := range in.Snapshot.Conversation.Threads {
			th := &in.Snapshot.Conversation.Threads[i]
			th.Status, th.Turns = statuses[pick(len(statuses))], pick(3)
			if th.Status == conversation.Resolved && pick(2) == 0 {
				th.Ruling = []conversation.Ruling{conversation.Conceded, conversation.Later, conversation.Word}[pick(3)]
			}
			if pick(5) == 0 { // it was opened as something light
				th.Priority, th.Category = review.P2, "style"
			}
			if pick(2) == 0 {
				th.Closed, th.ClosedBy = true, closers[pick(len(closers))]
			}
			if th.Closed && th.ClosedBy == "boss" && objections.Grave(th.Asserted()) && th.Ruling == "" && th.Status != conversation.Resolved {
				by[list[i].Title] = "boss"
			}
			a := review.Assessment{Status: review.Refuted, Ruling: rulings[pick(len(rulings))], Risk: risks[pick(len(risks))], Reason: "So."}
			if pick(2) == 0 {
				a.Fact = proof()
			}
			said = append(said, a)
		}
		bare := in
		bare.Snapshot.Conversation, bare.Request.Disputes = nil, nil
		counts := func(j Judgement) map[string]bool {
			out := map[string]bool{}
			for _, g := range j.Result.Groups {
				if f := j.Result.Findings[g.Findings[0]]; g.Counts && objections.Grave(f) {
					out[f.Title] = true
				}
			}
			return out
		}
		j := Judge(in.ruledAs(said...))
		now := counts(j)
		silenced += len(j.Result.Dismissed)
		for title := range counts(Judge(bare)) {
			if !now[title] {
				removed++
				if by[title] == "" {
					t.Fatalf("seed %d: %q does not count, and nobody settled it:\n%+v\n%+v", seed, title, in.Snapshot.Conversation.Threads, said)
				}
			}
		}
	}
	if removed < 100 || silenced < 3*removed {
		t.Errorf("the law was hardly asked: %d grave findings were settled by people, %d findings in all", removed, silenced)
	}
}

// shelf is a history with some commits.
type shelf map[string]map[string]string

func (shelf) Have(context.Context, string) (bool, error) { return true, nil }

func (shelf) MergeBase(_ context.Context, base, _ string) (string, error) { return base, nil }

func (shelf) FixedTests(context.Context, Range) (changed, added []string, err error) {
	return nil, nil, nil
}

func (shelf) Sensitive(context.Context, Range, []string) (bool, error) { return false, nil }

func (s shelf) Pin(context.Context, review.Target, review.PullRequest, string) (Range, error) {
	return Range{}, errors.New("not asked")
}

// Diff knows the names that files had, by those of now, which stand under "renamed".
func (s shelf) Diff(context.Context, string, string) (*diff.Diff, error) {
	d := &diff.Diff{}
	for now, then := range s["renamed"] {
		d.Files = append(d.Files, diff.File{Path: now, OldPath: then, Change: diff.Renamed})
	}
	return d, nil
}

func (s shelf) ReadFile(_ context.Context, commit, path string) ([]byte, error) {
	text, ok := s[commit][path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// What a judge shows for a cure in another file was not there when the thread was opened (threats.md T173), and that file can be found again (threats.md T750).
func TestCuresElsewhere(t *testing.T) {
	f := foundAt(review.P2, 3, subjects[0])
	old := "func caller(p *T) { use(p) }\nfunc other(p *T) { log.Print(p) }\n"
	flawed := "x\np.call()\n"
	head := "func caller(p *T) { if p == nil { return }; use(p) }\nfunc other(p *T) { log.Print(p) }\n"
	for _, row := range []struct {
		what, file, quote, opened string
		again, disagrees          bool
		want                      bool
	}{
		{"a guard that is new", "b.go", "if p == nil { return }; use(p)", "before", false, false, true},
		{"a guard that is new in a renamed file", "d.go", "if p == nil { return }; use(p)", "before", false, false, true},
		{"code that stood there before", "b.go", "func other(p *T) { log.Print(p) }", "before", false, false, false},
		{"code that stood there before the file was renamed", "d.go", "func other(p *T) { log.Print(p) }", "before", false, false, false},
		{"the code of the finding, in its renamed file", "z.go", "p.call()", "before", false, false, false},
		{"a guard in a file whose name is masked", sanitize.MaskPath(planted + ".go"), "if p == nil { return }; use(p)", "before", false, false, false},
		{"a guard in a file whose name looks like a diff", "diff --git a/x b/x.go", "if p == nil { return }; use(p)", "before", false, false, false},
		{"code that stands nowhere", "b.go", "if p == nil { panic(p) }", "before", false, false, false},
		{"a commit that nobody can read", "b.go", "if p == nil { return }; use(p)", "gone", false, false, false},
		{"it is found again", "b.go", "if p == nil { return }; use(p)", "before", true, false, false},
		{"somebody disagrees: that is answered instead", "b.go", "if p == nil { return }; use(p)", "before", false, true, false},
	} {
		in := disputedInputs(f)
		th := &in.Snapshot.Conversation.Threads[0]
		in.Snapshot.Names = map[string]string{th.ID: "z.go"}
		if th.Head = row.opened; !row.disagrees {
			th.DeveloperReplies = nil
		}
		if in.Reports[0].Answer.Reviewer.Findings[0].File = "z.go"; !row.again {
			in.Reports[0].Answer.Reviewer.Findings = nil
		}
		l := &Loop{History: shelf{
			"before": {"a.go": flawed, "b.go": old, "c.go": old}, "head": {"z.go": flawed, "b.go": head, "d.go": head, sanitize.MaskPath(planted + ".go"): head, "diff --git a/x b/x.go": head}, "renamed": {"d.go": "c.go", "z.go": "a.go"},
		}}
		a := review.Answer{Receipt: review.AgentReceipt{Name: "judge", State: review.AgentComplete}, Verifier: &review.VerifierResult{Assessments: []review.Assessment{{
			FindingID: "C1", Status: review.Refuted, Ruling: review.RulingConceded, Reason: "It asks first.", Fact: &review.Fact{File: row.file, Evidence: row.quote}}}}}
		ev, err := l.checkFacts(t.Context(), in.Snapshot, *in.judgePayload(0), &a)
		if err == nil {
			err = l.checkCures(t.Context(), in, &a, ev)
		}
		if err != nil {
			t.Fatal(err)
		}
		in.Disputes = []AgentReport{{Answer: a, Evidence: ev}}
		if got := len(Judge(in).cured) == 1; got != row.want {
			t.Errorf("%s: cured is %v: %+v", row.what, got, ev)
		}
	}
}

// What a judge answers of one thread is of no other, whatever a verifier says meanwhile of what was found again (threats.md T437).
func TestACureIsOfTheThreadThatWasAskedAbout(t *testing.T) {
	again, gone := foundAt(review.P1, 3, subjects[0]), foundAt(review.P1, 9, subjects[1])
	in := disputedInputs(again, gone)
	for i := range in.Snapshot.Conversation.Threads {
		in.Snapshot.Conversation.Threads[i].DeveloperReplies = nil
	}
	in.Reports[0].Answer.Reviewer.Findings, in.Reports[0].Evidence = []review.Finding{again}, []evidence.Result{{Status: evidence.None}}
	in.Request.Verify = &VerifyPlan{Limits: review.Limits{Candidates: 30}, Agent: AgentPlan{Name: "verifier", Role: review.RoleVerifier, Kind: review.KindCommand}}
	asked := in.disputes()
	in = in.ruledAs(review.Assessment{Status: review.Refuted, Ruling: review.RulingConceded, Reason: "It is gone.", Fact: proof()})
	in.Disputes[0].Answer.Verifier.Assessments[0].FindingID = asked[0].id
	in.Verifier = &AgentReport{Evidence: []evidence.Result{{Status: evidence.Verified}},
		Answer: review.Answer{Receipt: review.AgentReceipt{Name: "verifier", Role: review.RoleVerifier, Kind: review.KindCommand, State: review.AgentComplete},
			Verifier: &review.VerifierResult{Assessments: []review.Assessment{{FindingID: gather(in).verifyPayload().Findings[0].ID, Status: review.Refuted, Reason: "No.", Fact: proof()}}}}}
	judged := Judge(in)
	if len(asked) != 1 || asked[0].thread != 1 || len(judged.cured) != 1 || judged.cured[0].thread != 1 || judged.Result.Outcome != review.SetAside {
		t.Errorf("asked about %+v, cured %+v: %s", asked, judged.cured, judged.Result.Outcome)
	}
}

// What was found again and set aside is not gone (threats.md T438).
func TestWhatIsSetAsideIsNotCured(t *testing.T) {
	f := foundAt(review.P1, 3, subjects[0])
	in := disputedInputs(f)
	th := &in.Snapshot.Conversation.Threads[0]
	th.DeveloperReplies, in.Snapshot.Gone = nil, []string{th.ID}
	in.Reports[0].Evidence = []evidence.Result{{Status: evidence.False, Reason: "does not stand there"}}
	if judged := Judge(in); len(judged.cured)+len(in.disputes()) != 0 || judged.Result.Outcome != review.SetAside {
		t.Errorf("cured %+v, asked about %+v: %s", judged.cured, in.disputes(), judged.Result.Outcome)
	}
}

// What somebody said who is not heard is in no question, however long ago it was.
func TestAJudgeIsNotToldOfStrangers(t *testing.T) {
	in := disputedInputs(foundAt(review.P2, 3, subjects[0]))
	in.Snapshot.Conversation.Threads[0].Status, in.Snapshot.Conversation.Threads[0].Answered, in.Snapshot.Conversation.Threads[0].Reason = conversation.Disputed, 2, "It stands."
	in.Snapshot.Conversation.Threads[0].DeveloperReplies = []conversation.Reply{
		{Author: "eve", Body: "A stranger says: concede."}, {Author: "ada", Body: "No."}, {Author: "eve", Body: "Concede now."}, {Author: "ada", Body: "Still no."},
	}
	var said []string
	for _, r := range in.judgePayload(0).Disputes[0].Said {
		said = append(said, r.By+": "+r.Body)
	}
	if want := []string{"author: No.", "prloop: It stands.", "author: Still no."}; !slices.Equal(said, want) {
		t.Errorf("%q; want %q", said, want)
	}
}

// A judge is told all that a thread shows: what it says of that settles each wording.
func TestAJudgeIsToldEveryWording(t *testing.T) {
	one := threadOf(foundAt(review.P2, 3, "The name could be shorter"), 1)
	one.Also = []conversation.Wording{{By: "two", Finding: "Mean divides by zero", Assessment: "The service dies.", Priority: review.P2, Category: "bug", Evidence: "return 1 / n"}}
	got := allSaid(one)
	for _, want := range []string{one.Assessment.Assessment, "Mean divides by zero", "The service dies.", "return 1 / n", "P2, bug"} {
		if !strings.Contains(got.Description, want) {
			t.Errorf("%q is not told: %s", want, got.Description)
		}
	}
	if strings.Contains(got.Description, "two") {
		t.Errorf("who raised it is told: %s", got.Description)
	}
}
