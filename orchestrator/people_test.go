package orchestrator

import (
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// The rules know our account and the author also where nobody has to be asked what they may (threats.md T796).
func TestWhoWeAreIsAlwaysKnown(t *testing.T) {
	known := conversation.People{Author: "ada", Own: "prloop"}
	p, err := (&Loop{}).people(t.Context(), Request{}, review.PullRequest{}, review.Discussion{}, conversation.State{}, known, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := (Snapshot{People: p}).persons(); got.Own != "prloop" || got.Author != "ada" {
		t.Errorf("%+v", got)
	}
}

// Who reviews a pull request does not depend on what somebody else made of their words (threats.md T840).
func TestByHand(t *testing.T) {
	for name, c := range map[string]struct {
		review review.Review
		want   bool
	}{
		"words":                              {review.Review{State: "COMMENTED", Body: "I am looking at this."}, true},
		"none":                               {review.Review{State: "COMMENTED", Body: " "}, false},
		"an approval":                        {review.Review{State: "APPROVED"}, true},
		"ours":                               {review.Review{State: "COMMENTED", Body: sanitize.PlainMarker}, false},
		"emptied by somebody else":           {review.Review{State: "COMMENTED", EditedBy: "contributor"}, true},
		"emptied by nobody knows whom":       {review.Review{State: "COMMENTED", EditedBy: "ghost"}, true},
		"made to look like ours by them":     {review.Review{State: "COMMENTED", Body: sanitize.PlainMarker, EditedBy: "contributor"}, true},
		"an approval made to look like ours": {review.Review{State: "APPROVED", Body: sanitize.PlainMarker, EditedBy: "contributor"}, true},
	} {
		if got := byHand(c.review); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
