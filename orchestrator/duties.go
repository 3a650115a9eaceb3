package orchestrator

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// speakers are those who say something in conversations that are open, or in reviews that request changes: what they may do decides whether
// a fixer is asked for it. What bears our marker says none of them.
func speakers(d review.Discussion) (out []string) {
	add := func(p review.Person, said string) {
		if !p.Bot && p.Login != "" && !sanitize.HasMarker(said) {
			out = append(out, p.Login)
		}
	}
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			if !t.Resolved {
				add(c.Author, c.Body)
			}
		}
	}
	for _, r := range d.Reviews {
		if r.State == "CHANGES_REQUESTED" {
			add(r.Author, r.Body)
		}
	}
	return out
}

// instructs reports whether what somebody says may be a duty of the fixer, whose work is pushed: a person is the author of the change, or may write, or is
// who prloop pushes as. Of what an app says nobody knows who is behind it.
func (s Snapshot) instructs(p review.Person) bool {
	v := s.persons().Voice(p.Login, p.Bot)
	return !v.Bot && (v.Author || v.Write || v.Own)
}

// duties are the findings of people that a fixer is asked for, by id: in their own words, for an analyzer words them under the eyes of everybody, and
// without what others said in between, and what is quoted of them (threats.md T854). A conversation that somebody else began is none.
func (s Snapshot) duties(pr int) map[string]review.Finding {
	out, d := map[string]review.Finding{}, s.Discussion
	d.Threads = slices.Clone(d.Threads)
	for i, t := range d.Threads {
		d.Threads[i].Comments = slices.DeleteFunc(slices.Clone(t.Comments), func(c review.Comment) bool { return c.Deleted || !s.instructs(c.Author) })
		for j := range d.Threads[i].Comments {
			c := &d.Threads[i].Comments[j]
			c.Body = trigger.Own(c.Body, c.Mailed)
		}
	}
	d.Reviews = slices.DeleteFunc(slices.Clone(d.Reviews), func(r review.Review) bool { return !s.instructs(r.Author) })
	for i := range d.Reviews {
		d.Reviews[i].Body = trigger.Own(d.Reviews[i].Body, false)
	}
	for _, f := range threads.Analyze(d, pr).PendingIssues {
		out[f.ID] = f
	}
	return out
}

// duty is what the fixer is asked of a distinct finding: its gravest wording that is not of somebody whose words are no duty, and of offers a person's before an agent's; ok is false where
// there is none.
func (m matched) duty(group []int, people map[string]review.Finding) (f review.Finding, ok bool) {
	var offer review.Finding
	for _, i := range group {
		f = m.findings[i]
		if f.Source.Type == "agent" {
			if f.Priority != review.P3 {
				return f, true
			}
			if !ok {
				offer, ok = f, true
			}
			continue
		}
		said, may := people[f.ID]
		if may && said.Source.Name == f.Source.Name && said.Source.Timestamp.Equal(f.Source.Timestamp) { // they began it
			f.Title, f.Description, f.Suggestion, f.Category = said.Title, said.Description, said.Suggestion, said.Category
			return f, true
		}
	}
	return offer, ok
}

// together is a duty with what the group's other wordings say of it that have to be fixed by themselves, or are of somebody whose words are a duty: one of them may name what the gravest
// does not, such as a further file.
func (m matched) together(f review.Finding, group []int, c counted, people map[string]review.Finding) review.Finding {
	for _, i := range group {
		other, ok := m.duty([]int{i}, people)
		agent := other.Source.Type == "agent"
		if !ok || other.ID == f.ID && other.Source == f.Source || agent && (other.Priority == review.P3 || !c.counts[i]) {
			continue
		}
		said := strings.Join(slices.DeleteFunc([]string{other.Title, other.Description, other.Suggestion}, func(s string) bool { return s == "" || strings.Contains(f.Description+f.Title+f.Suggestion, s) }), "\n\n")
		if said != "" {
			f.Description += "\n\nAlso said, by " + sanitize.CodeSpan(other.Source.Name) + ": " + said
		}
	}
	return f
}

// uninvited says of whom the fixer does nothing, and who can have it done; empty where it is nobody, or nobody fixes.
func (m matched) uninvited() string {
	if m.in.Request.Fix == nil || m.in.Request.DryRun {
		return ""
	}
	people := m.in.Snapshot.duties(m.in.Request.Target.PR)
	var who []string
	for _, group := range m.groups {
		if _, ok := m.duty(group, people); !ok && !m.in.Snapshot.deleted(m.findings[group[0]]) {
			who = append(who, sanitize.CodeSpan(m.findings[group[0]].Source.Name))
		}
	}
	if len(who) == 0 {
		return ""
	}
	slices.Sort(who)
	return "The fixer does nothing that " + strings.Join(slices.Compact(who), ", ") +
		" asked for: only the author of the pull request and people with write access can have it fixed, by a comment of their own on the line."
}
