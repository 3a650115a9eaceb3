package fixspace

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// judge makes prloop's own commit of what was taken since the reviewed head, and holds it against the push policy. A fix is one commit: whatever the fixer's commits, and
// those of earlier tries, show one by one, a branch keeps what the next round reads, and nothing else (threats.md T785).
func (b *Workspace) judge(ctx context.Context, o review.FixOrder, taken []git.Taken, work *outcome) error {
	earlier, err := b.Repo.Commits(ctx, o.Reviewed, o.From)
	if err != nil {
		return err
	}
	all := append(earlier, taken...)
	tip := o.Reviewed
	if len(all) > 0 {
		whole := git.Taken{Tree: all[len(all)-1].Tree, Message: b.message(o, joined(all))}
		if n := len(earlier); n == 0 || earlier[n-1].Tree != whole.Tree {
			made, err := b.Repo.Rewrite(ctx, o.Reviewed, []git.Taken{whole}, signature(o))
			if err != nil {
				return err
			}
			tip = last(made, o.Reviewed)
		}
		if tip != o.Reviewed {
			if err := b.police(ctx, o, tip, work); err != nil && !work.refused(err) {
				return err
			}
		}
		if tip != o.Reviewed && len(work.Refusals) == 0 && work.Files > 0 {
			work.Tip, work.Commits = tip, []review.FixCommit{{SHA: tip, Message: subject(whole.Message)}}
		}
	}
	work.settle()
	return nil
}

// joined are the words of one commit for several: those of the last one that has any, and the subjects of the others.
func joined(commits []git.Taken) (said string) {
	var others []string
	for i, c := range slices.Backward(commits) {
		line := subject(strings.TrimSpace(c.Message))
		switch {
		case i > 0 && c.Tree == commits[i-1].Tree: // it changes nothing
		case line == "" || line == pushpolicy.DefaultSubject || slices.Contains(others, line):
		case said == "":
			said, others = c.Message, append(others, line)
		default:
			others = append(others, line)
		}
	}
	said = strings.TrimSpace(said) + "\n"
	for _, line := range slices.Backward(others[min(1, len(others)):]) {
		said += "\n- " + line
	}
	return said
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

// police collects what the policy refuses, and what work comes to.
func (b *Workspace) police(ctx context.Context, o review.FixOrder, tip string, work *outcome) error {
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
	standing, err := standingIn(ctx, b.Repo, o.Guidance, o.Task.BaseSHA, o.Reviewed, o.Base)
	if err != nil {
		return err
	}
	for _, t := range standing.included.Links.Tests(whole) {
		work.Tests = append(work.Tests, spelling.Code(t.Path)+": "+t.String())
	}
	work.refuse(pushpolicy.Check(whole, pushpolicy.Limits{}, o.Allow, paths)...)
	work.refuse(standing.check(whole, o.Allow)...)
	asked := pushpolicy.AskedOf(o.Task, standing.files)
	asked.Links = standing.included.Links
	if o.Base != "" && o.Base != o.Task.BaseSHA {
		now, err := b.Repo.Whole().Files(ctx, o.Base, "")
		if err != nil {
			return err
		}
		asked.Moved(standing.files, now)
	}
	work.refuse(asked.Check(whole, o.Allow)...)
	if beside := asked.Beside(whole); len(beside) > 0 {
		work.Notes = append(work.Notes, "files that neither the pull request changes nor a finding is about: "+spelled(beside))
	}
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
	return nil
}

// mostBeside is how many files a note names.
const mostBeside = 20

// spelled lists names, as code.
func spelled(names []string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == mostBeside:
			return b.String() + ", …"
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(spelling.Code(name))
	}
	return b.String()
}

// refuse adds refusals, one for each rule and path.
func (w *outcome) refuse(all ...review.Refusal) {
	for _, r := range all {
		if !slices.ContainsFunc(w.Refusals, func(old review.Refusal) bool { return old.Rule == r.Rule && old.Path == r.Path }) {
			w.Refusals = append(w.Refusals, r)
		}
	}
}

// settle puts the commit as it is now into the fixer's answer, whatever it called its own.
func (w *outcome) settle() {
	fix := *w.Answer.Fix
	fix.Commits = slices.Clone(w.Commits)
	if fix.Commits == nil {
		fix.Commits = []review.FixCommit{}
	}
	fix.FixedIssues = slices.Clone(fix.FixedIssues)
	for i := range fix.FixedIssues {
		fix.FixedIssues[i].CommitSHA = w.Tip
	}
	w.Answer.Fix = &fix
}
