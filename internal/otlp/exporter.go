package otlp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// ID names a span; TraceID what it belongs to.
type (
	ID      [8]byte
	TraceID [16]byte
)

// NewID draws a span's name.
func NewID() (id ID) { _, _ = rand.Read(id[:]); return id } // never fails

// NewTraceID draws a trace's name.
func NewTraceID() (id TraceID) { _, _ = rand.Read(id[:]); return id } // never fails

// Span is a piece of work that has ended.
type Span struct {
	Trace      TraceID
	ID, Parent ID
	Name       string
	// Client marks a call to somebody else.
	Client     bool
	Start, End time.Time
	// Attributes are texts, whole and real numbers, truths, or lists of texts.
	Attributes map[string]any
	Failed     bool
}

// spansLimit bounds what waits for a collector that does not answer; the oldest are dropped.
const spansLimit = 2048

// Exporter sends what it is given in the background. A nil one takes everything and sends nothing.
type Exporter struct {
	o       Options
	client  *http.Client
	scope   wireScope
	started time.Time
	stop    context.CancelFunc
	done    chan struct{}

	mu     sync.Mutex
	spans  []Span
	meters map[string]*meter
	// fresh is true when metrics changed since they were sent; told when the log knows of the trouble.
	fresh, told bool
}

// Start begins to export until Close; nil when there is nowhere to send to. scope names the program and its version.
func Start(o Options, scope, version string) *Exporter {
	if o.Endpoint == "" {
		return nil
	}
	o.Timeout, o.Every = cmp.Or(o.Timeout, timeout), cmp.Or(o.Every, 5*time.Second)
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	o.Resource = maps.Clone(o.Resource)
	if o.Resource == nil {
		o.Resource = map[string]string{}
	}
	o.Resource["service.name"] = cmp.Or(o.Resource["service.name"], "prloop")
	o.Resource["service.version"] = cmp.Or(o.Resource["service.version"], version)
	ctx, stop := context.WithCancel(context.Background())
	e := &Exporter{
		o: o, scope: wireScope{scope, version}, started: time.Now(), stop: stop, done: make(chan struct{}), meters: map[string]*meter{},
		client: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: o.Timeout}).DialContext, TLSHandshakeTimeout: o.Timeout,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	go e.run(ctx)
	return e
}

func (e *Exporter) run(ctx context.Context) {
	defer close(e.done)
	tick := time.NewTicker(e.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.flush(ctx)
		}
	}
}

// Add takes a span.
func (e *Exporter) Add(s Span) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep(append(e.spans, s))
}

func (e *Exporter) keep(spans []Span) {
	e.spans = spans[max(0, len(spans)-spansLimit):]
}

// Record adds a value to an instrument.
func (e *Exporter) Record(i *Instrument, v float64, set map[string]any) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.meters[i.Name] == nil {
		e.meters[i.Name] = &meter{Instrument: *i, points: map[string]*point{}}
	}
	e.meters[i.Name].record(v, set)
	e.fresh = true
}

// Close sends what is left, for no longer than one request may take, and ends.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	e.stop()
	<-e.done
	ctx, cancel := context.WithTimeout(context.Background(), e.o.Timeout)
	defer cancel()
	e.flush(ctx)
	e.client.CloseIdleConnections()
}

// flush sends what there is. Spans that were not taken wait for the next time; metrics are sums and need no such care.
func (e *Exporter) flush(ctx context.Context) {
	e.mu.Lock()
	spans, fresh := e.spans, e.fresh
	e.spans, e.fresh = nil, false
	metrics := e.metrics()
	e.mu.Unlock()
	var failed []error
	if len(spans) > 0 {
		if err := e.send(ctx, "/v1/traces", e.traces(spans)); err != nil {
			failed = append(failed, err)
			e.mu.Lock()
			e.keep(append(spans, e.spans...))
			e.mu.Unlock()
		}
	}
	if fresh {
		if err := e.send(ctx, "/v1/metrics", metrics); err != nil {
			failed = append(failed, err)
			e.mu.Lock()
			e.fresh = true
			e.mu.Unlock()
		}
	}
	if err := errors.Join(failed...); err != nil && !e.told {
		e.told = true
		e.o.Log.Warn("the OpenTelemetry collector does not take what is sent", "err", err)
	}
}

func (e *Exporter) traces(spans []Span) wireTraces {
	list := make([]wireSpan, len(spans))
	for i, s := range spans {
		list[i] = s.wire()
	}
	return wireTraces{[]wireResourceSpans{{wireResource{attributes(e.o.Resource)}, []wireScopeSpans{{e.scope, list}}}}}
}

// metrics writes all instruments; the caller holds the lock.
func (e *Exporter) metrics() wireMetrics {
	var list []wireMetric
	now := time.Now()
	for _, name := range slices.Sorted(maps.Keys(e.meters)) {
		list = append(list, e.meters[name].wire(e.started, now))
	}
	return wireMetrics{[]wireResourceMetrics{{wireResource{attributes(e.o.Resource)}, []wireScopeMetrics{{e.scope, list}}}}}
}

// send makes one request. Errors name neither address nor headers.
func (e *Exporter) send(ctx context.Context, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.o.Endpoint+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	for name, v := range e.o.Headers {
		req.Header.Set(name, v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "prloop")
	resp, err := e.client.Do(req)
	var at *url.Error
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("send to %s: %w", path, at.Err)
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("send to %s: HTTP %d", path, resp.StatusCode)
	}
	return nil
}
