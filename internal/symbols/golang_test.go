package symbols

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unknown is what a row says of a file whose structure is not known.
const unknown = "unknown"

func TestGoIsReadAsItsParserUnderstandsIt(t *testing.T) {
	for _, row := range []struct{ about, text, definitions, uses string }{
		{"a package is used where something of it is called, not where it names a type",
			"func f(c ctx.C, m ...map[k8s.K]*io.R) {\n\tx := http.Get[*url.U](c)\n\t_ = []pkg.T{y.(api.V)}\n\tswitch y.(type) {\n\tcase net.E, nil:\n\t}\n\tnew(big.I)\n}",
			"f 2-2-9", ".http:3 http.Get:3 .url:3 .new:8"},
		{"what is in a function literal is in a function",
			"var run = func() {\n\tvar local int\n\ttype inner struct{ field int }\n}", "=run 2-2-5, ^inner 4-4-4", ".local:3 .int:3 .field:4 .int:4"},
		{"a label is no use", "func f() {\nouter:\n\tfor {\n\t\tbreak outer\n\t}\n}", "f 2-2-7", ""},
		{"receivers may have parameters, comments and brackets",
			"func (t *Tree[K, V]) Get() {}\nfunc (Tree /* x */) Put() {}\nfunc (t (*Tree)) Cut()",
			"Tree.Get 2-2-2, Tree.Put 3-3-3, Tree.Cut 4-4-4", ".Tree:2 .Tree:3 .Tree:4"},
		{"what a type embeds is a member of a struct and a use in an interface",
			"type One struct {\n\t*Base\n\tio.Reader\n\tIn struct{ Deep int }\n}\ntype (\n\tA = One\n\tI interface {\n\t\tBase\n\t\tDo()\n\t}\n)",
			"^One 2-2-6, =One.Base 3-3-3, =One.In 5-5-5, =One.Deep 5-5-5, ^A 8-8-8, ^I 9-9-12, =I.Do 11-11-11", "io.Reader:4 .int:5 .One:8 .Base:10"},
		{"lines are those of the file", "//line x.y:100\nfunc f() {}", "f 3-3-3", ""},
		{"a long line is no reason not to read", "const s = `" + strings.Repeat("x", 2*endlessLimit) + "`", "=s 2-2-2", ""},
		{"after an error nothing is known", "func f() {\n\nfunc g() {}", unknown, unknown},
		{"nesting that has no depth of brackets", "var x " + strings.Repeat("[]", 150_000) + "int", unknown, unknown},
	} {
		f, ok, slow := ReadInTime("go", []byte("package a\n"+row.text+"\n"))
		definitions, uses := what(f)
		if !ok {
			definitions, uses = unknown, unknown
		}
		if d := cmp.Diff([]string{row.definitions, row.uses}, []string{definitions, uses}); d != "" || slow {
			t.Errorf("%s: slow %v, %s", row.about, slow, d)
		}
	}
}

// Types and values of a function literal are as those of any function: local.
func TestTypesInFunctionLiteralsAreLocal(t *testing.T) {
	f, _ := Read("go", []byte("package a\n\ntype out int\n\nvar run = func() { type in int }\n"))
	for _, d := range f.Definitions {
		if d.Local != (d.Name == "in") {
			t.Errorf("%+v", d)
		}
	}
}
