package cli

import (
	"github.com/spf13/cobra"
)

// args wraps a cobra argument check so that a wrong count is a usage error with a next step.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if err := check(c, a); err != nil {
			return usageError(c, err)
		}
		return nil
	}
}
