package app

import (
	"testing"

	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// What a verdict says rests on the labels of the gate that its run read, and a scan's on those that ask for a full review too; on no others, and on who set them last
// (threats.md T860, T864 and T865).
func TestRelabelled(t *testing.T) {
	req := orchestrator.Request{Quick: &orchestrator.QuickPlan{Triggers: escalate.Triggers{Labels: []string{"Full"}}}}
	with := func(event string, labels ...string) review.PullRequest {
		pr := review.PullRequest{Labels: labels, Labelled: map[string]string{}}
		for _, l := range labels {
			pr.Labelled[l] = event
		}
		return pr
	}
	read := func(event string, labels ...string) string { return req.LabelsRead(with(event, labels...)) }
	said, scan := &review.Gate{}, &review.Scan{}
	for _, row := range []struct {
		name string
		read string
		gate *review.Gate
		scan *review.Scan
		now  review.PullRequest
		want bool
	}{
		{"the one that hardens is set", read(""), said, nil, with("1", "bug", gate.Strict), true},
		{"the one that softens is taken off", read("1", gate.Advisory), said, nil, with(""), true},
		{"it is set again", read("1", gate.Advisory), said, nil, with("2", gate.Advisory), true},
		{"one is set besides the other", read("1", gate.Advisory), said, nil, with("1", gate.Strict, gate.Advisory), true},
		{"another label is set", read(""), said, nil, with("1", "bug"), false},
		{"the same stand", read("1", gate.Advisory), said, nil, with("1", gate.Advisory), false},
		{"the gate is off", read(""), nil, nil, with("1", gate.Strict), false},
		{"what was read is not on record", "", said, nil, with("1", gate.Advisory), true},
		{"that, and none was ever set", "", said, nil, with(""), false},
		{"that, of a scan", "", said, scan, with("1", "bug"), false},
		{"a scan, and a full review is asked for", read(""), said, scan, with("1", "full"), true},
		{"a scan, and the gate is hardened", read(""), said, scan, with("1", gate.Strict), true},
		{"a scan that a full review followed", read(""), said, &review.Scan{Escalated: "it is complex"}, with("1", "full"), false},
		{"a full review, which is asked for", read(""), said, nil, with("1", "full"), false},
	} {
		result := review.RunResult{Gate: row.gate, Scan: row.scan, Receipt: review.Receipt{LabelsRead: row.read}}
		if got := relabelled(req.LabelsRead(row.now), result); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
