package modelagent

import (
	"context"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

const (
	verifierShape = "verifier-result"
	// judgeShape is that of a verifier that is asked about disputes.
	judgeShape = "judge-result"
)

// answerCalls is how many model calls are kept for the answer: one, and one to repair it.
const answerCalls = 2

// Verify asks a model to refute the findings of task.Verify, with tools that read the tree where there are any, and puts severe
// ones that stay doubtful to the stronger model (spec.md R4). Without findings no model is asked. Errors are those of Review.
func Verify(ctx context.Context, task review.Task, o Options, emit func(review.Event)) (review.VerifierResult, error) {
	o, err := o.complete(task)
	if err != nil {
		return review.VerifierResult{}, err
	}
	none := review.VerifierResult{Agent: task.Agent, PRNumber: task.PRNumber, Assessments: []review.Assessment{}}
	if task.Verify == nil || len(task.Verify.Findings) == 0 {
		return none, nil
	}
	limits := limitsOf(task)
	ctx, cancel := bounded(ctx, limits)
	defer cancel()
	task, back := visibleNames(task)
	v := verifier{task: task, o: o, m: connect(o, limits, emit), emit: emit}
	if v.box, err = o.open(task); err != nil {
		return none, err
	}
	if v.box != nil {
		defer func() { _ = v.box.Close() }()
		var changed []string
		for _, f := range task.Brief.Files {
			changed = append(changed, f.Path)
		}
		v.box.Expand(changed, task.Verify.ExtraFiles*len(task.Verify.Findings), task.Verify.ExtraLines)
	}
	got, err := v.work(ctx)
	if err != nil {
		return none, err
	}
	v.askAboutDoubtful(ctx, &got)
	for i := range got.Assessments {
		if f := got.Assessments[i].Fact; f != nil {
			if name, ok := back[f.File]; ok {
				f.File = name
			}
		}
	}
	return got, nil
}

// verifier is the conversation with a verifier.
type verifier struct {
	task     review.Task
	o        Options
	m        *model
	emit     func(review.Event)
	box      Toolbox
	messages []api.ChatCompletionMessage
}

// work puts the question, lets the model look around, and gets the answer.
func (v *verifier) work(ctx context.Context) (review.VerifierResult, error) {
	var none review.VerifierResult
	brief, err := prompts.Brief(v.task, v.o.Fence)
	if err != nil {
		return none, err
	}
	// What reviewers were asked comes first, byte for byte, for the provider's prompt cache.
	shared := []api.ChatCompletionMessage{said(api.ChatMessageRoleSystem, prompts.System()), said(api.ChatMessageRoleUser, brief)}
	looks := v.box != nil && v.m.toolsLeft > 0 && v.m.left > answerCalls && v.task.Repair == nil
	if looks {
		able, early, err := v.look(ctx, shared)
		if err != nil || early != nil {
			return deref(early), err
		}
		looks = able
	}
	if looks {
		v.messages = append(v.messages, said(api.ChatMessageRoleUser, "No tool can be called any more. Answer now with the verifier's JSON object, and nothing else."))
	} else {
		if err := v.begin(shared, 0); err != nil {
			return none, err
		}
	}
	shape := verifierShape
	if len(v.task.Verify.Disputes) > 0 {
		shape = judgeShape
	}
	got, notes, err := ask(ctx, v.m, v.o.Model, shape, v.o.Fence, v.task.Repair, v.messages, answer.DecodeVerifier)
	for _, n := range notes {
		v.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: n})
	}
	return got, err
}

func deref(r *review.VerifierResult) review.VerifierResult {
	if r == nil {
		return review.VerifierResult{}
	}
	return *r
}

// begin puts the question.
func (v *verifier) begin(shared []api.ChatCompletionMessage, toolCalls int) error {
	text, err := prompts.Verify(v.task, v.o.Fence, toolCalls)
	v.messages = append(slices.Clone(shared), said(api.ChatMessageRoleUser, text))
	return err
}

// look lets the model call tools until it stops or its budget does. able is false when the endpoint takes no tools; early is an
// answer the model gave unasked.
func (v *verifier) look(ctx context.Context, shared []api.ChatCompletionMessage) (able bool, early *review.VerifierResult, err error) {
	if err := v.begin(shared, v.m.toolsLeft); err != nil {
		return false, nil, err
	}
	v.messages, able, err = look(ctx, v.m, v.o, v.box, v.messages, func(doc []byte) bool {
		got, _, err := answer.DecodeVerifier(doc) // a verifier's prose is nobody's business: it raises nothing
		if err == nil {
			early = &got
		}
		return err == nil
	})
	return able, early, err
}
