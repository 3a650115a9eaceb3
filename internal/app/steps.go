package app

import (
	"context"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/orchestrator"
)

// durable lends the loop the engine's steps. Every error of a step is something a person or time can remove (GitHub does not
// answer, the disk is full), so none is stored as the step's answer: the run stops there and a resumed one tries again. What
// agents and code do wrong stands in the results, and so does what no later try gets past (decision 27).
type durable struct{ steps *engine.Steps }

func (d durable) Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	return d.steps.Do(ctx, name, halting(fn))
}

func (d durable) All(ctx context.Context, steps []orchestrator.Step) ([][]byte, []error) {
	list := make([]engine.Step, len(steps))
	for i, s := range steps {
		list[i] = engine.Step{Name: s.Name, Fn: halting(s.Fn)}
	}
	return d.steps.All(ctx, list)
}

func halting(fn func(context.Context) ([]byte, error)) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		out, err := fn(ctx)
		return out, engine.Halt(err)
	}
}
