package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/pace"
)

// faultLines gives "line message suggestion" for each fault of an error.
func faultLines(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %T, want *Error: %v", err, err)
	}
	var out []string
	for _, f := range e.Faults {
		line := fmt.Sprintf("%d %s: %s", f.Line, f.Key, f.Message)
		if f.Suggestion != "" {
			line += " -> " + f.Suggestion
		}
		out = append(out, line)
	}
	return out
}

// The marker stands under what is wrong: a value, or a key.
func TestMarkerStandsUnderWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"tier: Quick\n": `.reviewerc:1:7: tier: "Quick" is not one of quick, auto, full; did you mean "quick"?` + "\n    1 | tier: Quick\n      |       ^",
		"limits:\n  max_llm_calls: \"many\"\n": `.reviewerc:2:18: limits.max_llm_calls: is text, but must be a whole number` + "\n" +
			`    2 |   max_llm_calls: "many"` + "\n      |                  ^",
		"reviewers: [{name: static, use: builtin}]\n": `.reviewerc:1:20: reviewers[0].name: "static" may only name an agent with use: static` + "\n" +
			"    1 | reviewers: [{name: static, use: builtin}]\n      |                    ^",
		"problem_score_threshold:\n  11\n": ".reviewerc:2:3: problem_score_threshold: must be at most 10\n    2 |   11\n      |   ^",
		"teir: quick\n":                    `.reviewerc:1:1: teir: unknown key; did you mean "tier"?` + "\n    1 | teir: quick\n      | ^",
		"verify: make\n":                   ".reviewerc:1:9: verify: is text, but must be a list\n    1 | verify: make\n      |         ^",
		"verify: []\nreviewers: []\n":      ".reviewerc:2:1: reviewers: needs at least 1\n    2 | reviewers: []\n      | ^",
	} {
		if err := Validate(Repository, ".reviewerc", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q\ngot\n%v\nwant\n%s", text, err, want)
		}
	}
}

// A number without a unit is no time span, wherever one is wanted and however it is written; nor is one that no clock holds.
func TestTimeSpansHaveUnits(t *testing.T) {
	const unitless, other = " has no unit; a time span is such as 90s or 10m", "is not a time span such as 90s or 10m"
	for text, want := range map[string]string{
		"wall_time: 10\n":              "1 wall_time: 10" + unitless,
		"wall_time: \"10\"\n":          "1 wall_time: 10" + unitless,
		"wall_time: 1.5\n":             "1 wall_time: 1.5" + unitless,
		"verify_timeout: 10 minutes\n": "1 verify_timeout: " + other,
		"reviewers:\n- {name: a, use: static, timeout: 90}\n":         "2 reviewers[0].timeout: 90" + unitless,
		"fixer: {use: builtin, timeout: 90}\n":                        "1 fixer.timeout: 90" + unitless,
		"wall_time: 999999h999999h999999h\n":                          "1 wall_time: " + other,
		"wall_time: [10]\n":                                           "1 wall_time: is a list, but must be text",
		"reviewers: [{name: a, use: command, path: x, args: [90]}]\n": "1 reviewers[0].args[0]: is a number, but must be text",
	} {
		if got := faultLines(t, Validate(Repository, ".reviewerc", []byte(text))); len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if err := Validate(Repository, ".reviewerc", []byte("wall_time: 99999h99999h99999h\n")); err != nil {
		t.Error(err)
	}
	_, err := Resolve(Input{Given: []Given{{Key: "wall_time", Value: "10", From: "--wall"}}})
	if got := faultLines(t, err); len(got) != 1 || got[0] != "0 wall_time: 10"+unitless {
		t.Errorf("got %q", got)
	}
}

func TestEveryFaultHasItsOwnLine(t *testing.T) {
	data, err := os.ReadFile("testdata/faults.yml")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(faultLines(t, Validate(Repository, ".reviewerc", data)), "\n")
	want := strings.TrimSpace(`
1 version: is 2, but must be 1
2 modle: unknown key -> model
3 base_url: may be set only by the operator (command line, environment or config.yml): whoever chooses the endpoint receives the operator's key
4 api_key: may be set only by the operator (command line, environment or config.yml): a secret in a repository is no secret
5 problem_score_threshold: must be at most 10
7 limits.max_llm_calls: is text, but must be a whole number
9 publish.mode: "stiky" is not one of append, sticky -> sticky
11 reviewers[0].name: is not a name of up to 40 lower-case letters, digits, dots, underscores and dashes, a letter or digit first
12 reviewers[0].use: acp needs preset, the agent it is
14 reviewers[1].use: command needs path, the program to run
15 reviewers[1].timeout: is not a time span such as 90s or 10m
17 reviewers[2].lens: has no meaning with use: static
18 reviewers[3].name: "two" is used twice
18 reviewers[3].lens: "securty" is not one of correctness, design, general, performance, security, tests-contracts, auto -> security
20 context.exclude[0]: is not a valid glob
22 commands[0]: lacks prompt
23 commands[0].outputs: unknown key -> output
26 review.run[1]: no command has the id "securty" (known: security) -> security`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFaultShowsPlaceExcerptAndSuggestion(t *testing.T) {
	err := Validate(Repository, ".reviewerc", []byte("model: a\nreviewrs: []\n"))
	want := ".reviewerc:2:1: reviewrs: unknown key; did you mean \"reviewers\"?\n    2 | reviewrs: []\n      | ^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// Editors of Windows begin a file with the mark of UTF-8, which is part of no key; places are counted without it.
func TestTheMarkOfUTF8BeginsAFile(t *testing.T) {
	if err := Validate(Repository, ".reviewerc", []byte("\ufeffmin_reviewers: 1\r\n")); err != nil {
		t.Error(err)
	}
	if err := Validate(Repository, ".reviewerc", []byte("\ufeffreviewrs: []\n")); err == nil || !strings.HasPrefix(err.Error(), ".reviewerc:1:1: reviewrs: unknown key") {
		t.Error(err)
	}
}

// --reviewers says exec, the file command: whoever mixes them up is told the other word.
func TestTheOtherWordForAProgram(t *testing.T) {
	got := faultLines(t, Validate(Repository, ".reviewerc", []byte("reviewers:\n- name: a\n  use: exec\n- name: b\n  use: biultin\n")))
	want := []string{`3 reviewers[0].use: "exec" is not one of builtin, static, command, acp -> command`, `5 reviewers[1].use: "biultin" is not one of builtin, static, command, acp -> builtin`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	_, err := Resolve(Input{Reviewers: []string{"command:./mine"}})
	if want := `--reviewers: unknown reviewer "command:./mine"; did you mean "exec:./mine"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNoExcerptWhereASecretMayStand(t *testing.T) {
	err := Validate(Repository, ".reviewerc", []byte("api_key: sk-verysecret\n"))
	if err == nil || strings.Contains(err.Error(), "verysecret") {
		t.Errorf("the error shows the key, or there is none: %v", err)
	}
}

// threats.md T107: ten bombs, each refused with a typed error and fast.
func TestBombs(t *testing.T) {
	bombs := map[string]string{
		"20 KB of [":                strings.Repeat("[", 20_000),
		"20 KB of {a:":              strings.Repeat("{a: ", 5_000),
		"aliases that multiply":     "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
		"a merge key":               "a:\n  <<: {b: 1}\n",
		"64 KB of dashes":           strings.Repeat("- ", 32_000),
		"question marks":            strings.Repeat("? ", 3_000),
		"nested by indentation":     indented(300),
		"blank lines in a literal":  "prompt: |\n" + strings.Repeat("\n", 20_000) + "x",
		"thousands of keys":         strings.Repeat("k: 1\n", 12_000),
		"tags":                      strings.Repeat("!a ", 20_000),
		"more than 64 KB":           "model: " + strings.Repeat("x", 70_000),
		"colons on one line":        strings.Repeat("a: ", 2_500),
		"not UTF-8":                 "model: \xff\xfe",
		"NUL":                       "model: a\x00b",
		"a second document":         "model: a\n---\nmodel: b\n",
		"a custom tag on one value": "model: !!binary aGVsbG8=\n",
	}
	list := []byte("context:\n  exclude:\n" + strings.Repeat("  - docs\n", 3_500)) // too long, and nothing worse
	ordinary := func() { _ = Validate(Repository, "list.yml", list) }
	for name, data := range bombs {
		t.Run(name, func(t *testing.T) {
			var err error
			pace.Within(t, 8, ordinary, func() { err = Validate(Repository, "bomb.yml", []byte(data)) })
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("accepted, or untyped: %v", err)
			}
			if len(err.Error()) > 2000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func FuzzConfigYAML(f *testing.F) {
	for _, seed := range []string{"model: a\n", "reviewers:\n- name: a\n  use: static\n", "a: &a [*a]\n", "? a\n: b\n", "a: {b: [c, {d: e}]}\n", "- 1\n- x: 2\n", "a: |\n  b\n\n c\n", "\"a\": 'b'\n", "1: 2\n", "a: 1e400\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range []Kind{Repository, Operator} {
			err := Validate(k, "fuzz.yml", data)
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("untyped error: %v", err)
			}
			if err == nil {
				in := Input{Local: true, Repository: &File{".reviewerc", data}}
				if k == Operator {
					in = Input{Operator: &File{"config.yml", data}}
				}
				if s, err := Resolve(in); err == nil && (len(s.Reviewers) == 0 || len(s.Reviewers) > 5) {
					t.Fatalf("%d reviewers", len(s.Reviewers))
				}
			}
		}
	})
}

// What is no YAML is said in the words of people, with the address of the documentation of a key that is known.
func TestWordsOfTheParser(t *testing.T) {
	for _, c := range []struct{ file, want, docs string }{
		{"fixer: builtin: x\n", `a second ": " on one line`, ""},
		{"rounds: 2\n  x: 1\n", "a line that is indented too far", ""},
		{"reviewers:\n- name: a\n  use: builtin\n use: static\n", "4:2: is not indented as the lines around it", ""},
		{"a: [b\n", "[ has no closing ]", ""},
		{"a: {b: 1\n", "{ has no closing }", ""},
		{"rounds: \"2\n", "a quote is never closed: double-quoted text", ""},
		{"rounds 2\nversion: 1\n", `1:1: has no ": " between key and value`, ""},
		{"rounds: 2\n- a\n", "2:1: is a list item", ""},
		{"rounds: 2\n\tx: 2\n", "2:1: is indented with a tab; use blanks", ""},
		{"\trounds: 2\n", "is indented with a tab; use blanks", ""},
		{"version: 2\n", "version: is 2, but must be 1", ""},
		{"rounds: 9\n", "must be at most 3", "#rounds"},
		{"context: {exclude: 3}\n", "is a number, but must be a list", "#contextexclude"},
		{"reviewers: [{name: a, use: biultin}]\n", "biultin", "#reviewers"},
		{"run_limits: {max_cost_usd: no}\n", "must be a number", "#run_limitsmax_cost_usd"},
	} {
		var e *Error
		if err := Validate(Repository, "f", []byte(c.file)); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Faults[0].Docs() != docsPage+c.docs {
			t.Errorf("%q: %v, %s", c.file, err, e.Faults[0].Docs())
		}
	}
	page, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys() { // the anchor of a heading is its text without marks
		if !strings.Contains(string(page), "### `"+k.path+"`\n") {
			t.Errorf("docs/config.md has no heading for %s", k.path)
		}
	}
}
