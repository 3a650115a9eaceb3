package tools

import "context"

// checkArgs are those of run_checks.
type checkArgs struct {
	Command string `json:"command"`
}

// checked is what run_checks answers.
type checked string

func (c checked) text() string { return string(c) }

// runChecks has the verify commands run. Whoever runs them decides how often and how long.
func (e *Editor) runChecks(ctx context.Context, a checkArgs) (checked, error) {
	if a.Command == "" {
		a.Command = "all"
	}
	got, err := e.checks(ctx, a.Command)
	return checked(got), err
}
