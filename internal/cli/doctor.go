package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/sanitize"
)

// finding of doctor: one thing that was looked at.
type checkup struct {
	what string
	// note is what was found; next what to do about it.
	note, next string
	// state is ok, missing (prloop works without it, in part) or broken.
	state string
}

const (
	stateOK      = "ok"
	stateMissing = "missing"
	stateBroken  = "broken"
)

func doctorCommand(p *Invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the environment and suggest fixes",
		Long:  "Looks at git, gh and its login, the model endpoint, the configuration, the state folder, the isolation of agents, and the\nACP agents that are installed.\nExit status 0 when a pull request can be reviewed, 1 otherwise.",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			worst := 0
			for _, check := range []func(context.Context) checkup{p.checkGit, p.checkGitHub, p.checkConfig, p.checkModel, p.checkState, p.checkIsolation, p.checkBounds} {
				worst = max(worst, p.found(check(ctx)))
			}
			for _, r := range p.checkAgents(ctx) {
				worst = max(worst, p.found(r))
			}
			if worst != 0 {
				return exitStatus(worst)
			}
			return nil
		},
	}
}

// found prints a checkup and gives the exit status it asks for.
func (p *Invocation) found(r checkup) int {
	fmt.Fprintf(p.Stdout, "%-8s %-10s %s\n", r.state, r.what, p.beside(sanitize.Terminal(sanitize.Redact(r.note))))
	if r.next != "" {
		fmt.Fprintf(p.Stdout, "%-8s %-10s %s\n", "", "", p.beside("try: "+sanitize.Terminal(r.next)))
	}
	if r.state == stateBroken {
		return exitFailed
	}
	return 0
}

// beside breaks text for the third column on a terminal; a line that is read by a program stays one.
func (p *Invocation) beside(text string) string {
	if !p.terminal(p.Stdout) {
		return text
	}
	return progress.Wrap(text, p.width()-1, 20)
}

// diagnosed is a checkup that ended in an error.
func diagnosed(what string, err error) checkup {
	h := explain(err)
	return checkup{what: what, note: h.err.Error(), next: h.next, state: stateBroken}
}

func (p *Invocation) checkGit(ctx context.Context) checkup {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return diagnosed("git", err)
	}
	return checkup{what: "git", note: g.Version(), state: stateOK}
}

func (p *Invocation) checkGitHub(ctx context.Context) checkup {
	host := github.DefaultHost(p.Env)
	c, err := github.New(ctx, github.Options{Host: host, Env: p.Env, GH: p.env("PRLOOP_GH")})
	if err != nil {
		return diagnosed("github", err)
	}
	who, err := c.Viewer(ctx, host)
	if err != nil {
		return diagnosed("github", err)
	}
	return checkup{what: "github", note: "logged in to " + host + " as " + who.Login, state: stateOK}
}

func (p *Invocation) checkConfig(ctx context.Context) checkup {
	file, err := config.ReadOperator(p.env)
	if err == nil && file != nil {
		err = config.Validate(config.Operator, file.Name, file.Data)
	}
	if err != nil {
		return diagnosed("config", err)
	}
	if _, err := config.Foresee(config.Input{Env: p.env, Operator: file}); err != nil {
		return diagnosed("config", err)
	}
	c := checkup{what: "config", state: stateOK}
	if path, _ := config.OperatorPath(p.env); file == nil {
		c.note = "no user config at " + path + "; using defaults"
	} else {
		c.note = file.Name
	}
	here, err := app.RulesIn(ctx, p.Dir)
	if err == nil && here.Top != "" {
		var local app.Order
		if local, err = p.order(runOptions{}); err == nil {
			_, err = local.Settings(here)
		}
	}
	if err != nil { // of no account for pull requests
		d := diagnosed("config", err)
		return checkup{what: d.what, note: "no local range can be reviewed here: " + d.note, next: d.next, state: stateMissing}
	}
	if here.File != nil {
		c.note += "; " + here.From
	}
	return c
}

func (p *Invocation) checkModel(ctx context.Context) checkup {
	order, err := p.order(runOptions{})
	if err != nil {
		return checkup{what: "model", note: "skipped: invalid configuration", state: stateBroken}
	}
	settings, err := order.Foresee(true)
	if err != nil {
		return checkup{what: "model", note: "skipped: invalid configuration", state: stateBroken}
	}
	if !settings.ModelConfigured() {
		return checkup{what: "model", note: "none is configured: only the static reviewer runs", next: "set OPENAI_API_KEY", state: stateMissing}
	}
	if err := app.CheckModel(ctx, p.logger(), settings); err != nil {
		return diagnosed("model", err)
	}
	return checkup{what: "model", note: settings.Model + " at " + settings.BaseURL, state: stateOK}
}

func (p *Invocation) checkState(ctx context.Context) checkup {
	s, err := p.open(ctx)
	if err != nil {
		return diagnosed("state", err)
	}
	defer s.Close(ctx)
	probe := filepath.Join(s.State(), ".writable")
	if err := errors.Join(os.WriteFile(probe, nil, 0o600), os.Remove(probe)); err != nil {
		return checkup{what: "state", note: err.Error(), next: "set PRLOOP_STATE to a folder you can write", state: stateBroken}
	}
	return checkup{what: "state", note: s.State(), state: stateOK}
}

// checkIsolation says what stands around agents. It never says more than what is there (threats.md P15).
func (p *Invocation) checkIsolation(ctx context.Context) checkup {
	word, err := p.confinement()
	if err != nil {
		return diagnosed("isolation", err)
	}
	machine, err := p.sandbox()
	if err != nil {
		return diagnosed("isolation", err)
	}
	report := machine.Probe(ctx)
	c := checkup{what: "isolation", note: report.String(), state: stateOK}
	if report.Tier > sandbox.Tier1b {
		c.state, c.next = stateBroken, noWalls
	}
	if word != app.ConfineRequired {
		c.state, c.note = stateMissing, envSandbox+"="+string(word)+"; this machine has "+c.note
	}
	return c
}

// checkBounds says what bounds agents, how hard, and whether there is room to start them.
func (p *Invocation) checkBounds(ctx context.Context) checkup {
	limits, err := p.limits()
	if err != nil {
		return diagnosed("bounds", err)
	}
	machine, err := p.sandbox()
	if err != nil {
		return diagnosed("bounds", err)
	}
	if state, err := p.stateFolder(); err == nil {
		if err := limits.Room(state); err != nil {
			return diagnosed("bounds", err)
		}
	}
	word, err := p.confinement()
	if err != nil {
		return diagnosed("bounds", err)
	}
	full := word != app.ConfineOff && machine.Probe(ctx).Tier <= sandbox.Tier1b
	return checkup{what: "bounds", note: "agents are " + agentrun.BoundsHere(full), state: stateOK}
}
