package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

type source struct {
	err    error
	paused time.Time
}

func (s source) Backlog(context.Context) (store.Backlog, error) {
	return store.Backlog{Waiting: map[uint]int64{intake.Command: 1, intake.Found: 7}, Oldest: 90 * time.Second, Leases: 2, Unkept: 3}, s.err
}

func (s source) Paused(context.Context) (time.Time, error) { return s.paused, s.err }

func (source) Live() []string { return []string{"a", "b"} }

func (source) Budgets() []github.Budget {
	return []github.Budget{
		{Account: "Acme", Resource: "core", Limit: 5000, Remaining: 40}, {Account: "acme", Resource: "core", Limit: 5000, Remaining: 4000},
		{Account: "stranger", Resource: "core", Limit: 5000, Remaining: 4999}, {Resource: "graphql", Limit: 5000, Remaining: 12},
	}
}

// busy is a process that has done one of each.
func busy(s source) *Metrics {
	m := New(Options{Source: s, Version: "v1", Accounts: []string{"acme"}})
	m.Called(gateway.Observation{Attributes: map[string]any{gateway.AttrRequestModel: "gpt-4.1", gateway.AttrFate: "answered", gateway.AttrCostUSD: 0.25,
		gateway.AttrInputTokens: 1000, gateway.AttrOutputTokens: 50, gateway.AttrResponseModel: "whatever the endpoint says", gateway.AttrAgent: "agent of a pull request"}})
	m.Called(gateway.Observation{Attributes: map[string]any{gateway.AttrFate: "denied"}})
	m.Ended(review.RunResult{Outcome: review.Converged, Reason: "text of a pull request", Rounds: []review.RoundResult{{
		Agents: []review.AgentReceipt{{Name: "agent of a pull request", Role: review.RoleReviewer, Seconds: 12}},
		Fix:    &review.FixOutcome{Checks: []review.Check{{Command: "make check of a pull request", Seconds: 3}}},
	}}})
	m.Worked(20 * time.Second)
	m.Heard("pull_request")
	m.Heard("an_event_nobody_knows")
	m.Refused(401, "the signature of the delivery is wrong")
	return m
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	return string(body)
}

func TestMetrics(t *testing.T) {
	m := busy(source{})
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("the linter of Prometheus says %+v, %v", problems, err)
	}
	text := scrape(t, m)
	for _, want := range []string{
		`prloop_queue_waiting{priority="asked for"} 1`, `prloop_queue_waiting{priority="found"} 7`, `prloop_queue_waiting{priority="new"} 0`,
		`prloop_queue_oldest_seconds 90`, `prloop_queue_paused 0`, `prloop_leases 2`, `prloop_files_unkept 3`, `prloop_runs_live 2`, `prloop_database_up 1`,
		`prloop_runs_ended_total{outcome="converged"} 1`, `prloop_run_phase_seconds_sum{phase="reviewer"} 12`, `prloop_run_phase_seconds_sum{phase="verify"} 3`,
		`prloop_run_work_seconds_sum 20`, `prloop_model_cost_dollars_total{model="gpt-4.1"} 0.25`, `prloop_model_tokens_total{kind="input",model="gpt-4.1"} 1000`,
		`prloop_model_calls_total{fate="denied",model="none"} 1`, `prloop_webhook_deliveries_total{event="pull_request"} 1`, `prloop_webhook_deliveries_total{event="other"} 1`,
		`prloop_webhook_refused_total{status="Unauthorized"} 1`, `prloop_github_requests_left{account="acme",resource="core"} 40`,
		`prloop_github_requests_left{account="other",resource="core"} 4999`, `prloop_github_requests_left{account="login",resource="graphql"} 12`,
		`prloop_build_info{version="v1"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	for _, never := range []string{"pull request\"", "stranger", "whatever", "nobody_knows", "make check"} {
		if strings.Contains(text, never) {
			t.Errorf("what others chose stands in the metrics: %q", never)
		}
	}
	if text := scrape(t, busy(source{paused: time.Now()})); !strings.Contains(text, "\nprloop_queue_paused 1\n") {
		t.Error("a pause does not show")
	}
}

// A database that does not answer costs its own figures alone.
func TestDatabaseDown(t *testing.T) {
	text := scrape(t, busy(source{err: errors.New("gone")}))
	if !strings.Contains(text, "\nprloop_database_up 0\n") || !strings.Contains(text, "\nprloop_runs_live 2\n") || strings.Contains(text, "prloop_queue_waiting{") || strings.Contains(text, "gone") {
		t.Errorf("without a database:\n%s", text)
	}
}

// However many models agents name, labels stay few.
func TestModelsAreBounded(t *testing.T) {
	m := New(Options{Source: source{}})
	for i := range 5 * mostModels {
		m.Called(gateway.Observation{Attributes: map[string]any{gateway.AttrRequestModel: fmt.Sprint("model-", i), gateway.AttrFate: "answered"}})
	}
	if n := strings.Count(scrape(t, m), "\nprloop_model_calls_total{"); n != mostModels+1 {
		t.Errorf("%d models have figures of their own", n)
	}
}

// docs/telemetry.md has a row for each metric, with its type, and no other.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	var told, are []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(prloop_[a-z_]+)` \\| ([a-z]+) \\| [^|]+ \\| [^|]+ \\| [^|]+ \\|$").FindAllStringSubmatch(string(doc), -1) {
		told = append(told, row[1]+" "+row[2])
	}
	all, err := busy(source{}).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if strings.HasPrefix(f.GetName(), "prloop_") {
			are = append(are, f.GetName()+" "+strings.ToLower(f.GetType().String()))
		}
	}
	slices.Sort(told)
	slices.Sort(are)
	if !slices.Equal(told, are) {
		t.Errorf("documented are\n%s\nand there are\n%s", strings.Join(told, "\n"), strings.Join(are, "\n"))
	}
}
