package answer

import (
	"encoding/json"
	"reflect"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// DecodeReviewer reads a reviewer's answer (spec.md A2): one bare JSON document, without fences or other text. The error is an
// *Error that lists every fault found. What was put right stands in the notes: counts are those of the findings, ids are
// distinct, and what only prloop may state is gone.
func DecodeReviewer(data []byte) (review.ReviewerResult, schema.Notes, error) {
	return decodeFindings("reviewer-result", "findings", data, nil, reviewerParts)
}

func reviewerParts(r *review.ReviewerResult) (*[]review.Finding, *review.Counts, review.Conclusion) {
	return &r.Findings, &r.Issues, r.Conclusion
}

// A ClaimError says that an answer claims more than it lists. It comes with the answer, in which a place stands for what is claimed:
// who asked can ask again.
type ClaimError struct{ Why string }

// Error says what to do about it.
func (e *ClaimError) Error() string {
	return "the answer contradicts itself: " + e.Why + "; list what is missing, or leave the claim out"
}

// DecodeModel is DecodeReviewer for a model that prloop asks in its own words. Counts and the conclusion may be missing: prloop
// counts the findings itself. The error is a *ClaimError when those that are there say more than the list.
func DecodeModel(data []byte) (review.ReviewerResult, schema.Notes, error) {
	silent := false
	complete := func(v any) {
		fields, ok := v.(map[string]any)
		if !ok {
			return
		}
		if _, said := fields["issues"]; !said {
			zero := json.Number("0")
			fields["issues"] = map[string]any{"p0_blocking": zero, "p1_critical": zero, "p2_important": zero, "p3_suggestion": zero}
		}
		if _, said := fields["conclusion"]; !said {
			silent, fields["conclusion"] = true, string(review.Approve)
		}
	}
	var over string
	r, notes, err := decodeFindings("reviewer-result", "findings", data, complete, func(r *review.ReviewerResult) (*[]review.Finding, *review.Counts, review.Conclusion) {
		over = overclaim(claimed{r.Issues.P0, r.Issues.P1, r.Issues.P2, r.Conclusion}, review.Count(r.Findings))
		return reviewerParts(r)
	})
	if err == nil && silent {
		r.Conclusion = r.Issues.Conclusion()
	}
	if err == nil && over != "" {
		err = &ClaimError{over}
	}
	return r, notes, err
}

// DecodeComments reads the comments analyzer's answer (spec.md A3), as DecodeReviewer does.
func DecodeComments(data []byte) (review.CommentsResult, schema.Notes, error) {
	return decodeFindings("comments-result", "pendingIssues", data, nil, func(r *review.CommentsResult) (*[]review.Finding, *review.Counts, review.Conclusion) {
		return &r.PendingIssues, &r.Issues, ""
	})
}

// decodeFindings reads an answer that lists findings: complete is that of schema.Decode, parts are its list, its claimed counts, and what it concludes.
func decodeFindings[T any](name, list string, data []byte, complete func(v any), parts func(*T) (*[]review.Finding, *review.Counts, review.Conclusion)) (T, schema.Notes, error) {
	var none T
	r, notes, err := schema.Decode[T](name, data, complete)
	if err != nil {
		return none, notes, err
	}
	findings, issues, conclusion := parts(&r)
	if faults := settleFindings(*findings, list, &notes); len(faults) > 0 {
		return none, notes, schema.Refuse(name, faults...)
	}
	all, why, ok := unmet(data, reflect.TypeFor[T](), claimed{issues.P0, issues.P1, issues.P2, conclusion}, *findings, &notes)
	if !ok {
		return none, notes, schema.Refuse(name, schema.Fault{Where: "issues", Why: why})
	}
	recount(issues, *findings, &notes)
	if *findings = all; why != "" {
		distinctIDs(all, &notes)
		issues.P0++
		notes.Add("a person has to look: %s", why)
	}
	return r, notes, nil
}

// DecodeFix reads a fixer's answer (spec.md A5). A finding named twice is refused (decision 5); whether every finding that was
// to be fixed is named can only be told by who holds the payload.
func DecodeFix(data []byte) (review.FixResult, schema.Notes, error) {
	r, notes, err := schema.Decode[review.FixResult]("fix-result", data, nil)
	if err != nil {
		return review.FixResult{}, notes, err
	}
	if faults := checkFix(&r, &notes); len(faults) > 0 {
		return review.FixResult{}, notes, schema.Refuse("fix-result", faults...)
	}
	return r, notes, nil
}

// DecodeFinding reads one finding (spec.md A1).
func DecodeFinding(data []byte) (review.Finding, schema.Notes, error) {
	f, notes, err := schema.Decode[review.Finding]("finding", data, nil)
	if err != nil {
		return review.Finding{}, notes, err
	}
	one := []review.Finding{f}
	if faults := settleFindings(one, "", &notes); len(faults) > 0 {
		return review.Finding{}, notes, schema.Refuse("finding", faults...)
	}
	return one[0], notes, nil
}
