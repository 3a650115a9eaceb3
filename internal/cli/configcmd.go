package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/plumbing"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func configCommand(p *Invocation) *cobra.Command {
	return group(&cobra.Command{Use: "config", Short: "Check and explain the configuration"},
		p.offered(plumbing.Validate()), configExplainCommand(p))
}

func configExplainCommand(p *Invocation) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "explain [PR]",
		Short: "Print every setting with its value and the layer that set it",
		Long: "Layers, the strongest first: command line, environment, the repository's policy, its crew, .reviewerc, the operator's file,\n" +
			"default. Without an argument it explains a local range, which uses .reviewerc of the working tree and no policy; with PR, a\n" +
			"number, a URL or owner/repo#number, a run of that pull request, which uses .reviewerc at the base commit. The flags are those\n" +
			"of prloop run that change settings.",
		Example: "  prloop config explain\n  prloop config explain 123 --reviewers static",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if err := o.takeSettings(c, a); err != nil {
				return err
			}
			settings, err := p.settingsOfRun(c.Context(), o)
			if err != nil {
				return err
			}
			if o.asJSON {
				return progress.JSON(p.Stdout, settings.Explain())
			}
			for _, line := range settings.Explain() {
				fmt.Fprintln(p.Stdout, sanitize.Terminal(line.String()))
			}
			return nil
		},
	}
	o.addSettings(c)
	c.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return c
}

// settingsOfRun resolves the settings of the run that would happen, and says on standard error which run that is.
func (p *Invocation) settingsOfRun(ctx context.Context, o runOptions) (config.Settings, error) {
	if err := p.readKey(&o); err != nil {
		return config.Settings{}, err
	}
	order, err := p.order(o)
	if err != nil {
		return config.Settings{}, err
	}
	what, rules := "a local range", app.Rules{}
	if o.target == "" && o.repo == "" {
		order.Target = review.Target{} // whatever its base
		if err = p.checkBase(ctx, o.base); err == nil {
			rules, err = app.RulesIn(ctx, p.Dir)
		}
	} else {
		rules, err = p.rulesOf(ctx, &order, o)
		what = order.Target.String()
	}
	if err != nil {
		return config.Settings{}, err
	}
	fmt.Fprintf(p.Stderr, "%s: %s\n", runnerlog.Inert(sanitize.Terminal(what)), runnerlog.Inert(rules.From))
	p.notes(rules)
	return order.Settings(rules)
}

// rulesOf are the rules of the pull request that an order with these flags is about.
func (p *Invocation) rulesOf(ctx context.Context, order *app.Order, o runOptions) (app.Rules, error) {
	s, err := p.open(ctx)
	if err != nil {
		return app.Rules{}, err
	}
	defer s.Close(ctx)
	if order.Target, err = p.target(ctx, s, o); err != nil {
		return app.Rules{}, err
	}
	return s.Rules(ctx, *order)
}

// notes prints what the rules' reader should know.
func (p *Invocation) notes(r app.Rules) {
	for _, n := range r.Notes {
		p.note(n)
	}
}

// checkBase refuses a revision that a run would not find.
func (p *Invocation) checkBase(ctx context.Context, base string) error {
	if base == "" {
		return nil
	}
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return err
	}
	c, err := g.Checkout(p.Dir)
	if err != nil {
		return err
	}
	_, err = c.Resolve(ctx, base)
	return err
}
