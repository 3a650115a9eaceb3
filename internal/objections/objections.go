// Package objections remembers what people object to in our threads, and what we maintain there. Reports and the record keep it from run to run, because
// whoever may write can edit and delete comments. It also knows what people say there as grave. It is pure.
package objections

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Objection is what somebody said in a thread of ours, as reports and the record keep it for later runs: whoever may write can edit and delete comments, those of
// others and ours too, and GitHub does not say who deleted one (threats.md T552).
type Objection struct {
	// thread is what sanitize.ThreadNamed gives, comment the number of their comment.
	thread  string
	comment int64
	// at is when it was said, or edited last; of one that is lost, when that was seen first.
	at time.Time
	// counts is true of what counts against a cure, severe of what they say as P0 or P1, heavy of a thread about something grave, lost of what stands in no thread of
	// ours any more, later of what counts for as long as the code of a grave thread stands as it did, void of what does although somebody had resolved the thread whose word
	// settles it (conversation.People.Void), cured of a finding that we maintained whose code has changed since, or of which we said that its problem is gone: it counts
	// where its thread is lost.
	counts, severe, heavy, lost, later, void, cured bool
	// by is who objects; prloop of a finding that we maintain, whose comment is that with which its thread begins.
	by string
}

// prloop stands in a marker for us. Nobody on GitHub is called so: no login begins with a hyphen.
const prloop = "-"

// maintained reports whether it is a finding that we maintain.
func (o Objection) maintained() bool { return o.by == prloop }

// String is how a marker keeps it.
func (o Objection) String() string {
	bits := 0
	for i, set := range []bool{o.counts, o.severe, o.heavy, o.lost, o.later, o.void, o.cured} {
		if set {
			bits |= 1 << i
		}
	}
	return fmt.Sprintf("%s.%d.%d.%x.%s", o.thread, o.comment, o.at.Unix(), bits, strings.ReplaceAll(o.by, "-", "+"))
}

// Parse reads objections as markers keep them. What is none is left out.
func Parse(names []string) (out []Objection) {
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
		out = append(out, Objection{thread: parts[0], comment: comment, at: time.Unix(at, 0).UTC(), counts: bits&1 > 0, severe: bits&2 > 0, heavy: bits&4 > 0, lost: bits&8 > 0, later: bits&16 > 0, void: bits&32 > 0,
			cured: bits&64 > 0, by: strings.ReplaceAll(parts[4], "+", "-")})
	}
	return out
}

// is reports whether a comment is the one that objects.
func (o Objection) is(c review.Comment) bool { return o.comment == c.DatabaseID }

// in reports whether a thread, by what GitHub calls it, is the one that it was said in, or stands for that one.
func (o Objection) in(node string) bool {
	return sanitize.ThreadNamed(node) == o.thread || node == lostThread+o.thread
}

// lostThread begins the name of a thread that stands for one which is not on GitHub any more.
const lostThread = "lost-"

// weight orders objections by what is kept first: what counts, then what is grave, then what is lost, which nothing else tells, then what people said.
func (o Objection) weight() (n int) {
	for _, more := range []bool{!o.cured || o.lost, o.grave(), o.lost, !o.maintained()} {
		n *= 2
		if more {
			n++
		}
	}
	return n
}

// grave reports whether it is settled as what is grave.
func (o Objection) grave() bool { return o.severe || o.heavy }

// and is an objection of which another run knows as well.
func (o Objection) and(other Objection) Objection {
	if other.lost && !o.lost || other.lost == o.lost && !o.lost && other.at.After(o.at) {
		o.lost, o.at = other.lost, other.at
	}
	o.counts, o.severe, o.heavy, o.later = o.counts || other.counts, o.severe || other.severe, o.heavy || other.heavy, o.later || other.later
	o.cured = o.cured && other.cured
	return o
}

// Counted reports whether it counts against a cure and is that reply. Of one that counted while its code stood, and that is put back, nobody can tell any more at which
// head it was said: it counts until somebody settles it.
func (o Objection) Counted(r conversation.Reply) bool {
	return o.comment == r.ID && (o.counts || o.later && r.Commit == "")
}

// Standing are the objections that are open in our threads: of each person in a thread the newest that is a P0 or a P1, the newest that counts while its code stands as it
// did, and the newest other. What they say more softly later takes nothing of that back. Findings that we maintain are among them. unchanged are the grave threads whose
// code stands as it did.
func Standing(people conversation.People, threads []conversation.Thread, unchanged []string) (out []Objection) {
	for _, t := range threads {
		heavy := GraveThread(t)
		against, severe := people.Objections(t, heavy), OpenGrave(people, t)
		var later []conversation.Reply
		if slices.Contains(unchanged, t.ID) {
			later = people.Later(t)
			if t.Maintained != "" && people.Weighs(t, true) {
				out = append(out, ours(people, t))
			}
		}
		for _, r := range t.DeveloperReplies {
			among := func(list []conversation.Reply) bool {
				return slices.ContainsFunc(list, func(a conversation.Reply) bool { return a.ID == r.ID })
			}
			o := Objection{thread: sanitize.ThreadNamed(t.Node), comment: r.ID, at: r.Timestamp, heavy: heavy, by: r.Author, counts: among(against), severe: among(severe), void: people.Void(t)}
			if r.Edited.After(o.at) { // what they approved before says nothing of what they say now
				o.at = r.Edited
			}
			o.later = !o.counts && !o.severe && among(later)
			if o.counts || o.severe || o.later {
				out = append(slices.DeleteFunc(out, func(old Objection) bool {
					return old.thread == o.thread && old.by == o.by && old.severe == o.severe && old.later == o.later
				}), o)
			}
		}
	}
	return out
}

// ours is the finding of a thread about something grave.
func ours(people conversation.People, t conversation.Thread) Objection {
	root, _ := strconv.ParseInt(t.ID, 10, 64) // it is the number of a comment
	return Objection{thread: sanitize.ThreadNamed(t.Node), comment: root, at: time.Unix(0, 0).UTC(), heavy: true, void: people.Void(t), by: prloop}
}

// cured are the findings of grave threads that counted, and do not as their code is: somebody could delete or edit what we said there, and bring the code back (threats.md T654).
// What reviewers alone had raised is left out: it would not count with its thread either. proven are the threads of which a judge shows the cure in this run.
func cured(people conversation.People, threads []conversation.Thread, unchanged, proven []string) (out []Objection) {
	for _, t := range threads {
		gone, shown := t.CuredAt() != "", slices.Contains(proven, t.ID)
		if gone {
			t = t.Uncured(t.Head)
		}
		if GraveThread(t) && (gone || shown || !slices.Contains(unchanged, t.ID)) && people.Weighs(t, shown || t.Maintained != "") {
			o := ours(people, t)
			o.cured = true
			out = append(out, o)
		}
	}
	return out
}

// OpenThreads are the threads in which some objections stand that a marker keeps, as sanitize.ThreadNamed names them, and that nobody had resolved then whose word settles them.
func OpenThreads(names []string) (threads []string) {
	for _, o := range Parse(names) {
		if !o.void && !o.cured {
			threads = append(threads, o.thread)
		}
	}
	return threads
}

// Open are the objections that are open in our threads, and those of lost ones, as a marker keeps them: those of the most weight, and of these the newest. What
// cured gives is among them, of threads in which nothing else stands.
func Open(people conversation.People, threads []conversation.Thread, unchanged, lost []string, proven ...string) (names []string) {
	all := append(Standing(people, threads, unchanged), Parse(lost)...)
	for _, o := range cured(people, threads, unchanged, proven) {
		if !slices.ContainsFunc(all, func(s Objection) bool { return s.thread == o.thread }) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Objection) int {
		return cmp.Or(cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.comment, b.comment))
	})
	for _, o := range all {
		names = append(names, o.String())
	}
	return names[max(0, len(names)-sanitize.MostObjected):]
}

// Merge adds to what is remembered what another report keeps. Either may be the older one: what one of them says as grave is.
func Merge(known, other []string) (names []string) {
	all, before := Parse(known), len(Parse(known))
	for _, o := range Parse(other) {
		if at := slices.IndexFunc(all[:before], func(k Objection) bool { return k.comment == o.comment }); at >= 0 {
			all[at] = all[at].and(o)
		} else {
			all = append(all, o)
		}
	}
	for _, o := range all {
		names = append(names, o.String())
	}
	return names
}
