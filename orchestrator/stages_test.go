package orchestrator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
)

func names(findings []review.Finding) (out []string) {
	for _, f := range findings {
		out = append(out, f.Source.Name+": "+f.Title)
	}
	return out
}

func by(name string, f review.Finding) review.Finding {
	f.Source = review.Source{Type: "agent", Name: name}
	return f
}

// secondRound is one in which two reviewers raise one thing, one raises another that a fix wrote, and a third finding has false
// evidence.
func secondRound() Inputs {
	in := round()
	in.Round, in.Past = 2, []review.RoundResult{{Round: 1}}
	in.Request.Fix = &FixPlan{}
	fresh, false0 := by("beta", at(review.P2, 40, "N", nilMap)), by("alpha", at(review.P1, 90, "F", typo))
	in.Reports[0] = answered("alpha", by("alpha", at(review.P2, 3, "A", leak)), false0)
	in.Reports[0].Evidence[1] = evidence.Result{Status: evidence.False, Reason: "does not quote the file"}
	in.Reports[1] = answered("beta", by("beta", at(review.P1, 3, "B", leak2)), fresh)
	in.Written = []Written{{File: "a.go", From: 40, To: 40, Commit: sha(5)}}
	in.Earlier = []Tracked{{Findings: []review.Finding{by("alpha", at(review.P1, 3, "A", leak))}, Round: 1, ID: "A", FixedIn: 1}}
	return in
}

// Gathering puts what counts in the one order it is shown in, and sets aside what is false.
func TestGather(t *testing.T) {
	g := gather(secondRound())
	if d := cmp.Diff([]string{"beta: " + leak2, "alpha: " + leak, "beta: " + nilMap}, names(g.findings)); d != "" {
		t.Error(d)
	}
	if len(g.unverified) != 1 || g.unverified[0].Finding.Title != typo || g.unverified[0].Reason != "does not quote the file" {
		t.Errorf("%+v", g.unverified)
	}
	if g.complete != 2 || len(g.read.Unread()) != 0 || len(g.support) != 3 {
		t.Errorf("complete %d, read %+v, support %v", g.complete, g.read, g.support)
	}
	// What people said stands behind what agents found, and is not there for a local range.
	in := secondRound()
	line := 12
	in.Snapshot.Discussion.Threads = []review.Thread{{ID: "T", File: "a.go", Line: &line, Comments: []review.Comment{{ID: "C", Author: review.Person{Login: "octocat"}, Body: "Why?"}}}}
	if g = gather(in); len(g.findings) != 4 || g.findings[3].Source.Name != "octocat" || g.comments.Stats.Unresolved != 1 {
		t.Errorf("%q %+v", names(g.findings), g.comments.Stats)
	}
	in.Request.Target.PR = 0
	if g = gather(in); len(g.findings) != 3 || g.comments.Stats.Unresolved != 0 {
		t.Errorf("%q", names(g.findings))
	}
}

// Matching says which findings are one, which came back after a fix, and which a fix wrote.
func TestMatch(t *testing.T) {
	g := gather(secondRound())
	before := asJSON(t, g.findings)
	m := match(g)
	if d := cmp.Diff([][]int{{0, 1}, {2}}, m.groups); d != "" {
		t.Error(d)
	}
	if !cmp.Equal(m.same, []int{0, -1}) || !cmp.Equal(m.stuck, []int{0}) || !cmp.Equal(m.fresh, []int{1}) || m.introduced != 2 {
		t.Errorf("same %v, stuck %v, fresh %v, of weight %d", m.same, m.stuck, m.fresh, m.introduced)
	}
	if c := m.findings[2].Cause; c == nil || c.Commit != sha(5) || m.findings[0].Cause != nil {
		t.Errorf("%+v", m.findings)
	}
	// Behind the groups stands the P1 that was set aside.
	if len(m.tracked) != 3 || m.tracked[0].ID != "A" || !m.tracked[0].Stuck || !m.tracked[1].Introduced || !m.tracked[2].SetAside {
		t.Errorf("%+v", m.tracked)
	}
	if asJSON(t, g.findings) != before {
		t.Error("what was gathered changed")
	}
}

// Deciding counts, draws the verdict and says what follows. What it was given stays as it was.
func TestDecide(t *testing.T) {
	m := match(gather(secondRound()))
	before := asJSON(t, m.tracked) + asJSON(t, m.notes)
	d := decide(m)
	if d.outcome != review.ChangesRequested || !d.next.goesOn || d.verdict.Consensus != review.RequestChanges || d.distinct != 2 || d.unsupported != 0 {
		t.Errorf("%s, goes on %v, %+v", d.outcome, d.next.goesOn, d.verdict)
	}
	// What is stuck is not asked for again; the new one gets a name, under which it is tracked.
	if asked := d.next.payload.IssuesToFix; len(asked) != 1 || asked[0].Title != nilMap || d.tracked[1].ID != asked[0].ID || m.tracked[1].ID != "" {
		t.Errorf("%+v", d.next.payload)
	}
	if asJSON(t, m.tracked)+asJSON(t, m.notes) != before {
		t.Error("what was matched changed")
	}
	// Two voices needed: the P2 of one reviewer does not count, and the reader is told.
	in := secondRound()
	in.Request.MinSupport = 2
	if d = decide(match(gather(in))); !cmp.Equal(d.counts, []bool{true, true, false}) || d.unsupported != 1 || d.distinct != 1 ||
		!strings.HasSuffix(d.why, " 1 finding without enough support is not counted.") || len(d.notes) != len(m.notes)+1 || d.outcome != review.Stuck {
		t.Errorf("%v %+v %q %s", d.counts, d.verdict, d.notes, d.outcome)
	}
}

// The last stage shows what was decided and adds nothing to it.
func TestResultAndReport(t *testing.T) {
	d := decide(match(gather(secondRound())))
	r := d.result()
	if r.Outcome != d.outcome || *r.Consensus != string(review.RequestChanges) || len(r.Stuck) != 1 || len(r.Rounds) != 2 || r.Rounds[1].Stuck != 1 {
		t.Errorf("%+v", r)
	}
	text := d.report(r)
	for _, part := range []string{"\n\n**Since round 1:** 1 came back, 1 new.\n\n", "The fixer is asked to fix the other finding; its report follows.", "reported fixed in round 1, found again in round 2", nilMap} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	all, err := json.Marshal(Judge(secondRound()))
	if err != nil {
		t.Fatal(err)
	}
	if again := asJSON(t, Judge(secondRound())); again != string(all) {
		t.Error("judged again it is another judgement")
	}
}

// A report says of a grave finding that it is gone only once all who raised it looked again, as the outcome does.
func TestSinceAsksAllWhoRaisedIt(t *testing.T) {
	p1 := at(review.P1, 3, "A", leak)
	for state, want := range map[review.AgentState]string{
		review.AgentFailed:   "**Since round 1:** 1 not looked at again by everybody who had raised it.",
		review.AgentComplete: "**Since round 1:** 1 fixed.",
	} {
		in := round()
		in.Round, in.Past, in.Request.Fix, in.Request.MinReviewers = 2, []review.RoundResult{{Round: 1}}, &FixPlan{}, 1
		in.Earlier = []Tracked{{Findings: []review.Finding{by("alpha", p1), by("beta", p1)}, Round: 1, ID: "A", FixedIn: 1}}
		in.Reports[0].Answer.Receipt.State = state
		d := decide(match(gather(in)))
		text := d.report(d.result())
		if !strings.Contains(text, want) || strings.Contains(text, "Gone since") != (d.outcome == review.Converged) {
			t.Errorf("%s, %s:\n%s", state, d.outcome, text)
		}
	}
}

// What waits for a person is not among what the fixer is asked to fix, or who reads is told to; what is left at the end is all that the heading counts.
func TestWhatWaitsIsNotAskedFor(t *testing.T) {
	in, line := secondRound(), 12
	in.Snapshot.Discussion.Threads = []review.Thread{{ID: "T", File: "a.go", Line: &line, Comments: []review.Comment{{ID: "C", Author: review.Person{Login: "keeper", Association: "OWNER"}, Body: "Name it."}}}}
	in.Snapshot.Fixed = in.Snapshot.words(gather(in).findings[3:])
	for _, c := range []struct {
		round int
		next  string
	}{{2, "The fixer is asked to fix the other finding; its report follows."}, {3, "Fix the other finding and push."}} {
		in.Round, in.Earlier[0].Round = c.round, c.round-1
		d := decide(match(gather(in)))
		text := d.report(d.result())
		for _, part := range []string{": changes requested · 3 to fix, 1 of them came back after a fix · round", c.next, "waits for a person"} {
			if !strings.Contains(text, part) {
				t.Errorf("round %d: no %q in\n%s", c.round, part, text)
			}
		}
		if last := strings.Contains(text, "3 findings are left after 3 rounds, which is all there are"); last != (c.round == 3) {
			t.Errorf("round %d:\n%s", c.round, text)
		}
	}
}

// TestStages: what was answered, set aside, counts, and stands openly, each with keys of its own. It is what the report shows.
func TestStages(t *testing.T) {
	in := secondRound()
	in.Round, in.Past, in.Earlier, in.Written, in.Request.MinSupport = 1, nil, nil, nil, 2
	titles := func(list []review.Issue) (out []string) {
		keys := map[string]bool{}
		for _, i := range list {
			if i.Key == "" || keys[i.Key] {
				t.Errorf("key %q of %q is not its own", i.Key, i.Title)
			}
			keys[i.Key] = true
			out = append(out, i.Title)
		}
		return out
	}
	for i := range 2 { // as when nobody quotes anything
		for k := range in.Reports[i].Answer.Reviewer.Findings {
			in.Reports[i].Answer.Reviewer.Findings[k].Fingerprint = "f"
		}
	}
	s := Stages(in)
	for name, row := range map[string]struct{ got, want []string }{
		"answered": {titles(s.Answered), []string{leak, typo, leak2, nilMap}}, "set aside": {titles(s.SetAside), []string{typo}},
		"counted": {titles(s.Counted), []string{leak2}}, "prominent": {titles(s.Prominent), []string{leak2}},
	} {
		if d := cmp.Diff(row.want, row.got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	in.Request.MinSupport = 0
	if got := titles(Stages(in).Counted); !cmp.Equal(got, []string{leak2, nilMap}) {
		t.Errorf("with one voice enough: %q", got)
	}
}
