package prompts

import "github.com/prloop/prloop/review"

// Passes is how many passes a full review has (spec.md D5, phase 3): the diff, the structure around it, security and
// written rules, consolidation.
const Passes = 4

// Pass opens a pass, from 1 to Passes.
func Pass(number int) (string, error) {
	return render("pass.md", "", struct{ Number, Of int }{number, Passes})
}

// Final asks for the answer after the passes; cut says what was left undone, empty when nothing was.
func Final(cut string) (string, error) {
	return render("final.md", "", struct{ Cut string }{inline(cut)})
}

// Reading is one result of a tool.
type Reading struct{ Name, Text string }

// Verify asks to check draft findings against what was read for it (spec.md R8).
func Verify(agent, fence string, drafts []review.Finding, read []Reading) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return render("verify.md", fence, struct {
		Agent  string
		Drafts []review.Finding
		Read   []Reading
	}{inline(agent), drafts, read})
}

// ToolResult fences what a tool returned: it holds text of the pull request.
func ToolResult(fence, name, text string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return fenced(fence, "result of "+name, text), nil
}
