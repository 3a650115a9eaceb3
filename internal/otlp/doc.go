// Package otlp sends traces and metrics to the operator's OpenTelemetry collector: OTLP over HTTP in its JSON encoding,
// which every collector takes on the same port as the binary one. It knows spans, counters and histograms, no more, so that
// it costs nothing at start and links no module (decision 22). What stands in attributes is up to the caller.
package otlp
