package pushpolicy

import (
	"fmt"
	"strings"
	"testing"
)

func TestYAMLTexts(t *testing.T) {
	got, err := yamlTexts("a: &x [1, {b: 'c d'}]\n---\n# e\nf: *x\n? [g]\n: |\n  h\n")
	var all []string
	for _, v := range got {
		all = append(all, strings.Join(append(v.below, v.text), "/"))
	}
	const want = "a a/1 a/b a/b/c d f f/1 f/b f/b/c d g /h\n"
	if s := strings.Join(all, " "); err != nil || s != want {
		t.Errorf("%q, %v", s, err)
	}
}

// What has no end, or nearly so, is not read.
func TestYAMLWithoutEnd(t *testing.T) {
	twice := "a0: &a0 [x]\n"
	for i := range 30 {
		twice += fmt.Sprintf("a%d: &a%[1]d [*a%d, *a%[2]d]\n", i+1, i)
	}
	for what, text := range map[string]string{
		"an alias of itself":    "a: &a [*a]\n",
		"aliases of aliases":    twice,
		"brackets":              strings.Repeat("[", IncludedBytes),
		"keys below each other": strings.Repeat("{a: ", 5000) + strings.Repeat("}", 5000),
		"no YAML":               "a: b: c\n",
	} {
		if got, err := yamlTexts(text); err == nil {
			t.Errorf("%s: %d texts", what, len(got))
		}
	}
}
