package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// owing are the reviewers that raised something grave without a thread in an earlier run, as the newest report keeps it, and that were asked again and gave no
// complete answer.
func (g gathered) owing() (names []string) {
	for _, h := range g.in.Reports {
		if r := h.Answer.Receipt; g.in.Request.decides(h) && !hasLooked(r) && slices.Contains(g.in.Snapshot.Owing, sanitize.RaisedBy(r.Name)) {
			names = append(names, r.Name)
		}
	}
	return names
}

func owingWords(names []string) string {
	var who []string
	for _, n := range names {
		who = append(who, sanitize.CodeSpan(n))
	}
	return fmt.Sprintf("%s raised something grave in an earlier run, or was cut off there, and gave no complete answer this time: run the review again, or remove it from the configuration", strings.Join(who, " and "))
}

// raised are who raised what is grave and open and has no thread that says so, and those that an earlier report names and that have not been heard since, as markers name
// them; and how many threads say so of whom one of them is open (inThreads). A review that converged leaves nothing open.
func (d verdict) raised() (names []string) {
	if d.outcome == review.Converged {
		return nil
	}
	add := func(f review.Finding) {
		if name := sanitize.RaisedBy(f.Source.Name); objections.Grave(f) && f.Source.Type == "agent" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for g, group := range d.groups {
		posted := d.in.Inline != nil && d.in.Inline.At[g] != ""
		for _, i := range group {
			f := d.findings[i]
			if !posted && (d.threads[g] < 0 || !raisedIn(d.in.Snapshot.Conversation.Threads[d.threads[g]], f.Source.Name)) {
				add(f)
			}
		}
	}
	for _, u := range d.unverified {
		add(u.Finding)
	}
	for i, t := range d.tracked {
		for _, f := range t.Findings {
			if i >= len(d.groups) && !t.Settled {
				add(f)
			}
		}
	}
	heard := func(name string) bool {
		return slices.ContainsFunc(d.in.Reports, func(h AgentReport) bool {
			return d.in.Request.decides(h) && hasLooked(h.Answer.Receipt) && sanitize.RaisedBy(h.Answer.Receipt.Name) == name
		})
	}
	for _, name := range d.in.Snapshot.Owing {
		if !heard(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	names = append(names, d.raisedInThreads()...)
	return names[:min(len(names), sanitize.MostRaised)]
}

// inThreads is what a marker calls who raised what is grave in so many threads: whoever may write can make one of them prloop's no more (threats.md T575).
func inThreads(name string, threads int) string {
	return sanitize.RaisedBy(fmt.Sprintf("%s\x00in threads: %d", name, threads))
}

// raisedInThreads are these names, of all threads of who raised what is grave in one that nobody has settled, with those that this round opened.
func (d verdict) raisedInThreads() (names []string) {
	threads, open := map[string]int{}, map[string]bool{}
	said := func(said []review.Finding, settled bool) {
		here := map[string]bool{}
		for _, f := range said {
			if by := f.Source.Name; objections.Grave(f) && !here[by] {
				here[by], open[by] = true, open[by] || !settled
				threads[by]++
			}
		}
	}
	if s := d.in.Snapshot.Conversation; s != nil {
		for i, t := range s.Threads {
			said(t.Shown(), !t.Live() || d.in.Snapshot.decided(i, true))
		}
	}
	for g, group := range d.groups {
		if d.in.Inline != nil && d.in.Inline.At[g] != "" {
			var all []review.Finding
			for _, i := range group {
				all = append(all, d.findings[i])
			}
			said(all, false)
		}
	}
	for _, by := range slices.Sorted(maps.Keys(threads)) {
		if open[by] {
			names = append(names, inThreads(by, threads[by]))
		}
	}
	return names
}

// outOfThreads tells of the names in a marker who raised something grave in more threads than we know as ours: what they raised there stands nowhere else now. Of others with
// threads those say it.
func outOfThreads(marked []string, reviewers []AgentPlan, threads []conversation.Thread) []string {
	out := slices.Clone(marked)
	for _, r := range reviewers {
		have := 0
		for _, t := range threads {
			if raisedIn(t, r.Name) {
				have++
			}
		}
		for n := range have + sanitize.MostRaised {
			if at := slices.Index(out, inThreads(r.Name, n+1)); at >= 0 {
				out = slices.Delete(out, at, at+1)
				if name := sanitize.RaisedBy(r.Name); n >= have && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// newestRaised are who raised what our newest report leaves open without a thread, as its marker names them, and what the newest one by our account does,
// whichever key signed that: it can keep something from passing, and hides nothing of what is proven ours. So do those about the head, which may have come back. The newest are those
// that have a say about a change to a base branch. since are the first commits on which that was raised, by their full ids; one that no report tells is empty.
func newestRaised(comments []review.Comment, own, ours func(review.Comment) bool, head, base string) (names, since []string) {
	for _, from := range []func(review.Comment) bool{ours, own, aboutHead(comments, ours, head), aboutHead(comments, own, head)} {
		for _, r := range reportsAbout(comments, from, base) {
			for _, name := range r.raised {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			if at := cmp.Or(r.since, report.About(allParts(r.comment, comments, from))); len(r.raised) > 0 && !slices.Contains(since, at) {
				since = append(since, at)
			}
		}
	}
	return names, since
}

// threadless is what the newest report of an earlier run leaves open that has no thread, by the reviewers of now, nil for nothing. Reports of this run are not asked: a verdict that is
// composed again would find its own.
func threadless(comments []review.Comment, own func(review.Comment) bool, req Request, base string) *report.Threadless {
	earlier := func(c review.Comment) bool {
		m, _ := sanitize.ParseMarker(c.Body)
		return own(c) && m.Run != req.Run
	}
	for _, r := range reportsAbout(comments, earlier, base) {
		t := report.Threadless{Commit: short(cmp.Or(r.since, report.About(allParts(r.comment, comments, earlier)))), Report: r.comment.URL}
		for _, a := range req.deciding() {
			if slices.Contains(r.raised, sanitize.RaisedBy(a.Name)) {
				t.By = append(t.By, a.Name)
			}
		}
		if len(t.By) > 0 {
			return &t
		}
	}
	return nil
}

// threadless is what of that an approval tells.
func (d verdict) threadless() *report.Threadless {
	if d.outcome != review.Converged {
		return nil
	}
	return d.in.Snapshot.Threadless
}

// recordedRaisers are who raised something grave, by the record, as markers name them: in the runs about a pull request since one converged, and in those about the head, which
// may have come back, since one about it did. A run that was overtaken or killed reported nothing, and somebody may have deleted the report of another. Of one that
// has not ended any reviewer may have. Who has answered in a newer one that was judged, or about the head, has had another word. What settles a run is about its own base branch, or
// about that of the request. since are the heads of those that raised something grave, and did not only begin: code may have moved from there (threats.md T871).
func (l *Loop) recordedRaisers(ctx context.Context, req Request, snap Snapshot) (names, since []string, err error) {
	if req.Target.Local() || l.Stored == nil {
		return nil, nil, nil
	}
	base, said := req.base(snap.PR), words{}
	for s, err := range l.Stored(ctx, req) {
		if err != nil {
			return nil, nil, err
		}
		if s.noReview() || s.Scans {
			continue
		}
		now, then, here := said.about(base), said.about(s.Base), s.heard(snap.Range.Head)
		if here || !now.over && !then.over {
			for _, name := range s.raisedFor(req, snap) {
				if now.had(name, here) || then.had(name, here) {
					continue
				}
				if mark := sanitize.RaisedBy(name); !slices.Contains(names, mark) {
					names = append(names, mark)
				}
				if at := s.Result.Receipt.HeadSHA; s.grave(name) && !slices.Contains(since, at) && slices.ContainsFunc(req.deciding(), func(a AgentPlan) bool { return a.Name == name }) {
					since = append(since, at)
				}
			}
		}
		for _, a := range s.Result.Receipt.Agents {
			done := hasLooked(a) && judged(s.Result) // before that nobody asks what went unread
			then.heard[a.Name] = then.heard[a.Name] || done
			then.here[a.Name] = then.here[a.Name] || done && s.Result.Receipt.HeadSHA == snap.Range.Head
		}
		then.over = then.over || s.Result.Outcome == review.Converged
		if s.Base == base && then.over && here && s.Result.Receipt.HeadSHA == snap.Range.Head {
			break
		}
	}
	return names, since, nil
}

// grave reports whether an agent that left something open in a run is known to have raised something grave there: of a run that nobody judged the receipts tell.
func (s Stored) grave(agent string) bool {
	return judged(s.Result) || slices.ContainsFunc(s.Result.Receipt.Agents, func(a review.AgentReceipt) bool { return a.Name == agent && a.Grave > 0 })
}

// raisedFor are who left something grave open in a run that no thread tells of, for one about a head: in any round of it, where that was about the head and the end was not.
func (s Stored) raisedFor(req Request, snap Snapshot) (names []string) {
	switch elsewhere := s.Result.Receipt.HeadSHA != snap.Range.Head; {
	case s.Unfinished:
		for _, a := range req.deciding() {
			names = append(names, a.Name)
		}
		return names
	case elsewhere && s.heard(snap.Range.Head):
		return snap.raisers(s)
	case s.Result.Outcome == review.Converged:
		return nil
	}
	return snap.openRaisers(s.Result, snap.tells)
}
