package answer

import (
	"fmt"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

const finderShape = "finder-result"

// DecodeFinder reads a finder's answer. Nothing is decided by it: what it names is held against what it was shown before anything is read.
func DecodeFinder(data []byte) (review.FinderResult, schema.Notes, error) {
	r, notes, err := schema.Decode[review.FinderResult](finderShape, data, nil)
	if err != nil {
		return review.FinderResult{}, notes, err
	}
	var faults []schema.Fault
	for i := range r.Wanted {
		clean, ok := cleanPath(r.Wanted[i].File)
		if !ok {
			faults = append(faults, schema.Fault{Where: fmt.Sprintf("wanted/%d/file", i), Why: "must be a path inside the repository, relative to its root, with slashes"})
		}
		r.Wanted[i].File = clean
	}
	if len(faults) > 0 {
		return review.FinderResult{}, notes, schema.Refuse(finderShape, faults...)
	}
	return r, notes, nil
}
