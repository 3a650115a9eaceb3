package prompts

import (
	"errors"
	"strings"

	"github.com/prloop/prloop/review"
)

// The variables of a command's prompt (spec.md C3).
const (
	varArgs = "${command.args}"
	varArgv = "${command.argv}"
)

// Variables are those that the prompt of a command may have.
func Variables() []string { return []string{varArgs, varArgv} }

// CommandSystem is the system prompt of all commands. It never varies.
func CommandSystem() (string, error) { return render("command-system.md", "", nil) }

// Command renders the task of a command, the last part of its prompt after CommandSystem and Brief. The team's prompt stands in it as it is;
// where it names the arguments, it is led to the blocks that hold them: whoever asked wrote them, so they are data. toolCalls is how many tools
// may be called; 0 is none.
func Command(t review.Task, fence string, toolCalls int) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	if t.Command == nil {
		return "", errors.New("prompt of a command: the task names none")
	}
	c := *t.Command
	argv, err := c.ArgvText()
	if err != nil {
		return "", err
	}
	named := []string{varArgs, "(no arguments were given)", varArgv, "[]"}
	if c.Args != "" {
		named = []string{varArgs, "`command.args` (below)", varArgv, "`command.argv` (below)"}
	}
	return render("command.md", fence, struct {
		ID, Title, Prompt, Args, Argv, Format string
		ToolCalls                             int
	}{c.ID, c.Title, strings.NewReplacer(named...).Replace(strings.TrimSpace(t.Prompt)), c.Args, argv, c.Format, toolCalls})
}
