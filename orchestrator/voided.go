package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

const (
	// besideLines is how many lines above and below what a finding quotes are looked at as code that it may rest on, such as a guard.
	besideLines = 10
	// insertedLines is how many more these may come to stand apart by what somebody writes between.
	insertedLines = 30
	// MostHeads bounds at how many commits they are.
	MostHeads = 100
	// voidReason says why a resolution counts as not given.
	voidReason = "GitHub does not say when a thread was resolved, and code around this is not as it was since prloop wrote here last, so nobody can tell whether it was resolved for the code that stands here now"
	// uncuredReason says why a cure counts as not told.
	uncuredReason = "the code is as it was when the finding counted, which it was not when prloop said that the problem is gone"
)

// voided are the threads about something grave, by id, that somebody whose word settles them resolved nobody can tell for which code: what they quote stands as it did, and of the
// code around it something is gone that stood there since we spoke there last (threats.md T605). returned are those of them near which all is as it was when they were opened, and
// was not in between (threats.md T606). uncured are the commits, by id of thread, at which all was as it is in those that we called cured at another state of it (threats.md T651).
func (l *Loop) voided(ctx context.Context, req Request, snap Snapshot) (void, returned []string, uncured map[string]string, err error) {
	if snap.Conversation == nil {
		return nil, nil, nil, nil
	}
	people, uncured := snap.persons(), map[string]string{}
	look := l.surroundings(snap)
	for _, t := range snap.Conversation.Threads {
		if !objections.GraveThread(t) {
			continue
		}
		stood, err := look.uncured(ctx, t)
		if err != nil {
			return nil, nil, nil, err
		}
		gone, back := stood != "", stood != ""
		if gone {
			uncured[t.ID] = stood
			t = t.Uncured(stood)
		}
		// In an app's pull request nobody settles them.
		if t.Closed && t.Live() && !people.ByApp && people.Voice(t.ClosedBy, t.ClosedByBot).Decides() {
			if look.recorded == nil {
				if look.recorded, err = l.recordedHeads(ctx, req); err != nil {
					return nil, nil, nil, err
				}
			}
			if gone, back, err = look.void(ctx, t); err != nil {
				return nil, nil, nil, err
			}
		}
		if gone {
			void = append(void, t.ID)
		}
		if gone && back {
			returned = append(returned, t.ID)
		}
	}
	return void, returned, uncured, nil
}

// outdated are the threads about something grave, by id, near which the code is not as it was at the commit that somebody approved who said something there, by login in lower case
// (threats.md T684). Where nobody has that commit any more it counts as other code.
func (l *Loop) outdated(ctx context.Context, snap Snapshot) (map[string][]string, error) {
	look, out := l.surroundings(snap), map[string][]string{}
	for name := range snap.persons().Approved {
		on := objections.ApprovedOn(snap.Discussion, name)
		for _, t := range snap.Conversation.Threads {
			said := slices.ContainsFunc(t.DeveloperReplies, func(r conversation.Reply) bool { return strings.EqualFold(r.Author, name) })
			if !said || !objections.GraveThread(t) || on == snap.Range.Head {
				continue
			}
			same, err := look.alike(ctx, t, on)
			if err != nil {
				return nil, err
			}
			if !same {
				out[name] = append(out[name], t.ID)
			}
		}
	}
	return out, nil
}

// alike reports whether what is near a thread at the head is as it was at a commit.
func (b surroundings) alike(ctx context.Context, t conversation.Thread, commit string) (bool, error) {
	if commit == "" {
		return false, nil
	}
	is, err := b.near(ctx, t, b.snap.Range.Head)
	if err != nil || !is.known {
		return false, err
	}
	then, err := b.near(ctx, t, commit, is)
	return then.known && then.same(is), err
}

// voidWhy says why the resolution of a thread counts as not given.
func (s Snapshot) voidWhy(t conversation.Thread) string {
	if s.Uncured[t.ID] != "" {
		return uncuredReason
	}
	return voidReason
}

// surroundings looks at what stands near threads at the heads there may have been.
type surroundings struct {
	l        *Loop
	c        *evidence.Checker
	snap     Snapshot
	recorded []Reported
	// diffs are what became of one file between two commits.
	diffs map[[3]string]*diff.Diff
}

func (l *Loop) surroundings(snap Snapshot) surroundings {
	return surroundings{l: l, c: snap.checker(l.History, l.Learned), snap: snap, diffs: map[[3]string]*diff.Diff{}}
}

// void reports whether a thread is such a one, and whether its code is as it was. Where nobody has its commit any more, all of the file counts as changed since, and a finding is not
// settled anyway.
func (b surroundings) void(ctx context.Context, t conversation.Thread) (gone, back bool, err error) {
	spoke, _ := t.Spoke()
	was, err := b.near(ctx, t, spoke)
	if err != nil || !was.known {
		return false, false, err
	}
	is, err := b.near(ctx, t, b.snap.Range.Head, was)
	if err != nil || !is.known {
		return false, false, err
	}
	between, all, err := b.between(ctx, t, was, is)
	if err != nil {
		return false, false, err
	}
	gone = !all || !is.keeps(was)
	for _, then := range between { // what one of them took away and stands here again may be what it cured
		gone = gone || !then.known || !then.file.Exists || !is.keeps(then) || !then.keeps(was)
	}
	if gone {
		gone, err = b.l.standsAsItDid(ctx, b.c, b.snap.Range.Head, t, is.file)
	}
	if err != nil || !gone {
		return false, false, err
	}
	back, err = b.returned(ctx, t, is, append(between, was))
	return true, back, err
}

// uncured is a commit at which a thread counted, and what is near it was as it is, and was not where we said that its problem is gone; empty where there is none. What a judge
// showed for that, and does not stand any more, was near it too.
func (b surroundings) uncured(ctx context.Context, t conversation.Thread) (string, error) {
	cured := t.CuredAt()
	if cured == "" || cured == b.snap.Range.Head {
		return "", nil
	}
	is, err := b.near(ctx, t, b.snap.Range.Head)
	if err != nil || !is.known {
		return "", err
	}
	stands, err := b.l.standsAsItDid(ctx, b.c, b.snap.Range.Head, t, is.file)
	if err != nil || !stands {
		return "", err
	}
	then, err := b.near(ctx, t, cured, is)
	if err != nil {
		return "", err
	}
	if then.known && then.same(is) { // the cure was elsewhere
		if shown, err := b.shown(ctx, t); err != nil || shown {
			return "", err
		}
	}
	for _, commit := range b.bad(t) {
		if then, err := b.near(ctx, t, commit, is); err != nil || then.known && then.same(is) {
			return commit, err
		}
	}
	return "", nil
}

// shown reports whether the code that a judge showed for a cure stands as it did then. Where none did, nothing was taken away.
func (b surroundings) shown(ctx context.Context, t conversation.Thread) (bool, error) {
	if t.Fact == nil {
		return true, nil
	}
	d, err := b.l.History.Diff(ctx, t.CuredAt(), b.snap.Range.Head)
	if err != nil { // nobody has that commit
		return false, context.Cause(ctx)
	}
	return stands(d, t.Fact), nil
}

// bad are the commits at which a thread counted: its own, those at which we said that its finding stands, or people spoke of that.
func (b surroundings) bad(t conversation.Thread) []string {
	out := append([]string{t.Head}, t.Upheld...)
	if t.CuredAt() == "" { // else it is of what people say there
		out = append(out, t.Maintained)
	}
	for _, r := range t.DeveloperReplies {
		if b.snap.persons().MayObject(r) {
			out = append(out, r.Commit)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(commit string) bool { return commit == "" })
}

// returned reports whether what is near a thread is as it was when the thread was opened, when we said that its finding stands, or when people spoke of that, and was not in between.
func (b surroundings) returned(ctx context.Context, t conversation.Thread, is nearby, since []nearby) (bool, error) {
	for _, commit := range b.bad(t) {
		then, err := b.near(ctx, t, commit, is)
		if err != nil {
			return false, err
		}
		if !then.known || !then.same(is) {
			continue
		}
		var later []nearby
		if commit == t.Head || commit == t.Maintained {
			later = slices.Clone(since)
		}
		after, _ := b.snap.Range.after(commit)
		for _, id := range after {
			n, err := b.near(ctx, t, id, is)
			if err != nil {
				return false, err
			}
			later = append(later, n)
		}
		if slices.ContainsFunc(later, func(n nearby) bool { return n.known && !n.same(is) }) {
			return true, nil
		}
	}
	return false, nil
}

// between is what stood near a thread at the heads since we spoke in it last. all is false where there may have been more.
func (b surroundings) between(ctx context.Context, t conversation.Thread, was, is nearby) (out []nearby, all bool, err error) {
	heads, rewritten, all := b.snap.headsSince(t, b.recorded)
	arrived := false // those of a branch that was rewritten may be older than what we spoke of: they count from where that stands there
	for n, commit := range append(rewritten, heads...) {
		then, err := b.near(ctx, t, commit, was, is)
		if err != nil {
			return nil, false, err
		}
		arrived = arrived || then.known && then.same(was)
		if arrived || n >= len(rewritten) {
			out = append(out, then)
		}
	}
	return out, all, nil
}

// nearby is what stands near a thread at a commit, in the file of a name: for each place that it quotes the lines beside it, and these and some more. known is false where
// nobody has that commit.
type nearby struct {
	name        string
	file        evidence.File
	lines, more [][]string
	known       bool
}

// same reports whether the same stood there at another commit.
func (n nearby) same(o nearby) bool { return slices.EqualFunc(n.lines, o.lines, slices.Equal) }

// keeps reports whether the lines that stood there at another commit still do, in their order, whatever was written between.
func (n nearby) keeps(o nearby) bool {
	for i, lines := range o.lines {
		more := n.more[i]
		for _, line := range lines {
			at := slices.Index(more, line)
			if at < 0 {
				return false
			}
			more = more[at+1:]
		}
	}
	return true
}

// near reads what stands near a thread at a commit: the lines of what its wordings quote, and some above and below, wherever these stand now. In a file
// that is as it was at another commit the same does.
func (b surroundings) near(ctx context.Context, t conversation.Thread, commit string, others ...nearby) (out nearby, err error) {
	if !slices.ContainsFunc(b.snap.Range.Commits, func(c Commit) bool { return c.ID == commit }) {
		if have, err := b.l.History.Have(ctx, commit); err != nil || !have {
			return out, err
		}
	}
	for _, o := range others {
		if f, err := b.c.Read(ctx, commit, o.name); err != nil || f.Same(o.file) {
			return o, err
		}
	}
	d, err := b.diff(ctx, t, commit)
	if err != nil { // it counts as not known, but where nobody waits for it any more
		return out, context.Cause(ctx)
	}
	path, _, _ := d.MapLine(spelling.Raw(t.File), 1)
	out.name = spelling.Name(path)
	if out.file, err = b.c.Read(ctx, commit, out.name); err != nil {
		return out, err
	}
	for _, was := range t.Places() {
		from, to := was.Line, was.Line
		if was.Quoted[0] > 0 {
			from, to = min(max(from, 1), was.Quoted[0]), max(to, was.Quoted[1])
		}
		from, to = d.Around(spelling.Raw(t.File), max(1, from), max(1, to))
		out.lines = append(out.lines, out.file.Lines(from-besideLines, to+besideLines))
		out.more = append(out.more, out.file.Lines(from-besideLines-insertedLines, to+besideLines+insertedLines))
	}
	out.known = true
	return out, nil
}

// diff is what became of the file of a thread by a commit.
func (b surroundings) diff(ctx context.Context, t conversation.Thread, commit string) (*diff.Diff, error) {
	key := [3]string{t.Head, commit, t.File}
	if d := b.diffs[key]; d != nil || commit == t.Head {
		return cmp.Or(d, &diff.Diff{}), nil
	}
	d, err := b.l.History.Diff(ctx, t.Head, commit)
	if err != nil {
		return nil, err
	}
	name := spelling.Raw(t.File)
	d.Files = slices.DeleteFunc(d.Files, func(f diff.File) bool { return f.Path != name && f.OldPath != name })
	b.diffs[key] = d
	return d, nil
}

// headsSince are commits that may have been the head since we spoke in a thread last, or one of our reports said that it counts: those on the branch since, that of that report, those
// of newer reports, of newer runs on record, and those at which people replied. Where the branch was rewritten, rewritten are all of it, the oldest first. all is false where
// there may be more.
func (s Snapshot) headsSince(t conversation.Thread, recorded []Reported) (heads, rewritten []string, all bool) {
	seen := map[string]bool{s.Range.Head: true}
	add := func(commit string) {
		if commit != "" && !seen[commit] {
			seen[commit] = true
			heads = append(heads, commit)
		}
	}
	from, since := t.Spoke()
	if open, counted := s.Counted[sanitize.ThreadNamed(t.Node)]; counted && open.Head != "" && open.At.After(since) {
		from, since = open.Head, open.At
		add(from)
	} else {
		add(t.RuledAt) // where we said that its problem is gone
	}
	for _, r := range slices.Concat(s.Reports, recorded) {
		if r.At.After(since) {
			add(r.Head)
		}
	}
	for _, r := range t.DeveloperReplies {
		if r.Timestamp.After(since) {
			add(r.Commit)
		}
	}
	after, whole := s.Range.after(from)
	all = from == s.Range.Head || whole || len(s.Range.Commits) < MostHeads
	for _, commit := range after {
		add(commit)
	}
	if from != s.Range.Head && !whole {
		rewritten = s.Range.firstParents()
		slices.Reverse(rewritten)
	}
	if len(heads) > MostHeads {
		heads, all = heads[:MostHeads], false
	}
	return heads, rewritten, all
}

// after are the commits that go on from one, those behind other parents of merges too; whole is false where that one is not among the commits.
func (r Range) after(from string) (out []string, whole bool) {
	goesOn := map[string]bool{from: true}
	for _, c := range slices.Backward(r.Commits) {
		whole = whole || c.ID == from
		if slices.ContainsFunc(c.Parents, func(p string) bool { return goesOn[p] }) {
			goesOn[c.ID] = true
			out = append(out, c.ID)
		}
	}
	return out, whole || from == r.MergeBase
}

// firstParents are the commits from the head along first parents, newest first.
func (r Range) firstParents() (out []string) {
	next := r.Head
	for _, c := range r.Commits {
		if c.ID != next {
			continue
		}
		out, next = append(out, c.ID), ""
		if len(c.Parents) > 0 {
			next = c.Parents[0]
		}
	}
	return out
}

// recordedHeads are the heads of the newest runs on record: a run may have posted no report, and somebody may have deleted it.
func (l *Loop) recordedHeads(ctx context.Context, req Request) (out []Reported, err error) {
	out = []Reported{}
	if l.Stored == nil {
		return out, nil
	}
	for s, err := range l.Stored(ctx, req) {
		if err != nil {
			return nil, err
		}
		r := s.Result
		for _, head := range append([]string{r.Receipt.HeadSHA}, headsOf(r)...) {
			out = append(out, Reported{Run: r.Run, At: r.Started, Head: head})
		}
		if len(out) >= MostHeads {
			break
		}
	}
	return out, nil
}

// headsOf are those of the rounds of a run.
func headsOf(r review.RunResult) (out []string) {
	for _, round := range r.Rounds {
		out = append(out, round.Head)
	}
	return out
}

// countedThen are the newest of our reports that say that something counts in a thread, by what sanitize.ThreadNamed gives for that: nobody had resolved it then whose word
// settles it.
func countedThen(comments []review.Comment, ours func(review.Comment) bool) map[string]Reported {
	out := map[string]Reported{}
	for _, c := range comments {
		if !sanitize.HasMarker(c.Body) || !ours(c) {
			continue
		}
		m, _ := sanitize.ParseMarker(c.Body)
		said := Reported{Run: m.Run, At: writtenAt(c, m), Head: report.About(allParts(c, comments, ours))}
		for _, name := range objections.OpenThreads(m.Objected) {
			if said.At.After(out[name].At) {
				out[name] = said
			}
		}
	}
	return out
}
