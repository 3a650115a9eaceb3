package orchestrator

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/review"
)

// stillThere is the end of a run about a checkout, which may hold something else by now: a person goes on working while agents read, or resumes the run days
// later. What nobody reviewed does not pass, and what was found says that it is about something older.
func (l *Loop) stillThere(ctx context.Context, req Request, p progress, result review.RunResult) (review.RunResult, error) {
	if t := req.Target; !t.Local() || t.Change != "" || result.Receipt.MergeBaseSHA == "" {
		return result, nil
	}
	why, err := l.elsewhere(ctx, req, result.Receipt)
	switch {
	case err != nil || why == "":
		return result, err
	case passes(result):
		ended := superseded(req, p, result.URL, why+": start a new run")
		ended.Fates = result.Fates
		return ended, nil
	}
	result.Reason = why + "; then: " + result.Reason
	return result, nil
}

// elsewhere says how the changes of a checkout differ from those that were reviewed; empty where none was missed. Who has committed them since has changed
// none, and there are none left where what they are compared with has all of them.
func (l *Loop) elsewhere(ctx context.Context, req Request, was review.Receipt) (string, error) {
	now, err := l.History.Pin(ctx, req.Target, review.PullRequest{}, req.Checkout)
	if err != nil {
		return "", err
	}
	n, err := l.unlike(ctx, was.HeadSHA, now.Head)
	if err != nil {
		return "", err
	}
	if n > 0 {
		return fmt.Sprintf("%s changed since the files were read for review, as %s", plural(n, "file has", "files have"), short(was.HeadSHA)), nil
	}
	for _, read := range []string{was.MergeBaseSHA, was.HeadSHA} {
		if n, err := l.unlike(ctx, read, now.MergeBase); err != nil || n == 0 {
			return "", err
		}
	}
	return fmt.Sprintf("the changes begin at %s now, and were read for review from %s", short(now.MergeBase), short(was.MergeBaseSHA)), nil
}

// unlike counts the files that are not the same in two commits.
func (l *Loop) unlike(ctx context.Context, one, other string) (int, error) {
	if one == other {
		return 0, nil
	}
	d, err := l.History.Diff(ctx, one, other)
	if err != nil {
		return 0, err
	}
	return len(d.Files), nil
}
