package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// problems share no word, so that two of them are never the same finding.
var problems = []string{"Mean divides by zero", "Token leaks into logs", "Quadratic loop over orders", "Typo within message"}

func anyProblem(t *rapid.T, by string) review.Finding {
	f := found(rapid.SampledFrom([]review.Priority{review.P0, review.P1, review.P2, review.P2, review.P2, review.P3}).Draw(t, "priority"), rapid.SampledFrom(problems).Draw(t, "title"))
	f.Category = rapid.SampledFrom([]string{"bug", "bug", "logic", "security", "SQL injection"}).Draw(t, "category")
	f.Source = review.Source{Type: "agent", Name: by}
	return f
}

func raisedBy(t *rapid.T, name string) AgentReport {
	var list []review.Finding
	for range rapid.IntRange(0, 2).Draw(t, name) {
		if f := anyProblem(t, name); !slices.ContainsFunc(list, func(o review.Finding) bool { return o.Title == f.Title }) {
			list = append(list, f)
		}
	}
	return answered(name, list...)
}

func anyDismissal(t *rapid.T) dismissals.Dismissal {
	f := anyProblem(t, "anybody")
	d := dismissals.Dismissal{File: dismissals.Name, Line: rapid.IntRange(1, 9).Draw(t, "at"), By: "mona", Why: "so", Until: rapid.SampledFrom([]string{"", "", "2026-11-22", "2026-01-01"}).Draw(t, "until")}
	if rapid.IntRange(0, 3).Draw(t, "comment") == 0 {
		d.Code = &dismissals.Code{File: f.File, Line: *f.Line, Text: "code"}
		return d
	}
	d.Mark = &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: f.Category, File: f.File, Title: f.Title}
	if f.Priority == review.P0 || f.Priority == review.P1 {
		d.Priority = f.Priority
	}
	d.Commit = rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "commit")
	return d
}

// No set of dismissals makes an approval of a round in which text was not read or too few answered, and none makes one of a round in which
// somebody raised a P0, a P1 or a security finding, now or before, unless each of these is listed with who else merged its dismissal
// (threats.md T127, T128).
func TestNoDismissalApproves(t *testing.T) {
	approved := 0
	law := func(t *rapid.T) {
		in := round()
		known := &Dismissals{Today: "2026-11-22", List: rapid.SliceOfN(rapid.Custom(anyDismissal), 0, 5).Draw(t, "dismissals")}
		in.Snapshot.Dismissals = known
		in.Merged = rapid.SampledFrom([]map[string]string{nil, {"c1": "boss"}, {"c1": "boss", "c2": "boss"}}).Draw(t, "merged")
		var j Judgement
		var raised []review.Finding
		short := false
		for n := range rapid.IntRange(1, 2).Draw(t, "rounds") {
			in.Round, in.Earlier, in.Past = n+1, j.Tracked, j.Result.Rounds
			in.Snapshot.Brief.Files = []review.BriefFile{changed("a.go")}
			in.Reports[0], in.Reports[1], short = raisedBy(t, "alpha"), raisedBy(t, "beta"), false
			raised = nil // what is raised no more is settled by who raised it
			for _, h := range in.Reports[:2] {
				raised = append(raised, h.Answer.Reviewer.Findings...)
			}
			switch rapid.IntRange(0, 5).Draw(t, "short") {
			case 0:
				in.Snapshot.Brief.Files = append(in.Snapshot.Brief.Files, review.BriefFile{Path: "big.go", Change: "modified", Hunks: 1, Omitted: "over budget"})
				short = true
			case 1:
				in.Reports[0].Answer.Receipt.State, short = review.AgentDegraded, true
			}
			j = Judge(in)
		}
		if j.Result.Outcome != review.Converged {
			return
		}
		if approved++; short {
			t.Fatalf("approved, and not all was read: %s", j.Result.Reason)
		}
		for _, f := range raised {
			if !f.Priority.Severe() && !identity.Security(f.Category) {
				continue
			}
			if f.Priority == review.P3 && slices.ContainsFunc(j.Result.Findings, func(o review.Finding) bool { return o.Title == f.Title }) {
				continue // a suggestion that stands
			}
			merged := func(d dismissals.Dismissal) bool {
				return d.Mark != nil && d.Mark.Title == f.Title && !d.Expired(known.Today) && in.Merged[d.Commit] != ""
			}
			listed := func(d review.Dismissed) bool { return d.MergedBy == "boss" }
			if !slices.ContainsFunc(known.List, merged) || !slices.ContainsFunc(j.Result.Dismissed, listed) {
				t.Fatalf("approved in spite of %s %s %q", f.Priority, f.Category, f.Title)
			}
		}
		if n := review.Count(j.Result.Findings).Total(); n != len(j.Result.Findings) || len(j.Result.Review.Issues) != len(j.Result.Groups) {
			t.Fatalf("what is dismissed is counted: %d", n)
		}
	}
	for tries := 0; approved == 0 && tries < 10; tries++ { // one draw in eight is approved, and -short makes twenty
		rapid.Check(t, law)
	}
	if approved == 0 {
		t.Error("nothing was approved: the law was not asked")
	}
}

// A line silences a P1 when somebody else merged it, and not otherwise.
func TestAMergedDismissalSilencesAP1(t *testing.T) {
	in := round()
	f := found(review.P1, "Mean divides by zero")
	in.Snapshot.Dismissals = &Dismissals{Today: "2026-11-22", List: []dismissals.Dismissal{{
		File: dismissals.Name, Line: 1, Mark: &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: "bug", File: "a.go", Title: f.Title}, By: "mona", Why: "so", Commit: "c1",
		Priority: review.P1,
	}}}
	in.Reports[0] = says("alpha", f)
	if r := Judge(in).Result; r.Outcome != review.ChangesRequested || len(r.DismissalNotes) != 1 {
		t.Errorf("nobody merged it: %s, %q", r.Outcome, r.DismissalNotes)
	}
	in.Merged = map[string]string{"c1": "boss"}
	if r := Judge(in).Result; r.Outcome != review.Converged || r.Dismissed[0].MergedBy != "boss" {
		t.Errorf("somebody else merged it: %s, %+v", r.Outcome, r.Dismissed)
	}
}

// What was P1 in an earlier round is not silenced as a P2 in the next.
func TestAFindingStaysGrave(t *testing.T) {
	in := round()
	grave, small := found(review.P1, "Mean divides by zero"), found(review.P2, "Mean divides by zero")
	in.Snapshot.Dismissals = &Dismissals{Today: "2026-11-22", List: []dismissals.Dismissal{{
		File: dismissals.Name, Line: 1, Mark: &identity.Mark{ID: identity.ID([]review.Finding{small}), Category: "bug", File: "a.go", Title: small.Title}, By: "mona", Why: "so",
	}}}
	in.Reports[0] = says("alpha", small)
	if r := Judge(in).Result; r.Outcome != review.Converged || len(r.Dismissed) != 1 || len(r.Findings) != 0 {
		t.Fatalf("a P2 by itself is silenced: %s, %+v", r.Outcome, r.Dismissed)
	}
	in.Reports[0] = says("alpha", grave)
	first := Judge(in)
	in.Round, in.Earlier, in.Past, in.Reports[0] = 2, first.Tracked, first.Result.Rounds, says("alpha", small)
	if r := Judge(in).Result; r.Outcome != review.ChangesRequested || len(r.Dismissed) != 0 || len(r.DismissalNotes) != 1 {
		t.Errorf("%s, %+v, %q", r.Outcome, r.Dismissed, r.DismissalNotes)
	}
}

// A line names a file as it is at the base, and a finding as it is at the head.
func TestADismissalFollowsARename(t *testing.T) {
	in := round()
	f := found(review.P2, "Mean divides by zero")
	f.Evidence = "return Count(shelves) / len(shelves)"
	in.Snapshot.Dismissals = &Dismissals{Today: "2026-11-22", List: []dismissals.Dismissal{{
		File: dismissals.Name, Line: 1, Mark: &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: "bug", File: "a.go", Title: "other words for it"}, By: "mona", Why: "so",
	}}}
	f.File = "b.go"
	f.Fingerprint = identity.Fingerprint(f)
	in.Reports[0] = says("alpha", f)
	in.Snapshot.Brief.Files = []review.BriefFile{changed("b.go")}
	if r := Judge(in).Result; r.Outcome != review.ChangesRequested {
		t.Errorf("another file: %s", r.Outcome)
	}
	in.Snapshot.Brief.Files[0].Change, in.Snapshot.Brief.Files[0].OldPath = "renamed", "a.go"
	if r := Judge(in).Result; r.Outcome != review.Converged || r.Dismissed[0].Finding.File != "b.go" {
		t.Errorf("the file under its new name: %s", r.Outcome)
	}
}

// A line for something grave is for the file that it names: a rename asks again, whoever merged the line. One that was merged for the new name counts (threats.md T752).
func TestAGraveDismissalFollowsNoRename(t *testing.T) {
	in := round()
	f := found(review.P1, "Mean divides by zero")
	f.File = "b.go"
	in.Merged = map[string]string{"c1": "boss"}
	in.Reports[0] = says("alpha", f)
	in.Snapshot.Brief.Files = []review.BriefFile{changed("b.go")}
	in.Snapshot.Brief.Files[0].Change, in.Snapshot.Brief.Files[0].OldPath = "renamed", "a.go"
	for file, want := range map[string]review.Outcome{"a.go": review.ChangesRequested, "b.go": review.Converged} {
		there := f
		there.File = file
		in.Snapshot.Dismissals = &Dismissals{Today: "2026-11-22", List: []dismissals.Dismissal{{
			File: dismissals.Name, Line: 1, Mark: &identity.Mark{ID: identity.ID([]review.Finding{there}), Category: "bug", File: file, Title: f.Title}, By: "mona", Why: "so", Commit: "c1", Priority: review.P1,
		}}}
		r := Judge(in).Result
		if said := strings.Contains(strings.Join(r.DismissalNotes, ""), "another name"); r.Outcome != want || said != (file == "a.go") {
			t.Errorf("a line for %s: %s, %q", file, r.Outcome, r.DismissalNotes)
		}
	}
}

func TestDismissalNotesAreFew(t *testing.T) {
	var all []string
	for n := range 9 {
		all = append(all, fmt.Sprintf("line %d.", n))
	}
	if got := strings.Join(some(all), " "); got != "line 0. line 1. line 2. line 3. line 4. 4 more are like the last." {
		t.Error(got)
	}
}

// merging says that one person merged everything.
type merging struct {
	Dismisser
	by string
}

func (m merging) MergedBy(context.Context, review.Repo, string, string) (review.Person, bool, error) {
	return review.Person{Login: m.by, ID: 7}, m.by != "", nil
}

// Who merged a dismissal counts when it is proven to be another than the author of the pull request. Who had an app open one is not
// shown (threats.md T223).
func TestMergersOfDismissals(t *testing.T) {
	for _, row := range []struct {
		name, by string
		author   review.Person
		want     string
	}{
		{"somebody else", "boss", review.Person{Login: "mona"}, "boss"},
		{"the author", "mona", review.Person{Login: "mona"}, ""},
		{"the author in other letters", "Mona", review.Person{Login: "mona"}, ""},
		{"the author, under another name since", "boss", review.Person{Login: "mona", ID: 7}, ""},
		{"nobody", "", review.Person{Login: "mona"}, ""},
		{"an author who is gone", "boss", review.Person{Login: "ghost"}, ""},
		{"an app opened it", "mona", review.Person{Login: "github-actions[bot]", Bot: true}, ""},
	} {
		in := round()
		f := found(review.P1, "Mean divides by zero")
		in.Snapshot.PR.Author = row.author
		in.Snapshot.Dismissals = &Dismissals{Today: "2026-11-22", List: []dismissals.Dismissal{{
			File: dismissals.Name, Line: 1, Priority: review.P1, Mark: &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: "bug", File: "a.go", Title: f.Title}, By: "mona", Why: "so", Commit: "c1",
		}}}
		in.Reports[0] = says("alpha", f)
		req := in.Request
		req.Target = review.Target{Repo: review.Repo{Owner: "acme", Name: "widgets"}, PR: 7}
		l := &Loop{Dismissals: merging{by: row.by}, Emit: func(review.Event) {}, Now: time.Now}
		got, err := l.mergedDismissals(t.Context(), &remembering{done: map[string][]byte{}}, req, in)
		if err != nil || got["c1"] != row.want {
			t.Errorf("%s: %v, %v; want %q", row.name, got, err, row.want)
		}
	}
}

// Where somebody else has merged a line, nobody is told to have it merged: what it does not name is said instead.
func TestWhyAMergedLineIsHeld(t *testing.T) {
	var in Inputs
	in.Request.Target = review.Target{PR: 7}
	in.Snapshot.Dismissals = &Dismissals{}
	f := review.Finding{Priority: review.P1, Category: "bug", Title: "Mean divides by zero"}
	line := dismissals.Dismissal{Mark: &identity.Mark{Category: "bug"}, Priority: review.P1}
	for merged, want := range map[bool]string{true: "in other words than all", false: "nobody but the author"} {
		notes := gathered{in: in, held: []held{{finding: f, by: line, merged: merged}}}.dismissalNotes()
		if len(notes) != 1 || !strings.Contains(notes[0], want) {
			t.Errorf("%v: %q", merged, notes)
		}
	}
}
