package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// VerifyPlan is who tries to refute findings before they count (decision 38), and within what.
type VerifyPlan struct {
	Agent AgentPlan `json:"agent"`
	// Limits are its budgets; Limits.Candidates is how many findings of a round it is asked about.
	Limits review.Limits `json:"limits"`
	// LookBelow, StrongerBelow, ExtraFiles and ExtraLines are those of review.VerifyPayload.
	LookBelow     float64 `json:"lookBelow,omitempty"`
	StrongerBelow float64 `json:"escalateBelow,omitempty"`
	ExtraFiles    int     `json:"extraFiles,omitempty"`
	ExtraLines    int     `json:"extraLines,omitempty"`
}

// suspect is one distinct finding that the verifier is asked about: its id, and which findings it is.
type suspect struct {
	id    string
	group []int
}

// suspects are the distinct findings that a verifier may refute, gravest first: those that reviewers raised and no rule, and that
// are one finding: a fact about one of several that were joined says nothing of the others. The ids
// follow from the findings alone, so that an answer finds its findings again when it is judged, and hold nothing of what a reviewer wrote.
func (g gathered) suspects() []suspect {
	if g.in.Request.Verify == nil {
		return nil
	}
	var out []suspect
	for _, group := range identity.Join(g.findings) {
		if slices.ContainsFunc(group, func(i int) bool {
			f := g.findings[i]
			return f.Source.Type != "agent" || g.rules[f.Source.Name] || f.Several()
		}) {
			continue
		}
		out = append(out, suspect{group: group})
	}
	slices.SortStableFunc(out, func(a, b suspect) int {
		return cmp.Compare(g.findings[a.group[0]].Priority.Rank(), g.findings[b.group[0]].Priority.Rank())
	})
	for i := range out {
		out[i].id = fmt.Sprintf("F%d", i+1)
	}
	return out[:min(len(out), g.in.Request.Verify.Limits.Candidates)]
}

// verifyPayload is what the verifier is asked: findings without who raised them and how many did, so that it judges by the code.
func (g gathered) verifyPayload() *review.VerifyPayload {
	plan := g.in.Request.Verify
	p := review.VerifyPayload{
		Findings: []review.Finding{}, LookBelow: plan.LookBelow, StrongerBelow: plan.StrongerBelow, ExtraFiles: plan.ExtraFiles, ExtraLines: plan.ExtraLines,
	}
	for _, s := range g.suspects() {
		f := g.findings[s.group[0]]
		for _, i := range s.group {
			if g.support[s.group[0]] != evidence.Verified && g.support[i] == evidence.Verified && g.findings[i].File == f.File {
				f.Evidence = g.findings[i].Evidence
				break
			}
		}
		f.Description, _ = g.wordings(s.group)
		f.ID, f.Source = s.id, review.Source{Type: "agent"}
		p.Findings = append(p.Findings, f)
	}
	return &p
}

// maxWordings bounds the description of a finding with all its wordings, in bytes: a schema has a bound too.
const maxWordings = 30_000

// wordings is the description of a group's first finding, and behind it how the others put it where they say more or name another line:
// what are taken for the same one by place and words may be two. told says, by index in findings, whose words stand in it.
func (g gathered) wordings(group []int) (text string, told map[int]bool) {
	first := g.findings[group[0]]
	text, told = first.Description, map[int]bool{group[0]: true}
	all := evidence.Fold(strings.Join([]string{first.Title, first.Description, first.Evidence}, "\n"))
	for _, i := range group[1:] {
		f := g.findings[i]
		here, more := "", false
		for _, part := range []string{f.Title, f.Description, f.Evidence} {
			here += strings.TrimSpace(part) + "\n"
			more = more || !strings.Contains(all, evidence.Fold(part))
		}
		if !more && f.File == first.File && (f.Line == nil || first.Line != nil && *f.Line == *first.Line) {
			told[i] = true
			continue
		}
		where := cmp.Or(f.File, "no file")
		if f.Line != nil {
			where = fmt.Sprintf("%s:%d", where, *f.Line)
		}
		if here = fmt.Sprintf("\n\nIt is also put so, at %s:\n%s", where, here); len(text)+len(here) > maxWordings {
			continue
		}
		text, all, told[i] = text+here, all+" "+evidence.Fold(here), true
	}
	return text, told
}

// verifyFindings asks the verifier about what the reviewers found, as a step of its own. nil means that nobody was asked: there is
// no verifier, nothing to refute, or no verdict to come to. spent is the wall time used before.
func (l *Loop) verifyFindings(ctx context.Context, steps Steps, req Request, in Inputs, spent time.Duration) (*AgentReport, error) {
	in.Reports = ordered(in.Reports)
	if req.Verify == nil {
		return nil, nil
	}
	if g := gather(in); g.complete < req.minReviewers() || len(g.suspects()) == 0 { // too few reviewed for a verdict, whatever it says
		return nil, nil
	}
	plan, asked := req.Verify.Agent, false
	plan.Limits = &req.Verify.Limits
	report, err := doJSON(ctx, steps, fmt.Sprintf("round %d: verify findings", in.Round), func(ctx context.Context) (AgentReport, error) {
		asked = true
		l.say("waiting for the verifier")
		return l.ask(ctx, req, plan, in, req.wallTime()-spent)
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", plan.Name, err)
	}
	if !asked {
		r := report.Answer.Receipt
		l.emit(review.Event{Kind: review.EventState, Agent: plan.Name, State: r.State, Message: "answered before: " + plural(r.Findings, "finding", "findings")})
	}
	return &report, nil
}

// ordered puts answers into the one order they are judged in.
func ordered(reports []AgentReport) []AgentReport {
	reports = slices.Clone(reports)
	slices.SortStableFunc(reports, func(a, b AgentReport) int {
		return cmp.Compare(a.Answer.Receipt.Name, b.Answer.Receipt.Name)
	})
	return reports
}

// checkFacts establishes which facts of a verifier stand in the code, and calls one degraded that did not speak of all it was asked about.
func (l *Loop) checkFacts(ctx context.Context, snap Snapshot, p review.VerifyPayload, a *review.Answer) ([]evidence.Result, error) {
	check := snap.checker(l.History, l.Learned)
	out := make([]evidence.Result, len(a.Verifier.Assessments))
	void := 0
	for i := range a.Verifier.Assessments {
		s := &a.Verifier.Assessments[i]
		of := slices.IndexFunc(p.Findings, func(f review.Finding) bool { return f.ID == s.FindingID })
		if of < 0 { // settled away before
			out[i] = evidence.Result{Status: evidence.None}
			continue
		}
		about := p.Findings[of]
		if s.Status == review.Confirmed { // what proves a finding may be the code that its description names
			about.Description = ""
		}
		ev, err := check.Fact(ctx, s.Fact, about)
		if err != nil {
			return nil, err
		}
		if s.Status == review.Refuted && ev.Status == evidence.Verified {
			own, err := check.OwnProse(ctx, s.Fact.File, about, lang.Of)
			if err != nil {
				return nil, err
			}
			if own {
				ev = evidence.Result{Status: evidence.False, Reason: "is prose that the change itself brings, which shows nothing of what the code does"}
			}
		}
		if ev.LineDropped {
			s.Fact.Line = nil
		}
		if out[i] = ev; s.Status == review.Refuted && ev.Status != evidence.Verified {
			void++
			a.Receipt.Notes = append(a.Receipt.Notes, fmt.Sprintf("its refutation of %q counts for nothing: the fact %s", s.FindingID, cmp.Or(ev.Reason, "is missing")))
		}
	}
	a.Receipt.Findings = len(a.Verifier.Assessments)
	missing := len(p.Findings) - len(a.Verifier.Assessments)
	if r := &a.Receipt; r.State == review.AgentComplete && missing > 0 {
		r.State, r.Reason = review.AgentDegraded, fmt.Sprintf("said nothing of %s it was asked about", plural(missing, "finding", "findings"))
	} else if r.State == review.AgentComplete && void > 0 {
		r.State, r.Reason = review.AgentDegraded, plural(void, "refutation rests on a fact that does not stand in the code", "refutations rest on facts that do not stand in the code")
	}
	return out, nil
}

// redactVerifier takes secrets out of what a verifier wrote.
func redactVerifier(r *review.VerifierResult, known *sanitize.Learned) {
	for _, text := range writtenVerifier(r) {
		*text = known.Redact(*text)
	}
}

// writtenVerifier are the texts of an answer that a verifier wrote.
func writtenVerifier(r *review.VerifierResult) []*string {
	out := []*string{&r.FullReport}
	for i := range r.Assessments {
		out = append(out, writtenAssessment(&r.Assessments[i])...)
	}
	return out
}

// writtenAssessment are those of one assessment.
func writtenAssessment(a *review.Assessment) []*string {
	out := []*string{&a.FindingID, &a.Reason, &a.DuplicateOf, (*string)(&a.Ruling), (*string)(&a.Risk)}
	if a.Fact != nil {
		out = append(out, &a.Fact.File, &a.Fact.Evidence)
	}
	return out
}
