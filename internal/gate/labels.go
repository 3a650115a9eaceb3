package gate

import (
	"slices"
	"time"

	"github.com/prloop/prloop/review"
)

// The labels that change the policy for one pull request.
const (
	// Advisory softens it to Presence.
	Advisory = "pr-reviewer:advisory"
	// Strict hardens it to Verdict.
	Strict = "pr-reviewer:strict"
)

// Labels are both of them.
var Labels = []string{Advisory, Strict}

// Labelling is how a label came to stand on a pull request.
type Labelling struct {
	Label string `json:"label"`
	// By is who set it last; empty when GitHub does not tell.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
	// Permission is what GitHub says By may do with the repository, asked when the label was read; empty when it could not be told.
	Permission string `json:"permission,omitempty"`
	// Author is true when By opened the pull request, ByApp when an app did: for By, perhaps.
	Author bool `json:"author,omitempty"`
	ByApp  bool `json:"by_app,omitempty"`
}

// refused says why a label does not count; empty when it does.
func (p Plan) refused(l Labelling) string {
	switch {
	case p.Policy == Off:
		return "the gate is off"
	case !slices.Contains(p.Labels, l.Label):
		return "`gate_labels` does not allow it"
	case l.By == "":
		return "who set it cannot be told"
	case l.Permission == "":
		return "whether who set it may write to the repository cannot be told"
	case !review.MayWrite(l.Permission):
		return "who set it may not write to the repository"
	case l.Author && l.Label == Advisory:
		return "the author alone cannot soften the gate"
	case l.ByApp && l.Label == Advisory && l.Permission != "admin": // who may change the protection of the branch anyway
		return "an app opened the pull request, perhaps for who set it: only an administrator can soften the gate"
	}
	return ""
}

// effective is the policy that holds with the labels, and what became of each of these. Of both labels the strict one holds.
func (p Plan) effective(labels []Labelling) (Policy, []review.GateLabel) {
	var said []review.GateLabel
	set := map[string]bool{}
	for _, l := range labels {
		g := review.GateLabel{Name: l.Label, By: l.By, At: l.At, Refused: p.refused(l)}
		set[l.Label] = set[l.Label] || g.Refused == ""
		said = append(said, g)
	}
	for i := range said {
		if said[i].Name == Advisory && said[i].Refused == "" && set[Strict] {
			said[i].Refused = "the label " + Strict + " holds"
		}
	}
	switch {
	case set[Strict]:
		return Verdict, said
	case set[Advisory]:
		return Presence, said
	}
	return p.Policy, said
}
