package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/review"
)

// policyOf is the row of a repository that runs go by; nil when nothing is decided about it. id is GitHub's.
func (s *Service) policyOf(ctx context.Context, repo review.Repo, id int64) (*policy.Row, error) {
	if id == 0 { // which GitHub always tells; a row must not be passed over because a proxy did not
		rows, err := s.store.Policies(ctx)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return nil, fmt.Errorf("GitHub did not tell the id of %s, by which its policy is known", repo)
	}
	row, err := s.store.Policy(ctx, repo.Host, id)
	if err != nil || len(row.Columns) == 0 {
		return nil, err
	}
	row.Name = repo.Owner + "/" + repo.Name // as it is called today
	return &row, nil
}

// withPolicy adds the row of a repository to the rules of a run.
func (s *Service) withPolicy(ctx context.Context, r *Rules, repo review.Repo, id int64) (err error) {
	if r.Policy, err = s.policyOf(ctx, repo, id); r.Policy != nil {
		r.From += fmt.Sprintf("; policy of the repository, version %d", r.Policy.Version)
	}
	return err
}

// PolicyRepo finds the repository a person means, or that of the checkout at dir, at GitHub.
func (s *Service) PolicyRepo(ctx context.Context, named, dir string) (policy.Repo, error) {
	repo, err := s.Repository(ctx, named, dir)
	if err != nil {
		return policy.Repo{}, err
	}
	return s.knownRepo(ctx, repo)
}

func (s *Service) knownRepo(ctx context.Context, repo review.Repo) (policy.Repo, error) {
	client, err := s.GitHubFor(ctx, repo)
	if err != nil {
		return policy.Repo{}, err
	}
	id, name, err := client.RepositoryID(ctx, repo)
	return policy.Repo{Host: repo.Host, ID: id, Name: name}, err
}

// Administers reports whether somebody administers a repository now. Whom GitHub does not know there, and who cannot be asked about with this
// credential, does not.
func (s *Service) Administers(ctx context.Context, at policy.Repo, login string) (bool, error) {
	client, err := s.GitHub(ctx, at.Host)
	if err != nil {
		return false, err
	}
	owner, name, _ := strings.Cut(at.Name, "/")
	may, err := client.Permission(ctx, review.Repo{Host: at.Host, Owner: owner, Name: name}, login)
	if errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrForbidden) {
		return false, nil
	}
	return may == "admin", err
}

// Policy is the row of a repository; the zero version where nothing was ever decided.
func (s *Service) Policy(ctx context.Context, at policy.Repo) (policy.Row, error) {
	row, err := s.store.Policy(ctx, at.Host, at.ID)
	row.Repo = at
	return row, err
}

// Policies are all rows.
func (s *Service) Policies(ctx context.Context) ([]policy.Row, error) { return s.store.Policies(ctx) }

// PolicyChanges lists the changes that pass the filter, newest first.
func (s *Service) PolicyChanges(ctx context.Context, f policy.ChangeFilter) ([]policy.Change, error) {
	return s.store.PolicyChanges(ctx, f)
}

// SavePolicy makes a row what it says, as the account of the credential. operator is the operator's file, which bounds it. Errors:
// *policy.Error with a message at each field, *policy.ConflictError when somebody was faster.
func (s *Service) SavePolicy(ctx context.Context, row policy.Row, operator *config.File) (policy.Row, []policy.Change, error) {
	by, err := s.policyAuthor(ctx, row.Host)
	if err != nil {
		return policy.Row{}, nil, err
	}
	return s.SavePolicyAs(ctx, row, operator, by)
}

// SavePolicyAs does the same as somebody whose name the caller knows.
func (s *Service) SavePolicyAs(ctx context.Context, row policy.Row, operator *config.File, by string) (policy.Row, []policy.Change, error) {
	if err := config.CheckPolicy(operator, row.Columns); err != nil {
		return policy.Row{}, nil, err
	}
	return s.store.SavePolicy(ctx, row, by)
}

// policyAuthor is who changes a policy, as the history keeps it.
func (s *Service) policyAuthor(ctx context.Context, host string) (string, error) {
	client, err := s.GitHub(ctx, host)
	if err != nil {
		return "", err
	}
	who, err := client.Viewer(ctx, host)
	return who.Login, err
}

// ImportPolicies saves what an export says: all of it, or nothing. A repository that the file does not name keeps its row. Every repository
// is looked up, so that no row is made for one that is gone, or on a host that nobody is logged in to.
func (s *Service) ImportPolicies(ctx context.Context, in []policy.Exported, operator *config.File) ([]policy.Change, error) {
	var rows []policy.Row
	var wrong []policy.Fault
	by := ""
	for i, e := range in {
		at := fmt.Sprintf("policies[%d].", i)
		repo, fault, err := s.importRepo(ctx, e.Repo)
		if err != nil {
			return nil, err
		}
		if fault != nil {
			fault.Field = at + fault.Field
			wrong = append(wrong, *fault)
			continue
		}
		var bad *policy.Error
		if err := config.CheckPolicy(operator, e.Columns); errors.As(err, &bad) {
			for _, f := range bad.Faults {
				f.Field = at + "columns." + f.Field
				wrong = append(wrong, f)
			}
			continue
		} else if err != nil {
			return nil, err
		}
		row, err := s.Policy(ctx, repo)
		if err != nil {
			return nil, err
		}
		if by == "" {
			if by, err = s.policyAuthor(ctx, repo.Host); err != nil {
				return nil, err
			}
		}
		row.Columns = e.Columns
		rows = append(rows, row)
	}
	if len(wrong) > 0 {
		return nil, &policy.Error{Faults: wrong}
	}
	return s.store.SavePolicies(ctx, rows, by)
}

// importRepo finds the repository of an export at GitHub.
func (s *Service) importRepo(ctx context.Context, want policy.Repo) (policy.Repo, *policy.Fault, error) {
	repo, err := github.ParseRepo(want.Name, want.Host)
	if err != nil || repo.Host != want.Host {
		return policy.Repo{}, &policy.Fault{Field: "repository", Message: "is not OWNER/REPO"}, nil //nolint:nilerr // it is said at the field
	}
	have, err := s.knownRepo(ctx, repo)
	switch {
	case errors.Is(err, github.ErrNotLoggedIn), errors.Is(err, github.ErrHost):
		return have, &policy.Fault{Field: "host", Message: fmt.Sprintf("nobody is logged in to %s", want.Host)}, nil
	case errors.Is(err, github.ErrNotFound):
		return have, &policy.Fault{Field: "repository", Message: fmt.Sprintf("%s is gone, or the login may not see it", repo)}, nil
	case err != nil:
		return have, nil, err
	case have.ID != want.ID:
		return have, &policy.Fault{Field: "id", Message: fmt.Sprintf("%s is repository %d now, and not %d", repo, have.ID, want.ID)}, nil
	}
	return have, nil, nil
}
