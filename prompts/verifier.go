package prompts

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// Verify renders the verifier's question, the last part of its prompt after System and Brief, which it shares with the reviewers.
// toolCalls is how many tools it may call; 0 is none.
func Verify(t review.Task, fence string, toolCalls int) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	if t.Verify == nil {
		return "", errors.New("prompt of the verifier: the task has nothing to verify")
	}
	page := "verifier.md"
	if len(t.Verify.Disputes) > 0 {
		page = "judge.md"
	}
	return render(page, fence, struct {
		Agent               string
		PRNumber, ToolCalls int
		review.VerifyPayload
	}{t.Agent, t.PRNumber, toolCalls, *t.Verify})
}

// said is what people said about a finding in its thread, oldest first; empty when nobody did.
func said(disputes []review.Dispute, id string) string {
	var b strings.Builder
	for _, d := range disputes {
		if d.FindingID != id {
			continue
		}
		for _, r := range d.Said {
			fmt.Fprintf(&b, "%s:\n%s\n", inline(r.By), r.Body)
		}
	}
	return cmp.Or(b.String(), "(nobody said anything: did a push cure it?)")
}

// suspect is a finding with all a verifier has to know of it, and nothing of who raised it.
func suspect(f review.Finding, lookBelow float64) string {
	score := cmp.Or(f.OriginalScore, f.Score)
	text := fmt.Sprintf("%s, category %s, at %s\ntitle: %s\n%s\nevidence:\n%s", f.Priority, inline(f.Category), inline(cmp.Or(place(f), "no file")), inline(f.Title),
		f.Description, cmp.Or(f.Evidence, "(none)"))
	if score > 0 {
		text = fmt.Sprintf("score %d, %s", score, text)
	}
	if f.Evidence == "" || f.Confidence != nil && *f.Confidence < lookBelow {
		text += "\n(look it up: whoever raised it is not sure of it, or shows nothing for it)"
	}
	return text
}
