package needles

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A set answers what strings.Contains does, for each word.
func TestInIsContains(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab\xff_"[r.IntN(4)]
		}
		return string(b)
	}
	for range 2000 {
		words := make([]string, r.IntN(9))
		for i := range words {
			words[i] = word(r.IntN(6))
		}
		text := word(r.IntN(20))
		found := New(words).In(text)
		for i, w := range words {
			if found[i] != strings.Contains(text, w) {
				t.Fatalf("%q in %q: %v", w, text, found[i])
			}
			if found.Any(i, 1) != found[i] || found.Any(i, 0) {
				t.Fatal("Any asks for other words")
			}
		}
	}
}
