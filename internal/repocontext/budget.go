package repocontext

import (
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
)

// bytesPerToken is what code in diffs comes to with current tokenizers, rounded down so that the estimate errs to the safe
// side; a test compares it with the o200k vocabulary.
const bytesPerToken = 3

// Estimate is the number of tokens a text takes, roughly: one for three ASCII bytes, one for each other character. A real
// count differs by model, costs 80 ms to load and grows slow on odd input; an estimate is enough (spec.md R7).
func Estimate(s string) int {
	other, bytes := 0, 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < utf8.RuneSelf {
			bytes++
		} else if utf8.RuneStart(c) {
			other++
		}
	}
	return (bytes+bytesPerToken-1)/bytesPerToken + other
}

// fileOverhead is what naming a file in a prompt costs.
const fileOverhead = 20

// cutHunks gives as many leading hunks of a file's diff as fit into budget tokens, and how many these are.
func cutHunks(f *diff.File, budget int) (text string, hunks, cost int) {
	cost = Estimate(f.Header()) + fileOverhead
	end := len(f.Header())
	for i := range f.Hunks {
		more := Estimate(f.Hunks[i].Raw)
		if cost+more > budget {
			break
		}
		cost += more
		end += len(f.Hunks[i].Raw)
		hunks++
	}
	if hunks == 0 {
		return "", 0, 0
	}
	return spelling.Text(f.Raw[:end]), hunks, cost
}

// fits reports whether a file's first hunk, or all of a file without hunks, goes into budget tokens.
func fits(f *diff.File, budget int) bool {
	cost := Estimate(f.Header()) + fileOverhead
	if len(f.Hunks) > 0 {
		cost += Estimate(f.Hunks[0].Raw)
	}
	return cost <= budget
}
