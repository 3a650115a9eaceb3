package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

// fiveLines is the reviewer the documentation shows: a shell script of five lines is a valid reviewer.
const fiveLines = `cat >/dev/null
printf '{"agent":"sh","prNumber":0,"conclusion":"approve",
"issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},
"findings":[],"fullReport":"looked fine"}\n'
`

// sound is what the malformed variants are made of.
const sound = `{"agent":"sh","prNumber":7,"conclusion":"request_changes","issues":{"p0_blocking":0,"p1_critical":1,"p2_important":0,"p3_suggestion":0},` +
	`"findings":[{"id":"A-1","priority":"P1","category":"bug","file":"rows.go","line":12,"title":"Dropped error","description":"d","suggestion":"s",` +
	`"source":{"type":"agent","name":"sh","reviewId":null,"timestamp":"2026-01-24T00:00:00Z"}}],"fullReport":"r"}`

func TestCheckPasses(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]Spec{
		"a shell script of five lines":           script(t, fiveLines),
		"an answer in a fence, with text around": fake(t, "json-fenced"),
		"an answer between BEGIN and END":        fake(t, "json-marked"),
		"an answer with events before it":        fake(t, "ok-events"),
		"an answer over many lines":              script(t, "cat >/dev/null\nprintf '"+strings.ReplaceAll(sound, ",", ",\\n ")+"\\n'\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range Check(t.Context(), spec) {
				if !p.Warning {
					t.Error(p)
				}
			}
		})
	}
}

func TestCheckPassesEveryRole(t *testing.T) {
	t.Parallel()
	for _, role := range []review.Role{review.RoleReviewer, review.RoleCommentsAnalyzer, review.RoleFixer, review.RoleCommand} {
		spec := fake(t, "ok")
		spec.Role = role
		if problems := Check(t.Context(), spec); len(problems) > 0 {
			t.Errorf("%s: %v", role, problems)
		}
	}
}

// TestCheckWarns: what prloop puts right by itself is said, and does not fail the program.
func TestCheckWarns(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"counts-lie":     "issues: claimed 9/0/1/0",
		"unknown-fields": "mood",
		"id-collide":     "used twice",
	} {
		problems := Check(t.Context(), fake(t, mode))
		found := false
		for _, p := range problems {
			if !p.Warning {
				t.Errorf("%s: %v", mode, p)
			}
			found = found || strings.Contains(p.Reason, want)
		}
		if !found {
			t.Errorf("%s: no warning %q in %v", mode, want, problems)
		}
	}
}

// malformed are programs that break the contract, each in its own manner, and what Check says first. No two may be told
// the same: a reason that fits two faults helps with neither.
func malformed(t *testing.T) map[string]struct {
	spec Spec
	want string
} {
	type row = struct {
		spec Spec
		want string
	}
	prints := func(text string) Spec {
		spec := script(t, "cat >/dev/null\ncat \"$0.out\"\n")
		if err := os.WriteFile(spec.Path+".out", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return spec
	}
	change := func(old, new string) Spec {
		if !strings.Contains(sound, old) {
			t.Fatalf("the sound answer does not hold %q", old)
		}
		return prints(strings.Replace(sound, old, new, 1) + "\n")
	}
	short := func(s Spec) Spec { s.Timeout = time.Second; return s }
	idle := func(s Spec) Spec { s.Idle = 700 * time.Millisecond; return s }
	many := strings.TrimSuffix(strings.Repeat(`{"id":"A","priority":"P3","category":"c","file":"f","title":"t","description":"d"},`+"\n", 501), ",\n")
	return map[string]row{
		// Not one JSON document (threats.md T85).
		"nothing at all":                   {fake(t, "exit-0-empty"), "output: no output"},
		"cut off in the middle":            {fake(t, "json-truncated"), "output: the envelope is cut off"},
		"two envelopes":                    {fake(t, "json-two"), "output: 2 JSON envelopes"},
		"text beside a bare envelope":      {fake(t, "json-noise"), "output: text beside a bare envelope"},
		"text alone":                       {prints("Looks good to me.\n"), "output: no JSON envelope, only text"},
		"a second object on the same line": {prints(sound + "{}\n"), "after top-level value"},
		"a fence that is not closed":       {fake(t, "fence-open"), "output: the fence around the envelope is not closed"},
		"BEGIN_JSON without END_JSON":      {fake(t, "begin-open"), "output: BEGIN_JSON is not followed"},
		"END_JSON without BEGIN_JSON":      {prints(sound + "\nEND_JSON\n"), "output: END_JSON without BEGIN_JSON"},
		"NaN":                              {fake(t, "nan"), "invalid character 'N'"},
		"a comma too many":                 {change(`"fullReport":"r"}`, `"fullReport":"r",}`), "invalid character '}'"},
		"single quotes":                    {prints("{'agent':'sh'}\n"), `invalid character '\''`},
		"a key twice":                      {fake(t, "dup-keys"), "envelope: prNumber: "},
		"a key in another case":            {fake(t, "case-keys"), "case"},
		"nested 200,000 deep":              {fake(t, "deep"), "exceeded max depth"},
		"a million findings":               {fake(t, "million-findings"), "envelope: document has more than"},
		// Not text (threats.md T86).
		"bytes that are no UTF-8": {fake(t, "bad-utf8"), "bytes are not valid UTF-8"},
		"a NUL character":         {fake(t, "nul"), "\\u0000 is not allowed"},
		"a byte order mark":       {fake(t, "utf8-bom"), "byte order mark"},
		"UTF-16":                  {fake(t, "utf16-bom"), "UTF-16"},
		"half a surrogate pair":   {fake(t, "surrogate"), "surrogate"},
		// Not the envelope (spec.md A1, A2).
		"prNumber as text":              {fake(t, "bad-types"), "envelope: prNumber: must be integer, not string"},
		"without agent":                 {change(`"agent":"sh",`, ``), "envelope: agent: required field is missing"},
		"without prNumber":              {change(`"prNumber":7,`, ``), "envelope: prNumber: required field is missing"},
		"without conclusion":            {change(`"conclusion":"request_changes",`, ``), "envelope: conclusion: required field is missing"},
		"without issues":                {change(`"issues":`, `"issue":`), "envelope: issues: required field is missing"},
		"without findings":              {change(`"findings":`, `"finding":`), "envelope: findings: required field is missing"},
		"without one of the counts":     {change(`"p2_important":0,`, ``), "envelope: issues/p2_important: required field is missing"},
		"finding without id":            {change(`"id":"A-1",`, ``), "envelope: findings/0/id: required field is missing"},
		"finding without priority":      {change(`"priority":"P1",`, ``), "envelope: findings/0/priority: required field is missing"},
		"finding without category":      {change(`"category":"bug",`, ``), "envelope: findings/0/category: required field is missing"},
		"finding without file":          {change(`"file":"rows.go",`, ``), "envelope: findings/0/file: required field is missing"},
		"finding without title":         {change(`"title":"Dropped error",`, ``), "envelope: findings/0/title: required field is missing"},
		"finding without description":   {change(`"description":"d",`, ``), "envelope: findings/0/description: required field is missing"},
		"a conclusion nobody knows":     {change(`"request_changes"`, `"lgtm"`), "envelope: conclusion: value must be one of"},
		"a priority nobody knows":       {change(`"P1"`, `"high"`), "envelope: findings/0/priority: value must be one of"},
		"a negative count":              {change(`"p1_critical":1`, `"p1_critical":-1`), "envelope: issues/p1_critical"},
		"a negative pull request":       {change(`"prNumber":7`, `"prNumber":-7`), "envelope: prNumber: must be at least 0"},
		"a line as text":                {change(`"line":12`, `"line":"12"`), "envelope: findings/0/line: must be integer or null, not string"},
		"a line past every file":        {fake(t, "line-huge"), "envelope: findings/0/line: must be at most"},
		"findings as an object":         {change(`"findings":[`, `"findings":{},"was":[`), "envelope: findings: must be array, not object"},
		"findings as null":              {change(`"findings":[`, `"findings":null,"was":[`), "envelope: findings: must be array, not null"},
		"an absolute path":              {fake(t, "path-absolute"), "envelope: findings/0/file: must be a path inside the repository"},
		"an empty title":                {change(`"Dropped error"`, `""`), "envelope: findings/0/title: "},
		"more findings than are read":   {prints(strings.Replace(sound, `"findings":[`, `"findings":[`+many+",", 1)), "envelope: findings: "},
		"the envelope of another role":  {fake(t, "wrong-envelope"), "output: this is the envelope of the comments-analyzer"},
		"events that are malformed":     {fake(t, "bad-events"), "event line: decode event"},
		"a list instead of an envelope": {prints("[" + sound + "]\n"), "output: no JSON envelope, only text that starts with \"[{"},
		// Not a well-behaved process (threats.md T80-T84).
		"exit status 1, no answer":     {fake(t, "exit-1"), "ends with exit status 1; a complete answer ends with 0; stderr: fakeagent: out of luck"},
		"exit status 3 after one":      {script(t, fiveLines+"exit 3\n"), "ends with exit status 3"},
		"killed by itself":             {fake(t, "self-kill"), "ends by a signal: killed"},
		"a crash":                      {script(t, "cat >/dev/null\nkill -SEGV $$\n"), "ends by a signal: segmentation fault"},
		"kills its parent":             {fake(t, "kill-parent"), "kills its parent process"},
		"a hang":                       {short(fake(t, "hang-silent")), "does not end in time"},
		"a hang in mid-answer":         {idle(fake(t, "hang-partial")), "says nothing for too long"},
		"a flood":                      {fake(t, "flood-both"), "writes more than 8 MB"},
		"a giant line":                 {fake(t, "giant-line"), "writes a line longer than 1 MB"},
		"output closed, then runs on":  {fake(t, "close-stdout-run-on"), "runs on after it closed"},
		"a daemon left behind":         {fake(t, "daemon"), "leaves processes behind"},
		"standard input left unread":   {fake(t, "never-reads"), "does not read its standard input"},
		"a program that is not there":  {Spec{Path: filepath.Join(t.TempDir(), "none")}, "program not found"},
		"a file that is no executable": {Spec{Path: prints("").Path + ".out"}, "permission denied"},
	}
}

func TestCheckFailsMalformedPrograms(t *testing.T) {
	t.Parallel()
	table := malformed(t)
	if len(table) < 40 {
		t.Fatalf("%d variants, the promise is 40", len(table))
	}
	wants := map[string]string{}
	for name, row := range table {
		if other, twice := wants[row.want]; twice {
			t.Errorf("%q and %q have the same reason %q", name, other, row.want)
		}
		wants[row.want] = name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := Check(t.Context(), row.spec)
			for _, p := range problems {
				if !p.Warning && strings.Contains(p.Reason, row.want) {
					return
				}
			}
			t.Errorf("no reason %q in %v", row.want, problems)
		})
	}
}

// String gives "sample: reason".
func (p Problem) String() string {
	if p.Warning {
		return p.Sample + ": warning: " + p.Reason
	}
	return p.Sample + ": " + p.Reason
}
