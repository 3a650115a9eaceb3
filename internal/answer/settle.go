package answer

import (
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Said is what an agent wrote in answer to one question, and how it ended.
type Said struct {
	// Valid is the answer that counts, as Read gave it; nil when there is none.
	Valid *Envelope
	// Others are all other answers of the agent to the question, in the order of time: what was refused, and what a newer one followed.
	// They may stand in text; those of a fixer are documents.
	Others [][]byte
	// Ended is whether the agent came to its end as it should. Why says what was wrong, when it did not or there is no valid answer, in
	// prloop's own words; Detail says all of it, with what the agent and its program say.
	Ended       bool
	Why, Detail string
	// Attempts, Usage and Notes are for the receipt; Log is the end of the agent's standard error.
	Attempts int
	Usage    review.Usage
	Notes    []string
	Log      []byte
}

// Ask has talk put the question, and settles what comes of it. It never fails as a call: whatever happens is in the answer's receipt.
func Ask(q Question, talk func() Said) (a review.Answer) {
	started := time.Now()
	a.Receipt = q.receipt()
	defer func() {
		// One agent's odd answer must not end the loop: a panic in a goroutine of the round ends the whole process.
		if p := recover(); p != nil {
			a.Receipt.State, a.Receipt.Reason = review.AgentFailed, "prloop failed on this answer"
			a.Receipt.Detail = sanitize.Line(fmt.Sprintf("%s: %v", a.Receipt.Reason, p), maxReason)
		}
		a.Receipt.Seconds = time.Since(started).Seconds()
	}()
	s := talk()
	a.Receipt.Attempts, a.Receipt.Usage = s.Attempts, s.Usage // known, whatever happens next
	return q.Settle(s)
}

const (
	maxReason = 1000 // characters
	maxNotes  = 30
	maxNote   = 300 // characters
)

func (q Question) receipt() review.AgentReceipt {
	r := review.AgentReceipt{Name: q.Task.Agent, Role: q.Task.Role, Kind: q.Kind, Model: q.Model}
	r.FilesGiven, r.HunksGiven = q.Task.Brief.Given()
	return r
}

// Settle makes the answer. It is complete when the agent ended well and answered validly. Everything else is not: of an answer
// before an end that was none, and of answers that stayed broken, only what may block is kept, and the answer is degraded; when there
// is nothing of it, it is failed. What an earlier answer said or may have said of P0 and P1 does not go away by a newer one.
func (q Question) Settle(s Said) (a review.Answer) {
	a.Receipt = q.receipt()
	r := &a.Receipt
	r.Attempts, r.Usage = s.Attempts, s.Usage
	notes := s.Notes
	kept := s.Valid
	switch {
	case kept != nil && s.Ended:
		r.State = review.AgentComplete
		notes = append(notes, q.correct(*kept, s.Others)...)
	case kept != nil && kept.blocks():
		const but = "valid answer, but the agent process failed: "
		r.State, r.Reason, r.Detail = review.AgentDegraded, but+s.Why, but+s.Detail
		notes = append(notes, q.correct(*kept, s.Others)...)
		if v := kept.Reviewer; v != nil && v.Conclusion == review.Approve {
			v.Conclusion = review.RequestChanges
		}
	default:
		var more []string
		r.State, r.Reason, r.Detail = review.AgentFailed, s.Why, s.Detail
		if kept, more = q.salvage(s); kept != nil {
			r.State = review.AgentDegraded
		}
		notes = append(notes, more...)
	}
	if kept != nil {
		a.Reviewer, a.Comments, a.Fix, a.Verifier, a.Command = kept.Reviewer, kept.Comments, kept.Fix, kept.Verifier, kept.Command
		a.Scout, a.Finder = kept.Scout, kept.Finder
		if findings := kept.findings(); findings != nil {
			r.Findings = len(*findings)
		}
		if kept.Reviewer != nil {
			r.Omitted = kept.Reviewer.Omitted
		}
		if kept.Verifier != nil {
			r.Findings = len(kept.Verifier.Assessments)
		}
	}
	r.Reason, r.Detail = sanitize.Line(r.Reason, maxReason), sanitize.Line(r.Detail, maxReason)
	for _, n := range notes[:min(len(notes), maxNotes)] {
		r.Notes = append(r.Notes, sanitize.Line(n, maxNote))
	}
	a.Log, _ = sanitize.Visible(sanitize.Redact(string(s.Log)))
	return a
}

// correct adds what an answer must not leave out of those before it.
func (q Question) correct(e Envelope, others [][]byte) (notes []string) {
	if e.Scout != nil {
		return CorrectedScout(e.Scout, others...)
	}
	list := e.findings()
	if list == nil {
		return nil
	}
	corrected := Corrected
	switch {
	case e.Comments != nil:
		corrected = CorrectedComments
	case e.Command != nil:
		corrected = CorrectedCommand
	}
	all := *list
	for _, other := range others {
		var more []string
		all, more = corrected(other, all)
		notes = append(notes, more...)
	}
	return append(notes, q.replace(e, all)...)
}

// salvage keeps what is valid of answers that are not, in an envelope of prloop's own making which never approves; nil when that is
// nothing.
func (q Question) salvage(s Said) (e *Envelope, notes []string) {
	keep := SalvageReviewer
	switch q.Task.Role {
	case review.RoleFixer:
		return q.salvageFix(s)
	case review.RoleVerifier, review.RoleScout, review.RoleFinder: // half an answer refutes nothing, is no scan and finds nothing
		return nil, nil
	case review.RoleCommentsAnalyzer:
		keep = SalvageComments
	case review.RoleCommand:
		keep = SalvageCommand
	}
	var all [][]review.Finding
	for _, other := range s.Others {
		found, more := keep(other)
		all, notes = append(all, found), append(notes, more...)
	}
	findings := Salvaged(all...)
	if len(findings) == 0 {
		return nil, notes
	}
	const report = "The answer was broken; these findings were valid one by one."
	t := q.Task
	switch t.Role {
	case review.RoleCommand:
		e = &Envelope{Command: &review.CommandAnswer{Summary: report, Confidence: review.LowConfidence}}
	case review.RoleCommentsAnalyzer:
		e = &Envelope{Comments: &review.CommentsResult{
			Agent: t.Agent, PRNumber: t.PRNumber, ThreadsTruncated: t.Discussion != nil && t.Discussion.Truncated,
			ReviewState: review.ReviewState{ChangesRequestedBy: []review.ChangesRequestedBy{}}, FullReport: report,
		}}
	default:
		e = &Envelope{Reviewer: &review.ReviewerResult{Agent: t.Agent, PRNumber: t.PRNumber, Conclusion: review.RequestChanges, FullReport: report}}
		if review.Count(findings).P0 > 0 {
			e.Reviewer.Conclusion = review.NeedsMajorWork
		}
	}
	return e, append(notes, q.replace(*e, findings)...)
}

// salvageFix keeps the newest answer of a fixer that names a finding nowhere, twice, or as both fixed and rejected: what is clear in
// it counts, and the rest is not fixed (decision 5). Half of a change that nobody answers for is none, so the fixer has to have ended.
func (q Question) salvageFix(s Said) (*Envelope, []string) {
	if !s.Ended {
		return nil, nil
	}
	for _, doc := range slices.Backward(s.Others) {
		if r, notes := SalvageFix(doc); r != nil {
			e := Envelope{Fix: r}
			return &e, append(notes, q.settle(e)...)
		}
	}
	return nil, nil
}
