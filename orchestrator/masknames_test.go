package orchestrator

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/review"
)

// A name of which a part is masked cannot be held against a pattern, so every pattern that asks for more of a review holds for it (threats.md T325).
func TestAMaskedNameIsRuledOutByNoPattern(t *testing.T) {
	for _, names := range [][2]string{{"auth-" + planted + "/x.py", ""}, {"x.py", "tok_" + planted + ".py"}} {
		in := Inputs{Snapshot: masked(Snapshot{Brief: review.Brief{Files: []review.BriefFile{{Path: "a.go"}, {Path: names[0], OldPath: names[1]}}}}, nil)}
		change, _ := in.Known()
		why := escalate.Before(escalate.Auto, escalate.Triggers{Paths: []string{"auth-ghp_*/**", "tok_ghp_*"}}, change)
		if !strings.Contains(why, "of whose name a part is masked") || strings.Contains(why, planted) {
			t.Errorf("%q: reviewed in full because %q", names, why)
		}
		if why := escalate.Before(escalate.Auto, escalate.Triggers{OnFlag: true}, change); why != "" {
			t.Errorf("%q: without paths, reviewed in full because %q", names, why)
		}
		if o := (ContextOptions{Exclude: []string{"auth-ghp_*/**"}}); !o.unread(in.Snapshot.Brief.Files[1].Path) && names[1] == "" || o.unread("a.go") {
			t.Errorf("%q: what may be excluded is read", names)
		}
	}
}
