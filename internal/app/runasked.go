package app

import (
	"context"
	"errors"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// RunAsked reviews a pull request, or runs a command on it, for a line of a comment, and answers it: with what that says, or with the reason
// why it says nothing. A run that was begun for it is gone on with. Errors are as those of Prepare, Start and Resume.
func (s *Service) RunAsked(ctx context.Context, o Order, a Ask, emit func(review.Event)) (ended Ended, err error) {
	o.Asked = &a.Asked
	run, err := s.AnsweringRun(ctx, o.Target, a)
	if err != nil {
		return ended, err
	}
	if run != "" {
		ended, err = s.Resume(ctx, run, Today{Layers: o.Layers, Cassette: o.Cassette}, emit)
	} else {
		var p *Prepared
		if p, err = s.Prepare(ctx, o); err != nil {
			if fault := (*config.Error)(nil); errors.As(err, &fault) {
				_, told := s.Answer(ctx, o.Target, a, "Nothing was done, as the settings are faulty: "+sanitize.Field(fault.Error(), sanitize.Policy{Repo: o.Target.Repo, PR: o.Target.PR}))
				err = errors.Join(err, told)
			}
			return ended, err
		}
		run = p.Request.Run
		ended, err = s.Start(ctx, p, emit)
	}
	ended.Result.Run = run
	if err != nil || len(ended.Result.Comments) > 0 || ended.Result.Outcome == review.Failed {
		return ended, err
	}
	_, err = s.Answer(ctx, o.Target, a, "Nothing was posted beside this: "+sanitize.Field(ended.Result.Reason, sanitize.Policy{Repo: o.Target.Repo, PR: o.Target.PR}))
	return ended, err
}
