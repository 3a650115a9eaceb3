package threads

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/review"
)

// Agent is the name results of this package carry.
const Agent = "comments-analyzer"

// Category is the category of findings made of discussions.
const Category = "discussion"

// Bounds of one finding's text, in characters; the thread itself stays readable on GitHub.
const (
	titleLimit   = 100
	commentLimit = 2_000
	repliesShown = 5
)

// Analyze computes spec.md A3 from a discussion whose marked comments were already removed (spec.md A7). It depends on the content
// alone, not on the order of threads or reviews. pr is the pull request's number.
func Analyze(d review.Discussion, pr int) review.CommentsResult {
	last := Standing(d.Reviews)
	r := review.CommentsResult{
		Agent:            Agent,
		PRNumber:         pr,
		ReviewState:      stateOf(last),
		Stats:            statsOf(others(d.Threads)),
		ThreadsTruncated: d.Truncated,
		PendingIssues:    []review.Finding{},
	}
	for _, t := range d.Threads {
		if f, ok := ofThread(t); ok {
			r.PendingIssues = append(r.PendingIssues, f)
		}
	}
	for _, v := range last {
		if f, ok := ofReview(v); ok {
			r.PendingIssues = append(r.PendingIssues, f)
		}
	}
	finish(&r)
	return r
}

// others are the threads that prloop did not open.
func others(list []review.Thread) []review.Thread {
	return slices.DeleteFunc(slices.Clone(list), func(t review.Thread) bool { return t.Own })
}

// finish brings what follows from the pending findings up to date.
func finish(r *review.CommentsResult) {
	slices.SortStableFunc(r.PendingIssues, func(a, b review.Finding) int {
		return cmp.Or(
			cmp.Compare(a.Priority.Rank(), b.Priority.Rank()),
			cmp.Compare(a.File, b.File),
			cmp.Compare(lineOf(a), lineOf(b)),
			cmp.Compare(a.ID, b.ID),
		)
	})
	r.Issues = review.Count(r.PendingIssues)
	r.FullReport = render(*r)
}

func lineOf(f review.Finding) int {
	if f.Line == nil {
		return 0
	}
	return *f.Line
}

// ofThread makes a finding of an unresolved thread; ok is false when the thread is settled or nothing in it is readable.
func ofThread(t review.Thread) (f review.Finding, ok bool) {
	if t.Resolved {
		return f, false
	}
	said := readable(t)
	if len(said) == 0 {
		return f, false
	}
	if t.Own { // answers to a finding of ours, which is counted where it is found
		at := slices.IndexFunc(said, func(c review.Comment) bool {
			return Severe(c.Body, c.Author.Association)
		})
		if at < 0 {
			return f, false
		}
		said = said[at:]
	}
	first := said[0]
	priority := urgency(first.Body, review.MayBlock(first.Author.Association))
	if t.Cured || t.Overruled { // what somebody says is grave there is what counts
		for _, c := range said {
			priority = min(priority, urgency(c.Body, review.MayBlock(c.Author.Association)))
		}
	}
	if t.Outdated && !t.Cured && !t.Overruled && priority.Rank() >= review.P2.Rank() {
		priority = review.P3
	}
	f = review.Finding{
		ID:          "thread-" + t.ID,
		Priority:    priority,
		Category:    Category,
		File:        t.File,
		Line:        t.Line,
		Title:       cmp.Or(headline(first.Body), "Open thread by "+login(first.Author)),
		Description: exchange(said),
		Suggestion:  suggestion(t),
		Source:      review.Source{Type: "comment", Name: login(first.Author), Timestamp: first.CreatedAt.UTC()},
	}
	if t.ID != "" {
		f.Source.ReviewID = &t.ID
	}
	return f, true
}

// suggestion is what settles an open thread.
func suggestion(t review.Thread) string {
	if t.Lost {
		return "The comment with which prloop began this thread was changed or deleted, so prloop knows it no more as its own. If nothing is left to do, who objected, or somebody else whose resolving it " +
			"would settle this, approves the pull request, or resolves the thread where it is still there; only then it does not count. An approval that says more than thanks settles nothing."
	}
	if t.Cured {
		return "This was said of what is to have cured a finding of prloop. If nothing is left to do, resolve the thread; only then it does not count."
	}
	if t.Overruled {
		return "The thread was resolved, but not by who says this as P0 or P1, nor by somebody else whose resolving settles it. Who said it, or somebody else who may write to this repository and did not open the " +
			"pull request, can settle this by resolving the thread: open it again first. In a pull request of an app only who said it can. Until then the finding counts."
	}
	return "Answer or resolve the thread."
}

func ofReview(r review.Review) (f review.Finding, ok bool) {
	if r.State != changesRequested || strings.TrimSpace(r.Body) == "" {
		return f, false
	}
	priority := review.P3
	if review.MayBlock(r.Author.Association) {
		priority = min(review.P2, urgency(r.Body, true)) // P0 < P1 < P2 as text: a requested change is never a nit
	}
	f = review.Finding{
		ID:          "review-" + r.ID,
		Priority:    priority,
		Category:    Category,
		Title:       cmp.Or(headline(r.Body), "Changes requested by "+login(r.Author)),
		Description: "**" + login(r.Author) + "** requests changes:\n\n" + quote(r.Body),
		Suggestion:  "Make the change, or ask the reviewer to look again.",
		Source:      review.Source{Type: "review", Name: login(r.Author), Timestamp: r.SubmittedAt.UTC()},
	}
	if r.ID != "" {
		f.Source.ReviewID = &r.ID
	}
	return f, true
}

// readable drops what is empty and what somebody collapsed. In a thread that prloop opened, where only what is read counts, or that counts although it is resolved, that does not silence who may block:
// GitHub does not say who hid it.
func readable(t review.Thread) []review.Comment {
	var out []review.Comment
	for _, c := range t.Comments {
		if (!c.Minimized || (t.Own || t.Cured || t.Overruled) && review.MayBlock(c.Author.Association)) && strings.TrimSpace(c.Body) != "" {
			out = append(out, c)
		}
	}
	return out
}

// exchange quotes the first comment and the newest replies.
func exchange(said []review.Comment) string {
	var b strings.Builder
	skipped := max(0, len(said)-1-repliesShown)
	for i, c := range said {
		if i > 0 && i <= skipped {
			continue
		}
		if i == skipped+1 && skipped > 0 {
			fmt.Fprintf(&b, "(%d replies in between are not shown)\n\n", skipped)
		}
		fmt.Fprintf(&b, "**%s** wrote:\n\n%s\n\n", login(c.Author), quote(c.Body))
	}
	return strings.TrimRight(b.String(), "\n")
}

// quote is the beginning of what somebody said, as a quote.
func quote(body string) string { return Quote(clip(strings.TrimSpace(body), commentLimit)) }

// Quote puts each line of what somebody said behind the mark of a quote, whatever ends the lines: what is posted ends them all alike, and none may leave the quote
// then.
func Quote(body string) string {
	lines := strings.Split(lineEnds.Replace(body), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
	}
	return strings.Join(lines, "\n")
}

// lineEnds makes all that ends a line of a posted text a line feed.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n")

// clip cuts at a character and says so.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:limit]), " ") + "…"
}
