package answer

import (
	"fmt"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// DecodeVerifier reads the verifier's answer, as DecodeReviewer does. A finding assessed twice is refused: one of the two may be a
// refutation. Whether the ids were asked about can only be told by who holds the payload (SettleVerifier).
func DecodeVerifier(data []byte) (review.VerifierResult, schema.Notes, error) {
	r, notes, err := schema.Decode[review.VerifierResult]("verifier-result", data, nil)
	if err != nil {
		return review.VerifierResult{}, notes, err
	}
	var faults []schema.Fault
	seen := map[string]bool{}
	for i, a := range r.Assessments {
		where := fmt.Sprintf("assessments/%d", i)
		if seen[a.FindingID] {
			faults = append(faults, schema.Fault{Where: where + "/findingId", Why: schema.Quote(a.FindingID) + " is assessed twice"})
		}
		seen[a.FindingID] = true
		if a.Fact == nil {
			continue
		}
		clean, ok := cleanPath(a.Fact.File)
		if !ok || clean == "" {
			faults = append(faults, schema.Fault{Where: where + "/fact/file", Why: "must be a path inside the repository, relative to its root, with slashes"})
			continue
		}
		a.Fact.File = clean
	}
	if len(faults) > 0 {
		return review.VerifierResult{}, notes, schema.Refuse("verifier-result", faults...)
	}
	return r, notes, nil
}

// SettleVerifier holds a verifier's answer against what it was asked: assessments of findings that it was not asked about are
// dropped, and a duplicate of nothing that it was asked about is no duplicate. What it does not speak of is nobody's fault here.
func SettleVerifier(p review.VerifyPayload, r *review.VerifierResult) (notes schema.Notes) {
	asked := map[string]bool{}
	for _, f := range p.Findings {
		asked[f.ID] = true
	}
	kept := []review.Assessment{}
	for _, a := range r.Assessments {
		if !asked[a.FindingID] {
			notes.Add("%s was not asked about", schema.Quote(a.FindingID))
			continue
		}
		if a.Status == review.Duplicate && (a.DuplicateOf == a.FindingID || !asked[a.DuplicateOf]) {
			notes.Add("%s is called a duplicate of no other finding", schema.Quote(a.FindingID))
			a.Status = review.Plausible
		}
		if a.Status != review.Duplicate {
			a.DuplicateOf = ""
		}
		kept = append(kept, a)
	}
	r.Assessments = kept
	return notes
}
