package identity_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// BenchmarkJoinWorst is what five reviewers can do to us within the caps on an answer: 200 long findings each, all about
// one place. How well findings are recognised is measured in internal/eval.
func BenchmarkJoinWorst(b *testing.B) {
	bench, err := eval.Read(os.DirFS("../eval/testdata/bench"))
	if err != nil {
		b.Fatal(err)
	}
	var all []review.Finding
	for i, p := range bench.Pairs() {
		for _, tool := range p.Tools {
			long := eval.Findings(fmt.Sprint("r", i%5), tool.Findings)
			for k := range long {
				long[k].Description = strings.Repeat(long[k].Title+" ", 10)
			}
			all = append(all, long...)
		}
	}
	all = all[:1000]
	for b.Loop() {
		identity.Join(all)
	}
}
