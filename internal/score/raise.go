package score

import "github.com/prloop/prloop/review"

// raise applies the rule on sensitive repositories. A reviewer that says it has raised a score itself is taken at its own score:
// what is raised already is not raised again.
func (r Rules) raise(f *review.Finding) {
	own := f.Score
	if 0 < f.OriginalScore && f.OriginalScore < own {
		own = f.OriginalScore
	}
	f.OriginalScore = 0
	if !r.Sensitive || own <= 0 || own >= highest || r.Category(f.Category) != review.CategorySecurity {
		return
	}
	f.OriginalScore, f.Score = own, max(f.Score, min(highest, own+promotion))
	f.Priority = graver(f.Priority, review.PriorityOfScore(f.Score))
}

// graver is the more urgent of two priorities. What is no priority at all is the most urgent.
func graver(a, b review.Priority) review.Priority {
	if !a.Valid() || a.Rank() <= b.Rank() {
		return a
	}
	return b
}
