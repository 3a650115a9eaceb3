package orchestrator

import (
	"context"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// belonging is a discussion in which whoever may write is said to belong here. Of a member whose membership is private GitHub says CONTRIBUTOR or NONE, so
// their permission is asked, where they say something that may block when one who belongs here says it. What GitHub told is added to known.
func (l *Loop) belonging(ctx context.Context, repo review.Repo, d review.Discussion, known *conversation.People) (review.Discussion, error) {
	logins := outsiders(d, *known)
	if l.People == nil || len(logins) == 0 {
		return d, nil
	}
	if err := l.permissions(ctx, repo, known, logins); err != nil {
		return d, err
	}
	raised := func(p review.Person) review.Person {
		if v := known.Voice(p.Login, p.Bot); v.Write && !v.Bot && !review.MayBlock(p.Association) {
			p.Association = review.Collaborator
		}
		return p
	}
	d.Threads, d.Reviews = slices.Clone(d.Threads), slices.Clone(d.Reviews)
	for i, t := range d.Threads {
		d.Threads[i].Comments = slices.Clone(t.Comments)
		for j, c := range t.Comments {
			d.Threads[i].Comments[j].Author = raised(c.Author)
		}
	}
	for i, r := range d.Reviews {
		d.Reviews[i].Author = raised(r.Author)
	}
	return d, nil
}

// mostTalking is how many people are asked about for no more than that they answer prloop: anybody may do that.
const mostTalking = 30

// outsiders are those of whom GitHub does not say that they belong here, and who say that something is a P0 or a P1 in a thread, or request changes, or whose reply
// to prloop somebody has hidden. The first of those who say anything else to prloop, and who did not open the pull request, are among them: it may be an objection.
func outsiders(d review.Discussion, known conversation.People) (out []string) {
	add := func(p review.Person, blocks bool) {
		if blocks && !p.Bot && !review.MayBlock(p.Association) && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, p.Login) }) {
			out = append(out, p.Login)
		}
	}
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			hidden := c.Minimized && sanitize.HasMarker(t.Comments[0].Body)
			add(c.Author, (hidden || threads.Severe(c.Body, review.Collaborator)) && !sanitize.HasMarker(c.Body))
		}
	}
	for _, r := range d.Reviews {
		add(r.Author, r.State == "CHANGES_REQUESTED")
	}
	most := len(out) + mostTalking
	for _, t := range d.Threads {
		for i, c := range t.Comments {
			v := known.Voice(c.Author.Login, c.Author.Bot)
			answers := i > 0 && sanitize.HasMarker(t.Comments[0].Body)
			add(c.Author, len(out) < most && answers && !v.Bot && !v.Author && !v.Own && !sanitize.HasMarker(c.Body))
		}
	}
	return out
}
