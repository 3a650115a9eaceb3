package modelagent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	api "github.com/sashabaranov/go-openai"
)

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
		v.m.tell(err)
		v.emit(review.Event{Kind: review.EventLog, Level: "warn",
			Message: fmt.Sprintf("%s gave no answer about %d severe findings with low confidence: %s", v.o.Stronger, len(doubtful), kind(err))})
	}
}

func (v *verifier) askStronger(ctx context.Context, doubtful []review.Finding, got *review.VerifierResult) error {
	if v.m.left <= 0 {
		return fmt.Errorf("no model call was left: %w", ErrBudget)
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
		err = &InvalidError{Raw: []byte(r.text), Err: errors.New(r.fault)}
	}
	if err != nil {
		return err
	}
	doc, _, err := apart(r.text)
	var second review.VerifierResult
	if err == nil {
		second, _, err = answer.DecodeVerifier(doc)
	}
	if err != nil {
		return &InvalidError{Raw: []byte(r.text), Err: err}
	}
	for _, a := range second.Assessments {
		if !slices.ContainsFunc(doubtful, func(f review.Finding) bool { return f.ID == a.FindingID }) {
			continue
		}
		got.Assessments = append(slices.DeleteFunc(got.Assessments, func(o review.Assessment) bool { return o.FindingID == a.FindingID }), a)
	}
	return nil
}
