package prompts

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

// ToolResult fences what a tool returned: it holds text of the pull request.
func ToolResult(fence, name, text string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return fenced(fence, "result of "+name, text), nil
}
