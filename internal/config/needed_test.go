package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestHowManyAnswersAreNeeded(t *testing.T) {
	model := env("OPENAI_API_KEY", "sk-x")
	panel := func(min string, more ...string) *File {
		return repo(min + "reviewers:\n- {name: static, use: static}\n" + strings.Join(more, ""))
	}
	one := "- {name: a, use: builtin}\n"
	two := one + "- {name: b, use: command, path: b}\n"
	three := two + "- {name: c, use: acp, preset: opencode}\n"
	for _, c := range []struct {
		name  string
		in    Input
		want  int
		layer Layer
		note  string
	}{
		{"one reviewer beside static is its own majority", Input{Env: model}, 1, LayerDefault, "static not counted"},
		{"two beside static: both", Input{Repository: panel("", two), Local: true}, 2, LayerDefault, "static not counted"},
		{"three beside static: two", Input{Repository: panel("", three), Local: true}, 2, LayerDefault, "static not counted"},
		{"static alone", Input{}, 1, LayerDefault, "nobody else"},
		{"two of static alone: both", Input{Repository: panel("", "- {name: s, use: static}\n")}, 2, LayerDefault, "nobody else"},
		{"a number that can be reached holds", Input{Repository: panel("min_reviewers: 1\n", three), Local: true}, 1, LayerRepository, ""},
		{"all of them", Input{Repository: panel("min_reviewers: 3\n", three), Local: true}, 3, LayerRepository, ""},
		{"0 takes a weaker layer's number back", Input{Repository: panel("min_reviewers: 2\n", two), Reviewers: []string{"static"},
			Given: []Given{{"min_reviewers", "0", "--min-reviewers"}}}, 1, LayerCommandLine, "nobody else"},
		{"those that --reviewers adds count", Input{Reviewers: []string{"static", "exec:x", "exec:y"}, Given: []Given{{"min_reviewers", "2", "--min-reviewers"}}}, 2, LayerCommandLine, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			e := setting(t, s, "min_reviewers")
			if s.MinReviewers != c.want || e.Value != c.want || e.Layer != c.layer || !strings.Contains(e.Note, c.note) || (c.note == "") != (e.Note == "") {
				t.Errorf("%d needed, want %d; explained as %s", s.MinReviewers, c.want, e)
			}
		})
	}
}

// Guards against a number that is lowered without a word: it would let one answer pass where a person asked for three.
func TestMoreNeededThanConfigured(t *testing.T) {
	given := func(n string) []Given { return []Given{{"min_reviewers", n, "--min-reviewers"}} }
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"by a flag", Input{Reviewers: []string{"exec:x"}, Given: given("3")}, "--min-reviewers: 3 needed, 1 configured (static does not count)"},
		{"static does not count", Input{Reviewers: []string{"exec:x", "static"}, Given: given("2")}, "--min-reviewers: 2 needed, 1 configured (static does not count)"},
		{"static alone", Input{Reviewers: []string{"static"}, Given: given("1")}, "--min-reviewers: 1 needed, 0 configured (static does not count)"},
		{"by the repository's file", Input{Repository: repo("model: m\nmin_reviewers: 2\n")},
			".reviewerc:2:1: min_reviewers: 2 needed, 0 configured (static does not count)\n    2 | min_reviewers: 2\n      | ^"},
		{"by the operator's file", Input{Operator: operator("min_reviewers: 4\n"), Repository: repo("reviewers: [{name: a, use: builtin}]\n")},
			"/home/op/prloop/config.yml:1:1: min_reviewers: 4 needed, 1 configured (static does not count)\n    1 | min_reviewers: 4\n      | ^"},
		{"--reviewers leaves too few of those the file counts on", Input{Repository: repo("min_reviewers: 2\nreviewers: [{name: a, use: builtin}, {name: b, use: builtin}]\n"), Reviewers: []string{"b"}},
			".reviewerc:1:1: min_reviewers: 2 needed, 1 configured (static does not count)\n    1 | min_reviewers: 2\n      | ^"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Resolve(c.in)
			var e *Error
			if !errors.As(err, &e) || err.Error() != c.want || e.Faults[0].Next == "" {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := ResolveEarly(c.in); err != nil {
				t.Errorf("told before the repository's reviewers are known: %v", err)
			}
		})
	}
}

// A file that contradicts itself is not valid, whoever takes part in the end.
func TestAFileThatNeedsMoreThanItHas(t *testing.T) {
	panel := "min_reviewers: %d\nreviewers: [{name: a, use: builtin}, {name: static, use: static}]\n"
	for n, want := range map[int]string{1: "", 2: "1 min_reviewers: 2 needed, 1 configured (static does not count)"} {
		for _, k := range []Kind{Repository, Operator} {
			got := strings.Join(faultLines(t, Validate(k, "x.yml", fmt.Appendf(nil, panel, n))), "\n")
			if got != want {
				t.Errorf("%d: got %q, want %q", n, got, want)
			}
		}
	}
	if err := Validate(Repository, "x.yml", []byte("min_reviewers: 5\n")); err != nil {
		t.Errorf("the reviewers may come from another layer: %v", err)
	}
}

// A file alone that cannot have as many reviewers as it needs is warned about where a run would refuse it.
func TestUnreached(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"min_reviewers: 2\n", "f:1:1: min_reviewers: 2 needed, but this file lists no reviewers, and by default 1 beside static takes part"},
		{"min_reviewers: 1\n", ""},
		{"min_reviewers: 2\neffort: thorough\n", ""},
		{"rounds: 2\n", ""},
		{"min_reviewers: 2\nreviewers: [{name: a, use: builtin}, {name: b, use: builtin}]\n", ""},
		{"min_reviewers: x\n", ""},
	} {
		if f := Unreached(Repository, "f", []byte(c.file)); (f.File == "") != (c.want == "") || c.want != "" && !strings.HasPrefix(f.String(), c.want) {
			t.Errorf("%q: %q, want %q", c.file, f, c.want)
		}
	}
}
