package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
)

// TestKnownJoinsAsJoinDoes guards the figures: what is measured must be what runs use.
func TestKnownJoinsAsJoinDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := numbered(anyFindings().Draw(t, "findings"))
		var some []review.Finding
		var which []int
		for i := range all {
			if rapid.Bool().Draw(t, "in") {
				some, which = append(some, all[i]), append(which, i)
			}
		}
		if d := cmp.Diff(Join(some), Know(all).Join(which)); d != "" {
			t.Fatal(d)
		}
	})
}

func TestOverlapIsOfTheShorterText(t *testing.T) {
	k := Know([]review.Finding{{Title: "The map is written by two goroutines"}, {Title: "map written"}, {Title: "the by"}})
	for _, row := range []struct {
		i, j int
		want float64
	}{{0, 1, 1}, {1, 0, 1}, {0, 2, 0}} {
		if got := k.Overlap(row.i, row.j); got != row.want {
			t.Errorf("%d and %d share %v, want %v", row.i, row.j, got, row.want)
		}
	}
	if got, want := k.Similarity(0, 1), profileOf("The map is written by two goroutines").similarity(profileOf("map written")); got != want {
		t.Errorf("similarity %v, want %v", got, want)
	}
}
