package orchestrator

import (
	"context"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// People says who may do what on GitHub.
type People interface {
	// Permission is what somebody may do with the repository, in GitHub's words.
	Permission(ctx context.Context, repo review.Repo, login string) (string, error)
	// Requested are the logins of those who were asked to review a pull request, and teams as org/team.
	Requested(ctx context.Context, pr review.PullRequest) ([]string, error)
	// Denied reports whether an error says that the credential lacks the permission.
	Denied(err error) bool
}

// people asks what those may whose word matters in our threads, and who reviews the pull request, beside those that are known; others are more of whom to ask. What GitHub does not tell is none.
func (l *Loop) people(ctx context.Context, req Request, pr review.PullRequest, d review.Discussion, s conversation.State, out conversation.People, others []string) (*conversation.People, error) {
	own := out.Own
	if out.Voice(own, false).Author {
		own = ""
	}
	logins := append(s.Logins(own), others...)
	if req.Fix != nil {
		logins = append(logins, speakers(d)...)
		for _, t := range s.Threads { // one that is closed over what they say counts as open
			logins = append(logins, objections.SayGrave(out, t)...)
		}
	}
	if l.People == nil {
		return &out, nil
	}
	if err := l.permissions(ctx, pr.Repo, &out, logins); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.Threads, func(t conversation.Thread) bool { return len(out.Open(t)) > 0 }) {
		return &out, nil
	}
	add := func(login string) {
		if v := out.Voice(login, false); login != "" && !v.Bot && !v.Author && !slices.Contains(out.Reviewers, login) {
			out.Reviewers = append(out.Reviewers, login)
		}
	}
	asked, err := l.People.Requested(ctx, pr)
	if err != nil && !l.People.Denied(err) {
		return nil, err
	}
	for _, r := range d.Reviews {
		if byHand(r) && !r.Author.Bot {
			add(r.Author.Login)
		}
	}
	if req.Disputes != nil {
		asked = append(asked, req.Disputes.Ask...)
	}
	for _, login := range asked {
		if !strings.EqualFold(login, out.Own) {
			add(login)
		}
	}
	slices.Sort(out.Reviewers)
	return &out, l.settling(ctx, pr.Repo, &out)
}

// byHand reports whether a person said something with a review, also where prloop posts as that account. What the text was that somebody else changed nobody knows
// (threats.md T840).
func byHand(r review.Review) bool {
	says := r.State != "COMMENTED" && r.State != "PENDING" || strings.TrimSpace(r.Body) != ""
	return r.EditedBy != "" || says && !sanitize.HasMarker(r.Body)
}

// settling leaves of the reviewers those who may write, who can settle something. What a team may is not asked.
func (l *Loop) settling(ctx context.Context, repo review.Repo, p *conversation.People) error {
	team := func(login string) bool { return strings.Contains(login, "/") }
	err := l.permissions(ctx, repo, p, slices.DeleteFunc(slices.Clone(p.Reviewers), func(login string) bool { return team(login) || p.Voice(login, false).Own }))
	p.Reviewers = slices.DeleteFunc(p.Reviewers, func(login string) bool {
		v := p.Voice(login, false)
		return !v.Write && !v.Own && !team(login)
	})
	return err
}

// permissions asks what people may do of whom it is not known yet.
func (l *Loop) permissions(ctx context.Context, repo review.Repo, p *conversation.People, logins []string) error {
	if p.Permissions == nil {
		p.Permissions = map[string]string{}
	}
	for _, login := range slices.Compact(slices.Sorted(slices.Values(logins))) {
		name := strings.ToLower(login)
		if _, known := p.Permissions[name]; known || p.Voice(login, false).Bot {
			continue
		}
		may, err := l.People.Permission(ctx, repo, login)
		switch {
		case err == nil:
			p.Permissions[name] = may
		case !l.People.Denied(err):
			return err
		}
	}
	return nil
}

// persons are those of a round; of a local range, nobody.
func (s Snapshot) persons() conversation.People {
	if s.People == nil {
		return conversation.People{Author: s.PR.Author.Login, ByApp: s.PR.Author.Bot}
	}
	people := *s.People
	people.Voided, people.Returned = s.Voided, s.Returned
	return people
}
