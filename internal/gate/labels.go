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

// Labelling is the event of a label that was set on a pull request, or taken off.
type Labelling struct {
	Label string `json:"label"`
	// Off is true when it was taken off.
	Off bool `json:"off,omitempty"`
	// Changed is true when the label that stands was made, renamed or edited since.
	Changed bool `json:"changed,omitempty"`
	// By is who did it; empty when GitHub does not tell.
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
	case l.Label == Advisory:
		return l.softens()
	}
	return l.hardens()
}

// softens says why an event does not soften the gate; empty when it does, by setting Advisory or taking Strict off. What cannot be told leaves the gate hard.
func (l Labelling) softens() string {
	switch {
	case l.By == "":
		return "who set it cannot be told"
	case l.Permission == "":
		return "whether who set it may write to the repository cannot be told"
	case !review.MayWrite(l.Permission):
		return "who set it may not write to the repository"
	case l.Author:
		return "the author alone cannot soften the gate"
	case l.ByApp && l.Permission != "admin": // who may change the protection of the branch anyway
		return "an app opened the pull request, perhaps for who set it: only an administrator can soften the gate"
	case l.Changed: // perhaps another label stood then, and this one took its name
		return "the label was made, renamed or edited after that: set it again"
	}
	return ""
}

// hardens says why an event that sets Strict does not harden the gate; empty when it does.
func (l Labelling) hardens() string {
	if l.Permission != "" && !review.MayWrite(l.Permission) {
		return "who set it may not write to the repository"
	}
	return ""
}

// Telling gives the event that tells what a label says of the gate, of its events, the newest first; false where it says nothing. stands is true where it stands on the pull
// request, whole where these are all events. Advisory softens by its newest event. Strict hardens until somebody who may soften the gate takes it off; what they set themselves also
// its author takes off (threats.md T736), and in an app's pull request who may soften the gate of others (threats.md T755).
func Telling(label string, stands, whole bool, events []Labelling) (Labelling, bool) {
	untold, set := Labelling{Label: label}, len(events) > 0 && !events[0].Off
	if label == Advisory {
		if set {
			return events[0], stands
		}
		return untold, stands
	}
	back := map[string]bool{} // who took off what they may have set
	for _, e := range events {
		elsewhere := e
		elsewhere.ByApp = false
		switch {
		case e.Off && e.softens() == "":
			return untold, false
		case e.Off && (e.Author || elsewhere.softens() == ""):
			back[e.By] = true
		case !e.Off && !back[e.By] && e.hardens() == "":
			return e, true
		}
	}
	if whole && set {
		return events[0], stands
	}
	return untold, stands || !whole
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
