package answer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

const scoutShape = "scout-result"

// DecodeScout reads a scout's answer, as DecodeReviewer does. A field that is none of its own and may hold a P0 or P1 makes it a flag: what
// nobody can read is no approval (decision 34).
func DecodeScout(data []byte) (review.ScoutResult, schema.Notes, error) {
	r, notes, err := schema.Decode[review.ScoutResult](scoutShape, data, nil)
	if err != nil {
		return review.ScoutResult{}, notes, err
	}
	var faults []schema.Fault
	for i := range r.Observations {
		clean, ok := cleanPath(r.Observations[i].File)
		if !ok {
			faults = append(faults, schema.Fault{Where: fmt.Sprintf("observations/%d/file", i), Why: "must be a path inside the repository, relative to its root, with slashes"})
		}
		r.Observations[i].File = clean
	}
	if len(faults) > 0 {
		return review.ScoutResult{}, notes, schema.Refuse(scoutShape, faults...)
	}
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(data, &fields) // the answer is valid
	if why := unknown(fields, reflect.TypeFor[review.ScoutResult]()); why != "" {
		flag(&r, &notes, why)
	}
	for _, o := range r.Observations {
		if graveTitle.MatchString(undenied(strings.ToLower(o.Tag))) || graveTitle.MatchString(undenied(strings.ToLower(o.Text))) {
			flag(&r, &notes, "one of its observations calls something a P0 or P1")
			break
		}
	}
	return r, notes, nil
}

// Suspect flags a scan when text beside it names a P0 or P1, or says another verdict.
func Suspect(r *review.ScoutResult, beside []byte) (notes schema.Notes) {
	if why := Beside(beside, nil); why != "" {
		flag(r, &notes, why)
	}
	return append(notes, CorrectedScout(r, beside)...)
}

var (
	saysFlag    = lazyregexp.New(`\bverdict\b["'\x60\\*\s]*[:=]["'\x60\\*\s]*flag`)
	saysComplex = lazyregexp.New(`\bcomplexity\b["'\x60\\*\s]*[:=]["'\x60\\*\s]*complex`)
)

// CorrectedScout keeps the graver word of a scout's other answers: asking for another form is no second look (decision 32).
func CorrectedScout(r *review.ScoutResult, others ...[]byte) (notes schema.Notes) {
	for _, other := range others {
		text := plainly(other)
		if saysFlag.MatchString(text) || r.Verdict != review.Flag && MayBlock(other) {
			flag(r, &notes, "another answer of it flags the change")
		}
		if r.Complexity != review.ComplexChange && saysComplex.MatchString(text) {
			r.Complexity = review.ComplexChange
			notes.Add("complexity: another answer of it calls the change complex, which counts")
		}
	}
	return notes
}

// flag makes a verdict a flag, and says why.
func flag(r *review.ScoutResult, notes *schema.Notes, why string) {
	if r.Verdict == review.Flag {
		return
	}
	r.Verdict = review.Flag
	r.Reasons = append(r.Reasons, "prloop flags it: "+why+".")
	notes.Add("verdict: flag: %s", why)
}
