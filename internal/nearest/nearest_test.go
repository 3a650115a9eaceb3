package nearest

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	served := []string{"gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "o3", "llama3.2"}
	for _, c := range []struct {
		word string
		most int
		want []string
	}{
		{"gpt-4.1-mni", 3, []string{"gpt-4.1-mini", "gpt-4.1", "gpt-4.1-nano"}},
		{"gpt-4.1-mni", 1, []string{"gpt-4.1-mini"}},
		{"GPT_4.1", 1, []string{"gpt-4.1"}},
		{"claude", 3, nil},
		{"", 3, nil},
	} {
		if got := Names(c.word, served, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.word, got, c.want)
		}
	}
	if got := Name("claude", served); got != "" {
		t.Errorf("%q is near nothing", got)
	}
}
