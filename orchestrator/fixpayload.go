package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// makePayload is what the fixer is asked (spec.md A4): every distinct finding that counts, and neither is stuck nor waits for a person, P0-P2 as duties and P3
// as offers, but for what the rule leaves out and what only people say who may not have it done, and what is tracked under the names they are given. Each carries an id of its own, which the answer is held against: finders give the same ids again every round, so
// that those of earlier findings belong to these alone.
func (m matched) makePayload(c counted) (p review.FixPayload, tracked []Tracked) {
	tracked = slices.Clone(m.tracked)
	p = review.FixPayload{PRNumber: m.in.Request.Target.PR, Round: m.in.Round, IssuesToFix: []review.Finding{}, OptionalIssues: []review.Finding{}}
	used, again, people := map[string]bool{}, map[string]bool{}, m.in.Snapshot.duties(m.in.Request.Target.PR)
	for _, t := range m.in.Earlier {
		used[t.ID] = true
	}
	for g, group := range m.groups {
		f, ok := m.duty(group, people)
		if !ok || slices.Contains(m.stuck, g) || slices.Contains(m.waiting, g) || c.left[group[0]] {
			continue
		}
		f = m.together(f, group, c, people)
		if id := tracked[g].ID; id != "" && !again[id] { // the one it was called by before
			f.ID, again[id] = id, true
		} else {
			f.ID = unique(f, used)
		}
		tracked[g].ID = f.ID
		if f.Priority == review.P3 || !c.counts[group[0]] {
			p.OptionalIssues = append(p.OptionalIssues, f)
			continue
		}
		p.IssuesToFix = append(p.IssuesToFix, f)
	}
	return p, tracked
}

// unique names a finding for the fixer: by its finder's own id, with the finder's name in front when two chose the same.
func unique(f review.Finding, used map[string]bool) string {
	id := strings.TrimSpace(f.ID)
	if id == "" {
		id = "finding"
	}
	if used[id] {
		id = f.Source.Name + "/" + id
	}
	name := id
	for n := 2; used[name]; n++ {
		name = fmt.Sprintf("%s#%d", id, n)
	}
	used[name] = true
	return name
}
