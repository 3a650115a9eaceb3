package sanitize

import (
	"strings"
	"testing"
	"time"
)

// hostile are megabytes made to cost time.
func hostile() map[string]string {
	var ticks, nest strings.Builder
	for i := 1; i < 1400; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
		nest.WriteString(strings.Repeat(" ", i) + "- a\n")
	}
	return map[string]string{
		"nested quotes":          strings.Repeat(">", 1<<20),
		"nested quotes, spaced":  strings.Repeat("> ", 1<<19),
		"nested list marks":      strings.Repeat("- ", 1<<19),
		"nested lists":           nest.String(),
		"open brackets":          strings.Repeat("[", 1<<20),
		"open images":            strings.Repeat("![a](", 1<<18),
		"links":                  strings.Repeat("[a](b)", 1<<17),
		"definitions":            strings.Repeat("[a]: b\n", 1<<17),
		"runs of backticks":      ticks.String(),
		"emphasis":               strings.Repeat("*a ", 1<<18),
		"mixed emphasis":         strings.Repeat("*a_b~~", 1<<17),
		"tags":                   strings.Repeat("<a ", 1<<18),
		"open comments":          strings.Repeat("<!--", 1<<18),
		"entities":               strings.Repeat("&amp;", 1<<18),
		"one entity, many times": "&" + strings.Repeat("amp;", 1<<18),
		"mentions":               strings.Repeat("@a", 1<<19),
		"one word":               strings.Repeat("a", 1<<20),
		"token lines":            strings.Repeat("ab1234567890 cd\n", 1<<16),
		"token prefixes":         strings.Repeat("ghp_", 1<<18),
		"key headers":            strings.Repeat("-----BEGIN PRIVATE KEY-----\n", 1<<15),
		"diff headers":           strings.Repeat("diff --git a/x b/x\n", 1<<16),
		"table rows":             "|a|b|\n|-|-|\n" + strings.Repeat("|a|b|\n", 1<<17),
		"details":                strings.Repeat("<details>\n", 1<<16) + strings.Repeat("</details>\n", 1<<15),
		"assignments":            strings.Repeat("token = \"a\" ", 1<<16),
		"runes":                  strings.Repeat("\U0001F600", 1<<18),
		"prose":                  strings.Repeat("The quick *brown* fox `jumps` over the lazy dog.\nAnd T1000 has foo_bar, see [x](y).\n\n- item one\n- item two\n\n", 1<<13),
	}
}

// A megabyte takes at most a second (security 7.7). The bound here leaves room for a loaded machine; a quadratic step
// costs minutes. Under the race detector time says nothing, so a tenth of each input looks for races and panics only.
func TestHostileInputTakesLinearTime(t *testing.T) {
	p := testPolicy
	for name, s := range hostile() {
		if underRace {
			s = cut(s, len(s)/10)
		}
		t.Run(name, func(t *testing.T) {
			for what, f := range map[string]func(){
				"Field":  func() { Field(s, p) },
				"Inline": func() { Inline(s, p) },
				"Redact": func() { Redact(s) },
				"Filter": func() {
					if _, err := Filter(s); err != nil {
						t.Errorf("Filter: %v", err)
					}
				},
			} {
				start := time.Now()
				f()
				took := time.Since(start)
				t.Logf("%s: %v", what, took)
				if took > 10*time.Second && !underRace {
					t.Errorf("%s took %v for %d bytes", what, took, len(s))
				}
			}
		})
	}
}
