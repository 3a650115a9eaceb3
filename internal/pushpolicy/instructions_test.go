package pushpolicy

import (
	"strings"
	"testing"
)

// What context.guidance names is protected as its reader finds it: by a name in every folder, by a path or a glob from the root (threats.md T746).
func TestGuidanceIsProtected(t *testing.T) {
	in := &Included{Instructions: Instructions{Guidance: []string{"STYLE.md", "./docs/rules.md", "team/**/*.{md,txt}"}}}
	in.Links.Add(map[string]string{"docs/rules.md": "../guide.md"})
	for name, want := range map[string]bool{
		"STYLE.md": true, "a/b/STYLE.md": true, "docs/rules.md": true, "team/a/b.txt": true, "team/a.md": true, "guide.md": true,
		"a/docs/rules.md": false, "a/team/a.md": false, "docs/other.md": false, "MYSTYLE.md": false,
	} {
		refused := in.Check([]Change{{Path: name, Status: 'M'}}, nil)
		if len(refused) > 0 != want || want && !strings.HasSuffix(refused[0].Detail, "reviewers take it for rules") {
			t.Errorf("%s: %v", name, refused)
		}
		if refused := in.Check([]Change{{Path: name, Status: 'M'}}, []string{"**"}); len(refused) > 0 {
			t.Errorf("%s, and the operator opens it: %v", name, refused)
		}
	}
}
