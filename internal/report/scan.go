package report

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// Scan is what a quick scan shows (decision 71). Its texts are as those of Data.
type Scan struct {
	Target review.Target
	// Outcome is how the run ended with it, Reason why.
	Outcome review.Outcome
	Reason  string
	// Complexity and Reasons are the scout's; without an answer of it they are empty.
	Complexity review.Complexity
	Reasons    []string
	// Observations are what it noticed.
	Observations []Observation
	// Standing is what keeps the pull request from passing by a scan, each one sentence.
	Standing []string
	// Remarks are sentences the reader must know, Notes those that only explain the receipt.
	Remarks, Notes []string
	Receipt        review.Receipt
}

// Observation is one thing the scout noticed.
type Observation struct {
	Tag, Text string
	// File is empty for the change as a whole; Line 0 is none.
	File string
	Line int
}

// scanHeading begins every comment of a quick scan.
const scanHeading = heading + "quick scan"

// RenderScan gives the Markdown of a quick scan, ending in a newline.
func RenderScan(s Scan) string {
	s = canonicalScan(s)
	p := page{links: links{s.Target, s.Receipt.HeadSHA}}
	p.add(scanHeading + separator + scanWords(s.Outcome))
	p.add(strings.TrimSpace(sentence(s.Reason) + " This is one look at the diff, not a review."))
	p.unread(s.Receipt)
	p.add(s.Remarks...)
	if len(s.Standing) > 0 {
		p.add("What stands against it, whatever a scan says:", bullets(s.Standing))
	}
	p.seen(s)
	r := s.Receipt
	p.fold(sumReceipt+strings.Join(append([]string{"quick scan"}, spent(r.Agents)...), ", "), func() {
		facts := []string{"For: " + p.target(s.Target), "Outcome: " + span(string(s.Outcome))}
		for _, fact := range p.proof(r) {
			switch {
			case strings.HasPrefix(fact, "Read whole"): // of reviewers, which there are none
				facts = append(facts, "Seen whole: "+count(r.FilesReviewed, "file"))
			case !strings.HasPrefix(fact, "Reviewers: "):
				facts = append(facts, fact)
			}
		}
		p.add(bullets(facts))
		p.agents(r.Agents)
		p.leftOut(r)
		p.lookedUp(r.Found)
		p.named("Notes:", s.Notes)
		p.named("Warnings:", r.Warnings)
	})
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// RenderEscalating gives the Markdown that the comment of a quick scan comes to have when a full review follows: why is the reason, in
// words; s is what the scan said, as far as it is known.
func RenderEscalating(s Scan, why string) string {
	s = canonicalScan(s)
	p := page{links: links{s.Target, s.Receipt.HeadSHA}}
	p.add(heading + "escalating to full review")
	p.add(strings.TrimSpace("A full review follows: "+inline(why)+".") + " Its report stands in a comment of its own.")
	p.seen(s)
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// seen is what the scout says.
func (p *page) seen(s Scan) {
	var lines []string
	if s.Complexity != "" {
		lines = append(lines, "Complexity: "+string(s.Complexity))
	}
	if lines = append(lines, s.Reasons...); len(lines) > 0 {
		p.add(bullets(lines))
	}
	if len(s.Observations) == 0 {
		return
	}
	p.fold("Noticed: "+count(len(s.Observations), "observation"), func() {
		rows := []string{header("Tag", "Observation", "Where")}
		for _, o := range s.Observations {
			where := ""
			if o.File != "" {
				where = p.links.brief(Finding{File: o.File, Line: o.Line})
			}
			rows = append(rows, row(o.Tag, o.Text, where))
		}
		p.add(strings.Join(rows, "\n"))
	})
}

// scanWords are the one name of how a scan ended.
func scanWords(o review.Outcome) string {
	switch o {
	case review.LGTM:
		return "looks good"
	case review.Flagged:
		return "flagged"
	case review.Budget:
		return "out of budget"
	case review.Partial:
		return "not all of the change was seen"
	}
	return "no answer"
}

func canonicalScan(s Scan) Scan {
	s.Target, s.Reason, s.Receipt = target(s.Target), inline(s.Reason), receipt(s.Receipt)
	s.Complexity = review.Complexity(word(string(s.Complexity)))
	s.Reasons, s.Standing, s.Remarks, s.Notes = texts(s.Reasons), texts(s.Standing), texts(s.Remarks), texts(s.Notes)
	local := links{s.Target, ""}.none()
	seen := s.Observations
	s.Observations = nil
	for _, o := range seen {
		f := finding(Finding{File: o.File, Line: o.Line}, local)
		s.Observations = append(s.Observations, Observation{Tag: pipes(inline(o.Tag)), Text: pipes(inline(o.Text)), File: f.File, Line: f.Line})
	}
	return s
}

// Approved reports whether the body of a comment of ours is the report of a review that approved. It goes by the heading, so the
// caller has to know that the body is ours, to the last letter; a heading that it does not know is no approval.
func Approved(body string) bool {
	for line := range strings.Lines(body) {
		if words, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), heading); ok {
			first, _, _ := strings.Cut(words, separator)
			return first == verdictWords(Data{Outcome: review.Converged, Verdict: &review.Verdict{Consensus: review.Approve}})
		}
	}
	return false
}

var (
	outcomeLine = lazyregexp.New("(?m)^- Outcome: `([a-z_]+)`")
	commitLines = lazyregexp.New("(?m)^- Head: `([0-9a-f]+)`\r?\n- Merge base: `[0-9a-f]+`\r?\n- Base: `([0-9a-f]+)`\r?$")
)

// Concluded is what the body of a report of ours says in its receipt, which stands at the end: the commits that were reviewed, and how the run ended. All are
// empty where it does not say so, as in one part of several. The caller has to know that the body is ours.
func Concluded(body string) (head, base string, outcome review.Outcome) {
	commits, outcomes := commitLines.FindAllStringSubmatch(body, -1), outcomeLine.FindAllStringSubmatch(body, -1)
	if len(commits) == 0 || len(outcomes) == 0 {
		return "", "", ""
	}
	last := commits[len(commits)-1]
	return last[1], last[2], review.Outcome(outcomes[len(outcomes)-1][1])
}

// About is the commit that the body of a report of ours is about, also where the run went on; empty where its receipt does not say so, as in one part of several.
func About(body string) string {
	if commits := commitLines.FindAllStringSubmatch(body, -1); len(commits) > 0 {
		return commits[len(commits)-1][1]
	}
	return ""
}

// AfterScan is the note of a full review that followed on a scan.
func AfterScan(complexity review.Complexity, verdict review.ScanVerdict, why string) string {
	if complexity == "" {
		return fmt.Sprintf("This is the full review: %s.", why)
	}
	return fmt.Sprintf("A quick scan came first (%s, %s), and a full review followed: %s.", complexity, verdict, why)
}
