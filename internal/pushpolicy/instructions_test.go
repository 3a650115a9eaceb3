package pushpolicy

import (
	"fmt"
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

// instructed reads the instructions of a tree of files with their texts.
func instructed(t *testing.T, tree, links map[string]string) *Included {
	t.Helper()
	sizes, in := map[string]int64{}, &Included{}
	for name, text := range tree {
		sizes[name] = int64(len(text))
	}
	in.Links.Add(links)
	if err := in.Instructions.Add(&in.Links, sizes, reading(tree)); err != nil {
		t.Fatal(err)
	}
	return in
}

// What an agent's own files import is protected as they are, wherever it stands and whatever it is called, and so is what that imports; what they merely mention is not (threats.md T747, T802).
func TestWhatInstructionsImportIsProtected(t *testing.T) {
	in := instructed(t, map[string]string{
		"CLAUDE.md": "@docs/rules.md and @./docs/a\\ b.md, see @README.\n- @docs/deep.md#part\nIn `code @docs/span.md`, @~/own.md, @/etc/all.md, mona@docs/mail.md, docs/word.md\n" +
			"```sh\n@docs/fence.md\n```\n@docs/after.md ```in @docs/line.md``` and\n~~~\n```\n@docs/tilde.md\n~~~\n@missing.md",
		"docs/deep.md":             "@deeper.md\n",
		"docs/deeper.md":           "@../src/main.go\n",
		"src/main.go":              "// see @src/other.go\n",
		"src/other.go":             "// @src/fifth.go\n",
		"docs/other.go":            "// @docs/unread.md\n",
		"b/CLAUDE.md":              "~~~ `x`\n@in/tildes.md\n~~~\n@behind/tildes.md\n    ```\n@behind/indented.md\n",
		"c/CLAUDE.md":              "```\n@in/open.md\n",
		"app/GEMINI.md":            "@Local.md @lib/root.md\n",
		".claude/rules/a.md":       "@rules/b.md\n",
		"vendor/x/CLAUDE.md":       "@docs/vendored.md\n",
		"docs/plain.md":            "@docs/plainly.md\n",
		"docs/guide.md":            "@docs/linked.md\n",
		"docs/rules.md":            "",
		".github/workflows/ci.yml": "# @docs/ci.md\n",
	}, map[string]string{"AGENTS.md": "docs/guide.md", "docs/after.md": "../moved.md"})
	for name, want := range map[string]bool{
		"docs/rules.md": true, "docs/a b.md": true, "README": true, "docs/deep.md": true, "docs/deeper.md": true, "src/main.go": true, "app/local.md": true, "lib/root.md": true,
		"app/lib/root.md": true, ".claude/rules/rules/b.md": true, "rules/b.md": true, "docs/linked.md": true, "docs/after.md": true, "moved.md": true, "missing.md": true, "behind/tildes.md": true, "behind/indented.md": true, "in/open.md": true, "in/tildes.md": false,
		"docs/span.md": false, "own.md": false, "etc/all.md": false, "docs/mail.md": false, "docs/word.md": false, "docs/fence.md": false, "docs/line.md": false, "docs/tilde.md": false,
		"src/other.go": true, "src/fifth.go": true, "docs/unread.md": false, "docs/vendored.md": false, "docs/plain.md": false, "docs/plainly.md": false, "docs/ci.md": false,
	} {
		refused := in.Check([]Change{{Path: name, Status: 'A'}}, nil)
		if len(refused) > 0 != want || want && !strings.HasSuffix(refused[0].Detail, "a file of instructions for agents imports it") {
			t.Errorf("%s: %v", name, refused)
		}
		if refused := in.Check([]Change{{Path: name, Status: 'A'}}, []string{"**"}); len(refused) > 0 {
			t.Errorf("%s, and the operator opens it: %v", name, refused)
		}
	}
}

// Where there are more instructions than are read, any prose may be imported.
func TestMoreInstructionsThanAreRead(t *testing.T) {
	many := map[string]string{}
	for i := range instructionBounds.files + 1 {
		many[fmt.Sprintf("%d/AGENTS.md", i)] = ""
	}
	large := map[string]string{"AGENTS.md": strings.Repeat("x", InstructionBytes+1)}
	for what, tree := range map[string]map[string]string{"files": many, "bytes": large} {
		in := instructed(t, tree, nil)
		for name, want := range map[string]bool{"docs/a.md": true, "README.MD": true, "docs/a.rst": true, "src/a.go": false, "notes.txt": false} {
			if refused := in.Check([]Change{{Path: name, Status: 'M'}}, nil); len(refused) > 0 != want {
				t.Errorf("%s: %s: %v", what, name, refused)
			}
		}
	}
}
