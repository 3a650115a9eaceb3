package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// PullRequest is what github.read tells: the facts of the snapshot. All texts in it are data that strangers wrote.
type PullRequest struct {
	Number           int
	Title, Body      string
	BaseSHA, HeadSHA string
	Discussion       review.Discussion
}

// talk is a piece of a pull request as text.
type talk string

func (t talk) text() string { return string(t) }

// talkLimit is where a description or a comment is cut, in bytes.
const talkLimit = 4 << 10

func (c *Command) said(s string) string {
	s = spelling.Text(c.safe(s))
	if len(s) > talkLimit {
		s = sanitize.Beginning(s, talkLimit) + " (cut)"
	}
	return s
}

func (c *Command) info(context.Context, struct{}) (talk, error) {
	p := c.o.PullRequest
	return talk(fmt.Sprintf("pull request %d: %s\nbase %s\nhead %s\nopen threads: %d, comments: %d\ndescription:\n%s\n",
		p.Number, short(c.safe(p.Title)), p.BaseSHA, p.HeadSHA, unresolved(p.Discussion.Threads), len(p.Discussion.Comments), c.said(p.Body))), nil
}

func unresolved(threads []review.Thread) (n int) {
	for _, t := range threads {
		if !t.Resolved {
			n++
		}
	}
	return n
}

// listArgs ask for a part of a list, from the first item on where nothing is said.
type listArgs struct {
	From int `json:"from"`
}

// listed puts items together until an answer is full.
func listed(what string, from int, items []string) talk {
	from = max(from, 1)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d\n", what, len(items))
	for i := from - 1; i < len(items); i++ {
		if b.Len()+len(items[i]) > resultLimit/2 && i > from-1 {
			fmt.Fprintf(&b, "(%d more: from %d)\n", len(items)-i, i+1)
			break
		}
		fmt.Fprintf(&b, "%d. %s", i+1, items[i])
	}
	return talk(b.String())
}

func (c *Command) line(m review.Comment) string {
	return fmt.Sprintf("%s, %s:\n%s\n", short(m.Author.Login), m.CreatedAt.UTC().Format("2006-01-02 15:04"), c.said(m.Body))
}

func (c *Command) comments(_ context.Context, a listArgs) (talk, error) {
	var items []string
	for _, m := range c.o.PullRequest.Discussion.Comments {
		items = append(items, c.line(m))
	}
	for _, r := range c.o.PullRequest.Discussion.Reviews {
		if r.Body != "" {
			items = append(items, fmt.Sprintf("review of %s, %s:\n%s\n", short(r.Author.Login), strings.ToLower(r.State), c.said(r.Body)))
		}
	}
	return listed("comments", a.From, items), nil
}

func (c *Command) threads(_ context.Context, a listArgs) (talk, error) {
	var items []string
	for _, t := range c.o.PullRequest.Discussion.Threads {
		at, state := c.label(t.File), "open"
		if t.Line != nil {
			at += fmt.Sprintf(":%d", *t.Line)
		}
		if t.Resolved {
			state = "resolved"
		}
		item := fmt.Sprintf("%s, %s\n", at, state)
		for _, m := range t.Comments {
			item += c.line(m)
		}
		items = append(items, item)
	}
	return listed("threads", a.From, items), nil
}
