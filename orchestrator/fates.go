package orchestrator

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// sighting is one distinct finding as one round saw it.
type sighting struct {
	// no is its number in the run; 0 when it was set aside and is none of an earlier round.
	no int
	// aside is FateRefuted or FateUnproven; empty when it was not set aside.
	aside    review.Fate
	findings []review.Finding
	known    review.FindingFate
}

// sightings are the distinct findings of the round, those that were set aside last.
func (d verdict) sightings() []sighting {
	var out []sighting
	open := d.open()
	for g, group := range d.groups {
		var list []review.Finding
		for _, i := range group {
			list = append(list, d.findings[i])
		}
		s := sighting{no: d.tracked[g].No, findings: list, known: d.known(list)}
		s.known.Counted, s.known.Prominent = d.counts[group[0]], open[g] || slices.Contains(d.stuck, g)
		out = append(out, s)
	}
	var aside []review.Finding
	var whose []review.Unverified
	for _, u := range d.unverified {
		if !answer.Unreadable(u.Finding) { // no finding, but the place of what was not read
			aside, whose = append(aside, u.Finding), append(whose, u)
		}
	}
	groups := identity.Join(aside)
	same := returning(d.in.Earlier, aside, groups)
	for g, group := range groups {
		s := sighting{aside: review.FateUnproven}
		for _, i := range group {
			s.findings = append(s.findings, aside[i])
			if refuted(whose[i]) {
				s.aside = review.FateRefuted
			}
		}
		if same[g] >= 0 {
			s.no = d.in.Earlier[same[g]].No
		}
		s.known = d.known(s.findings)
		out = append(out, s)
	}
	return out
}

// known is what the wordings of one finding say of it in this round.
func (d verdict) known(list []review.Finding) review.FindingFate {
	gravest := slices.MinFunc(list, func(a, b review.Finding) int { return cmp.Compare(a.Priority.Rank(), b.Priority.Rank()) })
	k := review.FindingFate{Priority: gravest.Priority, Category: identity.Category(gravest.Category), First: d.in.Round, Last: d.in.Round, By: []review.Voice{}}
	for _, f := range list {
		if a := f.Assessment; a != nil && a.Probability != nil {
			k.Probability, k.VerifiedBy = a.Probability, d.in.Verifier.Answer.Receipt.Answered()
		}
		if f.Source.Type != "agent" {
			k.Person = true
			continue
		}
		k.By = append(k.By, review.Voice{Name: f.Source.Name, Model: d.modelOf(f), Confidence: f.Confidence})
	}
	return k
}

// account is a finding of the run over its rounds.
type account struct {
	no       int
	findings []review.Finding
	fate     review.FindingFate
}

// fates say what became of all findings of a run, in the order in which they were first seen.
func fates(seen []sighting, tracked []Tracked, past []review.RoundResult) []review.FindingFate {
	var all []*account
	for _, s := range seen {
		a := find(all, s)
		if a == nil {
			a = &account{fate: s.known}
			all = append(all, a)
		}
		a.take(s)
	}
	tracked = lastWords(tracked, past)
	for _, t := range tracked {
		i := slices.IndexFunc(all, func(a *account) bool { return a.no == t.No && t.No > 0 })
		if i >= 0 && t.Round == all[i].fate.Last { // it was not set aside since
			all[i].fate.Fate = fateOf(t, past)
		}
	}
	var out []review.FindingFate
	for _, a := range all {
		slices.SortFunc(a.fate.By, func(x, y review.Voice) int { return cmp.Compare(x.Name, y.Name) })
		out = append(out, a.fate)
	}
	return out
}

// find is the account of a finding that was seen before; nil when it was not. What was set aside is known by its words alone.
func find(all []*account, s sighting) *account {
	for _, a := range all {
		if s.no > 0 && a.no == s.no {
			return a
		}
	}
	for _, a := range all {
		if a.no == 0 && a.fate.Last < s.known.Last && len(identity.Match(a.findings, s.findings, nil)) > 0 {
			return a
		}
	}
	return nil
}

func (a *account) take(s sighting) {
	k := s.known
	f := &a.fate
	if k.Priority.Rank() < f.Priority.Rank() {
		f.Priority, f.Category = k.Priority, k.Category
	}
	for _, v := range k.By {
		if !slices.ContainsFunc(f.By, func(o review.Voice) bool { return o.Name == v.Name }) {
			f.By = append(f.By, v)
		}
	}
	if k.Probability != nil {
		f.Probability, f.VerifiedBy = k.Probability, k.VerifiedBy
	}
	f.Last, f.Fate = k.Last, s.aside
	f.Counted, f.Prominent, f.Person = f.Counted || k.Counted, f.Prominent || k.Prominent, f.Person || k.Person
	a.no, a.findings = max(a.no, s.no), s.findings
}

// lastWords add what the fixer of the last round said, where its work is on the branch or was handed over. One that changed nothing can
// have rejected findings, and fixed none.
func lastWords(tracked []Tracked, past []review.RoundResult) []Tracked {
	if len(past) == 0 {
		return nil
	}
	last := past[len(past)-1]
	if last.Fix == nil || last.Fix.Result == nil {
		return tracked
	}
	fix := *last.Fix
	switch fix.State {
	case review.FixUnchanged:
		rejected := *fix.Result
		rejected.FixedIssues = nil
		fix.Result = &rejected
	case review.FixPushed, review.FixPatch:
	default:
		return tracked
	}
	return claimed(tracked, fix, last.Round)
}

// fateOf is what became of a finding that was not set aside when it was last seen.
func fateOf(t Tracked, past []review.RoundResult) review.Fate {
	again := past[len(past)-1].Round == t.Round
	looked, person := true, false
	for _, f := range t.Findings {
		if f.Source.Type != "agent" {
			person = true
			continue
		}
		looked = looked && slices.ContainsFunc(past, func(r review.RoundResult) bool {
			return r.Round > t.Round && slices.ContainsFunc(r.Agents, func(a review.AgentReceipt) bool { return a.Name == f.Source.Name && a.State == review.AgentComplete })
		})
	}
	settled := !again && looked
	either := func(yes, no review.Fate) review.Fate {
		if settled {
			return yes
		}
		return no
	}
	switch {
	case t.Stuck:
		return either(review.FateGone, review.FateStuck)
	case t.FixedIn == t.Round:
		return either(review.FateFixed, review.FateClaimed)
	case t.Claim != nil && t.Claim.Kind == review.ClaimRejected:
		return either(review.FateRejected, review.FateDisputed)
	case person:
		return either(review.FateResolved, review.FateOpen)
	}
	return either(review.FateGone, review.FateOpen)
}
