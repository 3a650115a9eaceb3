package otlp

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"
)

// The wire shapes of OTLP's JSON encoding: identifiers in hex, 64-bit whole numbers as text.
type (
	wireTraces struct {
		ResourceSpans []wireResourceSpans `json:"resourceSpans"`
	}
	wireResourceSpans struct {
		Resource   wireResource     `json:"resource"`
		ScopeSpans []wireScopeSpans `json:"scopeSpans"`
	}
	wireScopeSpans struct {
		Scope wireScope  `json:"scope"`
		Spans []wireSpan `json:"spans"`
	}
	wireSpan struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		ParentID   string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []wireAttr  `json:"attributes,omitempty"`
		Status     *wireStatus `json:"status,omitempty"`
	}
	wireStatus struct {
		Code int `json:"code"`
	}
	wireMetrics struct {
		ResourceMetrics []wireResourceMetrics `json:"resourceMetrics"`
	}
	wireResourceMetrics struct {
		Resource     wireResource       `json:"resource"`
		ScopeMetrics []wireScopeMetrics `json:"scopeMetrics"`
	}
	wireScopeMetrics struct {
		Scope   wireScope    `json:"scope"`
		Metrics []wireMetric `json:"metrics"`
	}
	wireMetric struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitempty"`
		Unit        string         `json:"unit,omitempty"`
		Histogram   *wireHistogram `json:"histogram,omitempty"`
		Sum         *wireSum       `json:"sum,omitempty"`
	}
	wireHistogram struct {
		Temporality int         `json:"aggregationTemporality"`
		Points      []wirePoint `json:"dataPoints"`
	}
	wireSum struct {
		Temporality int         `json:"aggregationTemporality"`
		Monotonic   bool        `json:"isMonotonic"`
		Points      []wirePoint `json:"dataPoints"`
	}
	wirePoint struct {
		Attributes []wireAttr `json:"attributes,omitempty"`
		Start      string     `json:"startTimeUnixNano"`
		Time       string     `json:"timeUnixNano"`
		Value      *float64   `json:"asDouble,omitempty"`
		Count      string     `json:"count,omitempty"`
		Sum        *float64   `json:"sum,omitempty"`
		Min        *float64   `json:"min,omitempty"`
		Max        *float64   `json:"max,omitempty"`
		Buckets    []string   `json:"bucketCounts,omitempty"`
		Bounds     []float64  `json:"explicitBounds,omitempty"`
	}
	wireResource struct {
		Attributes []wireAttr `json:"attributes"`
	}
	wireScope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	wireAttr struct {
		Key   string    `json:"key"`
		Value wireValue `json:"value"`
	}
	wireValue struct {
		Text   *string    `json:"stringValue,omitempty"`
		Whole  *string    `json:"intValue,omitempty"`
		Real   *float64   `json:"doubleValue,omitempty"`
		Truth  *bool      `json:"boolValue,omitempty"`
		Values *wireArray `json:"arrayValue,omitempty"`
	}
	wireArray struct {
		Values []wireValue `json:"values"`
	}
)

// Numbers of the protocol.
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
	cumulative   = 2
)

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// attributes writes a set in the order of its names. Values of other types than text, whole number, real number, truth and
// list of texts are left out.
func attributes[V any](set map[string]V) []wireAttr {
	var out []wireAttr
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if v, ok := value(set[name]); ok {
			out = append(out, wireAttr{name, v})
		}
	}
	return out
}

func value(v any) (w wireValue, ok bool) {
	switch v := v.(type) {
	case string:
		w.Text = &v
	case int:
		n := strconv.Itoa(v)
		w.Whole = &n
	case float64:
		w.Real = &v
	case bool:
		w.Truth = &v
	case []string:
		w.Values = &wireArray{Values: []wireValue{}}
		for _, s := range v {
			w.Values.Values = append(w.Values.Values, wireValue{Text: &s})
		}
	default:
		return w, false
	}
	return w, true
}

func (s Span) wire() wireSpan {
	w := wireSpan{
		TraceID: hex.EncodeToString(s.Trace[:]), SpanID: hex.EncodeToString(s.ID[:]), Name: s.Name, Kind: kindInternal,
		Start: nanos(s.Start), End: nanos(s.End), Attributes: attributes(s.Attributes),
	}
	if s.Parent != (ID{}) {
		w.ParentID = hex.EncodeToString(s.Parent[:])
	}
	if s.Client {
		w.Kind = kindClient
	}
	if s.Failed {
		w.Status = &wireStatus{statusError}
	}
	return w
}
