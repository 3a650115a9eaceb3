package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func configCommand(p *Proc) *cobra.Command {
	return group(&cobra.Command{Use: "config", Short: "Check and explain the configuration"},
		configValidateCommand(p), configExplainCommand(p))
}

func configValidateCommand(p *Proc) *cobra.Command {
	var operator bool
	c := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a configuration file; .reviewerc of this folder without one",
		Args:  args(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, a []string) error {
			name, kind := configName, config.Repository
			if operator {
				kind = config.Operator
				name, _ = config.OperatorPath(p.env)
			}
			if len(a) == 1 {
				name = a[0]
			}
			data, err := readInput(p, name)
			if err != nil {
				return hinted{err: err, next: "name the file: prloop config validate FILE", status: exitUsage}
			}
			if err := config.Validate(kind, name, data); err != nil {
				return hinted{err: err, next: "docs/config.md lists every key", status: exitUsage}
			}
			fmt.Fprintf(p.Stdout, "%s is valid\n", name)
			return nil
		},
	}
	c.Flags().BoolVar(&operator, "operator", false, "check it as the operator's own file")
	return c
}

func configExplainCommand(p *Proc) *cobra.Command {
	var base string
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain",
		Short: "Print every value with the layer that set it",
		Long:  "Layers, the strongest first: command line, environment, .reviewerc, the operator's file, default. .reviewerc is read\nfrom this folder, or with --base at that revision, as a run would.",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			file, err := p.nearbyConfig(c.Context(), base)
			if err != nil {
				return err
			}
			settings, err := p.settings(runOptions{}, file, true)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(settings.Explain())
			}
			for _, line := range settings.Explain() {
				fmt.Fprintln(p.Stdout, sanitize.Terminal(line.String()))
			}
			return nil
		},
	}
	c.Flags().StringVar(&base, "base", "", "read .reviewerc at `REVISION`")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// nearbyConfig reads `.reviewerc` of the working directory, or at a revision.
func (p *Proc) nearbyConfig(ctx context.Context, base string) (*config.File, error) {
	if base == "" {
		data, err := os.ReadFile(filepath.Join(p.Dir, configName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", configName, err)
		}
		return &config.File{Name: configName, Data: data}, nil
	}
	s, err := p.openSession(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	ord, err := s.localHistory(ctx, review.Target{Base: base})
	if err != nil {
		return nil, err
	}
	return repositoryConfig(ctx, ord.history, ord.commits.Base)
}
