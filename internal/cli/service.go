package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/evalcli"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/otlp"
	"github.com/prloop/prloop/review"
)

// open opens the record of runs, to look at it.
func (p *Invocation) open(ctx context.Context) (*app.Service, error) {
	return p.openWith(ctx, app.Options{})
}

// openToRun opens it to do runs, with the operator's word on the machine and on telemetry.
func (p *Invocation) openToRun(ctx context.Context) (*app.Service, error) {
	machine, err := p.operator().Machine()
	if err != nil {
		return nil, err
	}
	telemetry, err := otlp.FromEnv(p.env)
	if err != nil {
		return nil, advice.Misuse("correct it, or unset OTEL_EXPORTER_OTLP_ENDPOINT to export nothing", "%w", err)
	}
	return p.openWith(ctx, app.Options{Machine: machine, Telemetry: telemetry})
}

func (p *Invocation) stateFolder() (string, error) { return p.operator().StateFolder(p.Dir) }

func (p *Invocation) openWith(ctx context.Context, o app.Options) (*app.Service, error) {
	err := p.fill(&o)
	if err == nil {
		o.Database, err = p.operator().Database(p.database)
	}
	if err == nil {
		o.Blobs, err = p.operator().Blobs()
	}
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, o)
}

// openToEval opens a service for review cases in a folder of the state, with the operator's word on machine and settings.
func (p *Invocation) openToEval(ctx context.Context, folder string) (evalcli.Reviewer, error) {
	machine, err := p.operator().Machine()
	o := app.Options{State: folder, Machine: machine}
	layers, failed := p.layers(runOptions{})
	if err = errors.Join(err, failed, p.fill(&o)); err != nil {
		return nil, err
	}
	return app.OpenEvaluator(ctx, o, layers)
}

// fill sets what every service has; a folder of the state is where its State names.
func (p *Invocation) fill(o *app.Options) error {
	state, err := p.stateFolder()
	o.State = filepath.Join(state, o.State)
	o.Log, o.Version = p.logger(), Version
	o.GitHub, o.PlainHTTP = github.Options{Env: p.Env, GH: p.env("PRLOOP_GH"), Broker: p.env(operator.EnvGitHubBroker)}, p.env("PRLOOP_GIT_URL") != ""
	return err
}

// logger is the log, on standard error.
func (p *Invocation) logger() hclog.Logger { return p.operator().Log(p.Stderr) }

// order is what the flags ask for; its target is still to be found.
func (p *Invocation) order(o runOptions) (app.Order, error) {
	out := app.Order{Dir: p.Dir, Head: o.head, Command: o.command, DryRun: o.dryRun, Estimate: o.estimate, Drafts: o.allowDraft, Force: o.force, Bot: o.bot, Itself: o.itself, Since: o.since, Note: p.note}
	var err error
	if out.Layers, err = p.layers(o); err != nil {
		return out, err
	}
	if name := config.OperatorLookalike(p.env); name != "" {
		p.note(name + " is not read: the file is called config.yml")
	}
	if out.Cassette, err = p.operator().Cassette(p.Dir, o.recordModels, o.replayModels); err != nil {
		return out, err
	}
	out.Target.Base, out.Revision = o.base, o.commit
	switch {
	case o.staged:
		out.Target.Change = review.ChangeStaged
		if index := p.env("GIT_INDEX_FILE"); index != "" { // a hook of git commit
			out.Index = p.process().Path(index)
		}
	case o.commit != "":
		out.Target.Change = review.ChangeCommit
	case o.patch != "":
		out.Target.Change = review.ChangePatch
		if out.Patch, err = p.process().Read(o.patch); err != nil {
			err = advice.Error{Err: fmt.Errorf("read the patch: %w", err), Next: "check --patch", Status: advice.Usage}
		}
	}
	return out, err
}

// layers are what settings are resolved from, but for the repository's file.
func (p *Invocation) layers(o runOptions) (config.Input, error) {
	file, err := config.ReadOperator(p.env)
	return config.Input{
		Given: o.settings, Reviewers: o.reviewers, Env: p.env, KeyBroker: p.env(operator.EnvModelBroker), Operator: file,
	}, err
}

// target finds the pull request that the arguments mean. A host that is named beside the repository is the operator's choice; one in an address may be
// anybody's.
func (p *Invocation) target(ctx context.Context, s *app.Service, o runOptions) (review.Target, error) {
	repo := cmp.Or(o.repo, p.env("GH_REPO"))
	if named, err := github.ParseRepo(repo, ""); err == nil && strings.Count(repo, "/") == 2 && !strings.Contains(repo, ":") {
		s.Name(named.Host)
	}
	t, err := s.Target(ctx, app.Words{Text: o.target, Repo: repo, Dir: p.Dir})
	if err == nil || !p.isFile(err, o.target) {
		return t, err
	}
	if base := p.baseHere(ctx); base != "" {
		return t, advice.Misuse("name a pull request, or review local changes of the whole checkout: prloop run --base "+base, "%q is a file or folder here, and no pull request", o.target)
	}
	return t, err
}

// baseHere is what local changes of the checkout here are usually compared with; empty where there can be none.
func (p *Invocation) baseHere(ctx context.Context) string {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return ""
	}
	c, err := g.Checkout(p.Dir)
	if err != nil {
		return ""
	}
	return c.Base(ctx)
}

// isFile reports whether what names no pull request names a file.
func (p *Invocation) isFile(err error, name string) bool {
	if name == "" || !errors.As(err, new(*app.NoRemoteError)) && !errors.Is(err, github.ErrTarget) && !errors.Is(err, github.ErrNoPullRequest) {
		return false
	}
	_, missing := os.Lstat(p.process().Path(name))
	return missing == nil
}
