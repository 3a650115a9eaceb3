package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestReasonsAreTheOperators: what a model endpoint and a program say of why they give no answer, and what they are called, is for the operator:
// prloop show has it, and the report says what kind of failure it is (threats.md T681).
func TestReasonsAreTheOperators(t *testing.T) {
	t.Parallel()
	const said = "upstream http://vllm-7.gpu.acme.internal:8000 died at /srv/models/project-x"
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"gpt-4.1","object":"model"}]}`)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"error":{"message":"`+said+`"}}`)
	}))
	t.Cleanup(endpoint.Close)
	for name, row := range map[string]struct {
		// begin makes the reviewer ready and names it; kind is what the report says.
		begin func(h *hall) (reviewer string)
		kind  string
		// secret is what only the operator reads.
		secret []string
	}{
		"a model endpoint": {func(h *hall) string {
			h.env = append(h.env, "OPENAI_API_KEY=sk-a-key-that-is-long-enough", "OPENAI_BASE_URL="+endpoint.URL, "PRLOOP_MODEL=gpt-4.1")
			return "builtin"
		}, "the model endpoint failed: HTTP 500", []string{"vllm-7", "project-x", strings.TrimPrefix(endpoint.URL, "http://")}},
		"a program": {func(h *hall) string {
			const script = "#!/bin/sh\necho 'cannot open /etc/acme/internal.conf for db7.acme.internal' >&2\nexit 3\n"
			if err := os.WriteFile(h.home+"/secretive.sh", []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			return "exec:" + h.home + "/secretive.sh"
		}, "exit status 3", []string{"internal.conf", "db7.acme"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			h.serve("", "--reviewers", row.begin(h))
			p := h.open(7, nil)
			h.within("a report", func() bool { return reports(p) > 0 })
			run := ""
			for _, c := range p.Comments() {
				for _, s := range row.secret {
					if strings.Contains(c.Body, s) {
						t.Errorf("%q is posted:\n%s", s, c.Body)
					}
				}
				if _, after, ok := strings.Cut(c.Body, row.kind+" (whoever runs prloop sees more: `prloop show "); ok {
					run, _, _ = strings.Cut(after, "`")
				}
			}
			if run == "" {
				t.Fatalf("no comment says %q, and of which run: %+v", row.kind, p.Comments())
			}
			h.within("the end", func() bool { return h.wanted()["#7"].Outcome != "" })
			shown := h.run("show", run)
			for _, s := range row.secret {
				if !strings.Contains(shown, s) {
					t.Errorf("the operator does not read %q:\n%s", s, shown)
				}
			}
		})
	}
}
