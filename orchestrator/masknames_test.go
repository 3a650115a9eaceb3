package orchestrator

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
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

// ignoring is a working tree with dismissals.
type ignoring struct {
	Dismisser
	file string
	code map[string][]byte
}

func (i ignoring) Dismissed(string) ([]byte, error) { return []byte(i.file), nil }

func (i ignoring) Holding(context.Context, string, []string, string) (map[string][]byte, error) {
	return i.code, nil
}

// No field of a dismissal is stored with a value in it, and none of what is said of those that do nothing (threats.md T329).
func TestDismissalsAreMasked(t *testing.T) {
	line := func(category, file, title, by, why string) string {
		return "0123456789abcdef | " + category + " | " + file + " | " + title + " | " + by + " | - | " + why + "\n"
	}
	l := &Loop{Now: time.Now, Dismissals: ignoring{
		file: line(planted, "conf/"+planted+".go", planted, planted, planted) + line("bug", "a.go", "It stops", "mona", "it is meant") + "broken " + planted + "\n",
		code: map[string][]byte{"conf/" + planted + ".py": []byte("x = 1 # prloop:ignore because " + planted + "\ny = 1 # prloop:ignore\n")},
	}}
	got, err := l.readDismissals(t.Context(), Request{}, Range{}, review.Brief{})
	if err != nil || len(got.List) != 3 || len(got.Notes) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if text := text(t, got); strings.Contains(text, "16C7e42F") {
		t.Errorf("a value is left in %s", text)
	}
	if m := got.List[0].Mark; m.File != sanitize.MaskSpelled("conf/"+planted+".go") || got.List[1].Mark.Category != "bug" || got.List[1].Mark.File != "a.go" {
		t.Errorf("marks: %+v, %+v", m, got.List[1].Mark)
	}
}
