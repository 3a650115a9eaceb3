package progress

import (
	"fmt"
	"os"

	"github.com/prloop/prloop/sanitize"
)

// StepSummary appends a report to the file of a step's summary in GitHub Actions.
func StepSummary(path, body string, policy sanitize.Policy) error {
	text, err := sanitize.Summary(body, policy)
	if err != nil {
		return fmt.Errorf("sanitize the step summary: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write the step summary: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteString(text.String() + "\n"); err != nil {
		return fmt.Errorf("write the step summary: %w", err)
	}
	return nil
}
