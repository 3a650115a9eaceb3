package modelagent

import (
	"context"
	"errors"
	"fmt"
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

// askAboutDoubtful puts severe findings that stay plausible, and of which who raised them was not sure, to the stronger model. Its word
// takes the place of the first one's. When it gives none, nothing changes.
func (v *verifier) askAboutDoubtful(ctx context.Context, got *review.VerifierResult) {
	var doubtful []review.Finding
	for _, f := range v.task.Verify.Findings {
		i := slices.IndexFunc(got.Assessments, func(a review.Assessment) bool { return a.FindingID == f.ID })
		unsure := f.Confidence != nil && *f.Confidence < v.task.Verify.StrongerBelow
		if f.Priority.Severe() && unsure && (i < 0 || got.Assessments[i].Status == review.Plausible) {
			doubtful = append(doubtful, f)
		}
	}
	if len(doubtful) == 0 || v.o.Stronger == "" || v.o.Stronger == v.o.Model || len(v.task.Verify.Disputes) > 0 {
		return
	}
	err := v.askStronger(ctx, doubtful, got)
	if err != nil {
		v.emit(review.Event{Kind: review.EventLog, Level: "warn",
			Message: fmt.Sprintf("%s gave no answer about %d severe findings with low confidence: %s", v.o.Stronger, len(doubtful), clip(err.Error()))})
	}
}

func (v *verifier) askStronger(ctx context.Context, doubtful []review.Finding, got *review.VerifierResult) error {
	if v.m.left <= 0 {
		return errors.New("no model call was left")
	}
	narrowed := v.task
	p := *v.task.Verify
	p.Findings = doubtful
	narrowed.Verify = &p
	text, err := prompts.Verify(narrowed, v.o.Fence, 0)
	if err != nil {
		return err
	}
	v.m.anew()
	r, err := v.m.say(ctx, v.o.Stronger, verifierShape, append(slices.Clone(v.messages), said(api.ChatMessageRoleUser, text)))
	if err == nil && r.fault != "" {
		err = errors.New(r.fault)
	}
	if err != nil {
		return err
	}
	doc, _ := apart(r.text)
	second, _, err := answer.DecodeVerifier([]byte(doc))
	if err != nil {
		return err
	}
	for _, a := range second.Assessments {
		if !slices.ContainsFunc(doubtful, func(f review.Finding) bool { return f.ID == a.FindingID }) {
			continue
		}
		got.Assessments = append(slices.DeleteFunc(got.Assessments, func(o review.Assessment) bool { return o.FindingID == a.FindingID }), a)
	}
	return nil
}
