package evalcli

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/prloop/prloop/internal/eval/page"
	"github.com/prloop/prloop/internal/subcommand"
)

func reportCommand() subcommand.Command {
	var s scoreFlags
	f := subcommand.Flags("report")
	s.add(f)
	out := f.String("out", "report.html", "write the page to `FILE`")
	return subcommand.Command{
		Use:   "report RESULTS",
		Short: "Write an HTML page with plots, misses and false alarms",
		Long:  "Scores a result set and writes one HTML page, without scripts and without anything from elsewhere.",
		Flags: f,
		Run: func(_ context.Context, p subcommand.Process, args []string) error {
			known, reports, err := s.score(p, args[0])
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := page.Write(&b, known, reports[0]); err != nil {
				return fmt.Errorf("write the page: %w", err)
			}
			if err := os.WriteFile(p.Path(*out), b.Bytes(), 0o666); err != nil {
				return fmt.Errorf("write the page: %w", err)
			}
			_, err = fmt.Fprintln(p.Stdout, p.Path(*out))
			return err
		},
	}
}
