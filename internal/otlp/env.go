package otlp

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Options say where to send. Their zero value sends nowhere.
type Options struct {
	// Endpoint is the collector's base address; /v1/traces and /v1/metrics are added. Empty exports nothing.
	Endpoint string
	// Headers are sent with every request; their values may be secret.
	Headers map[string]string
	// Resource describes who sends; service.name is among it.
	Resource map[string]string
	// Timeout bounds one request, default 10 s.
	Timeout time.Duration
	// Every is how often is sent, default 5 s.
	Every time.Duration
	// Log is told, once, that the collector does not take what is sent.
	Log hclog.Logger
}

// timeout is the default of the specification.
const timeout = 10 * time.Second

// FromEnv reads the variables of OpenTelemetry's specification: OTEL_EXPORTER_OTLP_ENDPOINT, without which nothing is exported,
// _HEADERS, _TIMEOUT and _PROTOCOL, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_SDK_DISABLED.
func FromEnv(env func(name string) string) (Options, error) {
	o := Options{Endpoint: strings.TrimRight(env("OTEL_EXPORTER_OTLP_ENDPOINT"), "/"), Timeout: timeout}
	if o.Endpoint == "" || strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return Options{}, nil
	}
	at, err := url.Parse(o.Endpoint)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return Options{}, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: want http(s)://host:port, without user and query")
	}
	switch p := env("OTEL_EXPORTER_OTLP_PROTOCOL"); p {
	case "", "http/json", "http/protobuf": // collectors take JSON wherever they take protobuf over HTTP
	default:
		return Options{}, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: %.40q is not spoken, only http/json", p)
	}
	if o.Headers, err = pairs(env("OTEL_EXPORTER_OTLP_HEADERS")); err != nil {
		return Options{}, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	if o.Resource, err = pairs(env("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return Options{}, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if name := env("OTEL_SERVICE_NAME"); name != "" {
		o.Resource["service.name"] = name
	}
	if ms := env("OTEL_EXPORTER_OTLP_TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return Options{}, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT: %.40q is not a number of milliseconds", ms)
		}
		o.Timeout = time.Duration(n) * time.Millisecond
	}
	return o, nil
}

// pairs reads name=value,name=value with percent escapes. Errors do not quote values.
func pairs(s string) (map[string]string, error) {
	out := map[string]string{}
	for i, item := range strings.Split(s, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("item %d is not name=value", i+1)
		}
		out[name] = value
	}
	return out, nil
}

// Secrets are the values of the headers, sorted.
func (o Options) Secrets() []string { return slices.Sorted(maps.Values(o.Headers)) }
