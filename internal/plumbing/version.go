package plumbing

import (
	"context"
	"fmt"
	"runtime"

	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/subcommand"
)

// Version is `prloop version`.
func Version() subcommand.Command {
	f := subcommand.Flags("version")
	asJSON := f.Bool("json", false, "print JSON")
	return subcommand.Command{
		Use: "version", Short: "Print the version", Flags: f,
		Run: func(_ context.Context, p subcommand.Process, _ []string) error {
			if *asJSON {
				return progress.JSON(p.Stdout, map[string]string{"version": p.Version, "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintln(p.Stdout, "prloop", p.Version)
			return err
		},
	}
}
