package modelagent

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// asked are the parameters of a request that models who reason differ in; nil is not sent.
type asked struct {
	Temperature *float64 `json:"temperature"`
	Effort      *string  `json:"reasoning_effort"`
	Most        int      `json:"max_completion_tokens"`
}

func parameters(t *testing.T, r *rig) []asked {
	t.Helper()
	var all []asked
	for _, q := range r.model.Requests() {
		var a asked
		if err := json.Unmarshal(q.Body, &a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// TestRoomToThink: a model that reasons has room for it and gets no temperature; effort is sent where it is set, and what an
// operator says wins.
func TestRoomToThink(t *testing.T) {
	for what, row := range map[string]struct {
		model, effort string
		most, want    int
		warm          bool
	}{
		"a model that does not reason":      {DefaultModel, "", 0, 8192, true},
		"one whose name says that it does":  {"gpt-5-mini", "", 0, 32768, false},
		"one that is asked to":              {"m", "high", 0, 32768, false},
		"one that is asked not to":          {"m", "none", 0, 8192, false},
		"what the operator says":            {"m", "high", 20000, 20000, false},
		"of a model that does not, as well": {DefaultModel, "", 500, 500, true},
	} {
		t.Run(what, func(t *testing.T) {
			limits := review.Limits{LLMCalls: 1, AnswerTokens: row.most}
			r := setup(t, fakemodel.Script{Default: ptr(respond())}, limits)
			q := task()
			q.Limits, q.Options.Model, q.Options.Effort = limits, row.model, row.effort
			if _, err := Review(t.Context(), q, r.options, r.emit); err != nil {
				t.Fatal(err)
			}
			all := parameters(t, r)
			if len(all) != 1 {
				t.Fatalf("%d requests", len(all))
			}
			a := all[0]
			if a.Most != row.want || (a.Temperature != nil) != row.warm || (a.Effort != nil) != (row.effort != "") || a.Effort != nil && *a.Effort != row.effort {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestTemperature: a temperature that somebody chose is sent, also the lowest, but not to a model that is asked to think.
func TestTemperature(t *testing.T) {
	for what, row := range map[string]struct {
		effort    string
		chosen    *float64
		low, high float64
	}{
		"one":                                {"", ptr(0.7), 0.69, 0.71},
		"none":                               {"", nil, 0.005, 0.02},
		"zero":                               {"", ptr(0.0), 0, 0.001},
		"one, and the model is to think":     {"high", ptr(0.7), 0, 0},
		"one, and the model is to not think": {"none", ptr(0.7), 0, 0},
	} {
		t.Run(what, func(t *testing.T) {
			limits := review.Limits{LLMCalls: 1}
			r := setup(t, fakemodel.Script{Default: ptr(respond())}, limits)
			q := task()
			q.Limits, q.Options.Effort, q.Options.Temperature = limits, row.effort, row.chosen
			if _, err := Review(t.Context(), q, r.options, r.emit); err != nil {
				t.Fatal(err)
			}
			all := parameters(t, r)
			switch got := all[0].Temperature; {
			case len(all) != 1:
				t.Errorf("%d requests", len(all))
			case row.high == 0:
				if got != nil {
					t.Errorf("%v is sent", *got)
				}
			case got == nil || *got < row.low || *got > row.high:
				t.Errorf("%+v is sent", all[0])
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

// TestEffortRefused: a model that takes no effort is asked without it, and whoever set it is told. Another model is asked with it.
func TestEffortRefused(t *testing.T) {
	r := setup(t, fakemodel.Script{Respond: func(q fakemodel.Request) (fakemodel.Answer, bool) {
		if q.Model == DefaultModel && strings.Contains(string(q.Body), "reasoning_effort") {
			return fakemodel.Answer{Status: http.StatusBadRequest, Message: "Unrecognized request argument supplied: reasoning_effort"}, true
		}
		return assess("A", "plausible", "B", "plausible", "C", "plausible"), true
	}}, review.Limits{LLMCalls: 6, ToolCalls: 3})
	q := toVerify(review.Limits{LLMCalls: 6, ToolCalls: 3})
	q.Options.Effort, q.Options.Stronger = "low", "gpt-4o"
	r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return &shelf{}, nil }
	if _, err := Verify(t.Context(), q, r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	all := parameters(t, r)
	if len(all) != 3 || all[0].Effort == nil || all[1].Effort != nil || all[2].Effort == nil {
		t.Errorf("%+v", all)
	}
	told := 0
	for _, e := range r.events {
		if e.Level == "warn" && strings.Contains(e.Message, `takes no reasoning effort "low"`) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// TestTemperatureRefused: no name tells whether a model takes a temperature, so the endpoint is asked, once.
func TestTemperatureRefused(t *testing.T) {
	r := setup(t, fakemodel.Script{Respond: func(q fakemodel.Request) (fakemodel.Answer, bool) {
		if strings.Contains(string(q.Body), `"temperature"`) {
			return fakemodel.Answer{Status: http.StatusBadRequest, Message: "Unsupported value: 'temperature' does not support 0.01 with this model."}, true
		}
		return fakemodel.Answer{Text: "no JSON"}, true
	}}, review.Limits{LLMCalls: 2})
	q := task()
	q.Options.Model = "m"
	_, _ = Review(t.Context(), q, r.options, r.emit)
	if all := parameters(t, r); len(all) != 3 || all[0].Temperature == nil || all[1].Temperature != nil || all[2].Temperature != nil {
		t.Errorf("%+v", all)
	}
}
