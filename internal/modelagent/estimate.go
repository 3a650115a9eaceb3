package modelagent

import (
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// Estimated is what a builtin agent would ask its model, as far as that is known before it is asked.
type Estimated struct {
	// Calls is how many calls an ordinary answer takes: one, or one for each pass and one for the answer; 0 when there is nothing to ask.
	Calls int
	// Most is how many the limits allow.
	Most int
	// Input is the size of all calls together in tokens, estimated.
	Input int
}

// Estimate says what a reviewer, a verifier without findings yet, or a comments analyzer would send. The prompts are those that are really sent; what tools
// answer is not known, and not in it.
func Estimate(task review.Task, o Options) (Estimated, error) {
	o.BaseURL = "http://nobody" // no gateway is needed where nobody is asked
	o, err := o.complete(task)
	if err != nil {
		return Estimated{}, err
	}
	task, _ = visibleNames(task)
	limits := limitsOf(task)
	f := Estimated{Calls: 1, Most: limits.LLMCalls}
	if task.Role == review.RoleCommentsAnalyzer {
		var talk review.Discussion
		if task.Discussion != nil {
			talk = *task.Discussion
		}
		found := threads.Analyze(talk, task.PRNumber)
		if len(found.PendingIssues) == 0 {
			return Estimated{}, nil
		}
		question, err := prompts.Comments(found, o.Fence)
		return f.sends(commentsShape, prompts.CommentsSystem(), question), err
	}
	brief, err := prompts.Brief(task, o.Fence)
	if err != nil {
		return Estimated{}, err
	}
	if task.Role == review.RoleVerifier {
		question, err := prompts.Verify(task, o.Fence, limits.ToolCalls)
		return f.sends(verifierShape, prompts.System(), brief, question), err
	}
	if task.Role == review.RoleScout {
		question, err := prompts.Scan(task, o.Fence)
		return f.sends(scoutShape, prompts.ScanSystem(), brief, question), err
	}
	if task.Role == review.RoleFinder {
		question, err := prompts.Find(task, o.Fence)
		return f.sends(finderShape, prompts.FindSystem(), brief, question), err
	}
	if task.Role == review.RoleCommand {
		system, err := prompts.CommandSystem()
		if err != nil {
			return Estimated{}, err
		}
		question, err := prompts.Command(task, o.Fence, limits.ToolCalls)
		return f.sends(commandShape, system, brief, question), err
	}
	part := prompts.Part{Agent: task.Agent, Lens: o.Lens, Findings: limits.Findings, Threshold: o.Threshold, Elevation: o.Elevation, Extra: task.Prompt, Earlier: len(task.Earlier)}
	if limits.LLMCalls >= passCalls && task.Limits.ToolCalls > 0 {
		part.Passes, part.ToolCalls, f.Calls = prompts.Passes, task.Limits.ToolCalls, passCalls
	}
	tail, err := prompts.Tail(part)
	return f.sends(shapeOf(task), prompts.System(), brief, tail), err
}

// sends counts what each call sends: the texts, and the schema of the answer.
func (f Estimated) sends(shape string, texts ...string) Estimated {
	n := 0
	for _, t := range texts {
		n += len(t)
	}
	if s, err := schema.ForModel(shape); err == nil {
		n += len(s)
	}
	f.Input = f.Calls * (n/bytesPerToken + 1)
	return f
}
