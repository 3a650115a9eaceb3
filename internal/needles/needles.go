// Package needles finds out which of many words stand in a text, in one reading of it.
package needles

import "strings"

// Set is a list of words to look for.
type Set struct {
	words []string
	// heads are the words by their first three bytes; short ones have fewer, and are looked for one by one.
	heads [1 << headBits][]uint16
	short []int
}

const headBits = 12

// New makes a set. The words keep their places in the list.
func New(words []string) *Set {
	s := &Set{words: words}
	for i, w := range words {
		if len(w) < 3 {
			s.short = append(s.short, i)
			continue
		}
		h := head(w[0], w[1], w[2])
		s.heads[h] = append(s.heads[h], uint16(i))
	}
	return s
}

func head(a, b, c byte) uint32 {
	return (uint32(a)*2654435761 ^ uint32(b)*40503 ^ uint32(c)*2246822519>>7) >> 3 & (1<<headBits - 1)
}

// Found says which words were found.
type Found []bool

// Any reports whether one of the words from place i on, n of them, was found.
func (f Found) Any(i, n int) bool {
	for _, found := range f[i : i+n] {
		if found {
			return true
		}
	}
	return false
}

// In looks for the words in a text.
func (s *Set) In(text string) Found {
	found := make(Found, len(s.words))
	for _, i := range s.short {
		found[i] = strings.Contains(text, s.words[i])
	}
	for at := 0; at+3 <= len(text); at++ {
		for _, i := range s.heads[head(text[at], text[at+1], text[at+2])] {
			if !found[i] && strings.HasPrefix(text[at:], s.words[i]) {
				found[i] = true
			}
		}
	}
	return found
}
