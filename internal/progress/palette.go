package progress

import "github.com/prloop/prloop/review"

// palette colours text, or leaves it alone (NO_COLOR).
type palette bool

func (p palette) paint(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p palette) dim(s string) string  { return p.paint("2", s) }
func (p palette) bold(s string) string { return p.paint("1", s) }

func (p palette) state(state review.AgentState, s string) string {
	switch state {
	case review.AgentComplete:
		return p.paint("32", s)
	case review.AgentDegraded:
		return p.paint("33", s)
	case review.AgentFailed:
		return p.paint("31", s)
	case review.AgentWaiting:
		return p.dim(s)
	}
	return s
}

func (p palette) priority(pr review.Priority, s string) string {
	switch pr {
	case review.P0:
		return p.paint("1;31", s)
	case review.P1:
		return p.paint("31", s)
	case review.P2:
		return p.paint("33", s)
	}
	return p.dim(s)
}

func (p palette) outcome(o review.Outcome, s string) string {
	switch o {
	case review.Converged, review.LGTM:
		return p.paint("1;32", s)
	case review.Failed:
		return p.paint("1;31", s)
	}
	return p.paint("1;33", s)
}
