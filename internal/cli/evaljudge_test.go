package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// compares is a model that calls every pair the same fault; it says no to the first question of a request where the expected text stands second.
func compares(expected string) func(fakemodel.Request) (fakemodel.Answer, bool) {
	question := regexp.MustCompile(`# (Q\d+)\\n`)
	return func(q fakemodel.Request) (fakemodel.Answer, bool) {
		body := string(q.Body)
		var answers []map[string]any
		for _, m := range question.FindAllStringSubmatch(body, -1) {
			answers = append(answers, map[string]any{"id": m[1], "same": true})
		}
		if len(answers) == 0 {
			return fakemodel.Answer{}, false
		}
		if second := strings.LastIndex(body, " second, at"); strings.Contains(body[second:], expected) {
			answers[len(answers)-1]["same"] = false
		}
		data, err := json.Marshal(map[string]any{"answers": answers})
		return fakemodel.Answer{JSON: data}, err == nil
	}
}

// TestEvalJudge scores results with a judge: it is asked what place and words leave open, its contradiction is named, and from the recording it is all
// had again without a model.
func TestEvalJudge(t *testing.T) {
	t.Parallel()
	e := newEvaluation(t)
	known, err := cases.Read(e.cases)
	if err != nil {
		t.Fatal(err)
	}
	c := known.Cases[0]
	w, err := results.Create(filepath.Join(e.home, "set"), results.Manifest{Name: "x", Repeats: 1, Cases: []results.Planned{{ID: c.ID, Input: c.InputDigest}}})
	if err == nil {
		at := c.Places(c.Golden[0])[0]
		err = w.Add(results.Review{Case: c.ID, Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK, Issues: []review.Issue{
			{Key: "k", Title: "Zebras graze quietly here", File: at.File, LineStart: at.Start, Category: c.Golden[0].Categories[0]},
		}}})
	}
	if err == nil {
		err = w.Seal()
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(e.home, "agents", "reader.yml"), []byte("model: scripted\n"))
	text, err := json.Marshal(c.Golden[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	e.model = endpoint(t, fakemodel.Script{Respond: compares(strings.Trim(string(text), `"`)[:20])})
	e.env = append(e.env, "OPENAI_BASE_URL="+e.model.URL())
	judge := []string{"score", "set", "--cases", e.cases, "--config", "agents", "--judge", "reader"}
	e.run(2, "--record and --replay are of a judge", "score", "set", "--cases", e.cases, "--record", "tape.jsonl")
	e.run(2, "agent nobody", "score", "set", "--cases", e.cases, "--judge", "nobody")
	first := e.run(0, "judge:reader", append(judge, "--record", "tape.jsonl", "--json")...)
	var r scoring.Report
	if err := json.Unmarshal([]byte(first), &r); err != nil || r.Agreement == nil || r.Agreement.Open == 0 || len(r.Agreement.Contradicted) != 1 || r.Primary().Measure != "judge:reader" ||
		r.Agreement.Itself.Of-r.Agreement.Itself.Agreed != 1 {
		t.Fatalf("%v: %s", err, first)
	}
	asked := len(e.model.Requests())
	e.run(0, "contradicts itself, counted as different: "+c.ID+"/1", append(judge, "--record", "tape.jsonl")...)
	for _, q := range e.model.Requests()[asked:] {
		if strings.Contains(string(q.Body), "same fault") {
			t.Error("what the recording holds is asked again")
		}
	}
	_ = e.model.Close()
	e.env = slices.DeleteFunc(e.env, func(v string) bool { return strings.HasPrefix(v, "OPENAI_") })
	if again := e.run(0, "judge:reader", append(judge, "--replay", "tape.jsonl", "--json")...); again != first {
		t.Errorf("replayed it is another score:\n%s\n%s", first, again)
	}
	write(t, filepath.Join(e.home, "agents", "reader.yml"), []byte("model: another\n"))
	e.run(2, "there is no recording of it", append(judge, "--replay", "tape.jsonl")...)
	if left, err := os.ReadDir(filepath.Join(e.home, "state", "eval")); err != nil || len(left) != 0 {
		t.Errorf("%v: %v is left of the judge", err, left)
	}
}
