package policy

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong with a row, at its field.
type Fault struct {
	// Field is the column, or a path to it in an import, such as policies[1].columns.crew.
	Field string `json:"field"`
	// Message says what is wrong, in words that may follow the field and a colon.
	Message string `json:"message"`
	// Suggestion is what was probably meant; empty when nothing is near.
	Suggestion string `json:"suggestion,omitempty"`
}

func (f Fault) String() string {
	s := f.Field + ": " + f.Message
	if f.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", f.Suggestion)
	}
	return s
}

// Error holds every fault found. Nothing of a row with faults is saved.
type Error struct{ Faults []Fault }

func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// faults is an error when there are some.
func faults(list []Fault) error {
	if len(list) == 0 {
		return nil
	}
	return &Error{list}
}
