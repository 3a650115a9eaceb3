package config

import (
	"encoding/json"
	"slices"

	"github.com/prloop/prloop/review"
)

// FixerName is the fixer's name in a run (spec.md A5).
const FixerName = "pr-fix"

// Fix are the settings of the fix half beside who fixes and what verifies.
type Fix struct {
	// AllowPaths are globs of paths that the operator opens to fixes, though they are protected or nobody asked for them. No repository has a say: a fix is pushed with
	// rights its files' author may not have.
	AllowPaths []string
	// UntrustedAuthors lets pull requests be fixed whose author may not write to the repository.
	UntrustedAuthors bool
	// Limits are the fixer's budgets in one try.
	Limits review.Limits
}

// defaultFixLimits leave room to read, edit and look again; a reviewer's two calls would not do for that.
func defaultFixLimits() review.Limits {
	l := review.DefaultLimits()
	l.LLMCalls, l.ToolCalls, l.WallTimeSeconds, l.CostUSD = 30, 80, 900, 1
	return l
}

// fixerValue reads and writes a fixer as a file has it: a group of keys, or a word.
type fixerValue Agent

// UnmarshalJSON reads it; the schema lets no other words pass.
func (f *fixerValue) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"` + review.KindBuiltin + `"`:
		*f = fixerValue{Use: review.KindBuiltin}
		return nil
	case "false", `"` + useOff + `"`, `"` + UseNone + `"`:
		*f = fixerValue{Use: UseNone}
		return nil
	}
	return json.Unmarshal(b, (*Agent)(f))
}

// MarshalJSON writes it for people.
func (f fixerValue) MarshalJSON() ([]byte, error) {
	if f.Use == UseNone || f.Use == "" {
		return json.Marshal(UseNone)
	}
	return json.Marshal(Agent(f))
}

// fixer settles who fixes when nobody was named: a model fixes where a model reviews. Static reviewers alone are asked for
// by people who want no model to touch their code.
func (r *resolver) fixer() {
	s := &r.settings
	if s.Fixer.Use == "" {
		s.Fixer.Use = UseNone
		builtin := func(a Agent) bool { return a.Use == review.KindBuiltin }
		if s.ModelConfigured() && slices.ContainsFunc(s.Reviewers, builtin) {
			s.Fixer.Use = review.KindBuiltin
		}
	}
	s.Fixer.Name = FixerName
}
