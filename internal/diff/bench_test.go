package diff

import (
	"fmt"
	"strings"
	"testing"
)

// big is a diff of 3,001 files and about 500,000 lines.
func big() string {
	var b strings.Builder
	for i := range 3001 {
		fmt.Fprintf(&b, "diff --git a/dir%d/file%d.go b/dir%d/file%d.go\nindex 1111111..2222222 100644\n--- a/dir%d/file%d.go\n+++ b/dir%d/file%d.go\n", i%50, i, i%50, i, i%50, i, i%50, i)
		for h := range 4 {
			fmt.Fprintf(&b, "@@ -%d,30 +%d,30 @@ func f%d() {\n", h*100+1, h*100+1, h)
			for l := range 18 {
				fmt.Fprintf(&b, " \tcontext line number %d of a usual length\n", l)
			}
			for l := range 12 {
				fmt.Fprintf(&b, "-\told line number %d of a usual length\n+\tnew line number %d of a usual length\n", l, l)
			}
		}
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	text := big()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := Parse(text)
		if err != nil || len(d.Files) != 3001 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(strings.Count(text, "\n")), "lines")
}
