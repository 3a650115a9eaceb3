package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

func resumeCommand(p *Proc) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was killed or stopped",
		Long:  "Agents that had answered are not asked again, and nothing is posted twice. RUN may be shortened.\nA finished run prints its result again.",
		Args:  args(cobra.ExactArgs(1)),
		RunE:  func(c *cobra.Command, a []string) error { return p.resume(c.Context(), a[0], o) },
	}
	c.Flags().BoolVar(&o.asJSON, "json", false, "print the run's result as JSON")
	return c
}

func (p *Proc) resume(ctx context.Context, part string, o runOptions) error {
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	s, err := p.openSession(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	s.openEngine(ctx)
	run, err := s.findRun(ctx, part)
	if err != nil {
		return err
	}
	if _, err := s.scratch(); err != nil { // what the killed run left goes, even if there is nothing more to do (threats.md K28)
		return err
	}
	if run.State == store.Finished && !run.Target.Local() {
		if err := s.giveBack(ctx, run.Target.String(), run.ID); err != nil {
			return err
		}
	}
	view := p.view(o)
	return s.drive(ctx, run.ID, nil, o, view, func(ctx context.Context, st stored) (*orchestrator.Loop, error) {
		begin(view, st.Request)
		return s.again(ctx, st, lost, view.Event)
	})
}

// findRun finds a run by a part of its id.
func (s *session) findRun(ctx context.Context, part string) (store.Run, error) {
	run, err := s.store.Run(ctx, part)
	var many *store.AmbiguousError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return run, usage("prloop runs lists them", "there is no run %q here", part)
	case errors.As(err, &many):
		return run, usage("give more of the id", "%w", many)
	case err != nil:
		return run, err
	}
	return run, s.recognize(&run)
}

// again builds the loop of a stored run: all is what it was, keys and the login are today's. The engine lets one process at a
// time come here with a run, and with no run that has ended: only then is the pull request taken.
func (s *session) again(ctx context.Context, st stored, lost context.CancelCauseFunc, emit func(review.Event)) (*orchestrator.Loop, error) {
	if err := s.sameWalls(ctx, st); err != nil {
		return nil, err
	}
	settings, err := s.settingsAgain(st)
	if err != nil {
		return nil, err
	}
	lease, err := s.hold(ctx, st.Target, st.Run, st.DryRun, lost)
	if err != nil {
		return nil, err
	}
	s.forgetArtifacts(st.Run)
	if !st.Target.Local() {
		if _, err := s.openGitHub(ctx, st.Target.Repo.Host); err != nil {
			return nil, err
		}
	}
	h, err := s.openHistory(ctx, st.Target, st.Checkout, st.Run)
	if err != nil {
		return nil, fmt.Errorf("open the repository of run %s: %w", st.Run, err)
	}
	return s.loop(ctx, st.Request, settings, h, lease, emit)
}

// settingsAgain resolves the operator's configuration for its keys; the rest is as it was stored.
func (s *session) settingsAgain(st stored) (config.Settings, error) {
	operator, err := config.ReadOperator(s.p.env)
	if err != nil {
		return config.Settings{}, err
	}
	today, err := s.p.cassette(runOptions{})
	if err != nil {
		return config.Settings{}, err
	}
	s.cassette = st.cassette(today)
	settings, err := config.Foresee(config.Input{ // who takes part stands in the request
		Env: s.p.env, Operator: operator, Local: st.Target.Local(), Replayed: s.cassette.Mode == gateway.Replay,
	})
	if err != nil {
		return settings, err
	}
	return st.settings(settings)
}
