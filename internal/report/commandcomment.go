package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

// Command is what the answer of one command shows (decision 48): in a comment of its own, or as a section of a review's report.
type Command struct {
	Target review.Target
	// ID is its name in `.reviewerc`, Title what people read.
	ID, Title string
	// Summary is a Markdown block, Reason why the answer is not complete; empty when it is.
	Summary, Reason string
	// Short says how many of its files it was given whole; empty when these are all.
	Short string
	// Nothing is true when nothing that it could be given changed.
	Nothing    bool
	Confidence review.Confidence
	// Findings are what it found, Unverified those that were set aside.
	Findings, Unverified []Finding
	// Lined are findings whose details stand as comments on lines instead.
	Lined []Finding
	// Notes block nothing, each one line. Wishes are comments its agent wanted to make that have no line of their own.
	Notes  []string
	Wishes []Wish
	// Counts is true when the findings count for the verdict of a review.
	Counts bool
	// Dismissed are findings that people dismissed, DismissalNotes say which dismissals do nothing.
	Dismissed      []Dismissed
	DismissalNotes []string
	// OnLines is how many of the findings and wishes stand as comments on lines instead.
	OnLines int
	Receipt review.Receipt
}

// Wish is a comment or a suggestion that an agent wanted to make.
type Wish struct {
	Suggestion bool
	// File, Line and LineEnd are where it belongs; File is empty for the pull request as a whole.
	File          string
	Line, LineEnd int
	// Text is a Markdown block.
	Text string
}

// RenderCommand gives the Markdown of a command's own comment, ending in a newline. It holds what reports hold.
func RenderCommand(c Command) string {
	c = canonicalCommand(c)
	p := page{links: links{c.Target, c.Receipt.HeadSHA}}
	p.add(heading + c.Title + separator + came(len(c.Findings)+len(c.Lined), len(c.Unverified), c.Reason, c.Short, c.Nothing))
	if c.Reason != "" {
		p.add(incomplete + sentence(c.Reason))
	}
	if c.Short != "" {
		p.add(cutShort + sentence(c.Short))
	}
	p.texts(paragraphs(c.Summary))
	p.commandRows(c)
	p.look(toLookAt(c.Unverified))
	for _, f := range c.Findings {
		p.finding(f, true)
	}
	for _, w := range c.Wishes {
		p.wish(w)
	}
	p.named("Notes:", c.Notes)
	p.folded(sumAside+tally(c.Unverified), c.Unverified)
	p.commandReceipt(c)
	return strings.Join(p.blocks, "\n\n") + "\n"
}

const (
	incomplete = "**No complete answer:** "
	cutShort   = "**Not all of its files:** "
)

func canonicalCommand(c Command) Command {
	c.Target = target(c.Target)
	local := links{c.Target, ""}.none()
	c.ID, c.Summary, c.Reason, c.Confidence = word(c.ID), prose(c.Summary), inline(c.Reason), review.Confidence(word(string(c.Confidence)))
	c.Short = inline(c.Short)
	c.Title = pipes(inline(cmp.Or(c.Title, c.ID)))
	c.Lined = findings(c.Lined, local)
	c.Findings, c.Unverified, c.Notes, c.Receipt = findings(c.Findings, local), findings(c.Unverified, local), texts(c.Notes), receipt(c.Receipt)
	c.Dismissed, c.DismissalNotes = dismissals(c.Dismissed, local), texts(c.DismissalNotes)
	return c
}

// commandRows is a table of the findings, where there are several.
func (p *page) commandRows(c Command) {
	all := findings(slices.Concat(c.Findings, c.Lined), p.links.none())
	if len(all) < 2 && len(c.Lined) == 0 {
		return
	}
	lines := []string{header("", "Finding", "Where")}
	for _, f := range all {
		lines = append(lines, row("**"+string(f.Priority)+"**", f.Title, p.links.brief(f)))
	}
	p.add(strings.Join(lines, "\n"))
}

// wish is a comment of an agent, below its place.
func (p *page) wish(w Wish) {
	lead := "**Comment"
	if w.Suggestion {
		lead = "**Suggestion"
	}
	f := finding(Finding{File: w.File, Line: w.Line, LineEnd: w.LineEnd}, p.links.none())
	if f.File != "" {
		lead += " at** " + p.links.place(f)
	} else {
		lead += ":**"
	}
	p.add(lead)
	p.texts(paragraphs(prose(w.Text)))
}

// commandReceipt is the proof of what a command's agent was given, and what it cost.
func (p *page) commandReceipt(c Command) {
	r := c.Receipt
	parts := append([]string{count(len(r.Agents), "agent")}, spent(r.Agents)...)
	p.fold(sumReceipt+strings.Join(parts, ", "), func() {
		facts := []string{"For: " + p.target(c.Target), "Command: " + span(c.ID)}
		switch {
		case len(c.Findings)+len(c.Lined) == 0:
		case c.Counts:
			facts = append(facts, "Findings: they count for the verdict of a review in which the command feeds the main report")
		default:
			facts = append(facts, "Findings: they do not count for a verdict")
		}
		if c.Confidence != "" {
			facts = append(facts, "Confidence: "+string(c.Confidence))
		}
		if c.OnLines > 0 {
			facts = append(facts, "On lines: "+count(c.OnLines, "comment"))
		}
		facts = append(facts, "Head: "+span(r.HeadSHA), "Merge base: "+span(r.MergeBaseSHA), "Prompts: "+span(r.PromptVersion))
		if r.Isolation != "" {
			facts = append(facts, "Isolation: "+r.Isolation)
		}
		if r.Config != "" {
			facts = append(facts, "Configuration: "+r.Config)
		}
		if r.Masked > 0 {
			facts = append(facts, "Masked: "+strconv.Itoa(r.Masked)+" of the values that look like secrets, before agents read the change")
		}
		p.add(bullets(facts))
		p.agents(r.Agents)
		p.leftOut(r)
		p.dismissed(c.Dismissed, c.DismissalNotes)
		p.named("Warnings:", r.Warnings)
	})
}

// RenderLine gives the Markdown of a finding as a comment on its lines, ending in a newline.
func RenderLine(f Finding) string {
	f = finding(f, false)
	p := page{}
	p.add("**" + string(f.Priority) + ": " + f.Title + "**")
	p.texts(paragraphs(f.Description))
	p.suggestions(f.Suggestions)
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// RenderWish gives the Markdown of what an agent wanted to say on lines.
func RenderWish(text string, suggestion bool) string {
	p := page{}
	if suggestion {
		p.add("**Suggestion:**")
	}
	p.texts(paragraphs(prose(text)))
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// RenderLines gives the Markdown of a review that only bears comments on lines.
func RenderLines(id string, n int) string {
	return fmt.Sprintf("Command %s: %s on lines. A comment of its own sums up.\n", span(word(id)), count(n, "comment"))
}
