package pushpolicy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/spelling"
)

// linked are links by their names.
func linked(targets ...string) *Links {
	all := map[string]string{}
	for _, t := range targets {
		name, target, _ := strings.Cut(t, " -> ")
		all[name] = target
	}
	l := &Links{}
	l.Add(all)
	return l
}

// What a protected name leads to is protected as that name is, and what a test's name leads to is a test (threats.md T732).
func TestWhatLinksLeadTo(t *testing.T) {
	in := included(t, map[string]string{".gitlab-ci.yml": "include: parts/test.yml\n"})
	in.Links = *linked("CLAUDE.md -> docs/guide.md", ".husky -> tools/husk", "a/b/.envrc -> ../../tools/./env.sh", "sub/CLAUDE.md -> ../AGENTS.md", "AGENTS.md -> shared/agents.md",
		"bamboo-specs -> now/specs", "now -> later", "parts -> ci", "ci/test.yml -> ../jobs/all.yml", "tests/test_a.py -> ../checks/a.py", "spec -> examples", "docs/latest -> v1",
		".x -> /etc/y", ".y -> ../prloop/src/y", ".z -> .w", ".w -> .z", ".v -> ", "web/.tools/all -> ..", ".self -> .", "gone/.envrc -> nothing.sh")
	for name, from := range map[string]string{
		"docs/guide.md": "CLAUDE.md", "tools/husk/pre-commit": ".husky/pre-commit", "tools/husk/new/x": ".husky/new/x", "tools/env.sh": "a/b/.envrc", "shared/agents.md": "AGENTS.md",
		"later/specs/pom.java": "bamboo-specs/pom.java", "jobs/all.yml": "parts/test.yml", "ci/test.yml": "parts/test.yml", "gone/nothing.sh": "gone/.envrc",
		"docs/v1/a.md": "", "tools/a.sh": "", "tools/husky.sh": "", "src/y": "", "web/a.ts": "", "checks/a.py": "", "a.go": "", "ci/run.yml": "",
	} {
		got := ""
		for _, r := range in.Check([]Change{{Path: name, Status: 'M'}}, nil) {
			got = r.Detail
		}
		if from == "" && got != "" || from != "" && !strings.HasPrefix(got, "a symbolic link leads to it from "+spelling.Code(from)+": ") {
			t.Errorf("%s: %q, want one from %q", name, got, from)
		}
	}
	if got := in.Check([]Change{{Path: "docs/guide.md", Status: 'M'}}, []string{"docs/**"}); len(got) > 0 {
		t.Errorf("what the operator opens: %v", got)
	}
	for name, want := range map[string]string{
		"checks/a.py":     "changed: existing tests changed, to which a symbolic link leads from `tests/test_a.py` (line 1)",
		"examples/cart.x": "changed: existing tests changed, to which a symbolic link leads from `spec/cart.x` (line 1)",
		"a_test.go":       "changed: existing tests changed (line 1)",
		"docs/v1/a.md":    "", "web/a.ts": "",
	} {
		got := ""
		for _, c := range in.Links.Tests([]Change{edit(name)}) {
			if got += fmt.Sprintf("%s: %s", c.Kind, c); c.Path != name {
				t.Errorf("%s is named for %s", c.Path, name)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := in.Links.Tests([]Change{rename("checks/a.py", "checks/b.py")}); len(got) != 1 || got[0].Path != "checks/b.py" || got[0].Kind != TestChanged {
		t.Errorf("a file that had a test's name: %v", got)
	}
}

// A file with more names than are looked at may have a protected one.
func TestMoreLinksThanAreRead(t *testing.T) {
	var many []string
	for i := range mostNames + 1 {
		many = append(many, fmt.Sprintf("a%d -> src", i))
	}
	in := &Included{Links: *linked(many...)}
	for name, want := range map[string]bool{"src/a.go": true, "other/a.go": false} {
		if got := len(in.Check([]Change{{Path: name, Status: 'M'}}, nil)) > 0; got != want {
			t.Errorf("%s is refused: %v", name, got)
		}
	}
}
