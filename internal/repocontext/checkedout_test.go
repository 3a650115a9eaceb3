package repocontext

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// What git writes into a working tree, or an archive, is what was read, or it is unread (threats.md T328).
func TestCheckedOutAsShown(t *testing.T) {
	const body = "x = 1\n"
	for _, row := range []struct{ says, base, head, line, want string }{
		{"nothing is said", "", "", "x", ""},
		{"another encoding, at the head", "", "*.py working-tree-encoding=ASCII//TRANSLIT\n", "x", OmittedConverted},
		{"another encoding, at the base", "*.py text working-tree-encoding=UTF-16BE\n", "", "\u6423", OmittedConverted},
		{"by a macro", "[attr]odd working-tree-encoding=UTF-7\n*.py odd\n", "", "x", OmittedConverted},
		{"an encoding without a name", "*.py working-tree-encoding\n", "", "x", OmittedConverted},
		{"that of the commit", "*.py working-tree-encoding=utf-8\n", "*.py working-tree-encoding=UTF8\n", "x", ""},
		{"none", "*.py -working-tree-encoding\n", "", "x", ""},
		{"of other files", "*.ps1 working-tree-encoding=UTF-16LE-BOM\n", "", "x", ""},
		{"two bytes for each letter of ASCII", "*.py working-tree-encoding=UTF-16LE-BOM\n", "*.py working-tree-encoding=UTF-16LE-BOM\n", "Write-Host 1", ""},
		{"two bytes of which both are letters", "*.py working-tree-encoding=UTF-16LE-BOM\n", "*.py working-tree-encoding=UTF-16LE-BOM\n", "\u6423\u2f21", OmittedConverted},
		{"words that only another attribute has replaced", "*.py ident\n", "*.py ident\n", `v="$Format:%s$"`, ""},
		{"words between two marks, which go", "*.py ident\n", "", `v="$Id: ";require_admin();w="$"`, OmittedConverted},
		{"a mark alone", "*.py ident\n", "", `v="$Id$"`, ""},
		{"words where nobody replaces them", "", "", `v="$Id: 1 $"`, ""},
		{"another encoding, where capitals are small letters", "", "*.PY working-tree-encoding=UTF-16BE\n", "\u6423", OmittedConverted},
		{"one that is taken back there alone", "", "*.py ident\n*.PY -ident\n", `v="$Id: 1 $"`, OmittedConverted},
		{"and one that is set there alone", "*.PY ident\n", "", `v="$Id: 1 $"`, OmittedConverted},
		{"a place for words of a commit", "", "*.py export-subst\n", `v="$Format:%s$"`, OmittedConverted},
		{"and none", "", "*.py export-subst\n", `v=1`, ""},
	} {
		src := &memory{files: map[string]map[string]string{baseID: {"a.py": body, ".gitattributes": row.base}, headID: {"a.py": row.line + "\n", ".gitattributes": row.head}}}
		if got := build(t, src, oneLineChange("a.py", 1, "x = 1", row.line), Options{}).Files[0].Omitted; got != row.want {
			t.Errorf("%s: %q, want %q", row.says, got, row.want)
		}
	}
	src := &memory{files: map[string]map[string]string{baseID: {"a.py": body}, headID: {"a.py": "\u6423\n", ".GitAttributes": "*.py working-tree-encoding=UTF-16BE\n"}}}
	if got := build(t, src, oneLineChange("a.py", 1, "x = 1", "\u6423"), Options{}).Files[0].Omitted; got != OmittedConverted {
		t.Errorf("a file that is one of attributes where capitals are small letters: %q", got)
	}
	// A new file where others are vendored, or minified, is read again, and is held to this too.
	vendored := "*.py working-tree-encoding=UTF-7\n"
	src = &memory{files: map[string]map[string]string{baseID: {".gitattributes": vendored}, headID: {".gitattributes": vendored, "vendor/a.py": "x\n"}}}
	if got := build(t, src, newFile("vendor/a.py", "x\n"), Options{}).Files[0].Omitted; got != OmittedConverted {
		t.Errorf("a new vendored file: %q", got)
	}
}

// A file of attributes that changes what git writes of files nobody changed is unread (threats.md T328).
func TestAttributesOfFilesNobodyChanged(t *testing.T) {
	const on = "*.py working-tree-encoding=UTF-7\n"
	tree := map[string]string{"a.py": "x\n", "s/a.py": "x\n", "s/id.c": "$Id: 1 $\n", "s/v.c": "$Format:\n%h$\n", "s/plain.c": "$Id$\n"}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(tree)
		maps.Copy(all, more)
		return all
	}
	const gone = "diff --git a/s/.gitattributes b/s/.gitattributes\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/s/.gitattributes\n+++ /dev/null\n@@ -1 +0,0 @@\n-*.py -working-tree-encoding\n"
	const moved = "diff --git a/notes b/.gitattributes\nsimilarity index 100%\nrename from notes\nrename to .gitattributes\n"
	for _, row := range []struct {
		says       string
		base, head map[string]string
		text, want string
	}{
		{"another encoding", nil, map[string]string{".gitattributes": on}, newFile(".gitattributes", on), OmittedConverted},
		{"behind a quoted pattern", nil, map[string]string{".gitattributes": "\"*.py\"working-tree-encoding=UTF-7\n"}, newFile(".gitattributes", "\"*.py\"working-tree-encoding=UTF-7\n"), OmittedConverted},
		{"of a kind of file that is not there", nil, map[string]string{".gitattributes": "*.ps1 working-tree-encoding=UTF-16LE\n"}, newFile(".gitattributes", "*.ps1 working-tree-encoding=UTF-16LE\n"), ""},
		{"a text that becomes one", map[string]string{"notes": on}, map[string]string{".gitattributes": on}, moved, OmittedConverted},
		{"one that goes, which had it off", map[string]string{".gitattributes": on, "s/.gitattributes": "*.py -working-tree-encoding\n"}, map[string]string{".gitattributes": on}, gone, OmittedConverted},
		{"words that are replaced now", nil, map[string]string{"s/.gitattributes": "id.c ident\n"}, newFile("s/.gitattributes", "id.c ident\n"), OmittedConverted},
		{"words over two lines", nil, map[string]string{"s/.gitattributes": "v.c export-subst\n"}, newFile("s/.gitattributes", "v.c export-subst\n"), OmittedConverted},
		{"a mark alone", nil, map[string]string{"s/.gitattributes": "plain.c ident\n"}, newFile("s/.gitattributes", "plain.c ident\n"), ""},
		{"the ends of lines", nil, map[string]string{".gitattributes": "* text=auto eol=lf\n"}, newFile(".gitattributes", "* text=auto eol=lf\n"), ""},
		{"where capitals are small letters", nil, map[string]string{".gitattributes": "*.PY working-tree-encoding=UTF-7\n"}, newFile(".gitattributes", "*.PY working-tree-encoding=UTF-7\n"), OmittedConverted},
		{"by a name in capitals", nil, map[string]string{"S/.GITATTRIBUTES": on}, newFile("S/.GITATTRIBUTES", on), OmittedConverted},
		{"there alone before, and elsewhere alone now", map[string]string{".gitattributes": "v.C export-subst\n"}, map[string]string{".gitattributes": "v.c export-subst\nv.C !export-subst\n"},
			oneLineChange(".gitattributes", 1, "v.C export-subst", "v.c export-subst"), OmittedConverted},
		{"words that are replaced no more", map[string]string{".gitattributes": "id.c ident\n"}, map[string]string{".gitattributes": "\n"}, oneLineChange(".gitattributes", 1, "id.c ident", ""), OmittedConverted},
		{"another encoding no more", map[string]string{".gitattributes": on}, map[string]string{".gitattributes": "*.py text\n"}, oneLineChange(".gitattributes", 1, on[:len(on)-1], "*.py text"), OmittedConverted},
		{"a mark alone no more", map[string]string{".gitattributes": "plain.c ident\n"}, map[string]string{".gitattributes": "\n"}, oneLineChange(".gitattributes", 1, "plain.c ident", ""), ""},
		{"another excuse of the same", map[string]string{".gitattributes": on + "*.py linguist-generated\n"}, map[string]string{".gitattributes": on}, oneLineChange(".gitattributes", 2, "*.py linguist-generated", ""), ""},
		{"as it was", map[string]string{".gitattributes": on}, map[string]string{".gitattributes": on + "*.md text\n"}, oneLineChange(".gitattributes", 2, "", "*.md text"), ""},
	} {
		src := &memory{files: map[string]map[string]string{baseID: with(row.base), headID: with(row.head)}}
		if got := build(t, src, row.text, Options{}).Files[0].Omitted; got != row.want {
			t.Errorf("%s: %q, want %q", row.says, got, row.want)
		}
	}
}

// However many files of attributes change, git is asked about all together, and those beyond the bound are unread (threats.md T386).
func TestManyFilesOfAttributes(t *testing.T) {
	const on = "id.c ident\n"
	asked := func(n int) (review.Brief, int) {
		var text strings.Builder
		src := &memory{files: map[string]map[string]string{baseID: {}, headID: {"a/id.c": "x\n", "b/id.c": "$Id: 1 $\n"}}}
		for i := range n {
			name := fmt.Sprintf("d%04d/.gitattributes", i)
			src.files[headID][name] = on
			text.WriteString(newFile(name, on))
		}
		for _, dir := range []string{"a", "b"} {
			src.files[headID][dir+"/.gitattributes"] = on
			text.WriteString(newFile(dir+"/.gitattributes", on))
		}
		return build(t, src, text.String(), Options{}), src.questions
	}
	few, questions := asked(0)
	if few.Files[0].Omitted != "" || few.Files[1].Omitted != OmittedConverted {
		t.Errorf("%+v", few.Files)
	}
	if _, more := asked(50); more != questions {
		t.Errorf("%d questions instead of %d", more, questions)
	}
	many, _ := asked(mostAttributes)
	for i, f := range many.Files {
		if unread := i >= mostAttributes; unread != (f.Omitted == omittedMany) || f.Excused {
			t.Errorf("%s: %q, excused %v", f.Path, f.Omitted, f.Excused)
		}
	}
}
