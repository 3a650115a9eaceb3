package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// named is what the file of a thread is called at the head. Where nobody knows how the thread's own commit differs from the head, the names at
// the base tell.
func (s Snapshot) named(t conversation.Thread) string {
	file := t.File
	if name, known := s.Names[t.ID]; known {
		return name
	}
	if t.Head == s.Range.Head {
		return file
	}
	for _, f := range s.Brief.Files {
		if f.OldPath != "" && f.OldPath == file {
			return f.Path
		}
	}
	return file
}

// wording is what one of those who raised a finding says of it in its thread, by index in Snapshot.Conversation.Threads, where it stands at the head. gone is
// true when its code is there no more.
type wording struct {
	review.Finding
	thread int
	gone   bool
}

// wordings are all that our threads show of their findings, under the names that the files have at the head.
func (s Snapshot) wordings() (out []wording) {
	if s.Conversation == nil {
		return nil
	}
	for i, t := range s.Conversation.Threads {
		shown, at := t.Shown(), s.spotsOf(t)
		for n, f := range shown {
			spot := at[max(0, n+1-len(shown)+len(t.Also))]
			w := wording{Finding: f, thread: i, gone: spot.Gone}
			w.File, w.Line, w.Quoted = s.named(t), nil, spot.Quoted
			if spot.Line > 0 {
				w.Line = &spot.Line
			}
			out = append(out, w)
		}
	}
	return out
}

// Spot is where a wording of a thread stands at the head. Of one that is Gone the line is where it would stand, as far as that is known.
type Spot struct {
	conversation.Stood
	Gone bool `json:"gone,omitempty"`
}

// spotsOf are the places of a thread, as Places gives them, at the head. Of a commit that nobody knows GitHub tells where the thread stands.
func (s Snapshot) spotsOf(t conversation.Thread) (out []Spot) {
	if at, known := s.Spots[t.ID]; known && t.Head != s.Range.Head {
		return at
	}
	for _, was := range t.Places() {
		spot := Spot{Stood: was}
		if t.Head != s.Range.Head {
			spot = Spot{conversation.Stood{Line: t.Line}, t.Line == 0}
		}
		out = append(out, spot)
	}
	return out
}

// threadsOf gives findings, by index, the threads of ours that are about them. may says of which wordings of threads a finding can be one.
func (g gathered) threadsOf(may func(w wording, finding int) bool) map[int]int {
	of, known := map[int]int{}, g.in.Snapshot.wordings()
	var said []review.Finding
	for _, w := range known {
		said = append(said, w.Finding)
	}
	for _, p := range identity.MatchAmong(said, g.findings, nil, func(a, b int) bool { return may(known[a], b) }) {
		of[p.B] = known[p.A].thread
	}
	return of
}

// threadsOfEach is threadsOf for the findings of each reviewer by themselves: what another says takes no thread from them.
func (g gathered) threadsOfEach(may func(w wording, finding int) bool) map[int]int {
	of := map[int]int{}
	for at, f := range g.findings {
		by := func(o review.Finding) bool { return sameSource(o.Source, f.Source) }
		if !slices.ContainsFunc(g.findings[:at], by) {
			maps.Copy(of, g.threadsOf(func(w wording, i int) bool { return by(g.findings[i]) && may(w, i) }))
		}
	}
	return of
}

// threaded finds the thread that each distinct finding has, by index in Snapshot.Conversation.Threads; -1 for none. One that we
// settled is none: what comes back is said again. Nor is one that a person settled: what is not settled by that is said in a thread of its own, for the
// person to see. So is what is grave where an open thread shows nothing that is: a thread counts for what it shows (threats.md T604).
func (m matched) threaded() []int {
	out, heavy := make([]int, len(m.groups)), m.heavy(m.groups)
	may := func(w wording, i int) bool {
		t := m.in.Snapshot.Conversation.Threads[w.thread]
		return m.in.Snapshot.live(w.thread) && !m.in.Snapshot.decided(w.thread, heavy[i]) && (!heavy[i] || t.Closed || objections.GraveThread(t))
	}
	of := m.threadsOf(may)
	for g, group := range m.groups {
		out[g] = -1
		for _, i := range group {
			t, ok := of[i]
			if f := m.findings[i]; f.Several() {
				t, ok = m.in.Snapshot.threadOfAll(f.Parts, func(w wording) bool { return may(w, i) })
			}
			if ok && out[g] < 0 {
				out[g] = t
			}
		}
	}
	return out
}

// threadOfAll is the thread of ours that shows each of some findings.
func (s Snapshot) threadOfAll(parts []review.Finding, may func(w wording) bool) (thread int, ok bool) {
	known := s.wordings()
	shown := map[int][]review.Finding{}
	for _, w := range known {
		if may(w) {
			shown[w.thread] = append(shown[w.thread], w.Finding)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(shown)) {
		if len(identity.Match(shown[t], parts, nil)) == len(parts) {
			return t, true
		}
	}
	return 0, false
}

// heavy says of findings, by index, whether a wording of the same distinct finding is grave.
func (g gathered) heavy(groups [][]int) map[int]bool {
	out := map[int]bool{}
	for _, group := range groups {
		for _, i := range group {
			out[i] = g.grave(group)
		}
	}
	return out
}

// decided reports whether a thread was settled: resolved by somebody who may for its finding and for one that is similar, heavy where a wording of that is
// grave, or by a ruling of ours.
func (s Snapshot) decided(thread int, heavy bool) bool {
	t := s.Conversation.Threads[thread]
	_, _, ok := s.persons().Settled(t, heavy || objections.GraveThread(t))
	return ok
}

// live reports whether a thread still says something that prloop stands by.
// A void one that we may not open again does not.
func (s Snapshot) live(thread int) bool {
	return s.persons().Live(s.Conversation.Threads[thread]) && !s.buried(thread)
}

// buried reports whether the resolution of a thread is void, and we may not open it again.
func (s Snapshot) buried(thread int) bool {
	t := s.Conversation.Threads[thread]
	return s.persons().Void(t) && t.Unresolvable
}

// silences says of which threads a finding can be one so that it may not count any more: what we conceded there, or people settled. heavy are
// the findings of which a wording is grave.
func (g gathered) silences(heavy map[int]bool) func(thread, finding int) bool {
	now := g.in.rulings()
	return func(thread, i int) bool {
		return g.in.Snapshot.decided(thread, heavy[i]) || !heavy[i] && now[thread].Status == conversation.Resolved
	}
}

// ruledOn says of which threads a ruling of ours settles their findings, now or before.
func (in Inputs) ruledOn() func(thread int) bool {
	now := in.rulings()
	return func(thread int) bool {
		return in.Snapshot.Conversation.Threads[thread].Ruling != "" || now[thread].Status == conversation.Resolved
	}
}

// settledBy gives findings, by index, the threads that settle them, and -1 where a thread that nobody settled is the nearest to what they say: what
// is open there, no other thread settles. Of a grave distinct finding each grave wording is asked for by itself; the others are held open by what
// a thread shows as grave alone.
func (g gathered) settledBy(heavy map[int]bool) map[int]int {
	silent, ruled := g.silences(heavy), g.in.ruledOn()
	settles := func(w wording, i int) bool {
		f := g.findings[i]
		return silent(w.thread, i) && (!heavy[i] || objections.Grave(f)) && g.in.Snapshot.beyond(w, f, ruled(w.thread)) == ""
	}
	holds := func(w wording, i int) bool {
		known := w.Line != nil && g.findings[i].Line != nil
		return g.in.Snapshot.live(w.thread) && !silent(w.thread, i) && (!heavy[i] || objections.Grave(g.findings[i]) || objections.Grave(w.Finding)) &&
			!(known && w.elsewhere(g.findings[i]))
	}
	placed := func(w wording, i int) bool { return w.Line != nil && g.findings[i].Line != nil }
	of := g.threadsOfEach(func(w wording, i int) bool { return holds(w, i) || placed(w, i) && settles(w, i) })
	for i, t := range of {
		if !silent(t, i) {
			of[i] = -1
		}
	}
	// Without lines nobody knows which of two threads is the nearer: those that are open went first.
	for i, t := range g.threadsOfEach(func(w wording, i int) bool { _, has := of[i]; return !has && !placed(w, i) && settles(w, i) }) {
		of[i] = t
	}
	known := g.in.Snapshot.wordings()
	for i, t := range of { // the same quote makes no thread the nearer one: what they say does
		open := nearest(known, g.findings[i], func(w wording) bool { return holds(w, i) })
		if t >= 0 && open >= nearest(known, g.findings[i], func(w wording) bool { return w.thread == t && settles(w, i) }) {
			of[i] = -1
		}
	}
	return of
}

// nearest is how alike a finding is to the most similar of some wordings of its file, in words; negative when none is similar.
func nearest(known []wording, f review.Finding, may func(w wording) bool) float64 {
	most := -1.0
	for _, w := range known {
		if w.File == f.File && may(w) {
			if likeness, same := identity.Likeness(w.Finding, f); same {
				most = max(most, likeness)
			}
		}
	}
	return most
}

// beyond says why a finding is beyond what was settled in the thread of a similar wording; empty when it is not. Settled is what the thread shows
// (decision 56): what was said, as grave, about code that is still as it was, and of a grave finding only what the same reviewer said, in words that are a little like it, of the file by the
// name that it still has. ruled is true of
// what a ruling settled: how the code was when the thread was opened is nothing to that.
func (s Snapshot) beyond(w wording, f review.Finding, ruled bool) string {
	switch {
	case s.buried(w.thread):
		return s.voidWhy(s.Conversation.Threads[w.thread])
	case objections.Grave(f) && w.Source.Name != "" && w.Source.Name != f.Source.Name:
		return "the thread does not have it from " + sanitize.CodeSpan(f.Source.Name)
	case !identity.Covers(w.Priority, w.Category, f), f.Priority == review.P2 && w.Priority == review.P3:
		return "it was said to be less grave, or not to be about security"
	case w.gone && !ruled, s.changedSince(s.Conversation.Threads[w.thread], f), objections.Grave(f) && s.namedSince(s.Conversation.Threads[w.thread], f):
		return "its code has changed since"
	case objections.Grave(f) && spelling.Raw(w.File) != spelling.Raw(s.Conversation.Threads[w.thread].File): // where code lies is part of what people accept (threats.md T751)
		return "its file had another name"
	case w.elsewhere(f):
		return "it is about other code"
	case w.Source.Name != f.Source.Name && !identity.Alike(w.Finding, f), objections.Grave(f) && !identity.Akin(w.Finding, f):
		return "it says something else of that code"
	}
	return ""
}

// goesAlong reports whether a finding is about the code that a thread is about, which is as it was, and what another reviewer says of it is alike.
func (s Snapshot) goesAlong(f review.Finding, thread int) bool {
	return !s.changedSince(s.Conversation.Threads[thread], f) && slices.ContainsFunc(s.wordings(), func(w wording) bool {
		return w.thread == thread && !w.elsewhere(f) && (w.Source.Name == f.Source.Name || identity.Alike(w.Finding, f))
	})
}

// unquoted is how far apart two findings are about the same code of which one has no quote that stands in one place, in lines.
const unquoted = 3

// elsewhere reports whether a finding is about other code than a wording of a thread: other lines, or where these are not known another quote, or none. What
// another reviewer quoted people do not see there: of that its line alone counts.
func (w wording) elsewhere(f review.Finding) bool {
	if w.Source.Name != f.Source.Name && w.Line != nil {
		w.Quoted = [2]int{}
	}
	ours, theirs := about(w.Finding), about(f)
	if len(ours) == 0 || len(theirs) == 0 {
		return w.Evidence == "" || f.Evidence == "" || quoteApart(w.Finding, f)
	}
	return !slices.ContainsFunc(ours, func(a stretch) bool {
		return slices.ContainsFunc(theirs, func(b stretch) bool {
			far := unquoted
			if a.quoted && b.quoted {
				far = 0
			}
			return a.from-far <= b.to && b.from <= a.to+far
		})
	})
}

// stretch are some lines of a file. quoted is true when these are those of a quote.
type stretch struct {
	from, to int
	quoted   bool
}

// about are the lines that a finding is about: those of its quote, whatever else it claims, or where nobody knows these where its own begin and end.
func about(f review.Finding) (out []stretch) {
	if f.Quoted[0] > 0 {
		return []stretch{{f.Quoted[0], f.Quoted[1], true}}
	}
	for _, line := range []*int{f.Line, f.LineEnd} {
		if line != nil {
			out = append(out, stretch{from: *line, to: *line})
		}
	}
	return out
}

// quoteApart reports whether two findings quote code of which neither holds the other's.
func quoteApart(a, b review.Finding) bool {
	one, two := evidence.Fold(a.Evidence), evidence.Fold(b.Evidence)
	return !strings.Contains(one, two) && !strings.Contains(two, one)
}

// unsettled says of distinct findings, by their number, why a thread about something similar that was settled does not settle them.
func (m matched) unsettled() map[int]string {
	out, heavy := map[int]string{}, m.heavy(m.groups)
	similar := m.threadsOf(func(w wording, i int) bool {
		return m.in.Snapshot.decided(w.thread, heavy[i]) || m.in.Snapshot.buried(w.thread)
	})
	settled := m.settledBy(heavy)
	for g, group := range m.groups {
		at := slices.IndexFunc(group, func(i int) bool { _, ok := similar[i]; return ok })
		open := slices.IndexFunc(group, func(i int) bool {
			t, ok := settled[i]
			return (!ok || t < 0) && (objections.Grave(m.findings[i]) || !heavy[i])
		})
		if at >= 0 && open >= 0 {
			thread := similar[group[at]]
			t := m.in.Snapshot.Conversation.Threads[thread]
			by := "that was resolved"
			if t.ClosedBy != "" {
				by = "that " + sanitize.CodeSpan(t.ClosedBy) + " resolved"
			}
			out[g] = fmt.Sprintf("[a similar thread](%s) %s does not settle this: %s", t.URL, by, m.in.Snapshot.whyNot(thread, m.findings[group[open]]))
		}
	}
	return out
}

// whyNot says why a finding is beyond all that a thread shows: first of all what keeps it from what its own reviewer said there.
func (s Snapshot) whyNot(thread int, f review.Finding) (why string) {
	for _, w := range s.wordings() {
		if not := s.beyond(w, f, s.Conversation.Threads[thread].Ruling != ""); w.thread == thread && not != "" && (why == "" || w.Source.Name == f.Source.Name) {
			why = not
		}
	}
	return cmp.Or(why, "it says something else")
}

// changedSince reports whether code that a finding is about was not there, or was another, when a thread was opened, or settled by a ruling: its own lines,
// and those of its quote, or where nobody knows these any of its file. A quote with a mask stands about where its reviewer
// says, or at another line with one.
func (s Snapshot) changedSince(t conversation.Thread, f review.Finding) bool {
	from, to := 1, math.MaxInt32
	known := f.Quoted[0] > 0
	masked := !known && strings.Contains(f.Evidence, sanitize.Redacted)
	if known || f.Line != nil && (f.Evidence == "" || masked) { // another quote that stands nobody knows where may be about all of the file
		if known {
			from, to = f.Quoted[0], f.Quoted[1]
		} else {
			from, to = *f.Line, *f.Line
		}
		for _, line := range []*int{f.Line, f.LineEnd} {
			if line != nil {
				from, to = min(from, *line), max(to, *line)
			}
		}
		if masked {
			from, to = from-unquoted, to+unquoted+strings.Count(f.Evidence, "\n")
		}
	}
	return slices.ContainsFunc(s.Changed[t.ID], func(r [2]int) bool {
		return r[0] <= to && from <= r[1] || masked && s.masks(f.File, r)
	})
}

// namedSince reports whether one of the lines that the reviewer itself gave a finding, which was taken to its quote, changed since as in changedSince.
func (s Snapshot) namedSince(t conversation.Thread, f review.Finding) bool {
	return slices.ContainsFunc(s.Changed[t.ID], func(r [2]int) bool { return f.Named[0] > 0 && r[0] <= f.Named[1] && f.Named[0] <= r[1] })
}

// masks reports whether a mask hides something in some lines of a file that are in the change.
func (s Snapshot) masks(file string, lines [2]int) bool {
	for _, bf := range s.Brief.Files {
		if bf.Path != file {
			continue
		}
		for n, line := range headLines(bf.Diff) {
			if lines[0] <= n && n <= lines[1] && strings.Contains(line.Text, sanitize.Redacted) {
				return true
			}
		}
	}
	return false
}

// Followed is what became of the places of threads of earlier commits, by the id of the thread.
type Followed struct {
	// Names are what their files are called at the head. Spots are what spotsOf gives.
	Names map[string]string `json:"names,omitempty"`
	Spots map[string][]Spot `json:"spots,omitempty"`
	// Changed are, for threads that are settled, the lines at the head that changed in these files since: by a person since the thread was opened, by a
	// ruling of ours since that. Of one about something grave these are also the lines of its code that stand in another function than they did. Where nobody
	// knows what stood there, as after a force-push whose commits are gone, or the code is not as it was that shows what we conceded, all lines may have.
	Changed map[string][][2]int `json:"changed,omitempty"`
}

// follow finds out about the places of threads.
func (l *Loop) follow(ctx context.Context, snap Snapshot) (Followed, error) {
	out := Followed{Names: map[string]string{}, Spots: map[string][]Spot{}, Changed: map[string][][2]int{}}
	if snap.Conversation == nil {
		return out, nil
	}
	diffs, functions := map[string]*diff.Diff{snap.Range.Head: {}}, newOutlines(l.History)
	since := func(commit string) (*diff.Diff, error) {
		if d, known := diffs[commit]; known {
			return d, nil
		}
		d, err := l.History.Diff(ctx, commit, snap.Range.Head)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		} else if err != nil {
			d = nil
		}
		diffs[commit] = d
		return d, nil
	}
	for i, t := range snap.Conversation.Threads {
		if !t.Live() && t.Ruling == "" {
			continue
		}
		d, err := since(t.Head)
		if err != nil {
			return out, err
		}
		name := snap.named(t)
		if d != nil && t.Head != snap.Range.Head {
			path, _, _ := d.MapLine(spelling.Raw(t.File), 1)
			name = spelling.Name(path)
			out.Names[t.ID] = name
			for _, was := range t.Places() {
				out.Spots[t.ID] = append(out.Spots[t.ID], spot(d, spelling.Raw(t.File), was))
			}
		}
		if !snap.decided(i, false) {
			continue
		}
		var parted [][2]int
		if spots := out.Spots[t.ID]; spots != nil && objections.GraveThread(t) {
			if parted, err = functions.parted(ctx, d, t.Head, t.File, snap.Range.Head, t.Places(), spots); err != nil {
				return out, err
			}
		}
		ruledAt := cmp.Or(t.RuledAt, t.Head)
		if t.Ruling != "" {
			if d, err = since(ruledAt); err != nil {
				return out, err
			}
		}
		if lines := append(changedIn(d, name), parted...); len(lines) > 0 {
			out.Changed[t.ID] = lines
		}
		if t.Ruling != conversation.Conceded {
			continue
		}
		var spots []Spot
		if snap.Followed = out; t.Fact != nil && t.Fact.File == name {
			spots = snap.spotsOf(t)
		}
		if !stands(d, t.Fact, spots...) {
			out.Changed[t.ID] = changedIn(nil, name)
		}
	}
	return out, nil
}

// spot takes a place in a file to the newer side of a diff.
func spot(d *diff.Diff, path string, was conversation.Stood) (out Spot) {
	if was.Line > 0 {
		var ok bool
		_, out.Line, ok = d.MapLine(path, was.Line)
		out.Gone = !ok && was.Quoted[0] == 0
	}
	if was.Quoted[0] > 0 {
		from, to, ok := d.MapRange(path, was.Quoted[0], was.Quoted[1])
		if out.Gone = !ok; ok {
			out.Quoted = [2]int{from, to}
		}
	}
	return out
}

// changedIn are the ranges of lines of a file that a diff changed; all where that is not known.
func changedIn(d *diff.Diff, file string) [][2]int {
	all := [][2]int{{1, math.MaxInt32}}
	if d == nil {
		return all
	}
	f := d.File(spelling.Raw(file))
	if f == nil {
		return nil
	}
	ranges, known := f.Changed()
	if !known {
		return all
	}
	return ranges
}
