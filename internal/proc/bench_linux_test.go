package proc

import (
	"os"
	"testing"
)

// BenchmarkLook measures one look for what a child left behind, which follows every child.
func BenchmarkLook(b *testing.B) {
	b.ReportAllocs()
	seen := 0
	for b.Loop() {
		all := processes()
		if len(below(all, os.Getpid())) > 0 {
			b.Fatal("this benchmark has children")
		}
		seen = len(all)
	}
	b.ReportMetric(float64(seen), "processes")
}

// BenchmarkDirect measures a child without a leash, as every git command is one.
func BenchmarkDirect(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(b.Context(), Spec{Path: "/bin/true", Direct: true}); err != nil {
			b.Fatal(err)
		}
	}
}
