package builtin

import (
	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

// openCommand opens the tools that a command's task names, and no others.
func openCommand(task review.Task, w review.Workspace, head string) (*tools.Command, error) {
	o := tools.CommandOptions{Options: readOnly(w.Tree)}
	o.Exclude, o.Unmasked, o.Folders = w.Exclude, w.Unmasked, w.Folders
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
	return tools.OpenCommand(o)
}

// wishes are what a command's tools were asked to have written, for its answer.
func wishes(c *tools.Command) (all []review.Wish) {
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
	return all
}
