package app

import (
	"context"
	"errors"
	"slices"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/trigger"
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
				_, told := s.Answer(ctx, o.Target, a, faulty(fault, sanitize.Policy{Repo: o.Target.Repo, PR: o.Target.PR}))
				err = errors.Join(err, told)
			}
			return ended, err
		}
		run = p.Request.Run
		ended, err = s.Start(ctx, p, emit)
	}
	ended.Result.Run = run
	again := ended.Result.Again != "" // its comments are those of the earlier run
	if err != nil || len(ended.Result.Comments) > 0 && !again || ended.Result.Outcome == review.Failed {
		return ended, err
	}
	body := "Nothing was posted beside this: " + sanitize.Field(ended.Result.Reason, sanitize.Policy{Repo: o.Target.Repo, PR: o.Target.PR})
	if again {
		if body, err = s.stands(ctx, o.Target, a, run, ended.Result.Outcome); err != nil {
			return ended, err
		}
	}
	_, err = s.Answer(ctx, o.Target, a, body)
	return ended, err
}

// faulty says that settings are faulty, and what is wrong with those of the repository: the operator's files and flags are nobody else's to read (threats.md T681).
func faulty(e *config.Error, p sanitize.Policy) string {
	own := config.Error{Faults: slices.DeleteFunc(slices.Clone(e.Faults), func(f config.Fault) bool { return f.File != config.RepositoryFile })}
	if len(own.Faults) == 0 {
		return "Nothing was done, as the settings of whoever runs prloop are faulty, or do not go with those of this repository. Its terminal or `prloop status` says why."
	}
	return "Nothing was done, as the settings are faulty: " + sanitize.Field(own.Error(), p)
}

// stands answers who asked for a review, or for fixes, of what was reviewed and is as it was.
func (s *Service) stands(ctx context.Context, target review.Target, a Ask, run string, outcome review.Outcome) (string, error) {
	st, err := s.requested(ctx, run)
	if err != nil {
		return "", err
	}
	status, err := s.status(ctx, target)
	if err != nil {
		return "", err
	}
	body := "This commit was reviewed, and nothing that the review rests on has changed: what it says stands."
	switch {
	case a.Word != trigger.Fix:
	case outcome == review.Converged:
		body += " There is nothing to fix."
	case st.FixOff != "":
		body += " " + st.FixOff
	case st.Fix == nil:
		body += " Nothing is fixed, as there is no fixer here."
	default:
		body += " A fixer has worked on it."
	}
	return body + "\n\n" + status, nil
}
