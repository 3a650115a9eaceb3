package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/schedule"
	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

// openCommand opens the tools that a command's task names, and no others.
func openCommand(task review.Task, w review.Workspace, head string) (*commandBox, error) {
	o := tools.CommandOptions{Options: readOnly(w.Tree)}
	o.Exclude, o.Unmasked, o.Masked, o.Folders = w.Exclude, w.Unmasked, w.Masked, w.Folders
	if w.GitDir != "" {
		o.GitDir, o.Head, o.Base = w.GitDir, head, task.BaseSHA
	}
	if task.Command != nil {
		o.Names = task.Command.Tools
	}
	if task.PRNumber > 0 {
		o.PullRequest = &tools.PullRequest{Number: task.PRNumber, Title: task.Title, Body: task.Body, BaseSHA: task.BaseSHA, HeadSHA: task.HeadSHA}
		if task.Discussion != nil {
			o.PullRequest.Discussion = *task.Discussion
		}
	}
	if task.Command == nil || task.Command.Place != review.PlaceSchedule {
		c, err := tools.OpenCommand(o)
		return &commandBox{Command: c}, err
	}
	b := &commandBox{}
	o.Refuse = func(name string) string { return refused(name, task.Command.Terms) }
	o.Commit, o.Push = b.commit, b.push
	var err error
	b.Command, err = tools.OpenCommand(o)
	return b, err
}

// commandBox is the tools of a command, with what it asked for in a scheduled job.
type commandBox struct {
	*tools.Command
	// asked are its commits and the last of its pull requests; prloop carries them out once it has ended.
	asked []review.Wish
}

// refused says early why a scheduled job may not change a file; what it wants to be pushed is judged in any case.
func refused(name string, terms *review.JobTerms) string {
	if why := pushpolicy.Protected(name); why != "" || terms == nil {
		return why
	}
	if r := schedule.Check([]string{name}, 0, 0, review.JobTerms{Include: terms.Include, Exclude: terms.Exclude}); len(r) > 0 {
		return r[0].Detail
	}
	return ""
}

// commit notes what is to be committed: all that is changed by then, as it is when the agent ends.
func (b *commandBox) commit(_ context.Context, message string) (string, error) {
	changed := b.Changed()
	if len(changed) == 0 {
		return "", errors.New("nothing is changed, so there is nothing to commit")
	}
	b.asked = append(b.asked, review.Wish{Kind: review.WishCommit, Body: message, Paths: changed})
	return fmt.Sprintf("noted; prloop checks the changes of %d files and commits them once you end", len(changed)), nil
}

// push notes the pull request; a later one takes the place of an earlier one.
func (b *commandBox) push(_ context.Context, p tools.Pull) (string, error) {
	committed := func(w review.Wish) bool { return w.Kind == review.WishCommit }
	if !slices.ContainsFunc(b.asked, committed) {
		return "", errors.New("push_pr failed: no committed changes are present; call commit_changes first")
	}
	if name := strings.TrimSpace(p.Branch); name != "" && !strings.HasPrefix(name, schedule.Prefix) {
		return "", errors.New("push_pr failed: the name of a branch begins with " + schedule.Prefix + "; leave it out for the job's own")
	}
	b.asked = append(slices.DeleteFunc(b.asked, func(w review.Wish) bool { return !committed(w) }),
		review.Wish{Kind: review.WishPush, Title: p.Title, Body: p.Body, Branch: p.Branch})
	return "noted; prloop checks it, pushes and opens or updates the pull request once you end", nil
}

// wishes are what a command's tools were asked to have written, for its answer.
func wishes(c *commandBox) (all []review.Wish) {
	for _, w := range c.Wishes() {
		one := review.Wish{Kind: review.WishKind(w.Tool), Body: w.Body}
		if w.File != "" {
			one.Location = &review.Location{File: w.File}
			if w.Line > 0 {
				one.Location.Line = &w.Line
			}
			if w.LineEnd > 0 {
				one.Location.LineEnd = &w.LineEnd
			}
		}
		all = append(all, one)
	}
	return append(all, c.asked...)
}
