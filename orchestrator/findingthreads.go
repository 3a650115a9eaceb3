package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/identity"
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

// wording is what one of those who raised a finding says of it in its thread, by index in Snapshot.Conversation.Threads.
type wording struct {
	review.Finding
	thread int
}

// wordings are all that our threads show of their findings, under the names that the files have at the head.
func (s Snapshot) wordings() (out []wording) {
	if s.Conversation == nil {
		return nil
	}
	for i, t := range s.Conversation.Threads {
		for _, f := range t.Shown() {
			f.File = s.named(t)
			out = append(out, wording{f, i})
		}
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

// threaded finds the thread that each distinct finding has, by index in Snapshot.Conversation.Threads; -1 for none. One that we
// settled is none: what comes back is said again. Nor is one that a person settled, of a grave finding: what is not settled by that is said in
// a thread of its own, for the person to see.
func (m matched) threaded() []int {
	out, heavy := make([]int, len(m.groups)), m.heavy(m.groups)
	of := m.threadsOf(func(w wording, i int) bool {
		return m.in.Snapshot.Conversation.Threads[w.thread].Live() && !(heavy[i] && m.in.Snapshot.decided(w.thread))
	})
	for g, group := range m.groups {
		out[g] = -1
		for _, i := range group {
			if t, ok := of[i]; ok && out[g] < 0 {
				out[g] = t
			}
		}
	}
	return out
}

// heavy says of findings, by index, whether a wording of the same distinct finding is grave.
func (g gathered) heavy(groups [][]int) map[int]bool {
	out := map[int]bool{}
	for _, group := range groups {
		for _, i := range group {
			out[i] = slices.ContainsFunc(group, func(j int) bool { return grave(g.findings[j]) })
		}
	}
	return out
}

// decided reports whether a thread was resolved by somebody who settles grave findings by that.
func (s Snapshot) decided(thread int) bool {
	_, _, ok := s.persons().Settled(s.Conversation.Threads[thread], true)
	return ok
}

// silences says of which threads a finding can be one so that it may not count any more: what we conceded there, or people settled. heavy are
// the findings of which a wording is grave.
func (g gathered) silences(heavy map[int]bool) func(thread, finding int) bool {
	people, now := g.in.Snapshot.persons(), g.in.rulings()
	return func(thread, i int) bool {
		if heavy[i] {
			return g.in.Snapshot.decided(thread)
		}
		t := g.in.Snapshot.Conversation.Threads[thread]
		_, _, ok := people.Settled(t, grave(t.Asserted()))
		return ok || now[thread].Status == conversation.Resolved
	}
}

// settledBy gives findings, by index, the threads that settle them, and -1 where a thread that nobody settled is the nearest to what they say: what
// is open there, no other thread settles. Of a grave distinct finding each grave wording is asked for by itself; the others are held open by what
// a thread shows as grave alone.
func (g gathered) settledBy(heavy map[int]bool) map[int]int {
	silent := g.silences(heavy)
	settles := func(w wording, i int) bool {
		f := g.findings[i]
		return silent(w.thread, i) && (!heavy[i] || grave(f) && g.in.Snapshot.beyond(w, f) == "")
	}
	holds := func(w wording, i int) bool {
		return g.in.Snapshot.Conversation.Threads[w.thread].Live() && !silent(w.thread, i) && (!heavy[i] || grave(g.findings[i]) || grave(w.Finding))
	}
	placed := func(w wording, i int) bool { return w.Line != nil && g.findings[i].Line != nil }
	of := g.threadsOf(func(w wording, i int) bool { return holds(w, i) || placed(w, i) && settles(w, i) })
	for i, t := range of {
		if !silent(t, i) {
			of[i] = -1
		}
	}
	// Without lines nobody knows which of two threads is the nearer: those that are open went first.
	for i, t := range g.threadsOf(func(w wording, i int) bool { _, has := of[i]; return !has && !placed(w, i) && settles(w, i) }) {
		of[i] = t
	}
	return of
}

// beyond says why a grave finding is beyond what somebody settled who resolved the thread of a similar wording; empty when it is not. Settled is
// what the thread shows (decision 56): what the same reviewer said, as grave, about code that is still as it was.
func (s Snapshot) beyond(w wording, f review.Finding) string {
	switch {
	case w.Source.Name != "" && w.Source.Name != f.Source.Name:
		return "the thread does not have it from " + sanitize.CodeSpan(f.Source.Name)
	case !identity.Covers(w.Priority, w.Category, f):
		return "it was said to be less grave, or not to be about security"
	case s.changedSince(s.Conversation.Threads[w.thread], f):
		return "its code has changed since"
	}
	return ""
}

// unsettled says of distinct findings, by their number, why a thread about something similar that a person resolved does not settle them.
func (m matched) unsettled() map[int]string {
	out, heavy := map[int]string{}, m.heavy(m.groups)
	similar := m.threadsOf(func(w wording, i int) bool { return heavy[i] && m.in.Snapshot.decided(w.thread) })
	settled := m.settledBy(heavy)
	for g, group := range m.groups {
		at := slices.IndexFunc(group, func(i int) bool { _, ok := similar[i]; return ok })
		open := slices.IndexFunc(group, func(i int) bool { t, ok := settled[i]; return (!ok || t < 0) && grave(m.findings[i]) })
		if at >= 0 && open >= 0 {
			thread := similar[group[at]]
			t := m.in.Snapshot.Conversation.Threads[thread]
			out[g] = fmt.Sprintf("[a similar thread](%s) that %s resolved does not settle this: %s", t.URL, sanitize.CodeSpan(t.ClosedBy), m.in.Snapshot.whyNot(thread, m.findings[group[open]]))
		}
	}
	return out
}

// whyNot says why a finding is beyond all that a thread shows: first of all what keeps it from what its own reviewer said there.
func (s Snapshot) whyNot(thread int, f review.Finding) (why string) {
	for _, w := range s.wordings() {
		if not := s.beyond(w, f); w.thread == thread && not != "" && (why == "" || w.Source.Name == f.Source.Name) {
			why = not
		}
	}
	return cmp.Or(why, "it says something else")
}

// changedSince reports whether code that a finding is about was not there, or was another, when a thread was opened: its lines, those its quote
// may reach to, or for one without a line any of its file.
func (s Snapshot) changedSince(t conversation.Thread, f review.Finding) bool {
	from, to := 1, math.MaxInt32
	if f.Line != nil {
		reach := strings.Count(strings.TrimSpace(f.Evidence), "\n")
		if from, to = *f.Line-reach, *f.Line+reach; f.LineEnd != nil {
			to = max(to, *f.LineEnd+reach)
		}
	}
	return slices.ContainsFunc(s.Changed[t.ID], func(r [2]int) bool { return r[0] <= to && from <= r[1] })
}

// follow says what the files of threads of earlier commits are called at the head, by the id of the thread, and which lines at the head changed in
// them since, for the threads that a person settled. Where nobody knows what stood there, as after a force-push whose commits are gone, all
// lines may have.
func (l *Loop) follow(ctx context.Context, snap Snapshot) (names map[string]string, changed map[string][][2]int, err error) {
	if snap.Conversation == nil {
		return nil, nil, nil
	}
	names, changed = map[string]string{}, map[string][][2]int{}
	since := map[string]*diff.Diff{}
	for i, t := range snap.Conversation.Threads {
		decided := snap.decided(i)
		if t.Head == snap.Range.Head || !t.Live() && !decided && t.Ruling == "" {
			continue
		}
		d, known := since[t.Head]
		if !known {
			if d, err = l.History.Diff(ctx, t.Head, snap.Range.Head); ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			} else if err != nil {
				d = nil
			}
			since[t.Head] = d
		}
		name := snap.named(t)
		if d != nil {
			path, _, _ := d.MapLine(spelling.Raw(t.File), 1)
			name = spelling.Name(path)
			names[t.ID] = name
		}
		if lines := changedIn(d, name); decided && len(lines) > 0 {
			changed[t.ID] = lines
		}
	}
	return names, changed, nil
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
