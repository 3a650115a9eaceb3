package plumbing

import (
	"context"
	"fmt"
	"io"

	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/sanitize"
)

// Sanitize is `prloop sanitize`.
func Sanitize() subcommand.Command {
	return subcommand.Command{
		Use:   "sanitize",
		Short: "Filter a comment body from standard input to standard output",
		Long:  "Takes secrets, full diffs, mentions, images and everything else prloop would not post out of a comment body,\nand puts the marker on line 1. Filtering twice changes nothing.",
		Run: func(_ context.Context, p subcommand.Process, _ []string) error {
			body, err := p.Read("-")
			if err != nil {
				return fmt.Errorf("read standard input: %w", err)
			}
			text, err := sanitize.Filter(string(body))
			if err != nil {
				return fmt.Errorf("sanitize standard input: %w", err)
			}
			_, err = io.WriteString(p.Stdout, text.String())
			return err
		},
	}
}
