package fixspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
)

// judge makes prloop's own commits of what was taken and holds them against the push policy: each new commit, because a
// branch keeps what a later one undoes, and all since the reviewed head together. What they write and the whole does not show is not pushed.
func (b *Workspace) judge(ctx context.Context, o review.FixOrder, taken []git.Taken, work *outcome) error {
	made, err := b.Repo.Rewrite(ctx, o.From, taken, signature(o))
	if err != nil {
		return err
	}
	tip := last(made, o.From)
	var commits []git.Taken
	if tip != o.From {
		if err := b.police(ctx, o, made, tip, work); err != nil && !work.refused(err) {
			return err
		}
		if commits, err = b.Repo.Commits(ctx, o.Reviewed, tip); err != nil && !work.refused(err) {
			return err
		}
	}
	if tip != o.From && len(work.Refusals) == 0 && work.Files > 0 {
		if commits, err = b.join(ctx, o, commits, work); err != nil && !work.refused(err) {
			return err
		}
	}
	if len(work.Apart) > 0 {
		made = nil // none of what the fixer calls its commits is left
	}
	if tip != o.From && len(work.Refusals) == 0 && work.Files > 0 {
		work.Tip, work.Commits = commits[len(commits)-1].Commit, commitsOf(commits)
	}
	work.settle(o, made, commits)
	return nil
}

// refused takes an error that is about the fixer's work, and not about prloop's, for a refusal.
func (w *outcome) refused(err error) bool {
	r, is := w.refusalOf(err)
	if is {
		w.refuse(r)
	}
	return is
}

// refusalOf is the refusal that an error about an agent's work means.
func (b *Workspace) refusalOf(err error) (review.Refusal, bool) {
	take := (*git.TakeError)(nil)
	switch {
	case errors.As(err, &take):
		return take.Refusal(), true
	case errors.Is(err, git.ErrMalformedTree), errors.Is(err, diff.ErrMalformed), errors.Is(err, diff.ErrTruncated), errors.Is(err, diff.ErrIncomplete): // names that prloop reads otherwise than git
		return review.Refusal{Rule: pushpolicy.RuleBadName, Detail: b.oneLine(err.Error())}, true
	case errors.Is(err, git.ErrTooLarge):
		return review.Refusal{Rule: pushpolicy.RuleTooLarge, Detail: b.oneLine(err.Error())}, true
	}
	return review.Refusal{}, false
}

// last is where the commits lead.
func last(made []git.Rewritten, from string) string {
	if len(made) == 0 {
		return from
	}
	return made[len(made)-1].New
}

// police collects what the policy refuses, and what work comes to as a whole.
func (b *Workspace) police(ctx context.Context, o review.FixOrder, made []git.Rewritten, tip string, work *outcome) error {
	whole, err := b.Repo.Changes(ctx, o.Reviewed, tip)
	if err != nil {
		return err
	}
	work.Files, work.Lines = pushpolicy.Totals(whole)
	paths, err := b.Repo.Files(ctx, tip, "")
	if err != nil {
		return err
	}
	all := whole
	if o.First != "" && o.First != o.Reviewed {
		if all, err = b.Repo.Changes(ctx, o.First, tip); err != nil {
			return err
		}
	}
	standing, err := standingIn(ctx, b.Repo, o.Guidance, o.Task.BaseSHA, o.Reviewed)
	if err != nil {
		return err
	}
	for _, t := range standing.included.Links.Tests(whole) {
		work.Tests = append(work.Tests, t.Path+": "+t.String())
	}
	work.refuse(pushpolicy.Check(whole, pushpolicy.Limits{}, o.Allow, paths)...)
	work.refuse(standing.check(whole, o.Allow)...)
	asked := pushpolicy.AskedOf(o.Task, standing.files)
	asked.Links = standing.included.Links
	work.refuse(asked.Check(whole, o.Allow)...)
	over, err := b.overSetup(whole)
	if err != nil {
		return err
	}
	work.refuse(over...)
	for _, r := range pushpolicy.Check(all, pushpolicy.Brake(o.PRFiles, o.PRLines), o.Allow, nil) {
		if r.Rule == pushpolicy.RuleScopeBrake {
			work.refuse(r)
		}
	}
	before := o.From
	for _, c := range made {
		if c.New == before || c.New == tip && before == o.Reviewed {
			continue // it changes nothing, or it is all there is
		}
		changes, err := b.Repo.Changes(ctx, before, c.New)
		if err != nil {
			return err
		}
		if paths, err = b.Repo.Files(ctx, c.New, ""); err != nil {
			return err
		}
		refused := slices.Concat(pushpolicy.Check(changes, pushpolicy.Limits{}, o.Allow, paths), standing.check(changes, o.Allow), asked.Check(changes, o.Allow))
		for _, r := range refused {
			// Tests may go in one commit and come back in another.
			if r.Rule != pushpolicy.RuleDeletedTest && r.Rule != pushpolicy.RuleSkippedTest {
				r.Detail = fmt.Sprintf("%s (in the fixer's commit %q)", r.Detail, subject(c.Message))
				work.refuse(r)
			}
		}
		before = c.New
	}
	return nil
}

// refuse adds refusals, one for each rule and path.
func (w *outcome) refuse(all ...review.Refusal) {
	for _, r := range all {
		if !slices.ContainsFunc(w.Refusals, func(old review.Refusal) bool { return old.Rule == r.Rule && old.Path == r.Path }) {
			w.Refusals = append(w.Refusals, r)
		}
	}
}

// settle puts the commits as they are now into the fixer's answer. It may have named commits of its own by prefixes, none at
// all, or commits that never were: those mean the work as a whole.
func (w *outcome) settle(o review.FixOrder, made []git.Rewritten, commits []git.Taken) {
	fix := *w.Answer.Fix
	fix.Commits = slices.Clone(w.Commits)
	if fix.Commits == nil {
		fix.Commits = []review.FixCommit{}
	}
	fix.FixedIssues = slices.Clone(fix.FixedIssues)
	for i := range fix.FixedIssues {
		f := &fix.FixedIssues[i]
		f.CommitSHA = w.commit(f.CommitSHA, o.From, made, commits)
	}
	w.Answer.Fix = &fix
}

// commit is the commit a fixer means.
func (w *outcome) commit(said, from string, made []git.Rewritten, commits []git.Taken) string {
	if w.Tip == "" {
		return ""
	}
	meant := map[string]bool{}
	said = strings.ToLower(strings.TrimSpace(said))
	if len(said) >= minPrefix {
		for _, m := range made {
			if strings.HasPrefix(m.Old, said) && m.New != from {
				meant[m.New] = true
			}
		}
		for _, c := range commits { // those of earlier tries stood in the clone under the ids they have
			if strings.HasPrefix(c.Commit, said) {
				meant[c.Commit] = true
			}
		}
	}
	if len(meant) != 1 {
		return w.Tip
	}
	for oid := range meant {
		return oid
	}
	return w.Tip
}

// minPrefix is the shortest abbreviation of an object id that git itself would take.
const minPrefix = 4
