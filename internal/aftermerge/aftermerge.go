// Package aftermerge says what became of the findings that prloop posted on a pull request, once that is merged: fixed, dismissed, disputed or
// ignored, and unknown where nothing proves any of these (decision 85). It is pure.
package aftermerge

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// Round is one round of a run that posted its report.
type Round struct {
	Run, Head string
	// Agents are those that were asked, with the models that answered.
	Agents   []review.AgentReceipt
	Findings []review.Finding
}

// Finding is one distinct finding of one round or several.
type Finding struct {
	// IDs are the identities it was posted under, the last one last.
	IDs []string
	// Wordings are those of the last round that raised it, the gravest first. Run and Head are of that round.
	Wordings  []review.Finding
	Run, Head string
	priority  review.Priority
	category  string
	score     int
	by        []review.Voice
}

// Posted gives the distinct findings of agents in all rounds, which come in the order in which they were posted.
func Posted(rounds []Round) []Finding {
	var all []Finding
	for _, r := range rounds {
		agents := slices.DeleteFunc(slices.Clone(r.Findings), func(f review.Finding) bool { return f.Source.Type != "agent" })
		var groups [][]review.Finding
		for _, g := range identity.Join(agents) {
			var group []review.Finding
			for _, i := range g {
				group = append(group, agents[i])
			}
			slices.SortStableFunc(group, func(a, b review.Finding) int { return cmp.Compare(a.Priority.Rank(), b.Priority.Rank()) })
			groups = append(groups, group)
		}
		for g, at := range again(all, groups) {
			if at < 0 {
				all = append(all, Finding{})
				at = len(all) - 1
			}
			all[at].take(r, groups[g])
		}
	}
	return all
}

// again says for each group which finding of before it is; -1 for a new one.
func again(all []Finding, groups [][]review.Finding) []int {
	out := make([]int, len(groups))
	taken := make([]bool, len(all))
	var firsts, rest []review.Finding
	var whose []int
	for g, group := range groups {
		id := identity.ID(group)
		out[g] = slices.IndexFunc(all, func(f Finding) bool { return slices.Contains(f.IDs, id) })
		if out[g] >= 0 && !taken[out[g]] {
			taken[out[g]] = true
			continue
		}
		out[g] = -1
		firsts, whose = append(firsts, group[0]), append(whose, g)
	}
	var known []int
	for i, f := range all {
		if !taken[i] {
			rest, known = append(rest, f.Wordings[0]), append(known, i)
		}
	}
	for _, p := range identity.Match(rest, firsts, nil) {
		out[whose[p.B]] = known[p.A]
	}
	return out
}

// take adds what a round says of the finding.
func (f *Finding) take(r Round, group []review.Finding) {
	if id := identity.ID(group); !slices.Contains(f.IDs, id) {
		f.IDs = append(f.IDs, id)
	}
	gravest := group[0]
	if f.Wordings == nil || gravest.Priority.Rank() < f.priority.Rank() {
		f.priority, f.category = gravest.Priority, identity.Category(gravest.Category)
	}
	f.Wordings, f.Run, f.Head = group, r.Run, r.Head
	for _, w := range group {
		f.score = max(f.score, w.Score)
		v := review.Voice{Name: w.Source.Name}
		if i := slices.IndexFunc(r.Agents, func(a review.AgentReceipt) bool { return a.Name == v.Name }); i >= 0 {
			v.Model = r.Agents[i].Answered()
		}
		if !slices.ContainsFunc(f.by, func(o review.Voice) bool { return o.Name == v.Name }) {
			f.by = append(f.by, v)
		}
	}
	slices.SortFunc(f.by, func(a, b review.Voice) int { return cmp.Compare(a.Name, b.Name) })
}

// Quoted is where the code stands that a finding quotes.
type Quoted int

// The ways.
const (
	// Unseen: it quotes none, or nobody may or could read the file.
	Unseen Quoted = iota
	// Stands: in its file at the merged head.
	Stands
	// Gone: not any more.
	Gone
)

// Facts are what is known of a merged pull request.
type Facts struct {
	// Head is its last commit.
	Head string
	// Code is where the code of each finding is, in their order.
	Code []Quoted
	// Dismissed and Aside are findings that the newest review lists as dismissed and as set aside.
	Dismissed []review.Dismissed
	Aside     []review.Finding
	// Threads are ours, People those whose word matters in them.
	Threads []conversation.Thread
	People  conversation.People
	// Blind is true when there are comments of our account that cannot be read, as with another key: nobody knows what was settled in them.
	Blind bool
}

// Judge says what became of each finding. What proves more goes first: a word that was written down, the code, a thread.
func Judge(all []Finding, f Facts) []review.PostedFinding {
	out := make([]review.PostedFinding, 0, len(all))
	for i, one := range all {
		p := review.PostedFinding{ID: one.IDs[len(one.IDs)-1], Run: one.Run, Priority: one.priority, Category: one.category, Score: one.score, By: one.by}
		code := Unseen
		if i < len(f.Code) {
			code = f.Code[i]
		}
		p.Became, p.Why = f.judge(one, code)
		out = append(out, p)
	}
	return out
}

func (f Facts) judge(one Finding, code Quoted) (review.Became, string) {
	thread, threaded := f.thread(one)
	grave := dismissals.Case{Wordings: one.Wordings}.Grave()
	_, _, settled := f.People.Settled(thread, grave)
	settled = settled && threaded
	raised := one.Head == f.Head // by a review of the merged head
	switch {
	case f.dismissed(one):
		return review.BecameDismissed, "a dismissal silences it"
	case settled && thread.Ruling != "":
		return review.BecameDismissed, "prloop settled its thread by a ruling"
	case !raised && code == Gone:
		return review.BecameFixed, "the code it quotes is not in the merged head"
	case !raised && threaded && thread.Status == conversation.Resolved && thread.Ruling == "":
		return review.BecameFixed, "a later review settled its thread as fixed"
	case settled:
		return review.BecameDismissed, "somebody resolved its thread"
	case !raised && matches(one, f.Aside):
		return review.BecameDismissed, "a later review set it aside"
	case threaded && (thread.Status == conversation.Disputed || thread.Status == conversation.HandedOver):
		return review.BecameDisputed, "its thread was left in dispute"
	case f.Blind:
		return review.BecameUnknown, "comments of prloop's account could not be read with this key"
	case raised:
		return review.BecameIgnored, "the review of the merged head raised it"
	case code == Stands:
		return review.BecameIgnored, "the code it quotes is in the merged head"
	}
	return review.BecameUnknown, "it quotes no code that could be looked up in the merged head"
}

// thread is ours about a finding, the newest of several.
func (f Facts) thread(one Finding) (conversation.Thread, bool) {
	for _, t := range slices.Backward(f.Threads) {
		if slices.Contains(one.IDs, t.Identity) {
			return t, true
		}
	}
	return conversation.Thread{}, false
}

func (f Facts) dismissed(one Finding) bool {
	var list []review.Finding
	for _, d := range f.Dismissed {
		if slices.Contains(one.IDs, d.ID) {
			return true
		}
		list = append(list, d.Finding)
	}
	return matches(one, list)
}

func matches(one Finding, list []review.Finding) bool {
	return len(list) > 0 && len(identity.Match(one.Wordings[:1], list, nil)) > 0
}
