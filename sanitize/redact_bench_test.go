//go:build unix

package sanitize

import (
	"os"
	"strings"
	"testing"
)

// BenchmarkRedact is 60 kB, the longest comment: of prose, of code, and of nothing but secrets (docs/eval.md "Redaction").
func BenchmarkRedact(b *testing.B) {
	prose, err := os.ReadFile("testdata/README.md")
	if err != nil {
		b.Fatal(err)
	}
	code, err := os.ReadFile("tripwire.go")
	if err != nil {
		b.Fatal(err)
	}
	for name, unit := range map[string]string{"prose": string(prose), "code": string(code), "secrets": "api_key = \"8f14e45fceea167a5a36dedd4bea2543\"\n"} {
		text := strings.Repeat(unit, 60_000/len(unit)+1)[:60_000]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			start := cpu(b)
			for b.Loop() {
				Redact(text)
			}
			b.ReportMetric((cpu(b)-start).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}
