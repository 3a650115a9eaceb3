package orchestrator

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// Agents of prloop's own and those it prompts are told typed options; a program of somebody else's reads words, its own settings
// among them.
func TestOptionsOfAnAgent(t *testing.T) {
	l := &Loop{Fence: func(string) string { return "fence" }}
	req := Request{Threshold: 6, Elevation: 4}
	plan := AgentPlan{Role: review.RoleReviewer, Model: "m", Stronger: "big", Lens: "security", Settings: map[string]string{"depth": "3", "threshold": "1"}}
	for _, kind := range []string{review.KindBuiltin, review.KindStatic, review.KindACP} {
		plan.Kind = kind
		o, words := l.options(req, plan)
		if d := cmp.Diff(review.Options{Model: "m", Stronger: "big", Lens: "security", Threshold: 6, Elevation: 4, Fence: "fence"}, o); d != "" || words != nil {
			t.Errorf("%s: %v %s", kind, words, d)
		}
	}
	plan.Kind = review.KindCommand
	o, words := l.options(req, plan)
	want := map[string]string{"depth": "3", "threshold": "6", "elevation_threshold": "4", "fence": "fence"}
	if d := cmp.Diff(want, words); d != "" || !cmp.Equal(o, review.Options{}) || plan.Settings["threshold"] != "1" {
		t.Errorf("%+v %s", o, d)
	}
	o, words = l.options(req, AgentPlan{Role: review.RoleFixer, Kind: review.KindCommand, AllowPaths: []string{"go.mod", "docs/**"}})
	want = map[string]string{"threshold": "6", "fence": "fence", "allow_paths": "go.mod\ndocs/**"}
	if d := cmp.Diff(want, words); d != "" || !cmp.Equal(o, review.Options{}) {
		t.Errorf("%+v %s", o, d)
	}
}
