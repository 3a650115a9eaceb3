package lineends

import (
	"slices"
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
