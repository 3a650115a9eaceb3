// Package nearest finds the names that were probably meant by one that nobody knows.
package nearest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Name gives the candidate that was probably meant by word, or nothing. Spelling differences that people make by
// habit (case, dashes, underscores) cost nothing; else up to a third of the letters may differ.
func Name(word string, candidates []string) string {
	if found := Names(word, candidates, 1); len(found) > 0 {
		return found[0]
	}
	return ""
}

// Names gives up to most candidates that may have been meant, the nearest first.
func Names(word string, candidates []string, most int) []string {
	if len(word) > 64 {
		return nil
	}
	cost := map[string]int{}
	for _, c := range candidates {
		if d := distance(plain(word), plain(c)); d <= len(plain(word))/3 {
			cost[c] = d
		}
	}
	found := slices.SortedFunc(maps.Keys(cost), func(a, b string) int { return cmp.Or(cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b)) })
	return found[:min(most, len(found))]
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
