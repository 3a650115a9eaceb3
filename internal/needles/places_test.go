package needles

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// An index finds what strings.HasSuffix does, at each place the longest word.
func TestEachPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab\xff"[r.IntN(3)]
		}
		return string(b)
	}
	for range 5000 {
		words := make([]string, r.IntN(9))
		for i := range words {
			words[i] = draw(r.IntN(7))
		}
		text := draw(r.IntN(30))
		found := make([]string, len(text)+1)
		NewIndex(words).Each(text, func(start, end int) { found[end] = text[start:end] })
		for end := range found {
			want := ""
			for _, w := range words {
				if strings.HasSuffix(text[:end], w) && len(w) > len(want) {
					want = w
				}
			}
			if found[end] != want {
				t.Fatalf("%q in %q: %q ends at %d, want %q", words, text, found[end], end, want)
			}
		}
	}
}

// The work is in proportion to the text and the words, also where all of them are nearly alike.
func TestWorkOnPlacesIsLinear(t *testing.T) {
	for _, n := range []int{100, 1000} {
		var words []string
		for i := range n {
			words = append(words, strings.Repeat("aR7q", 5+i/2)+string(rune('0'+i%2)))
		}
		text := strings.Repeat("aR7q", 100*n)
		all := 0
		for _, w := range words {
			all += len(w)
		}
		x := NewIndex(words)
		if looked := x.each(text, func(int, int) { t.Fatal("no word stands there") }); looked > 2*len(text) || len(x.nodes) > all+1 {
			t.Errorf("%d words of %d bytes make %d nodes, of which %d are looked at for %d bytes", n, all, len(x.nodes), looked, len(text))
		}
	}
}
