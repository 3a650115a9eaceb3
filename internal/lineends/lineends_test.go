package lineends

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                      {""},
		"a\r":                   {"a"},
		"a\r\n":                 {"a"},
		"a\rb":                  {"a", "b"},
		"a\r\r\vb\f":            {"a", "b", ""},
		"a\u0085b\u2028c":       {"a", "b", "c"},
		"a\u2029\x1cb\x1d\x1ec": {"a", "b", "c"},
		"à\tb\x85":              {"à\tb\x85"},
	} {
		if got := Split(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for line, want := range map[string]int{
		"": 1, "x": 1, "x\r": 1, strings.Repeat("x", 199): 1, strings.Repeat("x", 199) + "\r": 1, strings.Repeat("x", 200): 2, strings.Repeat("x", 30_000): 151,
		"a\rb\r\u2028c": 4, strings.Repeat("x = 1\r", 600): 617,
	} {
		if got := Size(line); got != want {
			t.Errorf("%.20q of %d bytes: %d, want %d", line, len(line), got, want)
		}
	}
}
