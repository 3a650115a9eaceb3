package review

// Became is what became of a finding that was posted on a pull request, by the time the pull request was merged.
type Became string

// What findings become.
const (
	// BecameFixed: the code that the finding quotes is not in the merged head any more, or prloop itself settled its thread as fixed.
	BecameFixed Became = "fixed"
	// BecameDismissed: somebody dismissed it, a ruling settled its thread, somebody who may resolved the thread, or a later review set it aside.
	BecameDismissed Became = "dismissed"
	// BecameDisputed: somebody disagreed in its thread, and prloop maintained it or handed it to people.
	BecameDisputed Became = "disputed"
	// BecameIgnored: it was merged as it stood.
	BecameIgnored Became = "ignored"
	// BecameUnknown: nothing proves any of these.
	BecameUnknown Became = "unknown"
)

// AllBecame are all of them, the good ones first.
func AllBecame() []Became {
	return []Became{BecameFixed, BecameDismissed, BecameDisputed, BecameIgnored, BecameUnknown}
}

// PostedFinding is one distinct finding that was posted on a merged pull request, and what became of it. It holds none of its words.
type PostedFinding struct {
	// ID is its identity as it was posted last, Run the run that did.
	ID     string `json:"id"`
	Run    string `json:"run"`
	Became Became `json:"became"`
	// Why says by what that is known.
	Why string `json:"why"`
	// Priority and Category are those of its gravest wording, Score the highest; 0 where nobody gave one.
	Priority Priority `json:"priority"`
	Category string   `json:"category"`
	Score    int      `json:"score,omitempty"`
	// By are the reviewers that raised it, sorted.
	By []Voice `json:"by"`
}
