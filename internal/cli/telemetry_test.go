package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
)

// seenSpan is a span as a collector reads it.
type seenSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value map[string]any
	}
}

func (s seenSpan) get(name string) string {
	for _, a := range s.Attributes {
		for _, v := range a.Value {
			if a.Key == name {
				data, _ := json.Marshal(v)
				return string(data)
			}
		}
	}
	return ""
}

// TestTelemetry runs prloop with a collector: a trace of the run, its agents and their calls, metrics by OpenTelemetry's
// names, and nothing of what was said, read or held secret.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var spans []seenSpan
	var metrics, everything, header string
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		everything += string(data)
		header = r.Header.Get("X-Collector-Key")
		if r.URL.Path == "/v1/metrics" {
			metrics = string(data)
			return
		}
		var w struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []seenSpan } }
		}
		if err := json.Unmarshal(data, &w); err != nil {
			t.Error(err)
			return
		}
		spans = append(spans, w.ResourceSpans[0].ScopeSpans[0].Spans...)
	}))
	t.Cleanup(c.Close)
	m := endpoint(t, fakemodel.Script{Respond: passing})
	_, env, home := budgetWorld(t, m, "limits: {max_llm_calls: 12, max_tool_calls: 50}", nil)
	r := budgetRun(t, append(env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-collector-key=collector-secret-0123456789"), home, 3)

	named := func(name string) []seenSpan {
		return slices.DeleteFunc(slices.Clone(spans), func(s seenSpan) bool { return s.Name != name })
	}
	root, agent, calls := named("prloop run"), named("invoke_agent model"), named("chat scripted")
	if len(root) != 1 || len(agent) != 1 || len(named("invoke_agent second")) != 1 || len(calls) != len(m.Requests()) {
		t.Fatalf("%d runs, %d agents, %d calls of %d: %+v", len(root), len(agent), len(calls), len(m.Requests()), spans)
	}
	if root[0].get("prloop.outcome") != `"changes_requested"` || root[0].get("prloop.run") != `"`+r.Run+`"` || agent[0].ParentSpanID != root[0].SpanID {
		t.Errorf("the run is %+v, its agent %+v", root[0], agent[0])
	}
	for _, s := range calls {
		for name, want := range map[string]string{
			"gen_ai.operation.name": `"chat"`, "gen_ai.request.model": `"scripted"`, "gen_ai.response.model": `"scripted"`, "gen_ai.agent.name": `"model"`, "server.address": `"127.0.0.1"`,
		} {
			if s.get(name) != want {
				t.Errorf("%s is %s, want %s", name, s.get(name), want)
			}
		}
		if s.ParentSpanID != agent[0].SpanID || s.TraceID != root[0].TraceID || s.get("gen_ai.usage.input_tokens") == "" || s.get("gen_ai.response.finish_reasons") == "" {
			t.Errorf("the call is %+v", s)
		}
	}
	for _, name := range []string{"gen_ai.client.token.usage", "gen_ai.client.operation.duration", "prloop.usage.cost", "prloop.runs"} {
		if !strings.Contains(metrics, `"name":"`+name+`"`) {
			t.Errorf("%s is not measured: %s", name, metrics)
		}
	}
	for _, text := range []string{"Count(", "shelves", "stock.go", "fails for an empty", "You said", "collector-secret", canaryKey, "prloop-"} {
		if strings.Contains(everything, text) {
			t.Errorf("%q left with the telemetry", text)
		}
	}
	if header != "collector-secret-0123456789" {
		t.Errorf("the collector was sent the key %q", header)
	}
}

// A collector that is away, or named wrongly, costs no review.
func TestTelemetryTrouble(t *testing.T) {
	t.Parallel()
	m := endpoint(t, fakemodel.Script{Respond: passing})
	_, env, home := budgetWorld(t, m, "", nil)
	budgetRun(t, append(env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"), home, 3)
	got := start(t, append(env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"), home, "prloop", "run", "7", "-R", "acme/widgets")
	if got.status != 2 || !strings.Contains(string(got.stderr), "only http/json") {
		t.Errorf("exit %d\n%s", got.status, got.stderr)
	}
}
