package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/evalcli"
)

func evalCommand(p *Invocation) *cobra.Command {
	var members []*cobra.Command
	for _, e := range evalcli.Commands() {
		c := &cobra.Command{Use: e.Use, Short: e.Short, Long: e.Long, RunE: func(c *cobra.Command, a []string) error {
			return e.Run(c.Context(), evalcli.Process{Stdout: p.Stdout, Stderr: p.Stderr, Dir: p.Dir, Version: Version, Open: p.openToEval}, a)
		}}
		c.Args = args(asUsed)
		c.Flags().AddGoFlagSet(e.Flags)
		members = append(members, c)
	}
	return group(&cobra.Command{
		Use:   "eval",
		Short: "Review cases, score reviews, compare them, and measure prloop's rules",
		Long: "Has review cases reviewed, scores what reviewers say, compares two results, and measures rules of prloop on recorded reviews of\n" +
			"real tools (docs/eval.md). Only eval run asks models.",
	}, members...)
}

// asUsed wants as many arguments as the usage line has.
func asUsed(c *cobra.Command, a []string) error {
	if need, most := arguments(c); len(a) < len(need) || len(a) > most {
		return errors.New("wrong number of arguments")
	}
	return nil
}
