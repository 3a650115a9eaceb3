package identity

import "github.com/prloop/prloop/review"

// Known holds findings whose texts were read once, to be compared many times, as measuring does.
type Known struct{ all []sight }

// Know reads findings.
func Know(findings []review.Finding) Known { return Known{seen(findings, nil)} }

// Join is Join of the findings at these indexes. The groups hold positions in which.
func (k Known) Join(which []int) [][]int {
	some := make([]sight, len(which))
	for i, at := range which {
		some[i] = k.all[at]
	}
	return join(some)
}

// Similarity compares what two findings say: 0 is nothing in common, 1 the same words.
func (k Known) Similarity(i, j int) float64 { return k.all[i].text.similarity(k.all[j].text) }

// Overlap is the plain measure of the specs: the significant words two findings share, divided by those of the shorter
// one. Nothing is decided by it; Similarity is held against it.
func (k Known) Overlap(i, j int) float64 {
	return overShorter(k.all[i].text.words, k.all[j].text.words)
}
