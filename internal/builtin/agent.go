package builtin

import (
	"context"
	"errors"
	"io"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/static"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
)

// Agent is one builtin agent at work.
type Agent struct {
	// Socket and Token are how the gateway is reached that started this child; both are empty when no model is needed.
	Socket, Token string
	// Checkout is the folder of a local range, in which linters run; empty for a pull request.
	Checkout string
}

// Work is an agent's answer to one request.
type Work = func(ctx context.Context, task review.Task, emit func(review.Event)) (any, error)

// Serve answers the one request on stdin with an envelope on stdout. A model's broken answer is handed on as it is, so that
// the parent can keep the findings in it that are valid; the error says that it is no answer.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, w Work) error {
	// A linter that a model asks for loads code from the tree (threats.md T120), as the same user in the same sandbox.
	if err := proc.Shield(); err != nil {
		return err
	}
	err := agents.Serve(ctx, stdin, stdout, w)
	var invalid *modelagent.InvalidError
	if errors.As(err, &invalid) {
		_, _ = stdout.Write(append(invalid.Raw, '\n'))
	}
	return err
}

func (p Agent) model() modelagent.Options {
	return modelagent.Options{Socket: p.Socket, Token: p.Token}
}

// Review is the builtin reviewer's work.
func (p Agent) Review(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	o := p.model()
	o.Tools = openTools(task, p)
	return modelagent.Review(ctx, task, o, emit)
}

// Verify is the builtin verifier's work.
func (p Agent) Verify(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	o := p.model()
	o.Tools = openTools(task, p)
	return modelagent.Verify(ctx, task, o, emit)
}

// Scan is the builtin scout's work. It has no tools: it looks at the diff, once.
func (p Agent) Scan(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	return modelagent.Scan(ctx, task, p.model(), emit)
}

// Find is the builtin finder's work. It has no tools either: it asks, and prloop decides what is read.
func (p Agent) Find(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	return modelagent.Find(ctx, task, p.model(), emit)
}

// Command is the work of a builtin agent that does the task of a command.
func (p Agent) Command(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	o := p.model()
	var box *commandBox
	o.Tools = func(w review.Workspace, head string) (modelagent.Toolbox, error) {
		var err error
		if box, err = openCommand(task, w, head); err != nil {
			return nil, err
		}
		return toolbox{box.Box}, nil
	}
	got, err := modelagent.Command(ctx, task, o, emit)
	if box != nil {
		got.Wishes = append(got.Wishes, wishes(box)...)
	}
	return got, err
}

// AnalyzeComments is the comments analyzer's work. Without a model the rules alone speak.
func (p Agent) AnalyzeComments(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	if p.Socket == "" {
		if task.Discussion == nil {
			return threads.Analyze(review.Discussion{}, task.PRNumber), nil
		}
		return threads.Analyze(*task.Discussion, task.PRNumber), nil
	}
	return modelagent.AnalyzeComments(ctx, task, p.model(), emit)
}

// Fix is the builtin fixer's work.
func (p Agent) Fix(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	return modelagent.Fix(ctx, task, p.model(), openEditor(task, p, emit), emit)
}

// ReviewStatic is the work of the reviewer that needs no model.
func (p Agent) ReviewStatic(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	return static.Review(ctx, task, static.Options{CheckoutDir: p.Checkout}, emit)
}
