package static

import (
	"testing"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/dismissals"
)

// Lines that dismiss a secret are known by its title where they were written before lines said that they are for a value (threats.md T459).
func TestTitlesOfSecretsAreKnown(t *testing.T) {
	whats := []string{"a private key", "a secret written into the code", "a password inside an address", "an AWS secret access key", "a token in the form of its issuer"}
	for _, k := range tokens {
		whats = append(whats, k.what)
	}
	f := &file{path: "a.py", lines: []diff.Line{{New: 1, Text: "x"}}}
	for _, what := range whats {
		title := secretHit(f, 0, "x", what, true).title
		list, faults := dismissals.Read([]byte("0123456789abcdef | P1 security | a.py | " + title + " | mona | - | so"))
		if len(list) != 1 || !list[0].Mark.Value {
			t.Errorf("%q: %+v %v", title, list, faults)
		}
	}
}
