package report

import (
	"fmt"
	"strings"
)

// Summary gives the plain lines a terminal or a log shows at the end of a round. The first names the consensus as the
// spec.md A6 writes it. Texts are untrusted: who prints them makes control characters visible.
func Summary(d Data) []string {
	d = Canonical(d)
	lines := []string{"consensus: none"}
	if v := d.Verdict; v != nil {
		lines = []string{
			"consensus: " + string(v.Consensus),
			fmt.Sprintf("findings: %d P0, %d P1, %d P2, %d P3 (%d distinct)", v.Issues.P0, v.Issues.P1, v.Issues.P2, v.Issues.P3, v.Distinct),
		}
		for i, n := range v.Rules {
			lines = append(lines, fmt.Sprintf("rule %d: %s", n, v.Reasons[i]))
		}
	}
	if d.Outcome != "" {
		lines = append(lines, strings.TrimSpace("outcome: "+string(d.Outcome)+" "+d.Reason))
	}
	r := d.Receipt
	lines = append(lines, fmt.Sprintf("reviewed: %d of %s, %d of %s, by %s (%d needed)", r.FilesGiven, count(r.Files, "file"),
		r.HunksGiven, count(r.Hunks, "hunk"), count(r.Complete, "complete reviewer"), r.MinReviewers))
	for _, f := range d.Findings {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s%s %s", f.Priority, f.File, lineSuffix(f, ":", "-"), f.Title)))
	}
	return lines
}
