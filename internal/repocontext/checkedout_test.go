package repocontext

import "testing"

// What git writes into a working tree, or an archive, is what was read, or it is unread (threats.md T328).
func TestCheckedOutAsShown(t *testing.T) {
	const body = "x = 1\n"
	for _, row := range []struct{ says, base, head, line, want string }{
		{"nothing is said", "", "", "x", ""},
		{"another encoding, at the head", "", "*.py working-tree-encoding=ASCII//TRANSLIT\n", "x", OmittedConverted},
		{"another encoding, at the base", "*.py text working-tree-encoding=UTF-16BE\n", "", "x", OmittedConverted},
		{"by a macro", "[attr]odd working-tree-encoding=UTF-16LE\n*.py odd\n", "", "x", OmittedConverted},
		{"an encoding without a name", "*.py working-tree-encoding\n", "", "x", OmittedConverted},
		{"that of the commit", "*.py working-tree-encoding=utf-8\n", "*.py working-tree-encoding=UTF8\n", "x", ""},
		{"none", "*.py -working-tree-encoding\n", "", "x", ""},
		{"of other files", "*.ps1 working-tree-encoding=UTF-16LE-BOM\n", "", "x", ""},
		{"words between two marks, which go", "*.py ident\n", "", `v="$Id: ";require_admin();w="$"`, OmittedConverted},
		{"a mark alone", "*.py ident\n", "", `v="$Id$"`, ""},
		{"words where nobody replaces them", "", "", `v="$Id: 1 $"`, ""},
		{"a place for words of a commit", "", "*.py export-subst\n", `v="$Format:%s$"`, OmittedConverted},
		{"and none", "", "*.py export-subst\n", `v=1`, ""},
	} {
		src := &memory{files: map[string]map[string]string{baseID: {"a.py": body, ".gitattributes": row.base}, headID: {"a.py": row.line + "\n", ".gitattributes": row.head}}}
		if got := build(t, src, oneLineChange("a.py", 1, "x = 1", row.line), Options{}).Files[0].Omitted; got != row.want {
			t.Errorf("%s: %q, want %q", row.says, got, row.want)
		}
	}
	for line, want := range map[string]string{
		"*.py working-tree-encoding=ASCII//TRANSLIT": OmittedConverted, "[attr]odd text working-tree-encoding=UTF-16": OmittedConverted, "*.py text eol=lf": "",
		"*.py working-tree-encoding=UTF-8": "", "*.py -working-tree-encoding": "",
	} {
		src := &memory{files: map[string]map[string]string{baseID: {".gitattributes": "\n"}, headID: {".gitattributes": line + "\n"}}}
		if got := build(t, src, oneLineChange(".gitattributes", 1, "", line), Options{}).Files[0].Omitted; got != want {
			t.Errorf("a file of attributes that gains %q: %q, want %q", line, got, want)
		}
	}
}
