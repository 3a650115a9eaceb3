// Package metrics shows what a process that serves, or works for one, is at and has done, for Prometheus. Every label has few values, which prloop
// or its operator chose: no repository, branch, person or text of a pull request is in it.
package metrics

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// Source is where figures of a moment come from.
type Source interface {
	// Backlog counts what is open in the database.
	Backlog(context.Context) (store.Backlog, error)
	// Paused is since when no review may begin; zero when one may.
	Paused(context.Context) (time.Time, error)
	// Live names the runs of this process, Budgets are what GitHub lets it ask.
	Live() []string
	Budgets() []github.Budget
}

// Options of a set of metrics.
type Options struct {
	Source  Source
	Version string
	// Accounts are the owners that are served: budgets of other installations are told as those of "other", since anybody may install an App.
	Accounts []string
	Log      hclog.Logger
}

// Metrics are those of one process. It is an app.Meter.
type Metrics struct {
	Options
	registry *prometheus.Registry

	ended      *prometheus.CounterVec
	worked     prometheus.Histogram
	phases     *prometheus.HistogramVec
	calls      *prometheus.CounterVec
	dollars    *prometheus.CounterVec
	tokens     *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	refused    *prometheus.CounterVec

	mu     sync.Mutex
	models map[string]bool
}

// mostModels is how many models have figures of their own; further ones share a label.
const mostModels = 50

// phases take from seconds to an hour.
var seconds = []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 3600}

// New makes the metrics of a process.
func New(o Options) *Metrics {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	m := &Metrics{Options: o, registry: prometheus.NewRegistry(), models: map[string]bool{}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	m.ended = counter("prloop_runs_ended_total", "Runs that this process ended, by outcome.", "outcome")
	m.calls = counter("prloop_model_calls_total", "Calls to models, by model and what became of them.", "model", "fate")
	m.dollars = counter("prloop_model_cost_dollars_total", "What calls to models cost, where it is known.", "model")
	m.tokens = counter("prloop_model_tokens_total", "Tokens of calls to models, by model and kind.", "model", "kind")
	m.deliveries = counter("prloop_webhook_deliveries_total", "Deliveries of webhooks that were written down, by event.", "event")
	m.refused = counter("prloop_webhook_refused_total", "Deliveries of webhooks that were refused, by HTTP status.", "status")
	m.worked = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "prloop_run_work_seconds", Help: "How long this process was at work on a run.", Buckets: seconds})
	m.phases = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "prloop_run_phase_seconds", Help: "How long phases of a run took, for each agent or command.", Buckets: seconds}, []string{"phase"})
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "prloop_build_info", Help: "Always 1; the label is the version.", ConstLabels: prometheus.Labels{"version": o.Version}})
	info.Set(1)
	m.registry.MustRegister(m.worked, m.phases, info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), moment{m})
	return m
}

// Called hears of a call to a model.
func (m *Metrics) Called(o gateway.Observation) {
	model, _ := o.Attributes[gateway.AttrRequestModel].(string)
	model = m.model(model)
	fate, _ := o.Attributes[gateway.AttrFate].(string)
	m.calls.WithLabelValues(model, fate).Inc()
	if usd, known := o.Attributes[gateway.AttrCostUSD].(float64); known && usd > 0 {
		m.dollars.WithLabelValues(model).Add(usd)
	}
	for kind, name := range map[string]string{"input": gateway.AttrInputTokens, "output": gateway.AttrOutputTokens} {
		if n, known := o.Attributes[name].(int); known && n > 0 {
			m.tokens.WithLabelValues(model, kind).Add(float64(n))
		}
	}
}

// model is the label of a model: the gateway lets agents ask only those that are configured, and there are few.
func (m *Metrics) model(name string) string {
	if name == "" {
		return "none"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.models[name] {
		if len(m.models) >= mostModels {
			return "other"
		}
		m.models[name] = true
	}
	return strings.ToValidUTF8(name, "?")
}

// Ended hears how a run ended.
func (m *Metrics) Ended(r review.RunResult) {
	m.ended.WithLabelValues(string(r.Outcome)).Inc()
	for _, round := range r.Rounds {
		for _, a := range round.Agents {
			if a.Seconds > 0 {
				m.phases.WithLabelValues(string(a.Role)).Observe(a.Seconds)
			}
		}
		if round.Fix == nil {
			continue
		}
		for _, c := range slices.Concat(round.Fix.Checks, round.Fix.PushedChecks) {
			if c.Seconds > 0 {
				m.phases.WithLabelValues("verify").Observe(c.Seconds)
			}
		}
	}
}

// Worked hears how long this process was at work on a run.
func (m *Metrics) Worked(d time.Duration) { m.worked.Observe(d.Seconds()) }

// known are the events that have figures of their own.
var known = append(github.AppEvents(), "installation", "installation_repositories", "ping")

// Heard hears of a delivery that was written down.
func (m *Metrics) Heard(event string) {
	if !slices.Contains(known, event) {
		event = "other"
	}
	m.deliveries.WithLabelValues(event).Inc()
}

// Refused hears of a delivery that was refused.
func (m *Metrics) Refused(status int, _ string) {
	m.refused.WithLabelValues(http.StatusText(status)).Inc()
}

// moment reads the figures of a moment when it is asked.
type moment struct{ *Metrics }

var (
	waiting  = prometheus.NewDesc("prloop_queue_waiting", "Pull requests and comments that wait to be seen to, by priority; of all processes.", []string{"priority"}, nil)
	oldest   = prometheus.NewDesc("prloop_queue_oldest_seconds", "How long the oldest of them has waited.", nil, nil)
	paused   = prometheus.NewDesc("prloop_queue_paused", "1 while no review may begin.", nil, nil)
	leases   = prometheus.NewDesc("prloop_leases", "Pull requests that runs hold at the moment; of all processes.", nil, nil)
	unkept   = prometheus.NewDesc("prloop_files_unkept", "Files of runs that the blob store does not have yet; of all processes.", nil, nil)
	live     = prometheus.NewDesc("prloop_runs_live", "Runs that this process is at work on.", nil, nil)
	up       = prometheus.NewDesc("prloop_database_up", "1 when the database answered this scrape.", nil, nil)
	left     = prometheus.NewDesc("prloop_github_requests_left", "Requests that GitHub still allows, as it said last.", []string{"account", "resource"}, nil)
	allowed  = prometheus.NewDesc("prloop_github_requests_limit", "Requests that GitHub allows in an hour, as it said last.", []string{"account", "resource"}, nil)
	describe = []*prometheus.Desc{waiting, oldest, paused, leases, unkept, live, up, left, allowed}
)

func (moment) Describe(to chan<- *prometheus.Desc) {
	for _, d := range describe {
		to <- d
	}
}

// patience is how long the database may take for a scrape.
const patience = 5 * time.Second

func (m moment) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(live, float64(len(m.Source.Live())))
	m.collectBudgets(gauge)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f, err := m.Source.Backlog(ctx)
	var since time.Time
	if err == nil {
		since, err = m.Source.Paused(ctx)
	}
	if err != nil { // the others are told all the same
		m.Log.Warn("the database did not answer a scrape", "err", err)
		gauge(up, 0)
		return
	}
	gauge(up, 1)
	for priority, word := range queue.Priorities {
		gauge(waiting, float64(f.Waiting[priority]), word)
	}
	gauge(oldest, f.Oldest.Seconds())
	gauge(leases, float64(f.Leases))
	gauge(unkept, float64(f.Unkept))
	isPaused := 0.0
	if !since.IsZero() {
		isPaused = 1
	}
	gauge(paused, isPaused)
}

// collectBudgets tells the least that is left of each account.
func (m moment) collectBudgets(gauge func(*prometheus.Desc, float64, ...string)) {
	type key struct{ account, resource string }
	least := map[key]github.Budget{}
	for _, b := range m.Source.Budgets() {
		k := key{"login", b.Resource}
		if b.Account != "" {
			k.account = "other"
			for _, a := range m.Accounts {
				if strings.EqualFold(a, b.Account) {
					k.account = strings.ToLower(a)
				}
			}
		}
		if have, some := least[k]; !some || b.Remaining < have.Remaining {
			least[k] = b
		}
	}
	for k, b := range least {
		gauge(left, float64(b.Remaining), k.account, k.resource)
		gauge(allowed, float64(b.Limit), k.account, k.resource)
	}
}

// Handler answers scrapes at /metrics.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 2 * patience}))
	return mux
}

// Serve answers scrapes until ctx ends.
func (m *Metrics) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case <-ctx.Done():
		return s.Close()
	case err := <-failed:
		return err
	}
}
