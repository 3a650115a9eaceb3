package wire

import (
	"encoding/json"
	"reflect"

	"github.com/prloop/prloop/review"
)

// DecodeReviewer reads a reviewer's answer (spec.md A2): one bare JSON document, without fences or other text. The error is an
// *Error that lists every fault found. What was put right stands in the notes: counts are those of the findings, ids are
// distinct, and what only prloop may state is gone.
func DecodeReviewer(data []byte) (review.ReviewerResult, Notes, error) {
	return decodeFindings("reviewer-result", "findings", data, options{}, reviewerParts)
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
func DecodeModel(data []byte) (review.ReviewerResult, Notes, error) {
	silent := false
	o := options{complete: func(v any) {
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
	}}
	var over string
	r, notes, err := decodeFindings("reviewer-result", "findings", data, o, func(r *review.ReviewerResult) (*[]review.Finding, *review.Counts, review.Conclusion) {
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
func DecodeComments(data []byte) (review.CommentsResult, Notes, error) {
	return decodeFindings("comments-result", "pendingIssues", data, options{}, func(r *review.CommentsResult) (*[]review.Finding, *review.Counts, review.Conclusion) {
		return &r.PendingIssues, &r.Issues, ""
	})
}

// decodeFindings reads an answer that lists findings: parts are its list, its claimed counts, and what it concludes.
func decodeFindings[T any](name, list string, data []byte, o options, parts func(*T) (*[]review.Finding, *review.Counts, review.Conclusion)) (T, Notes, error) {
	var none T
	r, notes, err := decode[T](name, data, o)
	if err != nil {
		return none, notes, err
	}
	findings, issues, conclusion := parts(&r)
	if faults := settleFindings(*findings, list, &notes); len(faults) > 0 {
		return none, notes, refuse(name, faults...)
	}
	all, why, ok := unmet(data, reflect.TypeFor[T](), claimed{issues.P0, issues.P1, issues.P2, conclusion}, *findings, &notes)
	if !ok {
		return none, notes, refuse(name, Fault{"issues", why})
	}
	recount(issues, *findings, &notes)
	if *findings = all; why != "" {
		distinctIDs(all, &notes)
		issues.P0++
		notes.add("a person has to look: %s", why)
	}
	return r, notes, nil
}

// DecodeFix reads a fixer's answer (spec.md A5). A finding named twice is refused (decision 5); whether every finding that was
// to be fixed is named can only be told by who holds the payload.
func DecodeFix(data []byte) (review.FixResult, Notes, error) {
	r, notes, err := decode[review.FixResult]("fix-result", data, options{})
	if err != nil {
		return review.FixResult{}, notes, err
	}
	if faults := settleFix(&r, &notes); len(faults) > 0 {
		return review.FixResult{}, notes, refuse("fix-result", faults...)
	}
	return r, notes, nil
}

// DecodeTask reads the request an agent gets. It is prloop's own writing, so arrays may be null and the cap is wider.
func DecodeTask(data []byte) (review.Task, Notes, error) {
	t, notes, err := decode[review.Task]("task", data, options{limit: maxTask, nullArrays: true})
	if err == nil && t.Version > review.TaskVersion {
		err = refuse("task", Fault{"version", "is newer than this program understands"})
	}
	if err != nil {
		return review.Task{}, notes, err
	}
	return t, notes, nil
}

// DecodeEvent reads one event line of a child. Agent and Time are prloop's to set and come back empty.
func DecodeEvent(line []byte) (review.Event, Notes, error) {
	e, notes, err := decode[review.Event]("event", line, options{limit: 1 << 20})
	if err != nil {
		return review.Event{}, notes, err
	}
	clean := review.Event{Kind: e.Kind, Message: e.Message, Level: e.Level, State: e.State, Usage: e.Usage}
	return clean, notes, nil
}

// DecodeFinding reads one finding (spec.md A1).
func DecodeFinding(data []byte) (review.Finding, Notes, error) {
	f, notes, err := decode[review.Finding]("finding", data, options{})
	if err != nil {
		return review.Finding{}, notes, err
	}
	one := []review.Finding{f}
	if faults := settleFindings(one, "", &notes); len(faults) > 0 {
		return review.Finding{}, notes, refuse("finding", faults...)
	}
	return one[0], notes, nil
}

type options struct {
	// limit is the cap on the document in bytes; 0 means that of an answer.
	limit      int
	nullArrays bool
	// complete puts into a parsed document what may be missing in it; nil puts nothing.
	complete func(v any)
}

// decode runs the gate: bytes, syntax, fields, schema, and only then Go values.
func decode[T any](name string, data []byte, o options) (T, Notes, error) {
	var zero, out T
	if o.limit == 0 {
		o.limit = maxBytes
	}
	v, faults := parse(data, o.limit)
	if len(faults) > 0 {
		return zero, nil, refuse(name, faults...)
	}
	if o.complete != nil {
		o.complete(v)
	}
	p := pruner{nullArrays: o.nullArrays}
	v = p.value(v, reflect.TypeFor[T](), "")
	invalid, err := validate(name, v)
	if err != nil {
		return zero, p.notes, err
	}
	if faults := append(p.faults, invalid...); len(faults) > 0 {
		return zero, p.notes, refuse(name, faults...)
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return zero, p.notes, refuse(name, Fault{"", err.Error()})
	}
	return out, p.notes, nil
}
