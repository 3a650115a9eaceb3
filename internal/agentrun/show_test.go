package agentrun

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// The gateway leaves what reviewers with a model are told of the change, in their prompt and in its diffs; it masks what the static
// reviewer and fixers are told, and what agents and the repository's instructions add.
func TestWhatTheGatewayIsShown(t *testing.T) {
	const value = "value-of-a-rule"
	var got string
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		var body struct{ Messages []struct{ Content string } }
		if err := json.Unmarshal(data, &body); err != nil || len(body.Messages) != 1 {
			t.Errorf("%v: %s", err, data)
			return
		}
		got = body.Messages[0].Content
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer far.Close()
	for _, c := range []struct {
		kind string
		role review.Role
		kept bool
	}{
		{review.KindBuiltin, review.RoleReviewer, true}, {review.KindACP, review.RoleReviewer, true}, {review.KindCommand, review.RoleReviewer, true},
		{review.KindStatic, review.RoleReviewer, false}, {review.KindBuiltin, review.RoleFixer, false},
	} {
		g, err := gateway.Start(t.Context(), gateway.Options{
			Upstreams: []gateway.Upstream{{Name: "far", BaseURL: far.URL}}, Mask: func(s string) string { return strings.ReplaceAll(s, value, "#") },
		})
		if err != nil {
			t.Fatal(err)
		}
		plan := orchestrator.AgentPlan{Name: "one", Role: c.role, Kind: c.kind}
		task := taskOf(plan)
		task.Options.Fence, task.Body, task.Prompt = "0123456789abcdef01234567", "body "+value, "Mind "+value+"."
		task.Earlier = []review.Finding{{ID: "A-1", Priority: review.P1, Title: "title " + value, File: "a.py"}}
		task.Brief.Files = []review.BriefFile{{Path: "a.py", Change: "added", Hunks: 1, HunksGiven: 1, Additions: 1,
			Diff: "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+" + value + "()\n"}}
		(&Launcher{Gateway: g}).show(plan, task)
		brief, err := prompts.Brief(task, task.Options.Fence)
		if err != nil {
			t.Fatal(err)
		}
		text := brief + "\n" + task.Brief.Files[0].Diff + "\n" + task.Prompt + "\nan agent's " + value
		body, err := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": text}}})
		if err != nil {
			t.Fatal(err)
		}
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(string(body)))
		q.Header.Set("Authorization", "Bearer "+g.Issue("one", review.Limits{LLMCalls: 1}, "m"))
		got = ""
		g.ServeHTTP(httptest.NewRecorder(), q)
		lines := strings.Split(got, "\n")
		for _, line := range []string{"body " + value, "     1 +" + value + "()", "+" + value + "()"} {
			if slices.Contains(lines, line) != c.kept {
				t.Errorf("%s %s: %q is kept: %v\n%s", c.kind, c.role, line, !c.kept, got)
			}
		}
		if strings.Contains(got, "Mind "+value) || strings.Contains(got, "title "+value) || !strings.HasSuffix(got, "an agent's #") {
			t.Errorf("%s %s: what others wrote is sent as it is:\n%s", c.kind, c.role, got)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}
