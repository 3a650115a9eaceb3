package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// verifierCurve says what the verifier's probabilities are worth; nil takes them as they are.
func (g gathered) verifierCurve() *calibration.Curve {
	if g.in.Verifier == nil {
		return nil
	}
	return g.in.Request.Calibration.Find(calibration.Probability, g.in.Verifier.Answer.Receipt.Answered())
}

// trusted is what the surest of those who raised a finding is worth by the curve of its model; nil where none has one.
func (m matched) trusted(group []int) (worth *int) {
	for _, i := range group {
		f := m.findings[i]
		if c := m.in.Request.Calibration.Find(calibration.Confidence, m.modelOf(f)); c != nil && f.Confidence != nil {
			if w := c.Worth(*f.Confidence); worth == nil || w > *worth {
				worth = &w
			}
		}
	}
	return worth
}

// modelOf is the model of the agent that raised a finding; empty when it is not known.
func (g gathered) modelOf(f review.Finding) string {
	i := slices.IndexFunc(g.in.Reports, func(h AgentReport) bool { return h.Answer.Receipt.Name == f.Source.Name })
	if f.Source.Type != "agent" || i < 0 {
		return ""
	}
	return g.in.Reports[i].Answer.Receipt.Answered()
}

// calibrationWords say by which table this round's probabilities were weighed; empty without one.
func (g gathered) calibrationWords() string {
	t := g.in.Request.Calibration
	if t == nil {
		return ""
	}
	var used []string
	add := func(of string, r review.AgentReceipt) {
		model, name := r.Answered(), ""
		switch c := t.Find(of, model); {
		case model == "" && len(r.Usage.Models) > 1:
			name = fmt.Sprintf("none for %s, of which several models answered", sanitize.CodeSpan(r.Name))
		case c != nil:
			name = fmt.Sprintf("%s of %s (%s)", of, sanitize.CodeSpan(model), plural(c.Eval+c.Runs, "finding", "findings"))
		case model != "" && of == calibration.Probability:
			name = "none for the probability of " + sanitize.CodeSpan(model)
		}
		if name != "" && !slices.Contains(used, name) {
			used = append(used, name)
		}
	}
	if g.in.Verifier != nil {
		add(calibration.Probability, g.in.Verifier.Answer.Receipt)
	}
	for _, h := range g.in.Reports {
		if h.Answer.Receipt.Role == review.RoleReviewer {
			add(calibration.Confidence, h.Answer.Receipt)
		}
	}
	if used == nil {
		used = []string{"no model of it took part"}
	}
	return fmt.Sprintf("table %s: %s", sanitize.CodeSpan(t.ID()), strings.Join(used, "; "))
}
