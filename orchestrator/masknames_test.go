package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A name of which a part is masked cannot be held against a pattern, so every pattern that asks for more of a review holds for it (threats.md T325).
func TestAMaskedNameIsRuledOutByNoPattern(t *testing.T) {
	for _, names := range [][2]string{{"auth-" + planted + "/x.py", ""}, {"x.py", "tok_" + planted + ".py"}} {
		in := Inputs{Snapshot: maskedFor(t, Snapshot{Brief: review.Brief{Files: []review.BriefFile{{Path: "a.go"}, {Path: names[0], OldPath: names[1]}}}}, nil)}
		change, _ := in.Known()
		why := escalate.Before(escalate.Auto, escalate.Triggers{Paths: []string{"auth-ghp_*/**", "tok_ghp_*"}}, change)
		if !strings.Contains(why, "a part of its name is masked") || strings.Contains(why, planted) {
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

// What the base has moved may be any file after the merge (threats.md T845).
func TestWhatTheBaseHasMovedIsRuledOutByNoPattern(t *testing.T) {
	for _, moved := range []bool{true, false} {
		f := changed("src/check.py")
		f.Moved = moved
		change, size := (Inputs{Snapshot: Snapshot{Brief: review.Brief{Files: []review.BriefFile{f}}}}).Known()
		why := escalate.Before(escalate.Auto, escalate.Triggers{Paths: []string{"auth/**"}}, change)
		if strings.Contains(why, "a merge may bring the change elsewhere") != moved || (size.Complexity == gate.Ordinary) != moved || size.Small == moved {
			t.Errorf("moved %v: reviewed in full because %q, the change is %+v", moved, why, size)
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
	l := &Loop{Now: time.Now, History: differing{since: map[string]string{"": ""}}, Dismissals: ignoring{
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

// collided are two names that are masked alike.
func collided() (a, b string) {
	seen := map[string]string{}
	for i := 0; ; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d", i))
		name := "ghp_" + hex.EncodeToString(sum[:])[:36]
		if other := seen[sanitize.MaskName(name)]; other != "" {
			return other, name
		}
		seen[sanitize.MaskName(name)] = name
	}
}

// tree reads files by their names, or by what masks made of them, as a history does.
type tree map[string]string

func (tree) Have(context.Context, string) (bool, error) { return true, nil }

func (tree) MergeBase(_ context.Context, base, _ string) (string, error) { return base, nil }

func (tree) FixedTests(context.Context, Range) (changed, added []string, err error) {
	return nil, nil, nil
}

func (tree) Sensitive(context.Context, Range, []string) (bool, error) { return false, nil }

func (tree) Pin(context.Context, review.Target, review.PullRequest, string) (r Range, err error) {
	return r, nil
}
func (tree) Diff(context.Context, string, string) (*diff.Diff, error) { return &diff.Diff{}, nil }
func (t tree) ReadFile(_ context.Context, _, name string) ([]byte, error) {
	name, err := sanitize.UnmaskPath(name, func(folder string) (names []string, _ error) {
		for n := range t {
			if rest, ok := strings.CutPrefix("./"+n, "./"+strings.TrimPrefix(folder+"/", "./")); ok {
				first, _, _ := strings.Cut(rest, "/")
				names = append(names, first)
			}
		}
		return names, nil
	})
	if err != nil {
		return nil, err
	}
	if text, ok := t[name]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

// Two files whose names are masked alike, or one that is called as another is masked, are told apart by nobody: both count as unread, and what is found in
// them is not set aside for its evidence (threats.md T326).
func TestNamesThatAreMaskedAlike(t *testing.T) {
	one, two := collided()
	shown := sanitize.MaskName(one)
	const bad, good = "os.system(cmd)\n", "print(1)\n"
	added := func(name, text string) review.BriefFile {
		return review.BriefFile{Path: name, Change: "added", Additions: 1, Hunks: 1, HunksGiven: 1, Diff: "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+" + text}
	}
	for what, c := range map[string]struct {
		files tree
		brief []review.BriefFile
		want  bool
	}{
		"one alone":                     {tree{one + "/a.py": bad}, []review.BriefFile{added(one+"/a.py", bad)}, false},
		"two that are told apart":       {tree{one + "/a.py": bad, planted + "/a.py": good}, []review.BriefFile{added(one+"/a.py", bad), added(planted+"/a.py", good)}, false},
		"two":                           {tree{one + "/a.py": bad, two + "/a.py": good}, []review.BriefFile{added(one+"/a.py", bad), added(two+"/a.py", good)}, true},
		"two in the other order":        {tree{one + "/a.py": bad, two + "/a.py": good}, []review.BriefFile{added(two+"/a.py", good), added(one+"/a.py", bad)}, true},
		"one that was there":            {tree{one + "/a.py": bad, two + "/a.py": good}, []review.BriefFile{added(one+"/a.py", bad)}, true},
		"one that is called so":         {tree{one + "/a.py": bad, shown + "/a.py": good}, []review.BriefFile{added(one+"/a.py", bad), added(shown+"/a.py", good)}, true},
		"one that was there and is so":  {tree{one + "/a.py": bad, shown + "/a.py": good}, []review.BriefFile{added(one+"/a.py", bad)}, true},
		"one that is so beside another": {tree{one + "/a.py": good, shown + "/a.py": bad}, []review.BriefFile{added(shown+"/a.py", bad)}, false},
	} {
		l := &Loop{History: c.files}
		snap := Snapshot{Range: Range{Head: headSHA, MergeBase: headSHA}, Brief: review.Brief{Status: "ok", Files: c.brief}}
		alike, err := l.alike(t.Context(), snap)
		if err != nil || (len(alike) > 0) != c.want {
			t.Fatalf("%s: alike are %q, %v", what, alike, err)
		}
		snap.Alike = alike
		snap = maskedFor(t, snap, nil)
		for _, word := range []string{"", ShowSecrets} {
			in := Inputs{Request: Request{Secrets: word}, Snapshot: snap}
			read := coverage.Of(snap.Brief, [][]string{nil}, nil, 1, in.hidden())
			for _, left := range read.Unread() {
				if left.Path != shown+"/a.py" || !strings.Contains(left.Reason, "another file") {
					t.Errorf("%s: left out is %+v", what, left)
				}
			}
			if unread := len(read.Unread()) == len(c.brief); unread != c.want {
				t.Errorf("%s: %d of %d files are unread", what, len(read.Unread()), len(c.brief))
			}
		}
		for _, required := range []bool{false, true} {
			n := 1
			ev, _, err := snap.checker(l.History, l.Learned).Place(t.Context(), &review.Finding{File: one + "/a.py", Line: &n, Evidence: "os.system(cmd)"}, required)
			if err != nil || ev.Status == evidence.False {
				t.Errorf("%s: the evidence is %+v, %v", what, ev, err)
			}
			if _, g := (Inputs{Snapshot: snap}).Known(); c.want && g.Complexity != gate.Ordinary {
				t.Errorf("%s: the change is %s", what, g.Complexity)
			}
		}
	}
}
