package app

import (
	"context"
	"time"

	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// LastWord is what our newest report on a pull request says of a head, by the comments that stand there: orchestrator.LastWord.
func (s *Service) LastWord(ctx context.Context, target review.Target, head string) (outcome review.Outcome, url string, err error) {
	client, err := s.GitHubFor(ctx, target.Repo)
	if err != nil {
		return "", "", err
	}
	pr, err := client.PullRequest(ctx, target.Repo, target.PR)
	if err != nil {
		return "", "", err
	}
	viewer, err := client.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return "", "", err
	}
	comments, err := client.CommentsSince(ctx, pr, time.Time{})
	if err != nil {
		return "", "", err
	}
	outcome, url = orchestrator.LastWord(comments, viewer, pr, head)
	return outcome, url, nil
}
