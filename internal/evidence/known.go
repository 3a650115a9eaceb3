package evidence

import (
	"math"
	"slices"
	"strings"
)

// knownLeast is how long a line is at least that says whose code it is, in bytes without white space.
const knownLeast = 16

// Known are the lines of some parts of the file as they are known again elsewhere, without white space: as they are where one of them is long enough and stands only once in the
// file, otherwise with the nearest such line above them, or below.
func (f File) Known(parts [][2]int) (ways [][]string) {
	if len(parts) == 0 {
		return nil
	}
	times := map[string]int{}
	for _, line := range f.dense(1, math.MaxInt) {
		times[line]++
	}
	known := func(line string) bool { return len(line) >= knownLeast && times[line] == 1 }
	var code []string
	for _, p := range parts {
		code = append(code, f.dense(p[0], p[1])...)
	}
	if slices.ContainsFunc(code, known) {
		return [][]string{code}
	}
	above, below := f.dense(1, parts[0][0]-1), f.dense(parts[len(parts)-1][1]+1, math.MaxInt)
	slices.Reverse(above)
	if i := slices.IndexFunc(above, known); i >= 0 {
		ways = append(ways, slices.Concat(above[i:i+1], code))
	}
	if i := slices.IndexFunc(below, known); i >= 0 {
		ways = append(ways, slices.Concat(code, below[i:i+1]))
	}
	return ways
}

// AnyKnown reports whether lines as Known gives them stand among others in order, in one of the ways, whatever white space is in these.
func AnyKnown(ways [][]string, lines []string) bool {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(denseLine(line))
	}
	return slices.ContainsFunc(ways, func(code []string) bool {
		rest := b.String()
		for _, line := range code {
			_, behind, ok := strings.Cut(rest, line)
			if !ok {
				return false
			}
			rest = behind
		}
		return true
	})
}
