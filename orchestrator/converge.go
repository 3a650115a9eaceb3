package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// nearLines is how far apart two findings of one region may stand (design.md "Convergence").
const nearLines = 20

// weigh is how much a finding of a priority counts in "the weight of findings introduced by fixes": each step of
// urgency is worth twice the next, and suggestions, which are never sent to the fixer as duties, count nothing.
func weigh(p review.Priority) int {
	switch p {
	case review.P1:
		return 4
	case review.P2:
		return 2
	case review.P3:
		return 0
	}
	return 8
}

// follow compares this round's findings with those of earlier rounds: which came back, which were introduced by a fix, and
// what is to be remembered.
func (b *bench) follow() {
	in := b.in
	b.same = again(in.Earlier, b.findings, b.groups)
	returned := map[int]bool{}
	for g, group := range b.groups {
		t := Tracked{Round: in.Round}
		for _, i := range group {
			t.Findings = append(t.Findings, b.findings[i])
		}
		first := b.findings[group[0]]
		if old := b.same[g]; old >= 0 {
			returned[old] = severe(t.Findings) || !severe(in.Earlier[old].Findings) // what comes back as minor is not settled by that
			was := in.Earlier[old]
			t.ID, t.Claim, t.FixedIn, t.Introduced = was.ID, was.Claim, was.FixedIn, was.Introduced
			t.Stuck = was.Stuck || was.FixedIn > 0
		} else if first.Cause != nil {
			t.Introduced = true
			b.introduced += weigh(first.Priority)
			b.fresh = append(b.fresh, g)
		}
		b.tracked = append(b.tracked, t)
		if t.Stuck {
			b.stuck = append(b.stuck, g)
		}
	}
	for i, t := range in.Earlier { // what is gone may come back in a later round
		if returned[i] {
			continue
		}
		t.Settled = t.Settled || b.settled(t)
		if !t.SetAside || !t.Settled {
			b.tracked = append(b.tracked, t)
		}
	}
	for i, u := range b.setAside() {
		id := fmt.Sprintf("set-aside-%d", i+1)
		b.tracked = append(b.tracked, Tracked{
			Findings: []review.Finding{u.Finding}, Round: in.Round, ID: id, SetAside: true,
			Claim: &review.Claim{FindingID: id, Kind: review.ClaimSetAside, Text: "it " + u.Reason},
		})
	}
}

// tagCauses names the fix commit of this run that wrote the lines a finding stands on.
func (b *bench) tagCauses() {
	for i := range b.findings {
		if commit := wrote(b.findings[i], b.in.Written); commit != "" {
			b.findings[i].Cause = &review.Cause{Kind: "introduced_by_fix", Commit: commit}
		}
	}
}

// converge decides what follows on a review that asks for changes: the end with its name, or another fix
// (design.md "Convergence", spec.md L5).
func (b *bench) converge(reason string) (outcome review.Outcome, why string, goesOn bool) {
	b.payload = b.makePayload()
	req := b.in.Request
	open := len(b.payload.IssuesToFix)
	if len(b.stuck) > 0 && open == 0 {
		return review.Stuck, fmt.Sprintf("manual intervention required: %s after the fixer had reported %s fixed",
			plural(len(b.stuck), "finding came back", "findings came back"), them(len(b.stuck))), false
	}
	if region, what := b.divergingRegion(); region != "" {
		b.region, b.drift = region, what
		return review.Diverging, fmt.Sprintf("the fixes do not converge: %s %s", sanitize.CodeSpan(region), what), false
	}
	switch {
	case open == 0, req.Fix == nil, req.DryRun:
		return review.ChangesRequested, reason, false
	case b.in.Round >= req.rounds():
		if b.in.Round == 1 {
			return review.ChangesRequested, reason, false
		}
		return review.ChangesRequested, fmt.Sprintf("%s after %d rounds, which is all there are: %s",
			plural(open, "finding is left", "findings are left"), b.in.Round, reason), false
	}
	return review.ChangesRequested, reason, true
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// divergingRegion says where fixes keep making new findings, and in words how; empty when they do not.
func (b *bench) divergingRegion() (region, what string) {
	if b.introduced == 0 {
		return "", ""
	}
	for _, g := range b.fresh {
		f := b.findings[b.groups[g][0]]
		if weigh(f.Priority) == 0 {
			continue
		}
		for _, t := range b.in.Earlier {
			if t.Introduced && near(t.Findings[0], f) {
				return regionOf(f), "keeps producing new findings after each fix"
			}
		}
	}
	if n := len(b.in.Past); n > 0 && b.in.Past[n-1].Introduced > 0 && b.introduced >= b.in.Past[n-1].Introduced {
		f := b.findings[b.groups[b.fresh[0]][0]]
		return regionOf(f), fmt.Sprintf("has problems introduced by fixes, which are not decreasing (weight %d, was %d)", b.introduced, b.in.Past[n-1].Introduced)
	}
	return "", ""
}

func near(a, b review.Finding) bool {
	if a.File != b.File || a.File == "" {
		return false
	}
	if a.Line == nil || b.Line == nil {
		return true
	}
	d := *a.Line - *b.Line
	return max(d, -d) <= nearLines
}

func regionOf(f review.Finding) string {
	if f.Line == nil {
		return f.File
	}
	return fmt.Sprintf("%s:%d-%d", f.File, max(*f.Line-nearLines, 1), *f.Line+nearLines)
}

// fixCommits are the commits that fixes of this run pushed, oldest first.
func (b *bench) fixCommits() []string {
	var out []string
	for _, p := range b.in.Past {
		if p.Fix == nil {
			continue
		}
		for _, c := range p.Fix.Commits {
			out = append(out, c.SHA)
		}
	}
	return out
}

// makePayload is what the fixer is asked (spec.md A4): every distinct finding that counts and is not stuck, P0-P2 as duties and P3
// as offers. Each carries an id of its own, which the answer is held against: finders give the same ids again every round, so
// that those of earlier findings belong to these alone.
func (b *bench) makePayload() review.FixPayload {
	p := review.FixPayload{PRNumber: b.in.Request.Target.PR, Round: b.in.Round, IssuesToFix: []review.Finding{}, OptionalIssues: []review.Finding{}}
	used, again := map[string]bool{}, map[string]bool{}
	for _, t := range b.in.Earlier {
		used[t.ID] = true
	}
	for g, group := range b.groups {
		if slices.Contains(b.stuck, g) {
			continue
		}
		f := b.findings[group[0]]
		if id := b.tracked[g].ID; id != "" && !again[id] { // the one it was called by before
			f.ID, again[id] = id, true
		} else {
			f.ID = unique(f, used)
		}
		b.tracked[g].ID = f.ID
		if f.Priority == review.P3 || !b.counts[group[0]] {
			p.OptionalIssues = append(p.OptionalIssues, f)
			continue
		}
		p.IssuesToFix = append(p.IssuesToFix, f)
	}
	return p
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
