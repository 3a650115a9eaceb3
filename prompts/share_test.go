package prompts

import "github.com/prloop/prloop/review"

// Share says how much of their prompts reviewers have in common.
type Share struct {
	Reviewers int
	// Common is the length of the common beginning, Total of all prompts together, in bytes.
	Common, Total int
}

// Ratio is the part of all bytes sent that is common beginning, 0 to 1; the goal is 0.95.
func (s Share) Ratio() float64 { return float64(s.Common*s.Reviewers) / float64(max(1, s.Total)) }

// measured are the lenses of the five reviewers Measure compares.
var measured = []string{"correctness", "security", "tests-contracts", "design", "performance"}

// Measure renders the prompts of five reviewers of one task, each with its own lens and name.
func Measure(t review.Task, fence string) (Share, error) {
	brief, err := Brief(t, fence)
	if err != nil {
		return Share{}, err
	}
	s := Share{Reviewers: len(measured)}
	var first string
	for i, lens := range measured {
		tail, err := Tail(Part{Agent: lens, Lens: lens, Findings: review.DefaultLimits().Findings, Threshold: 5, Elevation: 5, Extra: t.Prompt})
		if err != nil {
			return Share{}, err
		}
		text := System() + brief + tail
		s.Total += len(text)
		if i == 0 {
			first = text
			s.Common = len(text)
			continue
		}
		n := 0
		for n < min(s.Common, len(text)) && first[n] == text[n] {
			n++
		}
		s.Common = n
	}
	return s, nil
}
