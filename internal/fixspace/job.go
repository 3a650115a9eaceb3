package fixspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/schedule"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

const jobRoom = "job-"

// Job asks the agent of a scheduled command in a private clone of JobOrder.From, takes out what it wants to be committed, and holds it
// against the push policy and the terms of the job, as Fix does a fixer's work. What the agent does wrong stands in the work; an error
// means that the run ended, or that disk or git failed, or sanitize.ErrKnownSecret. The same work in the same order gives the same
// object ids.
func (b *Workspace) Job(ctx context.Context, o review.JobOrder, emit func(review.Event)) (review.JobWork, error) {
	if emit == nil {
		emit = func(review.Event) {}
	}
	work, err := b.maintain(ctx, o, emit)
	if err != nil {
		return review.JobWork{Answer: work.Answer}, fmt.Errorf("command %s: %w", o.Command, err)
	}
	return work, nil
}

func (b *Workspace) maintain(ctx context.Context, o review.JobOrder, emit func(review.Event)) (work review.JobWork, err error) {
	if b.Ask == nil {
		return work, errNoFixer
	}
	dir, err := b.room(fmt.Sprintf("%s%d", jobRoom, o.Number), "out")
	if err != nil {
		return work, err
	}
	defer func() { err = errors.Join(err, sandbox.Remove(dir)) }()
	c, err := b.clone(ctx, review.FixOrder{From: o.From}, dir)
	if err != nil {
		return work, err
	}
	work.Answer = b.Ask(ctx, o.Task, c.tree, emit)
	if ctx.Err() != nil {
		return work, context.Cause(ctx)
	}
	if work.Answer.Command == nil || work.Answer.Receipt.State != review.AgentComplete {
		work.Notes = append(work.Notes, "there is no valid answer: what was changed was not looked at")
		return work, nil
	}
	j := jobWork{Workspace: b, order: o, JobWork: &work}
	if now, err := os.Lstat(c.tree); err != nil || !os.SameFile(now, c.folder) {
		j.refuse(review.Refusal{Rule: pushpolicy.RuleLink, Detail: "the clone is not the folder it was"})
		return work, nil
	}
	work.Notes = append(work.Notes, c.planted()...)
	if err := c.restore(); err != nil {
		return work, j.unless(err)
	}
	taken, err := j.takeOut(ctx, c, emit)
	if err != nil {
		return work, j.unless(err)
	}
	return work, j.unless(j.judge(ctx, taken))
}

// jobWork is the work of one command in the making.
type jobWork struct {
	*Workspace
	order review.JobOrder
	*review.JobWork
}

func (j jobWork) refuse(all ...review.Refusal) {
	for _, r := range all {
		if !slices.ContainsFunc(j.Refusals, func(old review.Refusal) bool { return old.Rule == r.Rule && old.Path == r.Path }) {
			j.Refusals = append(j.Refusals, r)
		}
	}
}

// unless takes an error that is about the agent's work for a refusal.
func (j jobWork) unless(err error) error {
	if r, is := j.refusalOf(err); is {
		j.refuse(r)
		return nil
	}
	return err
}

// takeOut gives the commits that are wanted: those the agent made with git itself, then one for each commit_changes, of what the tree holds at
// the end. What nobody committed stays behind.
func (j jobWork) takeOut(ctx context.Context, c *clone, emit func(review.Event)) ([]git.Taken, error) {
	wishes := j.Answer.Command.Wishes
	if err := j.secrets(wishes); err != nil {
		return nil, err
	}
	if wishes = j.allowed(wishes); !j.may(string(review.WishCommit)) || !j.may(writing) {
		j.wanted(wishes)
		j.Notes = append(j.Notes, "what was changed was not looked at: the command has no tool to change files, or none to commit them")
		return nil, nil
	}
	taken, err := j.takeCommits(ctx, review.FixOrder{From: j.order.From}, c)
	var take *git.TakeError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &take):
		return nil, err // whoever commits by hand commits well, or nothing
	case err != nil:
		j.Notes = append(j.Notes, "commits of its own were not taken: "+j.notTaken(err, emit))
		taken = nil
	}
	tip := j.order.From
	for i := range taken {
		if sanitize.Leaks(taken[i].Message, sanitize.Policy{Known: j.Secrets}) {
			return nil, fmt.Errorf("commit messages of %s: %w", j.order.Command, sanitize.ErrKnownSecret)
		}
		taken[i].Message, tip = j.message(taken[i].Message), taken[i].Commit
	}
	tree, err := j.seen().TakeTree(ctx, c.tree, tip)
	if err != nil {
		return nil, err
	}
	at := tip
	for _, w := range wishes {
		if w.Kind != review.WishCommit {
			continue
		}
		if at, err = j.Repo.Partly(ctx, at, tree, within(w.Paths)); err != nil {
			return nil, err
		}
		taken = append(taken, git.Taken{Parent: tip, Tree: at, Message: j.message(w.Body)})
	}
	j.wanted(wishes)
	if at != tree {
		left, err := j.Repo.Changes(ctx, at, tree)
		if err != nil {
			return nil, err
		}
		j.Uncommitted = len(left)
	}
	return taken, nil
}

// writing is the tool without which a command changes nothing, whatever its agent did to the clone.
const writing = "write"

func (j jobWork) may(tool string) bool {
	c := j.order.Task.Command
	return c != nil && slices.Contains(c.Tools, tool)
}

// allowed are the wishes of tools that the command has. Programs, ACP agents and models write wishes of any kind into their answers.
func (j jobWork) allowed(wishes []review.Wish) (kept []review.Wish) {
	for _, w := range wishes {
		if j.may(string(w.Kind)) {
			kept = append(kept, w)
			continue
		}
		note := fmt.Sprintf("%s is not carried out: the command has no such tool", j.oneLine(string(w.Kind)))
		if !slices.Contains(j.Notes, note) {
			j.Notes = append(j.Notes, note)
		}
	}
	return kept
}

// wanted notes the pull request that is wished for, as the last wish says.
func (j jobWork) wanted(wishes []review.Wish) {
	for _, w := range wishes {
		if w.Kind == review.WishPush {
			j.Pull = &review.PullWish{Title: w.Title, Body: w.Body, Branch: strings.TrimSpace(w.Branch)}
		}
	}
}

// secrets refuses wishes that hold a part of a known secret, in one text or cut up between them (threats.md L0).
func (j jobWork) secrets(wishes []review.Wish) error {
	var all strings.Builder
	for _, w := range wishes {
		all.WriteString(w.Title + "\n" + w.Body + "\n" + w.Branch + "\n" + strings.Join(w.Paths, "\n") + "\n\n")
	}
	if sanitize.Leaks(all.String(), sanitize.Policy{Known: j.Secrets}) {
		return fmt.Errorf("what %s wants to say: %w", j.order.Command, sanitize.ErrKnownSecret)
	}
	return nil
}

// within chooses what is one of the paths or below one; all without paths. What a path names that is no path of the tree matches nothing.
func within(paths []string) func(string) bool {
	if len(paths) == 0 {
		return func(string) bool { return true }
	}
	var raw []string
	for _, p := range paths {
		raw = append(raw, path.Clean(spelling.Raw(p)))
	}
	return func(name string) bool {
		return slices.ContainsFunc(raw, func(p string) bool { return p == "." || name == p || strings.HasPrefix(name, p+"/") })
	}
}

// message is a commit message of ours around the agent's words.
func (j jobWork) message(said string) string {
	if first, rest, _ := strings.Cut(said, "\n"); strings.TrimSpace(first) == "" {
		said = "Maintenance by " + j.order.Command + "\n" + rest
	}
	return j.plain(said, pushpolicy.Trailer{Key: pushpolicy.RunTrailer, Value: j.order.Run}, pushpolicy.Trailer{Key: schedule.JobTrailer, Value: j.order.Job})
}

// judge makes prloop's own commits and holds them against all rules: each new commit, because a branch keeps what a later one undoes, and
// what the pull request comes to as a whole.
func (j jobWork) judge(ctx context.Context, taken []git.Taken) error {
	o := j.order
	made, err := j.Repo.Rewrite(ctx, o.From, taken, git.Signature{Name: authorName, Email: authorEmail, At: o.At, Keep: git.FixRef(o.Run, o.Number)})
	if err != nil {
		return err
	}
	tip := last(made, o.From)
	if tip == o.From {
		return nil
	}
	whole, err := j.Repo.Changes(ctx, o.Head, tip)
	if err != nil {
		return err
	}
	j.Files, j.Lines = pushpolicy.Totals(whole)
	j.refuse(schedule.Check(pathsOf(whole), j.Files, j.Lines, o.Terms)...)
	standing, err := standingIn(ctx, j.Repo, o.Guidance, o.Head)
	if err != nil {
		return err
	}
	before := o.From
	for _, c := range made {
		if c.New == before {
			continue
		}
		if err := j.police(ctx, before, c.New, standing); err != nil {
			return err
		}
		before = c.New
		j.Commits = append(j.Commits, review.FixCommit{SHA: c.New, Message: subject(c.Message)})
	}
	if err := j.police(ctx, o.Head, tip, standing); err != nil {
		return err
	}
	if len(j.Refusals) == 0 {
		j.Tip = tip
	}
	return nil
}

// police collects what the push policy and the write scope refuse of one change. The operator's word for fixers opens nothing here.
func (j jobWork) police(ctx context.Context, from, to string, standing *standing) error {
	changes, err := j.Repo.Changes(ctx, from, to)
	if err != nil {
		return err
	}
	paths, err := j.Repo.Files(ctx, to, "")
	if err != nil {
		return err
	}
	scope := j.order.Terms
	scope.MaxFiles, scope.MaxDiffLines = 0, 0
	j.refuse(schedule.Check(pathsOf(changes), 0, 0, scope)...)
	j.refuse(pushpolicy.Check(changes, pushpolicy.Limits{}, nil, paths)...)
	j.refuse(standing.check(changes, nil)...)
	return nil
}

// pathsOf are the paths that changes touch, old names included.
func pathsOf(changes []pushpolicy.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Path)
		if c.OldPath != "" && c.OldPath != c.Path {
			all = append(all, c.OldPath)
		}
	}
	return all
}
