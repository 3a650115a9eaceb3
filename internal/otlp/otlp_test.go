package otlp

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// collector keeps what it is sent.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	bodies map[string][]string
	header http.Header
}

func collect(t *testing.T) *collector {
	c := &collector{bodies: map[string][]string{}, status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.status == http.StatusOK {
			c.bodies[r.URL.Path] = append(c.bodies[r.URL.Path], string(data))
		}
		c.header = r.Header
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

// The bytes on the wire are OTLP's JSON encoding: hex ids, 64-bit numbers as text, enumerations as numbers.
func TestWire(t *testing.T) {
	c := collect(t)
	e := Start(Options{Endpoint: c.URL, Headers: map[string]string{"X-Key": "v"}, Resource: map[string]string{"service.name": "mine"}, Every: time.Hour}, "scope", "1")
	at := time.Unix(0, 1_700_000_000_000_000_001)
	e.Add(Span{
		Trace: TraceID{1}, ID: ID{2}, Parent: ID{3}, Name: "chat m", Client: true, Start: at, End: at.Add(5), Failed: true,
		Attributes: map[string]any{"b": 7, "a": "x", "c": []string{"stop"}, "d": 0.5, "e": true, "f": struct{}{}},
	})
	count := &Instrument{Name: "spent", Unit: "USD", Description: "Money."}
	took := &Instrument{Name: "took", Unit: "s", Bounds: []float64{1, 2}}
	e.Record(count, 0.25, map[string]any{"m": "x"})
	e.Record(count, 0.5, map[string]any{"m": "x"})
	for _, v := range []float64{0.5, 1, 3} {
		e.Record(took, v, nil)
	}
	e.Close()
	if c.header.Get("X-Key") != "v" || c.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", c.header)
	}
	want := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"mine"}},{"key":"service.version","value":{"stringValue":"1"}}]},` +
		`"scopeSpans":[{"scope":{"name":"scope","version":"1"},"spans":[{"traceId":"01000000000000000000000000000000","spanId":"0200000000000000",` +
		`"parentSpanId":"0300000000000000","name":"chat m","kind":3,"startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000000000006",` +
		`"attributes":[{"key":"a","value":{"stringValue":"x"}},{"key":"b","value":{"intValue":"7"}},{"key":"c","value":{"arrayValue":{"values":[{"stringValue":"stop"}]}}},` +
		`{"key":"d","value":{"doubleValue":0.5}},{"key":"e","value":{"boolValue":true}}],"status":{"code":2}}]}]}]}`
	if d := cmp.Diff([]string{want}, c.bodies["/v1/traces"]); d != "" {
		t.Error(d)
	}
	metrics := strings.Join(c.bodies["/v1/metrics"], "\n")
	for _, part := range []string{
		`"name":"spent","description":"Money.","unit":"USD","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"attributes":[{"key":"m","value":{"stringValue":"x"}}]`,
		`"asDouble":0.75}`, `"count":"3","sum":4.5,"min":0.5,"max":3,"bucketCounts":["2","0","1"],"explicitBounds":[1,2]`,
	} {
		if !strings.Contains(metrics, part) {
			t.Errorf("%s is missing in\n%s", part, metrics)
		}
	}
}

// A collector that is away costs nothing but its time limit, and gets the spans when it is back.
func TestPatience(t *testing.T) {
	c := collect(t)
	c.status = http.StatusServiceUnavailable
	e := Start(Options{Endpoint: c.URL, Every: time.Hour}, "s", "1")
	for range spansLimit + 10 {
		e.Add(Span{Name: "x"})
	}
	e.flush(t.Context())
	c.mu.Lock()
	c.status = http.StatusOK
	c.mu.Unlock()
	e.Close()
	var w wireTraces
	if len(c.bodies["/v1/traces"]) != 1 || json.Unmarshal([]byte(c.bodies["/v1/traces"][0]), &w) != nil || len(w.ResourceSpans[0].ScopeSpans[0].Spans) != spansLimit {
		t.Errorf("%d requests were taken", len(c.bodies["/v1/traces"]))
	}
	var off *Exporter
	off.Add(Span{})
	off.Record(&Instrument{}, 1, nil)
	off.Close()
}

// However many sets of attributes come, the points stay bounded.
func TestPointsAreBounded(t *testing.T) {
	m := meter{Instrument: Instrument{Name: "n"}, points: map[string]*point{}}
	for i := range 3 * pointsLimit {
		m.record(1, map[string]any{"i": i})
	}
	total := 0.0
	for _, p := range m.points {
		total += p.sum
	}
	if len(m.points) > pointsLimit+1 || total != 3*pointsLimit {
		t.Errorf("%d points, %v in all", len(m.points), total)
	}
}

func TestFromEnv(t *testing.T) {
	const key = "OTEL_EXPORTER_OTLP_"
	for _, c := range []struct {
		rule string
		env  map[string]string
		want Options
		bad  string
	}{
		{"without an endpoint nothing is exported", map[string]string{key + "HEADERS": "a=b", key + "PROTOCOL": "grpc"}, Options{}, ""},
		{"the switch of the specification", map[string]string{key + "ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "TRUE"}, Options{}, ""},
		{"all there is", map[string]string{key + "ENDPOINT": "http://c:4318/", key + "HEADERS": "authorization=Bearer%20x,y=z", key + "TIMEOUT": "500",
			"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,team=a"},
			Options{Endpoint: "http://c:4318", Headers: map[string]string{"authorization": "Bearer x", "y": "z"}, Timeout: 500 * time.Millisecond,
				Resource: map[string]string{"service.name": "mine", "team": "a"}}, ""},
		{"gRPC is not spoken", map[string]string{key + "ENDPOINT": "http://c:4317", key + "PROTOCOL": "grpc"}, Options{}, "PROTOCOL"},
		{"no password in the address", map[string]string{key + "ENDPOINT": "http://u:secret-word@c"}, Options{}, "ENDPOINT"},
		{"headers are pairs", map[string]string{key + "ENDPOINT": "http://c", key + "HEADERS": "secret-word"}, Options{}, "HEADERS"},
		{"a time-out is milliseconds", map[string]string{key + "ENDPOINT": "http://c", key + "TIMEOUT": "1s"}, Options{}, "TIMEOUT"},
	} {
		got, err := FromEnv(func(n string) string { return c.env[n] })
		if (err != nil) != (c.bad != "") || err != nil && (!strings.Contains(err.Error(), c.bad) || strings.Contains(err.Error(), "secret-word")) {
			t.Errorf("%s: %v", c.rule, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.rule, d)
		}
	}
}
