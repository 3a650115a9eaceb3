package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// read takes Serve's output apart as Ask does.
func read(t *testing.T, out []byte) (events int, doc []byte) {
	t.Helper()
	var f framer
	in := intake{emit: func(review.Event) {}}
	f.event = in.line
	for line := range bytes.Lines(out) {
		f.line(bytes.TrimSuffix(line, []byte("\n")))
	}
	doc, _, err := f.envelope()
	if err != nil || in.bad > 0 {
		t.Fatalf("%v, malformed events %q in:\n%.500s", err, in.faults, out)
	}
	return in.read, doc
}

func request(t *testing.T) io.Reader {
	t.Helper()
	data, err := schema.Encode(task())
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(data)
}

func TestServeKeepsTheContract(t *testing.T) {
	var out bytes.Buffer
	in := 12
	err := Serve(t.Context(), request(t), &out, func(_ context.Context, task review.Task, emit func(review.Event)) (any, error) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				emit(review.Event{Kind: review.EventProgress, Message: "reading {\"findings\":[\n"})
				emit(review.Event{Kind: review.EventUsage, Usage: &review.Usage{InputTokens: &in}})
			})
		}
		wg.Wait()
		return review.ReviewerResult{Agent: task.Agent, PRNumber: task.PRNumber, Conclusion: review.Approve}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	events, doc := read(t, out.Bytes())
	r, notes, err := answer.DecodeReviewer(doc)
	if events != 16 || err != nil || len(notes) > 0 || r.Agent != "rev-1" || r.PRNumber != 7 {
		t.Errorf("%d events, %+v, %q, %v", events, r, notes, err)
	}
}

func TestServeSpreadsALargeAnswer(t *testing.T) {
	var out bytes.Buffer
	err := Serve(t.Context(), request(t), &out, func(_ context.Context, task review.Task, _ func(review.Event)) (any, error) {
		r := review.ReviewerResult{Agent: task.Agent, Conclusion: review.RequestChanges}
		for range 100 {
			r.Findings = append(r.Findings, review.Finding{ID: "A", Priority: review.P3, Category: "style", Title: "t", Description: strings.Repeat("long ", 5000)})
		}
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		if len(line) > 1<<20 {
			t.Fatalf("a line of %d bytes", len(line))
		}
	}
	_, doc := read(t, out.Bytes())
	if r, _, err := answer.DecodeReviewer(doc); err != nil || len(r.Findings) != 100 {
		t.Errorf("%d findings, %v", len(r.Findings), err)
	}
}

func TestServeFailsWithoutAnEnvelope(t *testing.T) {
	errModel := errors.New("model unreachable")
	for name, row := range map[string]struct {
		in   io.Reader
		work func(context.Context, review.Task, func(review.Event)) (any, error)
		want string
	}{
		"the work fails":    {request(t), func(context.Context, review.Task, func(review.Event)) (any, error) { return nil, errModel }, "model unreachable"},
		"the work panics":   {request(t), func(context.Context, review.Task, func(review.Event)) (any, error) { panic("odd diff") }, "panic: odd diff"},
		"no request":        {strings.NewReader(""), nil, "read the request: "},
		"half a request":    {strings.NewReader(`{"version":1,`), nil, "read the request: "},
		"no JSON in result": {request(t), func(context.Context, review.Task, func(review.Event)) (any, error) { return func() {}, nil }, "write the answer: "},
	} {
		var out bytes.Buffer
		err := Serve(t.Context(), row.in, &out, row.work)
		if err == nil || !strings.Contains(err.Error(), row.want) || out.Len() > 0 {
			t.Errorf("%s: %v, wrote %q", name, err, out.Bytes())
		}
	}
}

// FuzzFrame: no output makes the framer panic, and at most one document is taken, whole, from what was written.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{sound, "```json\n" + sound + "\n```", "BEGIN_JSON\n" + sound + "\nEND_JSON", `{"event":"progress"}`, "\ufeff{}", "{\n\"a\":[\n\"}\"\n]\n}", "```go\n{\n```\n{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		var fr framer
		fr.event = func(line []byte) bool {
			if len(line) == 0 || line[0] != '{' {
				t.Errorf("event %q", line)
			}
			return true
		}
		for line := range bytes.Lines(out) {
			fr.line(bytes.TrimSuffix(line, []byte("\n")))
		}
		doc, _, err := fr.envelope()
		if err == nil && !bytes.Contains(bytes.ReplaceAll(fr.text.take(), []byte("\n"), nil), bytes.ReplaceAll(doc, []byte("\n"), nil)) {
			t.Errorf("document %q is not what was written: %q", doc, out)
		}
		if err == nil && json.Valid(out) && bytes.HasPrefix(out, []byte("{")) && !json.Valid(doc) {
			t.Errorf("a sound document was cut: %q", doc)
		}
	})
}
