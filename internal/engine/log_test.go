package engine

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// A task that stands in its queue already is an answer of Add, and nothing that whoever serves reads about.
func TestTaskThatWaitsIsNoWarning(t *testing.T) {
	var log bytes.Buffer
	e, err := Open(t.Context(), Options{
		Address: filepath.Join(t.TempDir(), "prloop.db"), Log: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug}),
		Handler: func(context.Context, *Steps, []byte) ([]byte, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	log.Reset()
	for i, want := range []bool{true, false} {
		if added, err := e.Add(t.Context(), Task{Queue: "q", Key: "same"}); err != nil || added != want {
			t.Errorf("the time %d: %v, %v", i+1, added, err)
		}
	}
	if log.Len() > 0 {
		t.Errorf("said: %s", &log)
	}
}
