package stats

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

func ptr[T any](v T) *T { return &v }

// asked is an answer of a reviewer of a model.
func asked(name, model string, state review.AgentState, input, cached, output int, usd *float64) review.AgentReceipt {
	return review.AgentReceipt{Name: name, Role: review.RoleReviewer, Model: model, State: state, Seconds: 3,
		Usage: review.Usage{LLMCalls: 1, InputTokens: &input, CachedTokens: &cached, OutputTokens: &output, CostUSD: usd}}
}

func became(p review.Priority, fate review.Fate, prominent bool, by ...review.Voice) review.FindingFate {
	return review.FindingFate{Fate: fate, Priority: p, Category: "bug", Counted: true, Prominent: prominent, By: by}
}

// runs are three that ended, one that did not, one of before fates were kept, and one that came to what the second did.
func runs() []store.Run {
	here := review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, PR: 7}
	alpha, beta := review.Voice{Name: "alpha", Model: "m", Confidence: ptr(0.9)}, review.Voice{Name: "beta", Model: "m", Confidence: ptr(0.5)}
	fixed := became(review.P1, review.FateFixed, true, alpha, beta)
	fixed.Probability, fixed.VerifiedBy = ptr(0.8), "v"
	refuted := became(review.P2, review.FateRefuted, false, beta)
	refuted.Counted, refuted.Probability, refuted.VerifiedBy = false, ptr(0.1), "v"
	person := became(review.P2, review.FateResolved, true)
	person.Person = true
	rounds := func(n int, agents ...review.AgentReceipt) (out []review.RoundResult) {
		for i := range n {
			out = append(out, review.RoundResult{Round: i + 1, Agents: agents})
		}
		return out
	}
	return []store.Run{
		{ID: "1", Target: here, Result: &review.RunResult{Outcome: review.Converged, Seconds: 10, Fates: []review.FindingFate{fixed, refuted},
			Rounds: rounds(2, asked("alpha", "m", review.AgentComplete, 100, 40, 10, ptr(0.25)), asked("beta", "m", review.AgentFailed, 0, 0, 0, nil))}},
		{ID: "2", Target: here, Result: &review.RunResult{Outcome: review.ChangesRequested, Seconds: 20, Fates: []review.FindingFate{became(review.P1, review.FateRejected, true, alpha), person},
			Rounds: rounds(1, asked("alpha", "m", review.AgentComplete, 100, 80, 10, ptr(0.25)))}},
		{ID: "3", Target: review.Target{Base: "main"}, Result: &review.RunResult{Outcome: review.Converged, Rounds: rounds(1)}},
		{ID: "4", Target: here},
		{ID: "5", Target: here, Result: &review.RunResult{Outcome: review.Stuck, Findings: []review.Finding{{ID: "X"}}, Rounds: rounds(3)}},
		{ID: "6", Target: here, Result: &review.RunResult{Outcome: review.ChangesRequested, Again: "2", Fates: []review.FindingFate{became(review.P1, review.FateRejected, true, alpha)}, Rounds: rounds(1)}},
	}
}

func digest(t *testing.T) *Digest {
	t.Helper()
	var d Digest
	for _, r := range runs() {
		if err := d.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return &d
}

func TestDigest(t *testing.T) {
	rows := map[string]map[string]any{}
	var order []string
	for _, r := range digest(t).Rows() {
		name := strings.TrimSpace(r.By + " " + r.Name)
		data, err := json.Marshal(r.Map())
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		if len(m) != len(Fields()) {
			t.Errorf("%s has %d fields, %d are listed", name, len(m), len(Fields()))
		}
		rows[name], order = m, append(order, name)
	}
	want := "all, repository acme/widgets, repository (local), severity P1, severity P2, category bug, agent alpha, agent beta, agent (people), model m"
	if got := strings.Join(order, ", "); got != want {
		t.Errorf("rows are %s\nwant %s", got, want)
	}
	for name, fields := range map[string]map[string]any{
		"all": {"runs": 4., "rounds": 7., "findings": 4., "counted": 3., "prominent": 3., "setAside": 1., "fixed": 1., "rejected": 1., "resolved": 1., "refuted": 1., "unrecorded": 1.,
			"answers": 5., "failed": 2., "tokens": 330., "costUsd": 0.75, "unpriced": 2., "seconds": 30., "cachedShare": 160. / 300},
		"repository (local)":      {"runs": 1., "findings": 0., "cachedShare": nil},
		"repository acme/widgets": {"runs": 3., "findings": 4.},
		"severity P1":             {"findings": 2., "fixed": 1., "rejected": 1., "runs": 0.},
		"agent alpha":             {"findings": 2., "answers": 3., "failed": 0., "seconds": 9.},
		"agent beta":              {"findings": 2., "fixed": 1., "refuted": 1., "failed": 2., "unpriced": 2.},
		"agent (people)":          {"findings": 1., "resolved": 1., "answers": 0.},
		"model m":                 {"findings": 3., "answers": 5.}, // one that two reviewers of the model raised is one
	} {
		for field, want := range fields {
			if got := rows[name][field]; got != want {
				t.Errorf("%s of %s is %v, want %v", field, name, got, want)
			}
		}
	}
	if got := rows["all"]["converged"]; len(got.([]any)) != 3 || got.([]any)[0] != 1. || got.([]any)[1] != 1. {
		t.Errorf("converged is %v", got)
	}
}

// A refuted finding says something of who raised it, and nothing of the verifier that refuted it.
func TestObservations(t *testing.T) {
	type seen struct{ held, all int }
	got := map[string]seen{}
	for _, o := range digest(t).Observations() {
		k := o.Of + " of " + o.Model
		n := got[k]
		n.all++
		if o.Held {
			n.held++
		}
		got[k] = n
		if o.From != calibration.FromRuns {
			t.Errorf("%+v", o)
		}
	}
	if len(got) != 2 || got["probability of v"] != (seen{1, 1}) || got["confidence of m"] != (seen{2, 4}) {
		t.Errorf("%v", got)
	}
}

func TestWrite(t *testing.T) {
	d := digest(t)
	var terminal, pipe, note bytes.Buffer
	if err := d.Write(&terminal, &note, true, 120); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"4 runs of 2 repositories; 1 more not ended", "1.0 findings (0.8 counted, 0.8 prominent, 0.2 set aside)", "> $0.19", "53 % of the input came from prompt caches",
		"converged in one round: 1, in two: 1, in three: 0", "OUTCOME", "50 %", "agent beta", "NOT COMPLETE", "1 run ended before it was kept what became of findings.",
	} {
		if !strings.Contains(terminal.String(), want) {
			t.Errorf("%q is missing in\n%s", want, terminal.String())
		}
	}
	for line := range strings.Lines(terminal.String()) {
		if len([]rune(line)) > 121 {
			t.Errorf("a line is wider than the terminal: %s", line)
		}
	}
	if err := d.Write(&pipe, &note, false, 0); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(pipe.String()), "\n")
	for _, line := range lines {
		if n := strings.Count(line, "\t"); n != len(Fields())-2 { // outcomes is a group
			t.Errorf("%d tabs in %q", n, line)
		}
	}
	if len(lines) != 10 || !strings.HasPrefix(lines[0], "all\t\t4\t7\t2\t4\t3\t3\t1\t") {
		t.Errorf("%s", pipe.String())
	}
	if note.Len() > 0 {
		t.Errorf("%s", note.String())
	}
	pipe.Reset()
	if err := new(Digest).Write(&pipe, &note, false, 0); err != nil || pipe.Len() > 0 || strings.Count(note.String(), "\n") != 1 {
		t.Errorf("of no runs: %q, %q, %v", pipe.String(), note.String(), err)
	}
}

// What a model is called, and what a reviewer calls a category, is text from outside.
func TestNamesAreText(t *testing.T) {
	bad := "a\x1b[31m\tb\nc"
	var d Digest
	f := became(review.P1, review.FateOpen, true, review.Voice{Name: bad, Model: bad})
	f.Category, f.Probability, f.VerifiedBy, f.Fate = bad, ptr(0.5), bad, review.FateFixed
	if err := d.Add(store.Run{Target: review.Target{Base: bad}, Result: &review.RunResult{Fates: []review.FindingFate{f}}}); err != nil {
		t.Fatal(err)
	}
	for _, terminal := range []bool{true, false} {
		var b, note bytes.Buffer
		if err := d.Write(&b, &note, terminal, 100); err != nil {
			t.Fatal(err)
		}
		WriteCurves(&b, calibration.Fit(d.Observations()))
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "\x1b[31m") || strings.HasPrefix(line, "c") && !strings.HasPrefix(line, "category") {
				t.Errorf("%q", line)
			}
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"": "0001-01-01 00:00:00", "2026-11-01": "2026-11-01 00:00:00", "36h": "2026-11-21 00:00:00", "30d": "2026-10-23 12:00:00", "2w": "2026-11-08 12:00:00",
		"d": "", "0d": "", "-3d": "", "30": "", "yesterday": "", "2026-13-01": "", "99999999999d": "",
	} {
		got, ok := Since(text, now)
		if ok != (want != "") || ok && got.Format(time.DateTime) != want {
			t.Errorf("%q is %v, %v; want %q", text, got, ok, want)
		}
	}
}

// set makes a result set of the carried cases: the first expected finding of each, said with 0.9, and a made-up one, said with 0.7.
func set(t *testing.T, models ...string) (dir string, right, wrong int) {
	t.Helper()
	known, err := cases.Read(carried)
	if err != nil {
		t.Fatal(err)
	}
	m := results.Manifest{Name: "one", Repeats: 1, Models: models}
	for _, c := range known.Cases {
		m.Cases = append(m.Cases, results.Planned{ID: c.ID, Input: c.InputDigest})
	}
	dir = filepath.Join(t.TempDir(), "set")
	w, err := results.Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range known.Cases {
		r := results.Review{Case: c.ID, Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK}}
		if len(c.Golden) > 0 {
			a := c.Places(c.Golden[0])[0]
			r.Result.Issues = append(r.Result.Issues, review.Issue{Key: "a", File: a.File, LineStart: a.Start, Category: c.Golden[0].Categories[0], Title: c.Golden[0].Text, Confidence: ptr(0.9)})
			right++
		}
		r.Result.Issues = append(r.Result.Issues, review.Issue{Key: "b", Title: "Nothing in particular", Confidence: ptr(0.7)})
		wrong++
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	return dir, right, wrong
}

const carried = "../testkit/forge/testdata/cases"

// What an evaluation says of a reviewer's confidence stands in the table beside what runs say; of a review that several models made
// nobody knows whose word it was.
func TestFitting(t *testing.T) {
	dir, right, wrong := set(t, "m")
	out := filepath.Join(t.TempDir(), "table.json")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	f := Fitting{Out: out, Results: []string{dir}, Cases: carried, By: "content"}
	if err := f.Run(&b, here, digest(t).Observations()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	table, err := calibration.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	c := table.Find(calibration.Confidence, "m")
	if c == nil || c.Eval != right+wrong || c.Runs != 4 || c.Bins[9].Held != right+1 || c.Bins[9].Findings != right+2 || c.Bins[7].Held != 0 || c.Bins[7].Findings != wrong {
		t.Errorf("%+v of %d right and %d wrong", c, right, wrong)
	}
	for _, want := range []string{"confidence of m: 4 findings of runs, ", "of evaluations", "probability of v: 1 finding of runs, 0 of evaluations", "table " + table.ID()} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	several, _, _ := set(t, "m", "n")
	b.Reset()
	if err := (Fitting{Results: []string{several}, Cases: carried, By: "content"}).Run(&b, here, nil); err != nil || !strings.Contains(b.String(), "left out: several models") || !strings.Contains(b.String(), "nothing is known yet") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := (Fitting{Results: []string{t.TempDir()}, Cases: carried, By: "content"}).Run(&b, here, nil); err == nil {
		t.Error("an empty folder is a result set")
	}
}
