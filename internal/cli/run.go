package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/pipes"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/internal/troubleshoot"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// run is `prloop run`.
func (p *Invocation) run(ctx context.Context, o runOptions) error {
	if err := o.out.Check(p.Dir, o.result.wants()); err != nil {
		return err
	}
	if err := p.readKey(&o); err != nil {
		return err
	}
	order, err := p.order(o)
	if err != nil {
		return err
	}
	local := len(o.changes()) > 0
	if err := app.Preflight(order, local); err != nil {
		return err
	}
	s, err := p.openToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	if !local {
		if order.Target, err = p.target(ctx, s, o); err != nil {
			return err
		}
	}
	prepared, err := s.Prepare(ctx, order)
	if err != nil {
		return err
	}
	if o.estimate {
		defer prepared.Close()
		return p.estimate(ctx, prepared, o)
	}
	view := p.view(o)
	ended, err := s.Start(ctx, prepared, view.Event)
	if err != nil {
		view.Close()
		return stopped(prepared.Request.Run, err)
	}
	return p.finish(s, ended, o, view)
}

// estimate prints what a run would ask, and does not begin it.
func (p *Invocation) estimate(ctx context.Context, prepared *app.Prepared, o runOptions) error {
	e, err := prepared.Estimate(ctx)
	if err != nil {
		return err
	}
	if o.result.wants() {
		return progress.JSON(p.Stdout, e)
	}
	return e.Print(p.Stdout, p.terminal(p.Stdout), p.width())
}

// resume is `prloop resume`.
func (p *Invocation) resume(ctx context.Context, part string, o runOptions) error {
	if err := o.out.Check(p.Dir, o.result.wants()); err != nil {
		return err
	}
	order, err := p.order(o)
	if err != nil {
		return err
	}
	s, err := p.openToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	run, err := p.find(ctx, s, part)
	if err != nil {
		return err
	}
	view := p.view(o)
	ended, err := s.Resume(ctx, run.ID, app.Today{Layers: order.Layers, Cassette: order.Cassette}, view.Event)
	if err != nil {
		view.Close()
		return stopped(run.ID, err)
	}
	return p.finish(s, ended, o, view)
}

// finish prints how a run ended and turns it into an exit status.
func (p *Invocation) finish(s *app.Service, ended app.Ended, o runOptions, view *progress.View) error {
	if err := p.show(view, s, ended, o); err != nil {
		return err
	}
	if r := ended.Result; r.Target.Base != "" && r.Outcome == review.NotReviewed && r.Receipt.Files == 0 {
		p.note("nothing has changed since " + r.Target.Base + "; for what is committed already, name an older revision with --base, or review the last commit: prloop run --commit HEAD")
	}
	if o.result.web {
		if err := p.browse(ended.Result); err != nil {
			p.note(err.Error()) // the exit status is that of the verdict
		}
	}
	if ended.Result.Outcome == review.Failed {
		return failed(ended)
	}
	return exitStatus(ended.Result.ExitStatus())
}

// note prints what a person may have expected to count, and does not.
func (p *Invocation) note(text string) {
	fmt.Fprintf(p.Stderr, "note: %s\n", runnerlog.Inert(sanitize.Terminal(text)))
}

// stopped names the command that continues a run.
func stopped(run string, err error) error {
	var u *engine.UnfinishedError
	if !errors.As(err, &u) {
		return err
	}
	h := troubleshoot.Explain(u.Cause)
	h.Err = u.Cause
	resume := "prloop resume " + run
	if errors.Is(u.Cause, context.Canceled) || errors.Is(u.Cause, pipes.ErrReaderGone) {
		return advice.Error{Err: fmt.Errorf("run %s was interrupted", run), Next: resume, Status: advice.Interrupted}
	}
	if h.Next != "" {
		resume = h.Next + ", then: " + resume
	}
	return advice.Error{Err: u.Cause, Next: resume, Status: h.Status}
}

// failed names what ended a run for good, and what a person can do about it. In a run that is looked at again the stored
// reason is all there is.
func failed(ended app.Ended) error {
	result := ended.Result
	h := advice.Error{Err: errors.New(result.Reason), Status: result.Outcome.ExitStatus(), Next: "start a new run: " + result.Target.Again()}
	if ended.Cause != nil {
		if next := troubleshoot.Explain(ended.Cause).Next; next != "" {
			h.Next = next + ", then " + h.Next
		}
	}
	return h
}
