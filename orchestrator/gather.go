package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// gathered is the first stage of a judgement: what was said, in the one order it is shown in.
type gathered struct {
	in Inputs
	// findings count as far as their evidence goes; support is what is known of that, by index. unverified are those set aside.
	findings   []review.Finding
	support    map[int]evidence.Status
	unverified []review.Unverified
	// rules names the reviewers that work by rule, commands those of the repository: what they say counts without a second voice.
	rules, commands map[string]bool
	// complete is how many reviewers that count gave a complete answer, and read what they were given.
	complete int
	read     coverage.Coverage
	// wrong is a finding of the static reviewer that prloop's own check of evidence denies.
	wrong    *review.Unverified
	comments review.CommentsResult
	notes    []string
	// dismissed were taken out of findings by what people dismissed, held were not although they are dismissed.
	dismissed []review.Dismissed
	held      []held
}

// gather takes the answers of all agents.
func gather(in Inputs) gathered {
	g := collectReviewers(in)
	said := collectComments(in)
	g.comments = said.CommentsResult
	g.unverified, g.notes = append(g.unverified, said.aside...), append(g.notes, said.notes...)
	pending := slices.Clone(said.PendingIssues)
	slices.SortStableFunc(pending, byUrgency)
	for _, f := range pending {
		g.support[len(g.findings)] = evidence.None
		g.findings = append(g.findings, f)
	}
	return g.silence().agreed().join()
}

// join joins what a reviewer says below the threshold: last, as each of what is joined is set aside, dismissed and settled by itself (threats.md T857).
func (g gathered) join() gathered {
	scored := slices.Clone(g.findings)
	for i := range scored {
		if g.commands[scored[i].Source.Name] { // the rules on scores are about reviewers
			scored[i].Score = 0
		}
	}
	joined, parts := g.in.Request.scores().Join(scored)
	if len(joined) == 0 {
		return g
	}
	for i := range joined {
		joined[i].Fingerprint = identity.OfAll(joined[i].Parts)
	}
	slices.SortStableFunc(joined, byUrgency)
	out := g
	out.findings, out.support = []review.Finding{}, map[int]evidence.Status{}
	add := func(f review.Finding, s evidence.Status) {
		out.support[len(out.findings)] = s
		out.findings = append(out.findings, f)
	}
	// What is joined has the support of what it is made of: it weighs no less than its parts (threats.md T892).
	supported := func(f review.Finding) evidence.Status {
		of := identity.Category(f.Category)
		for i, part := range g.findings {
			if parts[i] && g.support[i] == evidence.Verified && part.Source.Name == f.Source.Name && identity.Category(part.Category) == of {
				return evidence.Verified
			}
		}
		return evidence.None
	}
	for i, f := range g.findings {
		for len(joined) > 0 && (f.Source.Type != "agent" || byUrgency(joined[0], f) < 0) {
			add(joined[0], supported(joined[0]))
			joined = joined[1:]
		}
		if !parts[i] {
			add(f, g.support[i])
		}
	}
	for _, f := range joined {
		add(f, supported(f))
	}
	return out
}

// collectReviewers gathers the findings of all reviewers. Those of a degraded reviewer count too, for they can only make
// the verdict stricter; its answer does not count towards min_reviewers. Findings whose evidence is false are
// set apart and not counted.
func collectReviewers(in Inputs) gathered {
	g := gathered{in: in, rules: map[string]bool{}, commands: map[string]bool{}, support: map[int]evidence.Status{}, findings: []review.Finding{}, unverified: []review.Unverified{}}
	type countedFinding struct {
		review.Finding
		status evidence.Status
	}
	var counted []countedFinding
	var readers, lost [][]string
	for _, h := range in.Reports {
		r := h.Answer.Receipt
		if r.Role == review.RoleReviewer && r.State == review.AgentComplete && in.Request.counts(r.Kind) {
			g.complete++
			readers = append(readers, h.Missed)
		} else if r.Role == review.RoleReviewer && in.Request.counts(r.Kind) {
			lost = append(lost, h.Missed)
		}
		if r.Kind == review.KindStatic {
			g.rules[r.Name] = true
		}
		if r.Role == review.RoleCommand {
			g.commands[r.Name] = true
		}
		for i, f := range in.Request.counting(h) {
			ev := evidence.Result{Status: evidence.None}
			if i < len(h.Evidence) {
				ev = h.Evidence[i]
			}
			if f.Unconfirmed != "" {
				g.unverified = append(g.unverified, review.Unverified{Finding: f, Reason: f.Unconfirmed})
				continue
			}
			if ev.Status == evidence.False {
				aside := review.Unverified{Finding: f, Reason: ev.Reason}
				if r.Kind == review.KindStatic && g.wrong == nil {
					g.wrong = &aside
				}
				g.unverified = append(g.unverified, aside)
				continue
			}
			f.Quoted, f.Altered, f.Named = ev.Quoted, ev.Altered, ev.Named
			if f.ValueHash != "" && slices.ContainsFunc(counted, func(c countedFinding) bool {
				return c.Source.Name == f.Source.Name && c.ValueHash == f.ValueHash && c.File == f.File && *c.Line == *f.Line && c.Title == f.Title
			}) {
				continue // about one more value of a kind in the lines of a secret, which people settle with it: that tells it from others by all of its lines
			}
			counted = append(counted, countedFinding{f, ev.Status})
		}
	}
	g.notes = keptElsewhere(in.Snapshot.Brief)
	slices.SortStableFunc(counted, func(x, y countedFinding) int { return byUrgency(x.Finding, y.Finding) })
	slices.SortStableFunc(g.unverified, func(x, y review.Unverified) int { return byUrgency(x.Finding, y.Finding) })
	for i, f := range counted {
		g.findings = append(g.findings, f.Finding)
		g.support[i] = f.status
	}
	g.read = coverage.Of(in.Snapshot.Brief, readers, lost, in.Request.minReviewers(), in.hidden())
	return g.heard()
}

// keptElsewhere are the notes of a review, a scan and a command alike on what a change brings in that no diff shows (threats.md T811).
func keptElsewhere(b review.Brief) (notes []string) {
	for _, path := range coverage.Submodules(b) {
		notes = append(notes, fmt.Sprintf("%s is a submodule: nobody was shown what its new commit brings in.", sanitize.CodeSpan(path)))
	}
	for _, path := range coverage.Pointers(b) {
		notes = append(notes, fmt.Sprintf("%s is kept in Git LFS: nobody was shown the content its pointer stands for.", sanitize.CodeSpan(path)))
	}
	return notes
}

// collectComments takes what people said. Thread counts and the review state are computed from GitHub's data by rule, so
// that no model can argue with rule 0; the analyzer's part is the wording and urgency of what is pending. An analyzer
// that failed is replaced by the rules alone.
func collectComments(in Inputs) (said discussed) {
	if in.Request.Target.Local() {
		return said
	}
	said.CommentsResult = threads.Analyze(in.Snapshot.Discussion, in.Request.Target.PR)
	if n := in.Snapshot.Discussion.Cut; n > 0 {
		said.notes = append(said.notes, "Of "+plural(n, "long comment", "long comments")+" by people who may not block only the beginning was read.")
	}
	if in.Snapshot.Conversation != nil && len(objections.Standing(in.Snapshot.persons(), in.Snapshot.Conversation.Threads, in.Snapshot.Unchanged))+len(in.Snapshot.Lost) > sanitize.MostObjected {
		said.notes = append(said.notes, fmt.Sprintf("More than %d objections are open in threads: later runs know the gravest and newest of them although somebody deletes what was said.", sanitize.MostObjected))
	}
	for _, h := range in.Reports {
		r := h.Answer.Receipt
		if r.Role != review.RoleCommentsAnalyzer {
			continue
		}
		if h.Answer.Comments == nil {
			said.notes = append(said.notes, "The comments analyzer gave no answer; open threads are listed by rule.")
			continue
		}
		if !sameState(h.Answer.Comments.ReviewState, said.ReviewState) {
			said.notes = append(said.notes, "The comments analyzer saw another review state than GitHub's data shows; the data decides.")
		}
		claimed := h.Answer.Comments.PendingIssues
		for _, f := range claimed {
			if answer.Unreadable(f) { // what it may have said of the threads is for a person to see
				said.aside = append(said.aside, review.Unverified{Finding: f, Reason: f.Unconfirmed})
			}
		}
		refined, notes := threads.Refine(said.CommentsResult, slices.DeleteFunc(slices.Clone(claimed), answer.Unreadable))
		said.CommentsResult = refined
		said.notes = append(said.notes, notes...)
	}
	return said
}

// discussed is what people said, findings of it that are set aside, and notes.
type discussed struct {
	review.CommentsResult
	aside []review.Unverified
	notes []string
}

func sameState(a, b review.ReviewState) bool {
	key := func(s review.ReviewState) string {
		var who []string
		for _, p := range s.ChangesRequestedBy {
			who = append(who, strings.ToLower(p.Login))
		}
		slices.Sort(who)
		return fmt.Sprint(s.HasChangesRequested, who)
	}
	return key(a) == key(b)
}

// byUrgency is the one order findings are shown in: urgency, place, words, finder. It is total on what is shown, so the
// order of arrival never shows.
func byUrgency(a, b review.Finding) int {
	line := func(f review.Finding) int {
		if f.Line == nil {
			return 0
		}
		return *f.Line
	}
	return cmp.Or(
		cmp.Compare(a.Priority.Rank(), b.Priority.Rank()),
		cmp.Compare(a.File, b.File),
		cmp.Compare(line(a), line(b)),
		cmp.Compare(a.Title, b.Title),
		cmp.Compare(a.Source.Name, b.Source.Name),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Description, b.Description),
		cmp.Compare(a.Suggestion, b.Suggestion),
		cmp.Compare(a.Evidence, b.Evidence),
	)
}
