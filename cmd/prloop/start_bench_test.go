package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

// heavy are packages whose initialisation every process would pay for, by import path prefix, with the reason.
var heavy = map[string]string{
	"github.com/go-enry/go-enry":           "compiles Linguist's rules: 40 ms and 16 MB; internal/repocontext has tables of its own",
	"github.com/alecthomas/chroma":         "reads 250 lexers and 60 styles; reports are shown by internal/markdown",
	"github.com/charmbracelet/glamour":     "pulls chroma; reports are shown by internal/markdown",
	"github.com/cli/go-gh/v2/pkg/markdown": "pulls glamour and with it chroma; reports are shown by internal/markdown",
	"go.opentelemetry.io/otel/exporters":   "links gRPC and protobuf: 15 MB and 20 modules; internal/otlp speaks OTLP's JSON",
	"github.com/tiktoken-go/tokenizer":     "carries vocabularies of megabytes; tokens are estimated by repocontext.Estimate",
}

// TestNothingHeavyIsLinked holds decision 18: one binary plays all roles, so what one role links every child starts with.
func TestNothingHeavyIsLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".", "../gh-review-loop").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 100 {
		t.Fatalf("only %d packages are listed", len(deps))
	}
	for _, dep := range deps {
		for prefix, reason := range heavy {
			if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
				t.Errorf("%s is linked again (go list -deps ./cmd/prloop): it %s; see docs/decisions/0018-nothing-heavy-at-start.md", dep, reason)
			}
		}
	}
}

// smallTask is a static reviewer's request about one changed line.
func smallTask(b *testing.B) []byte {
	b.Helper()
	diff := "diff --git a/rows.go b/rows.go\n--- a/rows.go\n+++ b/rows.go\n@@ -11,2 +11,3 @@ func rows(w http.ResponseWriter, r *http.Request) {\n" +
		" \tdb := open()\n+\tfmt.Println(\"here\")\n \tlist(w, db)\n"
	text, err := json.Marshal(review.Task{Version: review.TaskVersion, Role: review.RoleReviewer, Agent: "static", PRNumber: 7, Run: "r", Round: 1,
		Repo:    review.Repo{Host: "github.com", Owner: "octocat", Name: "shop"},
		BaseSHA: strings.Repeat("a", 40), HeadSHA: strings.Repeat("b", 40),
		Brief: review.Brief{Status: "ok", Files: []review.BriefFile{{Path: "rows.go", Change: "modified", Language: "go", Additions: 1,
			Hunks: 1, HunksGiven: 1, Diff: diff}}}})
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkStart starts the program that make build makes, as a person and as a run does. The goals are 30 ms and 25 MB for a builtin
// child. It reports wall and user time and, on Linux, memory: maxrss-MB counts the mapped pages of the program's file too,
// which all its processes share and whose number depends on how the system caches files (and never tells less than this test
// binary held when it started the child); anon-MB, of a child that waits for its task, is what each process costs.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	if out, err := exec.CommandContext(b.Context(), "make", "-C", filepath.Join("..", ".."), "build", "BIN="+dir).CombinedOutput(); err != nil {
		b.Fatalf("make build: %v\n%s", err, out)
	}
	bin := filepath.Join(dir, "prloop")
	for _, row := range []struct {
		name  string
		args  []string
		stdin []byte
		want  string
	}{
		{"version", []string{"version"}, nil, "prloop"},
		{"static", []string{"agent", "static"}, smallTask(b), `"findings"`},
	} {
		b.Run(row.name, func(b *testing.B) {
			var user time.Duration
			var rss int64
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), bin, row.args...)
				cmd.Stdin = bytes.NewReader(row.stdin)
				out, err := cmd.Output()
				if err != nil || !strings.Contains(string(out), row.want) {
					b.Fatalf("prloop %v: %v\n%s", row.args, err, out)
				}
				user += cmd.ProcessState.UserTime()
				rss = max(rss, maxRSS(cmd.ProcessState))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "wall-ms")
			b.ReportMetric(float64(user.Microseconds())/1000/float64(b.N), "user-ms")
			if rss > 0 {
				b.ReportMetric(float64(rss)/(1<<20), "maxrss-MB")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	b.Run("waiting", func(b *testing.B) {
		cmd := exec.CommandContext(b.Context(), bin, "agent", "static")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if anon := anonymous(b, cmd.Process.Pid); anon > 0 {
				b.ReportMetric(float64(anon)/(1<<20), "anon-MB")
			}
		}
		b.ReportMetric(0, "ns/op")
		_ = stdin.Close()
		_ = cmd.Wait() // no task is an error of that child, not of this measurement
	})
}
