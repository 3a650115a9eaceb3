package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// maxRequest bounds the request a builtin agent reads, in bytes; it is that of schema.DecodeTask.
const maxRequest = 64 << 20

// Serve is the child's side: it reads the one request, calls work, and writes its result (spec.md A2, A3 or A5, a value of
// package review) as the envelope. Events given to emit go out as lines at once; it may be called from several
// goroutines, but not after work returned. The error is for the caller to print and to turn into an exit status other
// than 0; nothing but events has then been written. A panic of work is such an error.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, work func(ctx context.Context, task review.Task, emit func(review.Event)) (any, error)) error {
	request, err := io.ReadAll(io.LimitReader(stdin, maxRequest+1))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	task, _, err := schema.DecodeTask(request)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	out := &writer{to: stdout}
	result, err := guarded(ctx, task, out.event, work)
	if err != nil {
		return err
	}
	if err := out.envelope(result); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func guarded(ctx context.Context, task review.Task, emit func(review.Event), work func(context.Context, review.Task, func(review.Event)) (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("agent %s: panic: %v", task.Role, p)
		}
	}()
	return work(ctx, task, emit)
}

// writer keeps events and the envelope from running into each other.
type writer struct {
	mu   sync.Mutex
	to   io.Writer
	done bool
}

// event writes one line. Who asks sees to agent and time; a write that fails shows at the envelope.
func (w *writer) event(e review.Event) {
	line, err := schema.Encode(struct {
		Kind    review.EventKind `json:"event"`
		Message string           `json:"message,omitempty"`
		Level   string           `json:"level,omitempty"`
		Usage   *review.Usage    `json:"usage,omitempty"`
	}{e.Kind, e.Message, e.Level, e.Usage})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !w.done {
		_, _ = w.to.Write(append(line, '\n'))
	}
}

func (w *writer) envelope(v any) error {
	doc, err := schema.Encode(v)
	if err != nil {
		return err
	}
	// A large answer is spread over lines: one line may be 1 MB at most.
	if len(doc) > proc.DefaultMaxLine/2 {
		var b bytes.Buffer
		if err := json.Indent(&b, doc, "", " "); err != nil {
			return err
		}
		doc = b.Bytes()
		for line := range bytes.Lines(doc) {
			if len(line) > proc.DefaultMaxLine {
				return errors.New("one of its texts is too long")
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	_, err = w.to.Write(append(doc, '\n'))
	return err
}
