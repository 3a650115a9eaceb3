package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// NotFixedPrefix begins the reasons prloop writes itself for findings a fixer left without a word (decision 5).
const NotFixedPrefix = "not fixed: "

// SettleFix holds a fixer's answer to the invariant of spec.md A5 (decision 5): in what it returns each id of payload.IssuesToFix
// stands exactly once, as fixed or rejected, in the payload's order; nothing else stands there, and the counts are those of
// the lists. Ids that were not to be fixed are dropped, of two entries with one id the first is kept, and a finding that is
// said to be both fixed and rejected, or neither, is not fixed. What the fixer noticed is bounded. Deferred counts optional issues and is the fixer's word, for
// spec.md A5 has no list of them, but never more than it can be. Settling twice changes nothing. r is not changed; nil is the answer
// of a fixer that gave none. Names agents chose are shortened and escaped in the notes.
func SettleFix(payload review.FixPayload, r *review.FixResult) (review.FixResult, []string) {
	if r == nil {
		return NotFixed(payload, "the fixer gave no answer"), nil
	}
	out := review.FixResult{
		Agent: r.Agent, PRNumber: payload.PRNumber, FixedIssues: []review.FixedIssue{}, RejectedIssues: []review.RejectedIssue{},
		Commits: append([]review.FixCommit{}, r.Commits...),
	}
	var notes schema.Notes
	s := settlement{notes: &notes, optional: map[string]bool{}, asked: map[string]bool{}}
	for _, f := range payload.IssuesToFix {
		s.asked[f.ID] = true
	}
	for _, f := range payload.OptionalIssues {
		s.optional[f.ID] = !s.asked[f.ID]
	}
	out.Noticed = settleNoticed(r.Noticed, &notes)
	fixed := map[string]review.FixedIssue{}
	for _, f := range r.FixedIssues {
		if _, twice := fixed[f.FindingID]; s.takes("fixed", f.FindingID, twice) {
			fixed[f.FindingID] = f
		}
	}
	rejected := map[string]review.RejectedIssue{}
	for _, f := range r.RejectedIssues {
		if _, twice := rejected[f.FindingID]; s.takes("rejected", f.FindingID, twice) {
			rejected[f.FindingID] = f
		}
	}
	done := map[string]bool{}
	for _, finding := range payload.IssuesToFix {
		id := finding.ID
		if done[id] {
			continue
		}
		done[id] = true
		f, isFixed := fixed[id]
		no, isRejected := rejected[id]
		switch {
		case isFixed && isRejected:
			notes.Add("%s is said to be fixed and rejected", schema.Quote(id))
			out.RejectedIssues = append(out.RejectedIssues, review.RejectedIssue{FindingID: id, Reason: NotFixedPrefix + "the fixer says both that it fixed and that it rejects it"})
		case isFixed:
			out.FixedIssues = append(out.FixedIssues, f)
		case isRejected:
			out.RejectedIssues = append(out.RejectedIssues, no)
		default:
			notes.Add("nothing is said about %s", schema.Quote(id))
			out.RejectedIssues = append(out.RejectedIssues, review.RejectedIssue{FindingID: id, Reason: NotFixedPrefix + "the fixer did not say what became of it"})
		}
	}
	left := 0
	for _, f := range payload.OptionalIssues {
		if _, ok := fixed[f.ID]; !ok {
			left++
		}
	}
	out.Summary = review.FixSummary{Fixed: len(out.FixedIssues), Rejected: len(out.RejectedIssues), Deferred: max(0, min(r.Summary.Deferred, left))}
	if claimed := r.Summary; claimed != out.Summary {
		notes.Add("summary: claimed %d fixed, %d rejected and %d deferred, counted %d, %d and %d",
			claimed.Fixed, claimed.Rejected, claimed.Deferred, out.Summary.Fixed, out.Summary.Rejected, out.Summary.Deferred)
	}
	return out, notes
}

// Bounds of what a fixer may notice: it is asked to fix, not to review.
const (
	noticed     = 10
	noticedText = 1_000 // characters
)

// settleNoticed keeps the first notices that say something, each in a bounded number of words, with paths inside the repository.
func settleNoticed(list []review.Notice, notes *schema.Notes) (out []review.Notice) {
	for _, n := range list {
		file, ok := cleanPath(n.File)
		if !ok {
			notes.Add("noticed: %s is no path inside the repository", schema.Quote(n.File))
		}
		if n.File = file; file == "" {
			n.Line = nil
		}
		n.Text = strings.TrimSpace(n.Text)
		if r := []rune(sanitize.Redact(n.Text)); len(r) > noticedText {
			n.Text = sanitize.Beginning(string(r), len(string(r[:noticedText-1])))
		}
		if n.Text == "" || slices.ContainsFunc(out, func(o review.Notice) bool { return o.File == n.File && o.Text == n.Text }) {
			continue
		}
		if len(out) == noticed {
			notes.Add("noticed: %d places, the first %d are kept", len(list), noticed)
			break
		}
		out = append(out, n)
	}
	return out
}

// NotFixed is the answer recorded for a fixer whose work as a whole came to nothing: every finding is not fixed, for one
// reason.
func NotFixed(payload review.FixPayload, reason string) review.FixResult {
	out := review.FixResult{
		Agent: string(review.RoleFixer), PRNumber: payload.PRNumber, FixedIssues: []review.FixedIssue{}, RejectedIssues: []review.RejectedIssue{}, Commits: []review.FixCommit{},
	}
	done := map[string]bool{}
	for _, f := range payload.IssuesToFix {
		if !done[f.ID] {
			out.RejectedIssues = append(out.RejectedIssues, review.RejectedIssue{FindingID: f.ID, Reason: NotFixedPrefix + reason})
		}
		done[f.ID] = true
	}
	out.Summary = review.FixSummary{Rejected: len(out.RejectedIssues), Deferred: len(payload.OptionalIssues)}
	return out
}

// settlement knows what was asked for.
type settlement struct {
	asked, optional map[string]bool
	notes           *schema.Notes
}

// takes reports whether an entry counts for anything, and notes why it does not.
func (s settlement) takes(list, id string, twice bool) bool {
	switch {
	case twice:
		s.notes.Add("%s is listed as %s twice", schema.Quote(id), list)
		return false
	case s.optional[id]:
		if list == "fixed" {
			s.notes.Add("%s was optional and is said to be fixed too", schema.Quote(id))
		}
		return true
	case !s.asked[id]:
		s.notes.Add("%s was not asked for", schema.Quote(id))
		return false
	}
	return true
}

// SalvageFix reads a fixer's answer that DecodeFix refuses for its list of ids alone, so that SettleFix can keep what is
// clear in it. Nil when anything else is wrong with it.
func SalvageFix(data []byte) (*review.FixResult, schema.Notes) {
	r, notes, err := schema.Decode[review.FixResult]("fix-result", data, nil)
	if err != nil {
		return nil, nil
	}
	for _, f := range checkFix(&r, &notes) {
		notes.Add("%s", fmt.Sprint(f))
	}
	return &r, notes
}

// checkFix applies what a schema cannot say to a fixer's answer, in place.
func checkFix(r *review.FixResult, notes *schema.Notes) []schema.Fault {
	var faults []schema.Fault
	seen := map[string]bool{}
	once := func(list string, i int, id string) {
		if seen[id] {
			faults = append(faults, schema.Fault{Where: fmt.Sprintf("%s/%d/findingId", list, i), Why: schema.Quote(id) + " is named twice; each finding is either fixed or rejected, once"})
		}
		seen[id] = true
	}
	for i, f := range r.FixedIssues {
		once("fixedIssues", i, f.FindingID)
	}
	for i, f := range r.RejectedIssues {
		once("rejectedIssues", i, f.FindingID)
	}
	if fixed, rejected := len(r.FixedIssues), len(r.RejectedIssues); r.Summary.Fixed != fixed || r.Summary.Rejected != rejected {
		notes.Add("summary: claimed %d fixed and %d rejected, listed %d and %d", r.Summary.Fixed, r.Summary.Rejected, fixed, rejected)
		r.Summary.Fixed, r.Summary.Rejected = fixed, rejected
	}
	return faults
}
