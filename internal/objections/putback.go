package objections

import (
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
)

// PutBack makes a discussion say what is remembered of objections, which all that judges them reads: what is missing is put back into the thread in which it was said,
// and what somebody else has changed weighs what it did. byApp is true in an app's pull request.
func PutBack(d review.Discussion, kept []Objection, byApp bool) review.Discussion {
	d.Threads = slices.Clone(d.Threads)
	for _, o := range kept {
		at := slices.IndexFunc(d.Threads, func(t review.Thread) bool { return o.in(t.ID) })
		if at < 0 {
			at, d.Threads = len(d.Threads), append(d.Threads, review.Thread{ID: lostThread + o.thread})
		}
		t := &d.Threads[at]
		t.Comments = slices.Clone(t.Comments)
		if said := slices.IndexFunc(t.Comments, o.is); said >= 0 {
			t.Comments[said] = o.kept(t.Comments[said], byApp)
			continue
		}
		t.Comments = append(t.Comments, o.deleted(byApp))
		slices.SortStableFunc(t.Comments, func(a, b review.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	}
	return d
}

// deleted stands for the comment that objected.
func (o Objection) deleted(byApp bool) review.Comment {
	by, body := o.by, o.notice("deleted, and GitHub does not say by whom", byApp)
	if o.maintained() {
		by = "prloop"
	} else {
		body += " Their approving review settles it too, where it says no more than thanks."
	}
	return review.Comment{DatabaseID: o.comment, Author: review.Person{Login: by, Association: review.Collaborator}, Body: body, CreatedAt: o.at, UpdatedAt: o.at, Deleted: true}
}

// kept is the comment that objected as it counts: as said by somebody who may block, who they were when a run read it, and as grave as then where somebody else has
// edited it since (threats.md T572). Our own stands where nobody else has.
func (o Objection) kept(c review.Comment, byApp bool) review.Comment {
	if o.maintained() && c.EditedBy == "" {
		return c
	}
	if !review.MayBlock(c.Author.Association) {
		c.Author.Association = review.Collaborator
	}
	if c.EditedBy != "" && (o.maintained() || !threads.Severe(c.Body, review.Collaborator)) {
		c.Body = o.notice("changed by "+c.EditedBy, byApp) + "\n\nNow it says:\n\n" + threads.Quote(strings.TrimSpace(c.Body))
	}
	return c
}

// notice says in place of an objection what became of it, and what settles it.
func (o Objection) notice(became string, byApp bool) string {
	if o.maintained() {
		why := "prloop maintains its finding."
		if o.cured {
			why = "Its finding counted until the code was changed, and without that comment prloop cannot tell whether the code comes back."
		}
		return "P1: The comment with which prloop began this thread was " + became + ". " + why + "\n\nIt counts until somebody with write access who did not open the pull request approves it and says no more than thanks."
	}
	who := "they, or somebody else with write access who did not open the pull request, resolve the thread."
	if byApp && o.grave() {
		who = "they resolve the thread."
	}
	says := "The objection of " + o.by + " here was " + became + ".\n\nIt counts until " + who
	if o.severe {
		says = "P1: " + says
	}
	return says
}

// Settlers are those of whom has to be known what they may, where objections are lost: who objected, who resolved the thread, and who approves.
func Settlers(d review.Discussion, kept []Objection) (out []string) {
	for _, o := range kept {
		if !o.maintained() {
			out = append(out, o.by)
		}
		for _, t := range d.Threads {
			if o.in(t.ID) && t.ResolvedBy != nil {
				out = append(out, t.ResolvedBy.Login)
			}
		}
	}
	if len(kept) > 0 {
		for _, r := range approvals(d) {
			out = append(out, r.Author.Login)
		}
	}
	return slices.DeleteFunc(out, func(login string) bool { return login == "" })
}

// Approved is when those approved a pull request whose approvals stand and say no more than thanks, by login in lower case.
func Approved(d review.Discussion) map[string]time.Time {
	out := map[string]time.Time{}
	for _, r := range approvals(d) {
		if !r.Author.Bot {
			out[strings.ToLower(r.Author.Login)] = r.SubmittedAt
		}
	}
	return out
}

// ApprovedOn is the commit that somebody gave such an approval on, by login in lower case; empty where GitHub does not say.
func ApprovedOn(d review.Discussion, name string) string {
	for _, r := range approvals(d) {
		if !r.Author.Bot && strings.EqualFold(r.Author.Login, name) {
			return r.Commit
		}
	}
	return ""
}

// approvals are the reviews that approve and say no more than thanks, of those that stand. Who approves and says something may mean what they said before. What somebody else
// has edited are not their words.
func approvals(d review.Discussion) []review.Review {
	return slices.DeleteFunc(threads.Standing(d.Reviews), func(r review.Review) bool {
		return r.State != "APPROVED" || r.EditedBy != "" || strings.TrimSpace(r.Body) != "" && !conversation.OnlyThanks(r.Body)
	})
}

// Maintain marks the threads of which is remembered that we maintain their finding, where no answer of ours says so any more: somebody has deleted it.
func Maintain(s *conversation.State, kept []Objection) {
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.Status == conversation.Pending && slices.ContainsFunc(kept, func(o Objection) bool { return o.maintained() && o.in(t.Node) }) {
			t.Maintained = t.Head
		}
	}
}
