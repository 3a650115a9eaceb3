package app

import (
	"context"
	"errors"

	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/review"
)

// mayWrite reports whether somebody may write to a repository: asked from GitHub when it matters (decision 9).
func (r *run) mayWrite(ctx context.Context, repo review.Repo, login string) (bool, error) {
	p, err := r.client.Permission(ctx, repo, login)
	return review.MayWrite(p), err
}

// mayFix says why a pull request of this author is not to be fixed; empty when it is. A credential that may not ask who may
// write may not push either.
func (r *run) mayFix(ctx context.Context, pr review.PullRequest) (string, error) {
	may, err := r.mayWrite(ctx, pr.Repo, pr.Author.Login)
	switch {
	case errors.Is(err, github.ErrForbidden), errors.Is(err, github.ErrNotFound):
		return "whether the author may write to the repository cannot be seen with this credential, and `fix.untrusted_authors` is not set", nil
	case err != nil:
		return "", err
	case !may:
		return "the author may not write to the repository, and `fix.untrusted_authors` is not set", nil
	}
	return "", nil
}
