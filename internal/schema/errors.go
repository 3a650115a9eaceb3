package schema

import (
	"fmt"
	"strings"
)

// Notes are oddities of a document that were put right, one line each, for the receipt. They quote names an agent chose,
// shortened and escaped.
type Notes []string

// maxNotes bounds what one document can add to the receipt.
const maxNotes = 20

// Add appends a note, unless there are many.
func (n *Notes) Add(format string, args ...any) {
	switch {
	case len(*n) < maxNotes:
		*n = append(*n, fmt.Sprintf(format, args...))
	case len(*n) == maxNotes:
		*n = append(*n, "further oddities are not listed")
	}
}

// Fault is one thing wrong with a document.
type Fault struct {
	// Where is the place, names and indexes separated by slashes ("findings/0/priority"), or "line 3, column 7" when
	// the document is not JSON; empty for the document as a whole.
	Where string
	// Why is a short phrase in lower case.
	Why string
}

// String gives "where: why".
func (f Fault) String() string {
	if f.Where == "" {
		return f.Why
	}
	return f.Where + ": " + f.Why
}

// Error is why a document was refused. Its text is fit to be quoted to the model that wrote the document: it names
// places and rules, and repeats values only shortened and escaped.
type Error struct {
	// Shape is the schema's name.
	Shape string
	// Faults are in document order as far as it is known, at most ten.
	Faults []Fault
	// More is how many faults are not listed.
	More int
}

const maxFaults = 10

// Error gives all faults on one line.
func (e *Error) Error() string {
	parts := make([]string, 0, len(e.Faults)+1)
	for _, f := range e.Faults {
		parts = append(parts, f.String())
	}
	if e.More > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", e.More))
	}
	return "decode " + e.Shape + ": " + strings.Join(parts, "; ")
}

// Refuse is the error that a document of a shape has faults.
func Refuse(shape string, faults ...Fault) *Error {
	e := &Error{Shape: shape, Faults: faults}
	if len(faults) > maxFaults {
		e.Faults, e.More = faults[:maxFaults], len(faults)-maxFaults
	}
	return e
}

// Quote quotes untrusted text for a note or a fault, shortened and escaped.
func Quote(s string) string {
	const limit = 40
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "..."
	}
	return fmt.Sprintf("%+q", s)
}

// At appends a step to a place; a step an agent chose is shortened and escaped.
func At(at, step string) string {
	if q := Quote(step); q != `"`+step+`"` || strings.Contains(step, "/") {
		step = q
	}
	if at == "" {
		return step
	}
	return at + "/" + step
}
