package maintenance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/schedule"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Whom commits of jobs are by, as those of fixes.
const (
	authorName  = "prloop"
	authorEmail = "prloop@users.noreply.github.com"
	author      = authorName + " <" + authorEmail + ">"
)

// mostBranches bounds the names that are tried for a job's branch.
const mostBranches = 20

// place is where a job's work goes.
type place struct {
	// Branch is the name, Old where it is: git.NoCommit when it is not there.
	Branch string `json:"branch"`
	Old    string `json:"old"`
	// From is the commit the job begins with: it has the default branch's head and, where Pull is open, what that holds already.
	From string `json:"from"`
	// Replace is true where what Branch has is left behind: it is prloop's own, and no open pull request asks for it.
	Replace bool `json:"replace,omitempty"`
	// Pull is the open pull request of the branch; 0 when there is none.
	Pull int `json:"pull,omitempty"`
	// Left are branches of the job that stay as they are.
	Left []leftBranch `json:"left,omitempty"`
}

// leftBranch is a branch of the job that is not touched, and why.
type leftBranch struct {
	Branch string `json:"branch"`
	// Pull is its open pull request; 0 when it has none.
	Pull int    `json:"pull,omitempty"`
	Why  string `json:"why"`
}

// settle finds the branch of a job: the first of its names whose branch can be made or is all prloop's own. One that a person pushed to, that
// cannot take in the default branch, or whose pull request a person opened or gave another base branch, stays as it is.
func (l *Loop) settle(ctx context.Context, req Request) (p place, err error) {
	p = place{Old: git.NoCommit, From: req.Head}
	above := ""
	for _, name := range schedule.Branches(req.Job, req.ids()) {
		if above, err = l.settleAt(ctx, req, &p, name); err != nil || above == "" {
			return p, err
		}
	}
	return p, &storedError{fmt.Sprintf("the branch %s is in the way of this job's: rename or delete it", sanitize.Line(above, 200))}
}

// settleAt finds the branch of a job among those of one name. above is one that keeps all of them from being made.
func (l *Loop) settleAt(ctx context.Context, req Request, p *place, name string) (above string, err error) {
	for n := 1; n <= mostBranches; n++ {
		p.Branch = schedule.Numbered(name, n)
		head, inWay, err := l.look(ctx, p.Branch)
		switch {
		case err != nil || head == "" && inWay == "":
			return "", err
		case head == "" && strings.HasPrefix(p.Branch, inWay+"/"):
			p.Left = append(p.Left, leftBranch{Branch: inWay, Why: "no branch can be below it"})
			return inWay, nil
		case head == "":
			p.Left = append(p.Left, leftBranch{Branch: inWay, Why: "no branch can be above it"})
			continue
		}
		left, err := l.taken(ctx, req, p, head)
		if err != nil || left == nil {
			return "", err
		}
		p.Left = append(p.Left, *left)
	}
	return "", fmt.Errorf("%d branches of this job are there and changed by others, from %s on: close or delete some", mostBranches, name)
}

// look says where a branch is, or which one keeps it from being made.
func (l *Loop) look(ctx context.Context, branch string) (head, inWay string, err error) {
	head, inWay, err = l.Repo.RemotePlace(ctx, l.Server, "refs/heads/"+branch)
	return head, strings.TrimPrefix(inWay, "refs/heads/"), err
}

// taken looks at a branch that is there: p has it, or it is left as it is.
func (l *Loop) taken(ctx context.Context, req Request, p *place, head string) (*leftBranch, error) {
	pull, astray, err := l.pullsOf(ctx, req, p.Branch)
	if err != nil {
		return nil, err
	}
	foreign, err := l.foreign(ctx, req, p.Branch, head)
	if err != nil {
		return nil, err
	}
	if foreign != nil {
		return &leftBranch{Branch: p.Branch, Pull: cmp.Or(astray.Number, pull.Number), Why: sanitize.Line(foreign.Author, 80) + " pushed to it"}, nil
	}
	if astray.Number != 0 {
		return notOurs(req, p.Branch, astray), nil
	}
	p.Old = head
	if pull.Number == 0 {
		p.Replace = true
		return nil, nil
	}
	from, err := l.Repo.Merged(ctx, head, req.Head, l.message(req, "Merge "+req.Base), l.sign(req, 0))
	if errors.Is(err, git.ErrConflict) {
		p.Old = git.NoCommit
		return &leftBranch{Branch: p.Branch, Pull: pull.Number, Why: "it conflicts with " + req.Base}, nil
	}
	p.From, p.Pull = from, pull.Number
	return nil, err
}

// pullsOf are the job's own open pull request of a branch onto the default branch, and one that goes elsewhere or has a person's words, sooner the latter; zero values where there
// is none.
func (l *Loop) pullsOf(ctx context.Context, req Request, branch string) (pull, astray review.PullRequest, err error) {
	pulls, err := l.Forge.PullsOfBranch(ctx, req.Target.Repo, branch)
	for _, one := range pulls {
		own := false
		if one.BaseRef == req.Base {
			if own, err = l.worded(ctx, req.Target.Repo, one); err != nil {
				return pull, astray, err
			}
		}
		switch {
		case own:
			pull = one
		case one.BaseRef == req.Base || astray.Number == 0:
			astray = one
		}
	}
	return pull, astray, err
}

// worded reports whether the words of a pull request are prloop's: its body is as prloop wrote it, under whatever account, or it has the marker still and is by the account
// of now. All others are a person's, who may have opened it (threats.md T756).
func (l *Loop) worded(ctx context.Context, repo review.Repo, pull review.PullRequest) (bool, error) {
	if !sanitize.HasMarker(pull.Body) {
		return false, nil
	}
	for _, number := range []int{0, pull.Number} { // it was opened without a number
		if _, err := sanitize.Verify(pull.Body, l.MarkerKey, repo.String(), number); err == nil {
			return true, nil
		}
	}
	viewer, err := l.Forge.Viewer(ctx, repo.Host)
	return effects.Same(pull.Author, viewer), err
}

// notOurs is a branch that is left because of such a pull request.
func notOurs(req Request, branch string, pull review.PullRequest) *leftBranch {
	why := "its pull request goes to " + sanitize.Line(pull.BaseRef, 80)
	if pull.BaseRef == req.Base {
		why = "its pull request " + otherWords
	}
	return &leftBranch{Branch: branch, Pull: pull.Number, Why: why}
}

const otherWords = "has other words than prloop's"

// overtaken asks again about the pull requests of a settled branch: agents take minutes, and a run may be resumed days later. left is the branch where it
// is not the job's any more, closed is set where the job's pull request is not open any more; neither is where all is as it was.
func (l *Loop) overtaken(ctx context.Context, req Request, p place) (left *leftBranch, closed string, err error) {
	pull, astray, err := l.pullsOf(ctx, req, p.Branch)
	switch {
	case err != nil:
		return nil, "", err
	case astray.Number != 0:
		return notOurs(req, p.Branch, astray), "", nil
	case pull.Number == p.Pull:
		return nil, "", nil
	case p.Pull == 0:
		if head, _, err := l.look(ctx, p.Branch); err != nil || head != p.Old { // another run of this job may have opened it: the push tells
			return nil, "", err
		}
		return &leftBranch{Branch: p.Branch, Pull: pull.Number, Why: "its pull request was opened meanwhile"}, "", nil
	}
	return nil, closedWords(p.Pull), nil
}

func closedWords(pull int) string { return fmt.Sprintf("#%d is not open any more", pull) }

// foreign is a commit of a branch, of those the default branch does not have, that is not the job's own, nor a fix of ours on its pull request; nil when there is none.
func (l *Loop) foreign(ctx context.Context, req Request, branch, head string) (*git.Authored, error) {
	ref := "refs/heads/" + branch
	fetched, err := l.Repo.Fetch(ctx, git.FetchOptions{URL: l.Server.URL, Helper: l.Server.Helper, Env: l.Server.Env, Credential: l.Server.Credential, Refs: []string{ref}})
	if err != nil {
		return nil, err
	}
	if fetched[ref] != head {
		return nil, fmt.Errorf("branch %s moved while it was read", branch)
	}
	commits, err := l.Repo.FirstParents(ctx, req.Head, head)
	if err != nil {
		return nil, err
	}
	_, ours, _ := strings.Cut(pushpolicy.Message("", "", jobTrailer(req)), "\n")
	for _, c := range commits {
		own := strings.HasSuffix(strings.TrimRight(c.Message, "\n")+"\n", strings.TrimLeft(ours, "\n")) || pushpolicy.IsFix(c.Message)
		if c.Author != author || c.Committer != author || !own {
			return &c, nil
		}
	}
	return nil, nil
}

// sameJob reports whether a branch that moved has the job's own commits alone: a run with another record was at work at the same time.
func (l *Loop) sameJob(ctx context.Context, req Request, branch string) (bool, error) {
	head, _, err := l.look(ctx, branch)
	if err != nil || head == "" {
		return false, err
	}
	base := "refs/heads/" + req.Base // it may have begun at a newer commit
	fetched, err := l.Repo.Fetch(ctx, git.FetchOptions{URL: l.Server.URL, Helper: l.Server.Helper, Env: l.Server.Env, Credential: l.Server.Credential, Refs: []string{base}})
	if err != nil {
		return false, err
	}
	req.Head = fetched[base]
	foreign, err := l.foreign(ctx, req, branch, head)
	return foreign == nil, err
}

// asked checks the branch that a tool call asked for and gives the place it means: the job's own, or one that is free. For one that an earlier run of the job was given
// it is the job's own too, to which runs add.
func (l *Loop) asked(ctx context.Context, req Request, p place, name string) (place, *review.Refusal, error) {
	refuse := func(rule, detail string) (place, *review.Refusal, error) {
		return p, &review.Refusal{Rule: rule, Detail: detail}, nil
	}
	shown := sanitize.CodeSpan(name)
	switch {
	case name == "" || name == p.Branch:
		return p, nil, nil
	case git.CheckBranch(name) != nil:
		return refuse(schedule.RuleBranchName, shown+" cannot be the name of a branch")
	case !schedule.Named(name):
		return refuse(schedule.RuleBranchName, shown+" is no plain name: at most 100 of a-z, A-Z, 0-9 and . _ + - /")
	case strings.EqualFold(name, req.Base):
		return refuse(schedule.RuleBaseBranch, shown+" is the branch that pull requests go to")
	}
	head, inWay, err := l.look(ctx, name)
	switch {
	case err != nil:
		return p, nil, err
	case head != "":
		foreign, err := l.foreign(ctx, req, name, head)
		if err != nil || foreign != nil || !strings.HasPrefix(name, schedule.Prefix) || slices.Contains(req.Places, name) {
			return p, &review.Refusal{Rule: schedule.RuleBranchTaken, Detail: shown + " is there already, and not this job's"}, err
		}
		p.Left = append(p.Left[:len(p.Left):len(p.Left)], leftBranch{Branch: name, Why: "it is there already"})
		return p, nil, nil
	case !strings.HasPrefix(name, schedule.Prefix): // the names of others choose what runs on a push: deployments, releases, pages
		return refuse(schedule.RuleBranchName, shown+" does not begin with "+sanitize.CodeSpan(schedule.Prefix))
	case inWay != "":
		return refuse(schedule.RuleBranchTaken, shown+" cannot be made: "+sanitize.CodeSpan(inWay)+" is in its way")
	}
	for _, b := range req.Places {
		if name == b || strings.HasPrefix(name, b+"/") || strings.HasPrefix(b, name+"/") {
			return refuse(schedule.RuleBranchTaken, shown+" is in the place of a job's branch, "+sanitize.CodeSpan(b))
		}
	}
	q := place{Branch: name, Old: git.NoCommit, From: p.From, Left: p.Left}
	if p.Pull != 0 {
		q.Left = append(q.Left[:len(q.Left):len(q.Left)], leftBranch{Branch: p.Branch, Pull: p.Pull, Why: "another branch was asked for"})
	}
	return q, nil, nil
}

// sign is whom the merge of a run is by; its date is that of the run, so that it is the same commit however often it is made.
func (l *Loop) sign(req Request, number int) git.Signature {
	return git.Signature{Name: authorName, Email: authorEmail, At: req.Started, Keep: git.FixRef(req.Run, number)}
}

func (l *Loop) message(req Request, subject string) string {
	return pushpolicy.Message(subject, "", pushpolicy.Trailer{Key: pushpolicy.RunTrailer, Value: req.Run}, jobTrailer(req))
}

// jobTrailer is the last line of every commit of a job.
func jobTrailer(req Request) pushpolicy.Trailer {
	return pushpolicy.Trailer{Key: schedule.JobTrailer, Value: req.Job}
}
