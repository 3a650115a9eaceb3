package repocontext

import (
	"unicode/utf8"
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
