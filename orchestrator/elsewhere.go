package orchestrator

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/review"
)

// stillThere is the end of a run about a checkout, which may hold something else by now: a person goes on working while agents read, or resumes the run days
// later. What nobody reviewed does not pass, and what was found says that it is about something older.
func (l *Loop) stillThere(ctx context.Context, steps Steps, req Request, p *progress, result review.RunResult) (review.RunResult, error) {
	if t := req.Target; !t.Local() || t.Change != "" || result.Receipt.MergeBaseSHA == "" {
		return result, nil
	}
	why, err := doJSON(ctx, steps, "look at the checkout again", func(ctx context.Context) (string, error) {
		return l.elsewhere(ctx, req, result.Receipt.HeadSHA)
	})
	switch {
	case err != nil || why == "":
		return result, err
	case passes(result):
		return superseded(req, *p, result.URL, why+": start a new run"), nil
	}
	result.Reason = why + "; then: " + result.Reason
	return result, nil
}

// elsewhere says how a checkout differs from the commit of it that was reviewed; empty where it has the same files. Who has committed them since has changed none.
func (l *Loop) elsewhere(ctx context.Context, req Request, reviewed string) (string, error) {
	now, err := l.History.Pin(ctx, req.Target, review.PullRequest{}, req.Checkout)
	if err != nil || now.Head == reviewed {
		return "", err
	}
	d, err := l.History.Diff(ctx, reviewed, now.Head)
	if err != nil || len(d.Files) == 0 {
		return "", err
	}
	return fmt.Sprintf("%s changed since the files were read for review, as %s", plural(len(d.Files), "file has", "files have"), short(reviewed)), nil
}
