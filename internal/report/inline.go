package report

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// sharedText bounds the descriptions in a comment that shows several, together, and sharedTitle each of its titles, in bytes: a comment ends
// somewhere, and who settles it is shown what each says.
const (
	sharedText  = 8_000
	sharedTitle = 300
)

// OnLine gives the Markdown of a comment on the lines of a finding: what it is, why, what others say of it, and what to do. The code stands
// above the comment on GitHub, so it is not quoted.
func OnLine(f Finding, target review.Target, head string) string {
	f = finding(f, false)
	if n := len(f.Also); n > 0 {
		f.Title, f.Description = clip(f.Title, sharedTitle), clip(f.Description, sharedText/(n+1))
		for i, w := range f.Also {
			f.Also[i].Title, f.Also[i].Description = clip(w.Title, sharedTitle), clip(w.Description, sharedText/(n+1))
		}
	}
	p := page{links: links{target, head}}
	p.add("**" + string(f.Priority) + "** " + f.Title)
	if f.Reason != "" {
		p.add(labelReason + f.Reason)
	}
	p.texts(paragraphs(f.Description))
	p.also(f.Also, true)
	p.suggestions(f.Suggestions)
	facts := []string{span(f.Category)}
	if len(f.By) > 0 {
		facts = append(facts, "found by "+spans(f.By))
	}
	if f.Confirmed {
		facts = append(facts, confirmFact)
	}
	if f.Cause != "" {
		facts = append(facts, causeFact+p.links.cause(f.Cause))
	}
	if f.ID != "" {
		facts = append(facts, "id "+span(f.ID))
	}
	if f.Identity != "" {
		facts = append(facts, identityFact+span(f.Identity))
	}
	p.add(strings.Join(facts, separator))
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// OnLines gives the Markdown of comments on lines as a dry run shows them: each with its place.
func OnLines(list []Finding, target review.Target, head string) string {
	l := links{target, head}
	out := []string{fmt.Sprintf("## %s that would be posted", count(len(list), "comment on a line"))}
	if len(list) != 1 {
		out[0] = fmt.Sprintf("## %d comments on lines that would be posted", len(list))
	}
	for _, f := range list {
		out = append(out, "### "+l.place(f), strings.TrimRight(OnLine(f, target, head), "\n"))
	}
	return strings.Join(out, "\n\n") + "\n"
}

// Lead is the text of the review that carries the comments on lines: it is short, for the report says what the review came to.
func Lead(comments int, target review.Target, head string) string {
	l := links{target, head}
	if comments == 1 {
		return "prloop comments on a line of " + l.commit(head) + ". The report of this review, with the verdict, is a comment of its own.\n"
	}
	return fmt.Sprintf("prloop comments on %d places of %s. The report of this review, with the verdict, is a comment of its own.\n", comments, l.commit(head))
}

// Settled is the text of an answer that settles a thread: the words GitHub's readers look for, the reason, and the commit.
func Settled(words, reason, head string, target review.Target) string {
	return words + "\n\n" + sentence(inline(reason)) + " (" + links{target, head}.commit(head) + ")\n"
}

// Maintained is the text of an answer that stands by a finding. byApp is as in HandedOver.
func Maintained(reason string, byApp bool) string {
	after := "After that people decide."
	if byApp {
		after = ByApp
	}
	return "This stays open. " + sentence(inline(reason)) + "\n\nAn answer with what was missed is judged once more. " + after + "\n"
}

// HandedOver is the text of an answer that leaves a finding to people: why, what the judge says, and who is asked. byApp is true where nobody settles it by
// resolving the thread, for an app opened the pull request.
func HandedOver(words, why, reason string, ask []string, byApp bool) string {
	text := words + "\n\n" + why + " " + sentence(inline(reason)) + "\n\n"
	if byApp {
		return text + ByApp + "\n"
	}
	if len(ask) > 0 {
		return text + spans(ask) + " can settle this by resolving the thread. Until then the finding counts.\n"
	}
	return text + "Somebody who may write to this repository and did not open the pull request can settle this by resolving the thread. " +
		"Where nobody else may write, other code does. Until then the finding counts.\n"
}

// OpenAgain is the text of an answer in a thread that we had called cured, and that counts again where reviewers raise its finding.
func OpenAgain(reason string) string {
	return "This thread was resolved, and is open again: " + sentence(inline(reason)) + "\n\nThe finding counts where a reviewer raises it again.\n"
}

// ByApp says why resolving a thread about something grave settles nothing in the pull request of an app, and what does.
const ByApp = "An app opened this pull request, and GitHub does not say who is behind it: resolving a thread does not settle a P0, a P1 or a security finding here. " +
	"It counts until the code is changed. If it is wrong, a person can bring the same change as a pull request of their own, where people settle it."

// LeftOpen is the text of an answer in a thread that stays open for what a person says there. reason is why the finding of the thread is gone; empty where
// that is said already.
func LeftOpen(words, who, reason string) string {
	text := words + "\n\nThis thread is open for what " + spans([]string{who}) + " says here, which no model settles. "
	if reason != "" {
		text += "What prloop found is gone: " + sentence(inline(reason)) + " "
	}
	return text + "Resolve the thread when nothing is left to do. Until then it counts.\n"
}

// cured names what earlier reviews found and this one settles.
func (p *page) cured(list []Cured) {
	if len(list) == 0 {
		return
	}
	p.fold(fmt.Sprintf("Gone since an earlier review, and resolved: %d", len(list)), func() {
		var lines []string
		for _, c := range list {
			title := inline(c.Title)
			if c.Thread != "" {
				title = fmt.Sprintf("%s ([thread](%s))", title, c.Thread)
			}
			lines = append(lines, "- "+title)
		}
		p.add(strings.Join(lines, "\n"))
	})
}
