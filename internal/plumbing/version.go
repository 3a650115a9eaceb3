package plumbing

import (
	"context"
	"fmt"
	"runtime"

	"github.com/prloop/prloop/internal/command"
	"github.com/prloop/prloop/internal/progress"
)

// Version is `prloop version`.
func Version() command.Command {
	f := command.Flags("version")
	asJSON := f.Bool("json", false, "print JSON")
	return command.Command{
		Use: "version", Short: "Print the version", Flags: f,
		Run: func(_ context.Context, p command.Process, _ []string) error {
			if *asJSON {
				return progress.JSON(p.Stdout, map[string]string{"version": p.Version, "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintln(p.Stdout, "prloop", p.Version)
			return err
		},
	}
}
