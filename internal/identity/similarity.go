package identity

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Weights of the three views of a text, and the threshold. All were fitted by logistic regression on one half of the
// labelled pairs (docs/eval.md) and scaled so that the weights add up to one; the threshold is where that half
// has three in a hundred false matches under one-to-one assignment.
const (
	wordWeight = 0.41
	partWeight = 0.27
	gramWeight = 0.32
	Threshold  = 0.25
)

// akin is how alike two wordings of one reviewer are at least that quote the same code and are about the same problem: none of the pairs of docs/eval.md is less
// alike, and four in ten about different problems of the same lines are.
const akin = 0.18

// profile is a text as the comparison sees it: three sorted sets.
// Members are hashes of words, or four characters of 16 bits each.
type profile struct{ words, parts, grams []uint64 }

// maxText is how many bytes of a text are compared: the title and the first paragraphs say which problem is meant, and
// comparing must stay cheap whatever an agent writes.
const maxText = 1000

func profileOf(text string) profile {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return profile{wordsOf(text), partsOf(text), gramsOf(text)}
}

// similarity compares two texts: 0 is nothing in common, 1 the same words. Findings alike in place are the same one
// from Threshold up. It is the weighted mean of three overlaps: of words as written, and of word stems and the parts of
// identifiers, each divided by the shorter text; and of runs of four letters, divided by the geometric mean.
func (p profile) similarity(q profile) float64 {
	return wordWeight*overShorter(p.words, q.words) + partWeight*overShorter(p.parts, q.parts) + gramWeight*overMean(p.grams, q.grams)
}

func overShorter(a, b []uint64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return float64(shared(a, b)) / float64(min(len(a), len(b)))
}

func overMean(a, b []uint64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return float64(shared(a, b)) / math.Sqrt(float64(len(a))*float64(len(b)))
}

// shared counts what two sorted sets have in common.
func shared(a, b []uint64) int {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}

// hash is FNV-1a. Two words with one hash would count as one, once in a very long while.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func set(list []uint64) []uint64 {
	slices.Sort(list)
	return slices.Compact(list)
}

// tokens splits a text into words and identifiers.
func tokens(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// wordsOf are the significant words as written, identifiers whole.
func wordsOf(text string) []uint64 {
	var out []uint64
	for _, w := range tokens(strings.ToLower(text)) {
		if len(w) > 1 && !stop[w] {
			out = append(out, hash(w))
		}
	}
	return set(out)
}

// partsOf are stems of words and of the parts of identifiers (getUserName, get_user_name), and each identifier of
// several parts once more as a whole, so that naming the same symbol counts twice.
func partsOf(text string) []uint64 {
	var out []uint64
	for _, id := range tokens(text) {
		parts := split(id)
		if len(parts) > 1 {
			out = append(out, hash("#"+strings.ToLower(strings.ReplaceAll(id, "_", ""))))
		}
		for _, p := range parts {
			if len(p) > 1 && !stop[p] {
				out = append(out, hash(stem(p)))
			}
		}
	}
	return set(out)
}

// split cuts an identifier at underscores and at changes of case: HTTPServer is http, server.
func split(id string) []string {
	var parts []string
	runes := []rune(id)
	start := 0
	cut := func(end int) {
		if end > start {
			parts = append(parts, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case r == '_':
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]):
			cut(i)
		case i > start && unicode.IsUpper(runes[i-1]) && unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			cut(i)
		}
	}
	cut(len(runes))
	return parts
}

// suffixes are cut longest first; the stem keeps three letters. Both sides are cut alike, so a stem need not be a word.
var suffixes = strings.Fields("ations ation ingly edly ments ment ities ity ness ings ing ables able ibles ible ions ion ives ive ers er ies ied ed es ly s e")

func stem(w string) string {
	for _, s := range suffixes {
		if strings.HasSuffix(w, s) && len(w)-len(s) >= 3 {
			return w[:len(w)-len(s)]
		}
	}
	return w
}

// gramsOf are the runs of four characters, everything but letters and digits folded to one blank. They see what stems
// miss: compounds, typing errors, words within identifiers.
func gramsOf(text string) []uint64 {
	var out []uint64
	var window uint64
	blank, n := false, 0
	push := func(r rune) {
		window = window<<16 | uint64(uint16(r))
		if n++; n >= 4 {
			out = append(out, window)
		}
		blank = r == ' '
	}
	push(' ')
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			push(r)
		case !blank:
			push(' ')
		}
	}
	if !blank {
		push(' ')
	}
	return set(out)
}

// stop are words that say nothing about which problem is meant.
var stop = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or but if then else of to in on for with without by from at as is are was were
		be been being this that these those it its which who whom whose what when where why how all any both each few more most
		other some such no nor not only own same so than too very can could will would shall should may might must do does did
		doing have has had having there here into onto over under again further once because while during before after above
		below between through about against up down out off i you he she we they them their his her our your my me us also
		instead however since even still just like using use used uses via per e g etc`) {
		m[w] = true
	}
	return m
}()
