package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// objection is what somebody said in a thread of ours, as reports and the record keep it for later runs: whoever may write can edit and delete comments, those of
// others and ours too, and GitHub does not say who deleted one (threats.md T552).
type objection struct {
	// thread is what sanitize.ThreadNamed gives, comment the number of their comment.
	thread  string
	comment int64
	// at is when it was said; of one that is lost, when that was seen first.
	at time.Time
	// counts is true of what counts against a cure, severe of what they say as P0 or P1, heavy of a thread about something grave, lost of what stands in no thread of
	// ours any more.
	counts, severe, heavy, lost bool
	by                          string
}

// String is how a marker keeps it.
func (o objection) String() string {
	bits := 0
	for i, set := range []bool{o.counts, o.severe, o.heavy, o.lost} {
		if set {
			bits |= 1 << i
		}
	}
	return fmt.Sprintf("%s.%d.%d.%x.%s", o.thread, o.comment, o.at.Unix(), bits, strings.ReplaceAll(o.by, "-", "+"))
}

// objectionsOf reads objections as markers keep them. What is none is left out.
func objectionsOf(names []string) (out []objection) {
	for _, name := range names {
		parts := strings.Split(name, ".")
		if len(parts) != 5 {
			continue
		}
		comment, noNumber := strconv.ParseInt(parts[1], 10, 64)
		at, noTime := strconv.ParseInt(parts[2], 10, 64)
		bits, noBits := strconv.ParseUint(parts[3], 16, 8)
		if cmp.Or(noNumber, noTime, noBits) != nil {
			continue
		}
		out = append(out, objection{thread: parts[0], comment: comment, at: time.Unix(at, 0).UTC(), counts: bits&1 > 0, severe: bits&2 > 0, heavy: bits&4 > 0, lost: bits&8 > 0,
			by: strings.ReplaceAll(parts[4], "+", "-")})
	}
	return out
}

// is reports whether a comment is the one that objects.
func (o objection) is(c review.Comment) bool { return o.comment == c.DatabaseID }

// in reports whether a thread, by what GitHub calls it, is the one that it was said in, or stands for that one.
func (o objection) in(node string) bool {
	return sanitize.ThreadNamed(node) == o.thread || node == lostThread+o.thread
}

// lostThread begins the name of a thread that stands for one which is not on GitHub any more.
const lostThread = "lost-"

// open are the objections that are open in our threads: of each person in a thread the newest that is a P0 or a P1, and the newest other. What they say more softly
// later takes nothing of that back.
func (s Snapshot) open() (out []objection) {
	people := s.persons()
	for _, t := range s.Conversation.Threads {
		heavy := graveThread(t)
		against, severe := people.Objections(t, heavy), openGrave(people, t)
		for _, r := range t.DeveloperReplies {
			among := func(list []conversation.Reply) bool {
				return slices.ContainsFunc(list, func(a conversation.Reply) bool { return a.ID == r.ID })
			}
			o := objection{thread: sanitize.ThreadNamed(t.Node), comment: r.ID, at: r.Timestamp, heavy: heavy, by: r.Author, counts: among(against), severe: among(severe)}
			if o.counts || o.severe {
				out = append(slices.DeleteFunc(out, func(old objection) bool { return old.thread == o.thread && old.by == o.by && old.severe == o.severe }), o)
			}
		}
	}
	return out
}

// weight orders objections by what is kept first: what is grave, then what is lost.
func (o objection) weight() (n int) {
	if o.grave() {
		n += 2
	}
	if o.lost {
		n++
	}
	return n
}

// objected are the objections that are open, as a marker keeps them: those of the most weight, and of these the newest. Where nothing is left of what was remembered, that
// is said.
func (s Snapshot) objected() (names []string) {
	if s.Conversation == nil {
		return s.Remembered
	}
	all := append(s.open(), objectionsOf(s.Lost)...)
	slices.SortFunc(all, func(a, b objection) int {
		return cmp.Or(cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.comment, b.comment))
	})
	for _, o := range all {
		names = append(names, o.String())
	}
	if len(names) == 0 && len(s.Remembered) > 0 {
		return []string{sanitize.None}
	}
	return names[max(0, len(names)-sanitize.MostObjected):]
}

// remember adds to what is remembered what our newest report keeps that keeps any. Either may be the older one: what one of them says as grave is.
func remember(known []string, comments []review.Comment, ours func(review.Comment) bool) []string {
	var newest []string
	var at time.Time
	for _, c := range comments {
		m, _ := sanitize.ParseMarker(c.Body)
		if written := writtenAt(c, m); len(m.Objected) > 0 && !written.Before(at) && ours(c) {
			newest, at = m.Objected, written
		}
	}
	all, before := objectionsOf(known), len(objectionsOf(known))
	for _, o := range objectionsOf(newest) {
		if at := slices.IndexFunc(all[:before], func(k objection) bool { return k.comment == o.comment }); at >= 0 {
			all[at] = all[at].and(o)
		} else {
			all = append(all, o)
		}
	}
	var out []string
	for _, o := range all {
		out = append(out, o.String())
	}
	return out
}

// and is an objection of which another run knows as well.
func (o objection) and(other objection) objection {
	if other.lost && !o.lost {
		o.lost, o.at = true, other.at
	}
	o.counts, o.severe, o.heavy = o.counts || other.counts, o.severe || other.severe, o.heavy || other.heavy
	return o
}

// recordedObjections are those that were open in the newest run on record that read threads: somebody may have deleted its report, and one that was overtaken posted none.
func (l *Loop) recordedObjections(ctx context.Context, req Request) ([]string, error) {
	if l.Stored == nil {
		return nil, nil
	}
	for s, err := range l.Stored(ctx, req) {
		if r := s.Result.Receipt; err != nil || r.ThreadsRead != "" || len(r.Objected) > 0 {
			return slices.DeleteFunc(slices.Clone(r.Objected), func(name string) bool { return name == sanitize.None }), err
		}
	}
	return nil, nil
}

// putBack makes a discussion say what is remembered of objections, which all that judges them reads: what is missing is put back into the thread in which it was said,
// and what somebody else has changed weighs what it did. byApp is true in an app's pull request.
func putBack(d review.Discussion, kept []objection, byApp bool) review.Discussion {
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
func (o objection) deleted(byApp bool) review.Comment {
	return review.Comment{DatabaseID: o.comment, Author: review.Person{Login: o.by, Association: collaborator}, Body: o.notice("deleted, and GitHub does not say by whom", byApp) + " Their approving review settles it too.",
		CreatedAt: o.at, UpdatedAt: o.at, Deleted: true}
}

// kept is the comment that objected as it counts: as said by somebody who may block, who they were when a run read it, and as grave as then where somebody else has
// edited it since (threats.md T572).
func (o objection) kept(c review.Comment, byApp bool) review.Comment {
	if !review.MayBlock(c.Author.Association) {
		c.Author.Association = collaborator
	}
	if c.EditedBy != "" && !threads.Severe(c.Body, collaborator) {
		c.Body = o.notice("changed by "+c.EditedBy, byApp) + "\n\nNow it says:\n\n" + threads.Quote(strings.TrimSpace(c.Body))
	}
	return c
}

// notice says in place of an objection what became of it, and what settles it.
func (o objection) notice(became string, byApp bool) string {
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

// deleted reports whether a finding is of an objection that was deleted, which no fixer can do anything about.
func (s Snapshot) deleted(f review.Finding) bool {
	return slices.ContainsFunc(s.Discussion.Threads, func(t review.Thread) bool {
		return f.ID == "thread-"+t.ID && slices.ContainsFunc(t.Comments, func(c review.Comment) bool { return c.Deleted && f.Source.Timestamp.Equal(c.CreatedAt) })
	})
}

// settlers are those of whom has to be known what they may, where objections are lost: who objected, who resolved the thread, and who approves.
func settlers(d review.Discussion, kept []objection) (out []string) {
	for _, o := range kept {
		out = append(out, o.by)
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

// approvals are the reviews that approve, of those that stand.
func approvals(d review.Discussion) []review.Review {
	return slices.DeleteFunc(threads.Standing(d.Reviews), func(r review.Review) bool { return r.State != "APPROVED" })
}

// lost are the objections that are remembered and open, and whose thread we know no more as ours: somebody changed or deleted the comment with which it begins. They are
// settled as those in our threads, and by an approval since one of our reports said so, as there may be no thread to resolve.
func (s Snapshot) lost() (names []string) {
	people := s.persons()
	for _, o := range objectionsOf(s.Remembered) {
		ours := func(t conversation.Thread) bool { return o.in(t.Node) }
		at := slices.IndexFunc(s.Discussion.Threads, func(t review.Thread) bool { return o.in(t.ID) })
		if at < 0 || slices.ContainsFunc(s.Conversation.Threads, ours) || o.approved(s.Discussion, people) || !o.stands(s.Discussion.Threads[at], people) {
			continue
		}
		if !o.lost {
			o.lost, o.at = true, s.PR.UpdatedAt
		}
		names = append(names, o.String())
	}
	return names
}

// approved reports whether somebody whose word settles a lost objection has approved the pull request since it was seen to be lost.
func (o objection) approved(d review.Discussion, people conversation.People) bool {
	return o.lost && slices.ContainsFunc(approvals(d), func(r review.Review) bool {
		v := people.Voice(r.Author.Login, r.Author.Bot)
		settles := v.Decides() && (!people.ByApp || !o.grave())
		return r.SubmittedAt.After(o.at) && (settles || !v.Bot && strings.EqualFold(v.Login, o.by))
	})
}

// withdrawn reports whether who objected has approved the pull request since, where their comment was deleted: who may not write may not resolve the thread either.
func (o objection) withdrawn(d review.Discussion) bool {
	there := slices.ContainsFunc(d.Threads, func(t review.Thread) bool { return slices.ContainsFunc(t.Comments, o.is) })
	return !there && slices.ContainsFunc(approvals(d), func(r review.Review) bool {
		return !r.Author.Bot && strings.EqualFold(r.Author.Login, o.by) && r.SubmittedAt.After(o.at)
	})
}

// grave reports whether it is settled as what is grave.
func (o objection) grave() bool { return o.severe || o.heavy }

// stands reports whether an objection stands in a thread, who objected having not taken it back, and nobody has resolved that whose word settles it.
func (o objection) stands(in review.Thread, people conversation.People) bool {
	t := conversation.Thread{Closed: in.Resolved}
	if by := in.ResolvedBy; by != nil {
		t.ClosedBy, t.ClosedByBot = by.Login, by.Bot
	}
	for _, c := range in.Comments {
		if o.is(c) {
			t.DeveloperReplies = []conversation.Reply{{ID: c.DatabaseID, Author: c.Author.Login, Body: c.Body, EditedBy: c.EditedBy, Association: c.Author.Association, Bot: c.Author.Bot, After: true}}
		}
	}
	_, stands := people.Objection(t, o.grave())
	return stands
}
