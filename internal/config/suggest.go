package config

import (
	"slices"
	"strings"
)

// Nearest gives the candidate that was probably meant by word, or nothing. Spelling differences that people make by
// habit (case, dashes, underscores) cost nothing; else up to a third of the letters may differ.
func Nearest(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	best, bestCost := "", len(plain(word))/3+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if cost := distance(plain(word), plain(c)); cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// distance is the number of insertions, deletions, replacements and swaps of neighbours between two words.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
