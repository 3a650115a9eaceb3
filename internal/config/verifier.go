package config

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/prloop/prloop/review"
)

// VerifierName is the verifier's name in a run.
const VerifierName = "verifier"

// JudgeName is the name of the judge of disputes in a run; further ones have a number behind it.
const JudgeName = "judge"

// useOff is how a file says that nobody verifies, judges, scans or fixes; UseNone and false say it too.
const useOff = "off"

// Verification are the settings of the verifier beside who it is.
type Verification struct {
	// Limits are its budgets in one round, but for how many findings it is asked about, which is Settings.Limits.Candidates.
	Limits review.Limits
	// LookBelow and StrongerBelow are confidences, ExtraFiles and ExtraLines bound what is read for each finding (review.VerifyPayload).
	LookBelow, StrongerBelow float64
	ExtraFiles, ExtraLines   int
}

// defaultVerification leaves room to look things up for all findings of a round, with the numbers of spec.md R4 and R8.
func defaultVerification() Verification {
	l := review.DefaultLimits()
	l.LLMCalls, l.ToolCalls, l.WallTimeSeconds, l.CostUSD = 12, 40, 300, 0.50
	return Verification{Limits: l, LookBelow: 0.65, StrongerBelow: 0.6, ExtraFiles: 2, ExtraLines: 200}
}

// verifierShape is the verifier, or a word.
func verifierShape() shape {
	agent := agentShape(false)
	agent["properties"].(shape)["use"] = described(choice(review.KindBuiltin, review.KindCommand, review.KindACP),
		"builtin asks a model; command runs any program that speaks JSON over stdio; acp drives an agent over the Agent Client Protocol.")
	return orWord(agent, useOff, UseNone, false)
}

// verifierValue reads and writes a verifier as a file has it: a group of keys, or a word.
type verifierValue Agent

// UnmarshalJSON reads it; the schema lets no other words pass.
func (v *verifierValue) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"` + review.KindBuiltin + `"`:
		*v = verifierValue{Use: review.KindBuiltin}
		return nil
	case "false", `"` + useOff + `"`, `"` + UseNone + `"`:
		*v = verifierValue{Use: UseNone}
		return nil
	}
	return json.Unmarshal(b, (*Agent)(v))
}

// MarshalJSON writes it for people.
func (v verifierValue) MarshalJSON() ([]byte, error) {
	if v.Use == UseNone || v.Use == "" {
		return json.Marshal(useOff)
	}
	return json.Marshal(Agent(v))
}

// verifier settles who verifies when nobody was named: a model where a model reviews, with the model of the first such reviewer.
func (r *resolver) verifier() {
	s := &r.settings
	asks := func(a Agent) bool { return a.Use == review.KindBuiltin || a.Use == review.KindACP }
	first := slices.IndexFunc(s.Reviewers, asks)
	if s.Verifier.Use == "" {
		s.Verifier.Use = UseNone
		if s.ModelConfigured() && first >= 0 && levelOf(s.Effort).verifier {
			s.Verifier.Use = review.KindBuiltin
		}
	}
	if asks(s.Verifier) && first >= 0 {
		s.Verifier.Model = cmp.Or(s.Verifier.Model, s.Reviewers[first].Model)
	}
	s.Verifier.Name = VerifierName
	r.verifierLimits()
}

// judge settles who judges disputes when nobody was named: a model where a model reviews. Which model is asked follows from who raised what
// is disputed.
func (r *resolver) judge() {
	s := &r.settings
	if s.Judge.Use == "" {
		s.Judge.Use = UseNone
		if s.ModelConfigured() && slices.ContainsFunc(s.Reviewers, func(a Agent) bool { return a.Use == review.KindBuiltin || a.Use == review.KindACP }) {
			s.Judge.Use = review.KindBuiltin
		}
	}
	s.Judge.Name = JudgeName
}

// verifierLimits hold the verifier to what somebody chose for one agent where nobody chose more for it.
func (r *resolver) verifierLimits() {
	all, v := r.settings.Limits, &r.settings.Verification.Limits
	chosen := func(key string) bool {
		return r.origins["limits."+key].layer != LayerDefault && r.origins["verification."+key].layer == LayerDefault
	}
	if chosen("max_llm_calls") {
		v.LLMCalls = min(v.LLMCalls, all.LLMCalls)
	}
	if chosen("max_tool_calls") {
		v.ToolCalls = min(v.ToolCalls, all.ToolCalls)
	}
	if chosen("max_wall_time_seconds") {
		v.WallTimeSeconds = min(v.WallTimeSeconds, all.WallTimeSeconds)
	}
	if chosen("max_cost_usd") {
		v.CostUSD = min(v.CostUSD, all.CostUSD)
	}
}
