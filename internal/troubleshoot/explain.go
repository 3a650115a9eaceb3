// Package troubleshoot knows what an error means for a person: the next step, and the exit status.
package troubleshoot

import (
	"errors"

	"github.com/prloop/prloop/internal/advice"
)

// Explain finds the row of the table that fits an error. Whatever has no row of its own is a failure without advice.
func Explain(err error) advice.Error {
	var h advice.Error
	if errors.As(err, &h) {
		h.Err = err
		return h
	}
	for _, row := range table {
		if next, ok := row.match(err); ok {
			return advice.Error{Err: err, Next: next, Status: row.status}
		}
	}
	return advice.Error{Err: err, Status: advice.Failed}
}
