package orchestrator

// MaxRounds is the hard cap (spec.md L1).
const MaxRounds = 3

// rounds is the cap on rounds. Where nobody fixes there is nothing to review again.
func (r Request) rounds() int {
	if r.Fix == nil || r.DryRun {
		return 1
	}
	if r.Rounds > 0 {
		return min(r.Rounds, MaxRounds)
	}
	return MaxRounds
}
