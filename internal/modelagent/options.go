package modelagent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/lens"
	"github.com/prloop/prloop/review"
)

// The default models (spec.md R5).
const (
	DefaultModel    = "gpt-4.1-mini"
	DefaultStronger = "gpt-4.1"
)

// NoStronger as Options.Stronger or setting turns re-examination off.
const NoStronger = "none"

// defaultThreshold is the lowest score that is reported (spec.md D3.1).
const defaultThreshold = 5

// Options say which model is asked and how. Fields left empty are taken from the task's options.
type Options struct {
	// Socket is the gateway's unix socket. Without one, BaseURL is called directly.
	Socket  string
	BaseURL string
	// Token is the placeholder the gateway issued.
	Token string
	// Model is the task's, else DefaultModel.
	Model string
	// Stronger is asked by a verifier about severe findings that stay doubtful: the task's, else DefaultStronger if Model is the
	// default too (an endpoint that serves other models may not have it), else NoStronger.
	Stronger string
	// Effort is the task's, else nothing is said of it.
	Effort string
	// Temperature is the task's, else a low one.
	Temperature *float64
	// Lens is the task's, else the general one; lens.Auto chooses it by the diff.
	Lens string
	// Fence is the random word around untrusted text. It should be one word for all reviewers of a
	// round, or providers' prompt caches miss; without any a new one is drawn.
	Fence string
	// Threshold is the lowest score that is asked for, by default 5.
	Threshold int

	// Elevation is how many findings of one category below the threshold are worth listing; 0 is never.
	// Whoever asked joins them.
	Elevation int
	// Tools opens what the model may read; nil offers it no tools. The caller's function closes over the workspace.
	Tools func(review.Workspace, string) (Toolbox, error)

	now func() time.Time
}

// Toolbox is what a model may call (package tools).
type Toolbox interface {
	Specs() []ToolSpec
	// Call gives a text for the model, or an error that is safe to show to it.
	Call(ctx context.Context, name string, args []byte) (string, error)
	// Expand holds reading, from now on, to the caps of spec.md R8.
	Expand(changed []string, files, lines int)
	Close() error
}

// ToolSpec describes a tool; Parameters is a JSON Schema of an object.
type ToolSpec struct {
	Name, Description string
	Parameters        json.RawMessage
}

func (o Options) complete(task review.Task) (Options, error) {
	set := task.Options
	o.Model = cmp.Or(o.Model, set.Model, DefaultModel)
	o.Stronger = cmp.Or(o.Stronger, set.Stronger)
	if o.Stronger == "" && o.Model == DefaultModel {
		o.Stronger = DefaultStronger
	}
	if o.Stronger == NoStronger {
		o.Stronger = ""
	}
	o.Lens, o.Effort = cmp.Or(o.Lens, set.Lens), cmp.Or(o.Effort, set.Effort)
	o.Temperature = cmp.Or(o.Temperature, set.Temperature)
	o.Fence = cmp.Or(o.Fence, set.Fence, rand.Text())
	if o.Threshold = cmp.Or(o.Threshold, set.Threshold, defaultThreshold); o.Threshold < 1 || o.Threshold > 10 {
		return o, fmt.Errorf("threshold: %d is not a score from 1 to 10", o.Threshold)
	}
	o.Elevation = cmp.Or(o.Elevation, set.Elevation)
	if o.Lens == lens.Auto {
		o.Lens = lens.For(task.Brief.Files)
	}
	if o.Socket == "" && o.BaseURL == "" {
		return o, errors.New("no model gateway was given")
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o, nil
}

// open opens the task's workspace for the model; nil when there is none.
func (o Options) open(task review.Task) (Toolbox, error) {
	if o.Tools == nil || task.Workspace == nil {
		return nil, nil
	}
	box, err := o.Tools(*task.Workspace, task.HeadSHA)
	if err != nil {
		return nil, err
	}
	return talking(box, task, o.Threshold), nil
}

func limitsOf(task review.Task) review.Limits {
	l, d := task.Limits, review.DefaultLimits()
	l.LLMCalls = cmp.Or(l.LLMCalls, d.LLMCalls)
	l.ToolCalls = cmp.Or(l.ToolCalls, d.ToolCalls)
	l.Candidates = cmp.Or(l.Candidates, d.Candidates)
	l.Findings = cmp.Or(l.Findings, d.Findings)
	l.WallTimeSeconds = cmp.Or(l.WallTimeSeconds, d.WallTimeSeconds)
	return l
}

// ErrWallTime is the cause of calls cut at max_wall_time_seconds.
var ErrWallTime = errors.New("wall time is used up")

func bounded(ctx context.Context, l review.Limits) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, time.Duration(l.WallTimeSeconds)*time.Second, ErrWallTime)
}
