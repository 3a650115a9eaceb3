package webfetch

import (
	"fmt"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for page, want := range map[string]string{
		"<html><head><title>Docs</title><meta a=b></head><body>It is <b>so</b>.</body>":   "It is so.",
		"a<!-- b --><script>c('<p>')</script ><style>d</style><svg><text>e</text></svg>f": "a    f",
		"<p>one</p><div class=x>two<br>three</div><ul><li>4</ul>":                         "one\ntwo\nthree\n4",
		"a &lt;b&gt; &amp;lt; &#x41;":                                                     "a <b> &lt; A",
		"<script>'<!--'</script>seen --> more":                                            "seen --> more",
		"<!-- <script> -->seen<script></script>":                                          "seen",
		"<noscript><p>seen</p></noscript>":                                                "seen",
		"<textarea><b>seen</b></textarea>":                                                "seen",
		"1 < 2 and 3 > 2":                                                                 "1 < 2 and 3 > 2",
		"<head><title>a page without an end<p>x":                                          "a page without an end\nx",
		"<svg><text>a picture without an end<p>x":                                         "a picture without an end\nx",
		"<script src=x /><p>seen":                                                         "seen",
		"seen<script>without an end<p>x":                                                  "seen",
		"seen<!-- without an end<p>x":                                                     "seen",
		"":                                                                                "",
	} {
		if got := words(page); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// unclosed are parts that never end, beside some that do: whoever looks for the end of each reads the rest of the page each time (threats.md T50).
var unclosed = []string{"<!--<script></script>", "<head><style></style>", "<svg><!-- -->", "<head><svg></svg>", "<script><!--", "<title>", "<", "<a ", "<a b=c ", "<p ", "<!", "</", "&amp;&#", "\n \n x"}

// The largest page takes no longer than a page does, however it is made.
func TestWordsOfTheLargestPage(t *testing.T) {
	for _, part := range unclosed {
		words(strings.Repeat(part, bodyLimit/len(part)))
	}
}

// BenchmarkWords has about the same MB/s for pages of all sizes.
func BenchmarkWords(b *testing.B) {
	for _, part := range unclosed {
		for _, size := range []int{bodyLimit / 100, bodyLimit / 10, bodyLimit} {
			page := strings.Repeat(part, size/len(part))
			b.Run(fmt.Sprintf("%q/%d", part, size), func(b *testing.B) {
				b.SetBytes(int64(len(page)))
				for b.Loop() {
					words(page)
				}
			})
		}
	}
}
