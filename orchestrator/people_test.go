package orchestrator

import (
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
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
