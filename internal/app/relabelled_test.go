package app

import (
	"testing"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/review"
)

// What a verdict says rests on the labels of the gate that its run read, and on no others (threats.md T860).
func TestRelabelled(t *testing.T) {
	said := func(labels ...string) *review.Gate {
		g := &review.Gate{}
		for _, l := range labels {
			g.Labels = append(g.Labels, review.GateLabel{Name: l})
		}
		return g
	}
	for _, row := range []struct {
		name   string
		read   string
		gate   *review.Gate
		labels []string
		want   bool
	}{
		{"the one that hardens is set", "none", said(), []string{"bug", gate.Strict}, true},
		{"the one that softens is taken off", gate.Advisory, said(gate.Advisory), nil, true},
		{"one is set besides the other", gate.Advisory, said(gate.Advisory), []string{gate.Strict, gate.Advisory}, true},
		{"another label is set", "none", said(), []string{"bug"}, false},
		{"the same stand", gate.Advisory, said(gate.Advisory), []string{"bug", gate.Advisory}, false},
		{"one holds that was taken off before", "none", said(gate.Strict), nil, false},
		{"the gate is off", "none", nil, []string{gate.Strict}, false},
		{"what was read is not on record, and what was said is", "", said(gate.Advisory), nil, true},
		{"what was read is not on record, and nothing changed", "", said(gate.Advisory), []string{gate.Advisory}, false},
	} {
		result := review.RunResult{Gate: row.gate, Receipt: review.Receipt{LabelsRead: row.read}}
		if got := relabelled(review.PullRequest{Labels: row.labels}, result); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
