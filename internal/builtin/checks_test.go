package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

// A fixer's tool has its gateway run the verify commands, as often as it may, and reads what they came to.
func TestRunChecks(t *testing.T) {
	g, err := gateway.Start(t.Context(), gateway.Options{Upstreams: []gateway.Upstream{{Name: "none", BaseURL: "http://127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p := Agent{Socket: g.Socket(), Token: g.Issue("pr-fix", review.Limits{})}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	task := review.Task{Terms: &review.FixTerms{Verify: []string{"make lint", "make test"}, Checks: 2}}
	w, err := openEditor(task, p, func(review.Event) {})(review.Workspace{Tree: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	specs := w.Specs()
	if last := specs[len(specs)-1]; last.Name != "run_checks" || !strings.Contains(string(last.Parameters), `["all","make lint","make test"]`) {
		t.Errorf("the last tool is %+v", last)
	}
	var why *tools.Error
	if got, err := w.Call(t.Context(), "run_checks", []byte(`{}`)); !errors.As(err, &why) {
		t.Errorf("before it may: %s %v", got, err)
	}
	stop := g.LendChecks(t.Context(), "pr-fix", 2, func(_ context.Context, command string) (any, error) {
		if command != "all" {
			return nil, fmt.Errorf("asked for %q", command)
		}
		return []review.Check{{Command: "make lint", State: review.CheckPassed}, {Command: "make test", State: review.CheckFailed, ExitCode: 2, Seconds: 3, Log: strings.Repeat("noise\n", checksText) + "boom\n"}}, nil
	})
	got, err := w.Call(t.Context(), "run_checks", []byte(`{}`))
	if err != nil || !strings.HasPrefix(got, "1 of 2 verify commands do not pass on the tree as it is now\npassed: make lint\nfailed: make test, exit status 2\n(") ||
		!strings.Contains(got, "bytes before this are missing)\nnoise\n") || !strings.HasSuffix(got, "\nboom\n") || len(got) > checksText+500 {
		t.Errorf("%.300s (%d bytes) %v", got, len(got), err)
	}
	if got, err := w.Call(t.Context(), "run_checks", []byte(`{"command":"make test"}`)); !errors.As(err, &why) || !strings.Contains(why.Message, `asked for "make test"`) {
		t.Errorf("%s %v", got, err)
	}
	if got, err := w.Call(t.Context(), "run_checks", []byte(`{}`)); !errors.As(err, &why) || why.Code != tools.Limit {
		t.Errorf("beyond the bound: %s %v", got, err)
	}
	stop()
	if got, err := w.Call(t.Context(), "run_checks", []byte(`{}`)); !errors.As(err, &why) || why.Code != tools.Unavailable {
		t.Errorf("after the end: %s %v", got, err)
	}
	none, err := openEditor(review.Task{Terms: &review.FixTerms{}}, p, nil)(review.Workspace{Tree: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if got, err := none.Call(t.Context(), "run_checks", []byte(`{}`)); err == nil {
		t.Errorf("without commands there is the tool: %s", got)
	}
}
