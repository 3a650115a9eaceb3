package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

const scoutShape = "scout-result"

// DecodeScout reads a scout's answer, as DecodeReviewer does. A field that is none of its own or of an observation's and may hold a P0 or P1
// makes it a flag, and so does any of its texts that calls something one: what nobody can read is no approval (decision 34).
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
	var fields map[string]json.RawMessage
	var observations []map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // the answer is valid
	_ = json.Unmarshal(fields["observations"], &observations)
	why := unknown(fields, reflect.TypeFor[review.ScoutResult]())
	texts := slices.Clone(r.Reasons)
	for _, o := range observations {
		why = cmp.Or(why, unknown(o, reflect.TypeFor[review.Observation]()))
	}
	for _, o := range r.Observations {
		texts = append(texts, o.Tag, o.Text)
	}
	if why == "" && slices.ContainsFunc(texts, callsGrave) {
		why = "one of its texts calls something a P0 or P1"
	}
	if why != "" {
		flag(&r, &notes, why)
	}
	return r, notes, nil
}

// callsGrave reports whether a short text begins with a word for P0 or P1 as a title does, or is no more than that.
func callsGrave(text string) bool {
	text = undenied(strings.ToLower(text))
	return graveTitle.MatchString(text) || graveHeading.MatchString(strings.TrimSpace(text))
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
