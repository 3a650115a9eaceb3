package modelagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// FixTool ends a fixer's work (spec.md A5). It only hands over results, so it is not counted as a tool call.
const FixTool = "submit_fix_result"

// Editor is a toolbox whose tree a fixer may change (package tools).
type Editor interface {
	Toolbox
	// Changed are the paths that differ from what they were, Diff the same as a text for the model.
	Changed() []string
	Diff() string
	// Revert puts every file back.
	Revert() error
}

// Fix lets a model fix what task.Fix lists (spec.md A4) in the tree that task.Workspace names, through the tools of the editor that
// open gives, and returns what became of each finding (spec.md A5). The result keeps the invariant of spec.md A5. It names no commits: the
// changes are in the tree, and whoever takes them out commits them. Errors are those of Review; the tree may then hold half of
// a fix and must not be used.
func Fix(ctx context.Context, task review.Task, o Options, open func(review.Workspace) (Editor, error), emit func(review.Event)) (review.FixResult, error) {
	o, err := o.complete(task)
	if err != nil {
		return review.FixResult{}, err
	}
	switch {
	case task.Fix == nil || len(task.Fix.IssuesToFix) == 0:
		return answer.NotFixed(payload(task), "nothing was to be fixed"), nil
	case task.Workspace == nil:
		return review.FixResult{}, errors.New("a fixer was given no tree to work in")
	}
	limits := limitsOf(task)
	ctx, cancel := bounded(ctx, limits)
	defer cancel()
	box, err := open(*task.Workspace)
	if err != nil {
		return review.FixResult{}, err
	}
	defer func() { _ = box.Close() }()
	f := fixer{task: readable(task), m: connect(o, limits, emit), name: o.Model, fence: o.Fence, box: box}
	if err := f.begin(); err != nil {
		return review.FixResult{}, err
	}
	got, err := f.work(ctx)
	if err != nil {
		return review.FixResult{}, err
	}
	return f.settle(got)
}

func payload(task review.Task) review.FixPayload {
	if task.Fix == nil {
		return review.FixPayload{PRNumber: task.PRNumber}
	}
	return *task.Fix
}

// fixer is the conversation with a fixer.
type fixer struct {
	task     review.Task
	m        *model
	name     string
	fence    string
	box      Editor
	messages []api.ChatCompletionMessage
	// looked is the diff the model saw last.
	looked string
}

// begin puts the question: what reviewers see of the pull request, then the findings.
func (f *fixer) begin() error {
	seen := f.task
	seen.Earlier = nil // what is left of them stands among the findings to fix
	brief, err := prompts.Brief(seen, f.fence)
	if err != nil {
		return err
	}
	question, err := prompts.Fix(f.task, f.fence, FixTool)
	if err != nil {
		return err
	}
	f.messages = []api.ChatCompletionMessage{
		said(api.ChatMessageRoleSystem, prompts.FixSystem()), said(api.ChatMessageRoleUser, brief), said(api.ChatMessageRoleUser, question),
	}
	if r := f.task.Repair; r != nil {
		if f.messages, err = withRepair(f.messages, f.fence, r.Answer, r.Error); err != nil {
			return err
		}
	}
	f.m.tools = append(toolsOf(f.box), api.Tool{Type: api.ToolTypeFunction, Function: &api.FunctionDefinition{
		Name: FixTool, Description: "End the work: say what became of every finding.", Parameters: fixParameters,
	}})
	return nil
}

var errNoEnd = errors.New("the model did not end its work")

// work goes on until the model submits. The last call is kept for that.
func (f *fixer) work(ctx context.Context) (fixed, error) {
	var refused error
	for silent := 0; f.m.left > 0; {
		if f.m.left == 1 {
			f.tell("This is your last call. Call %s now, with what is done; what is not done is rejected with that as its reason.", FixTool)
		}
		r, err := f.m.say(ctx, f.name, "", f.messages)
		if refusesTools(err) {
			return fixed{}, fmt.Errorf("a fixer needs a model that can call tools: %w", err)
		}
		if err != nil {
			return fixed{}, err
		}
		if len(r.calls) == 0 {
			f.messages = append(f.messages, said(api.ChatMessageRoleAssistant, spoken(r.text)))
			if a5, _ := answer.SalvageFix([]byte(r.text)); a5 != nil && r.fault == "" { // some models answer in text whatever they are told
				got := fromResult(*a5)
				if refused = f.judge(got); refused == nil {
					return got, nil
				}
				f.tell("%s", notTaken(refused))
				continue
			}
			if silent++; silent > nudges {
				return fixed{}, errNoEnd
			}
			f.tell("%s", nudge(r.fault))
			continue
		}
		silent = 0
		f.messages = append(f.messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleAssistant, Content: r.text, ToolCalls: r.calls})
		got, done, why := f.answer(ctx, r.calls)
		if cause := context.Cause(ctx); cause != nil {
			return fixed{}, cause
		}
		if done {
			return got, nil
		}
		if why != nil {
			refused = why
		}
	}
	if refused != nil {
		return fixed{}, fmt.Errorf("%w: %w; its last answer was refused: %w", errNoEnd, ErrBudget, refused)
	}
	return fixed{}, fmt.Errorf("%w: LLM calls: %w", errNoEnd, ErrBudget)
}

func nudge(fault string) string {
	if fault != "" {
		return "Your answer was cut off at the output limit. Make smaller edits, in several calls."
	}
	return "Go on with the tools, and end by calling " + FixTool + "."
}

func (f *fixer) tell(format string, args ...any) {
	f.messages = append(f.messages, said(api.ChatMessageRoleUser, fmt.Sprintf(format, args...)))
}

// answer does what the calls ask for, in their order. Every call is answered, also behind the one that ends the work.
func (f *fixer) answer(ctx context.Context, calls []api.ToolCall) (got fixed, done bool, refused error) {
	for _, c := range calls {
		var text string
		switch {
		case done:
			text = "error: the work has ended"
		case c.Function.Name == FixTool:
			text = "ok"
			if got, refused = f.submitted(c.Function.Arguments); refused != nil {
				text = notTaken(refused)
			} else {
				done = true
			}
		default:
			text = call(ctx, f.m, f.box, f.fence, c.Function.Name, c.Function.Arguments)
			if c.Function.Name == "diff" {
				f.looked = f.box.Diff()
			}
		}
		f.messages = append(f.messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleTool, ToolCallID: c.ID, Content: text})
	}
	f.messages[len(f.messages)-1].Content += remaining(f.m)
	return got, done, refused
}

// submitted reads a submission and decides whether it is taken.
func (f *fixer) submitted(arguments string) (fixed, error) {
	var got fixed
	if err := json.Unmarshal([]byte(arguments), &got); err != nil {
		return got, fmt.Errorf("the arguments are not the object described: %s", clip(err.Error()))
	}
	return got, f.judge(got)
}

// judge holds a submission against what was asked and what was done. A draft is shown its own changes first, as long as there
// is a call left to fix them.
func (f *fixer) judge(got fixed) error {
	if err := got.check(*f.task.Fix); err != nil {
		return err
	}
	changed := f.box.Changed()
	// The tree may hold changes of the try before, or of the attempt whose answer was refused.
	goesOn := f.task.Repair != nil || f.task.Setback != nil && len(f.task.Setback.Checks) > 0
	if len(got.Fixed) > 0 && len(changed) == 0 && !goesOn {
		return errors.New("nothing in the tree is changed, so nothing is fixed: make the edits, or reject the findings")
	}
	diff, _ := sanitize.Visible(f.box.Diff())
	if len(changed) == 0 || diff == f.looked || f.m.left == 0 {
		return nil
	}
	f.looked = diff
	text, err := prompts.FixCheck(f.fence, FixTool, diff)
	if err != nil {
		return err
	}
	return &lookAgain{text}
}

// lookAgain is a submission that is not wrong, but not looked at either.
type lookAgain struct{ text string }

func (l *lookAgain) Error() string { return l.text }

// notTaken tells a model why its submission was not.
func notTaken(err error) string {
	var again *lookAgain
	if errors.As(err, &again) {
		return again.text
	}
	return "error: " + err.Error()
}

// settle makes the answer. Changes without a finding they resolve are nobody's, so they are taken back.
func (f *fixer) settle(got fixed) (review.FixResult, error) {
	if len(got.Fixed) == 0 && len(f.box.Changed()) > 0 {
		if err := f.box.Revert(); err != nil {
			return review.FixResult{}, err
		}
		f.m.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "the changes were taken back: no finding is said to be fixed by them"})
	}
	r := got.result(f.task)
	settled, _ := answer.SettleFix(*f.task.Fix, &r) // it was checked before; this counts
	return settled, nil
}
