package gosource

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// std is as much of a standard library as the tests need.
var std = tree(map[string]string{
	"fmt/print.go": `package fmt
import ("io"; "os"; "internal/fmtsort")
func Printf(format string, args ...any) (int, error) { return fmtsort.Sort(), os.Gone }
func Fprintf(w io.Writer, format string, args ...any) (int, error) { return 0, nil }
func Sprintf(format string, args ...any) string { return "" }
func Errorf(format string, args ...any) error { return nil }
`,
	"io/io.go":           "package io\ntype Writer interface { Write([]byte) (int, error) }\n",
	"testing/testing.go": "package testing\ntype T struct{}\nfunc (*T) Fatal(args ...any) {}\n",
})

func tree(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// said are the remarks on files of a checkout, "file:line: message" each, and the imports that were lacking.
func said(t *testing.T, checkout fs.FS, files ...string) string {
	t.Helper()
	res, err := Check(t.Context(), checkout, std, files)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range res.Remarks {
		word := ""
		if r.Error {
			word = "error: "
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s%s", r.File, r.Line, word, r.Message))
	}
	if len(res.Lacking) > 0 {
		lines = append(lines, "lacking: "+strings.Join(res.Lacking, " "))
	}
	return strings.Join(lines, "\n")
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string // go.mod says module x unless it is here
		of    string            // the changed files; a.go unless it is here
		want  string
	}{
		"printf": {
			files: map[string]string{"a.go": "package a\nimport \"fmt\"\nfunc f() { fmt.Printf(\"%d\", \"x\") }\n"},
			want:  `a.go:3: fmt.Printf format %d has arg "x" of wrong type string`,
		},
		"a wrapper of printf in the same package": {
			files: map[string]string{
				"a.go": "package a\nfunc f() { logf(\"%d\", \"x\") }\n",
				"b.go": "package a\nimport \"fmt\"\nfunc logf(format string, args ...any) { fmt.Printf(format, args...) }\n",
			},
			want: `a.go:2: x.logf format %d has arg "x" of wrong type string`,
		},
		"sound": {files: map[string]string{"a.go": "package a\nimport \"fmt\"\nfunc f() { fmt.Printf(\"%d\", 1) }\n"}},
		"a type that does not fit": {
			files: map[string]string{"a.go": "package a\nfunc f() int { return \"x\" }\n"},
			want:  `a.go:2: error: cannot use "x" (untyped string constant) as int value in return statement`,
		},
		"an import and a variable that nothing uses": {
			files: map[string]string{"a.go": "package a\nimport \"fmt\"\nfunc f() { v := 1 }\n"},
			want:  "a.go:3: error: declared and not used: v\na.go:2: error: \"fmt\" imported and not used",
		},
		"the first error of syntax, and none that follows": {
			files: map[string]string{"a.go": "package a\nfunc f( { return 1 +\n}\nfunc g() int { }\n"},
			want:  "a.go:2: error: expected ')', found '{'",
		},
		"a package of the module": {
			files: map[string]string{
				"a.go":   "package a\nimport \"x/b\"\nvar _ int = b.S()\n",
				"b/b.go": "package b\nimport \"fmt\"\nfunc S() string { return fmt.Sprintf(\"%d\", \"x\") }\n",
			},
			want: "a.go:3: error: cannot use b.S() (value of type string) as int value in variable declaration",
		},
		"a module below the root": {
			of: "m/a.go",
			files: map[string]string{
				"m/go.mod": "module y.org/m\n",
				"m/a.go":   "package a\nimport \"y.org/m/b\"\nvar _ int = b.S\n",
				"m/b/b.go": "package b\nconst S = \"\"\n",
			},
			want: `m/a.go:3: error: cannot use b.S (untyped string constant "") as int value in variable declaration`,
		},
		"a vendored package": {
			files: map[string]string{
				"a.go":                    "package a\nimport \"other.org/b\"\nvar _ int = b.S\n",
				"vendor/other.org/b/b.go": "package b\nconst S = \"\"\n",
			},
			want: `a.go:3: error: cannot use b.S (untyped string constant "") as int value in variable declaration`,
		},
		// What is said of types may come from what is lacking, as here: whether v is used is not known, nor what b.v3 is called.
		"an import that is not here": {
			files: map[string]string{"a.go": "package a\nimport (\n\"fmt\"\n\"other.org/b.v3\"\n)\ntype s struct { b.T }\n" +
				"func f(x s) int { x.Run(func() { v := b.Get() }); fmt.Printf(\"%d\", \"x\"); return \"\" }\n"},
			want: "a.go:7: fmt.Printf format %d has arg \"x\" of wrong type string\nlacking: other.org/b.v3",
		},
		"a package that imports what is not here": {
			files: map[string]string{
				"a.go":   "package a\nimport \"x/b\"\nvar _ int = b.S\n",
				"b/b.go": "package b\nimport \"other.org/c\"\nvar S c.T\n",
			},
			want: "lacking: other.org/c x/b",
		},
		"cgo": {files: map[string]string{"a.go": "package a\nimport \"C\"\nvar _ int = C.x\n", "b.go": "package a\nvar v int = \"\"\n"}},
		"a package of the module with cgo": {
			files: map[string]string{"a.go": "package a\nimport \"x/b\"\nvar _ int = b.S\n", "b/b.go": "package b\nimport \"C\"\nvar S = C.x\n"},
			want:  "lacking: x/b",
		},
		"files that are not built here": {
			files: map[string]string{"a.go": "package a\nvar _ int = v\n", "b_plan9.go": "package a\nvar v = \"\"\n",
				"c.go": "//go:build ignore\n\npackage main\nvar v = \"\"\n", "d.go": "package a\nvar v = 1\n"},
		},
		"tests that are not changed": {
			files: map[string]string{"a.go": "package a\n", "a_test.go": "package a\nvar _ int = \"\"\n"},
		},
		"tests in the package and beside it": {
			of: "a_test.go",
			files: map[string]string{
				"a.go":      "package a\ntype T struct{}\nfunc F() T { return T{} }\n",
				"a_test.go": "package a\nfunc G() T { return 1 }\n",
				"b_test.go": "package a_test\nimport (\"x\"; \"x/h\")\nvar _ a.T = a.G()\nvar _ a.T = h.H()\n",
				"h/h.go":    "package h\nimport \"x\"\nfunc H() a.T { return a.F() }\n",
			},
			want: "a_test.go:2: error: cannot use 1 (untyped int constant) as T value in return statement",
		},
		"tests beside a sound package": {
			of: "b_test.go",
			files: map[string]string{
				"a.go":      "package a\nimport \"x/n\"\ntype T struct{}\nfunc F() n.N { return 0 }\n",
				"a_test.go": "package a\nfunc G() T { return T{} }\n",
				"b_test.go": "package a_test\nimport (\"x\"; \"x/h\"; \"x/n\")\nvar _ a.T = a.G()\nvar _ a.T = h.H()\nvar _ n.N = a.F()\nvar _ int = a.G()\n",
				"h/h.go":    "package h\nimport \"x\"\nfunc H() a.T { return a.T{} }\n",
				"n/n.go":    "package n\ntype N int\n",
			},
			want: "b_test.go:6: error: cannot use a.G() (value of struct type a.T) as int value in variable declaration",
		},
		"packages that import each other": {
			files: map[string]string{"a.go": "package a\nimport \"x/b\"\nvar _ int = b.S\n", "b/b.go": "package b\nimport \"x\"\nvar S a.T\n"},
			want:  "lacking: x x/b",
		},
		"a version of the language that nobody has": {
			files: map[string]string{"go.mod": "module x\ngo 1.999\n", "a.go": "package a\nvar _ int = \"\"\n"},
			want:  `a.go:2: error: cannot use "" (untyped string constant) as int value in variable declaration`,
		},
		"an old version of the language": {
			files: map[string]string{"go.mod": "module x\ngo 1.16\n", "a.go": "package a\nfunc f[T error](T) {}\n"},
			want:  "a.go:2: error: type parameter requires go1.18 or later",
		},
		"no module": {of: "a/a.go", files: map[string]string{"go.mod": "", "a/a.go": "package a\nvar _ int = \"\"\n"},
			want: `a/a.go:2: error: cannot use "" (untyped string constant) as int value in variable declaration`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.of == "" {
				c.of = "a.go"
			}
			if _, ok := c.files["go.mod"]; !ok {
				c.files["go.mod"] = "module x\n"
			}
			if got := said(t, tree(c.files), c.of); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// What a folder of the checkout leads to outside of it is not read (threats.md T263).
func TestNothingOutsideIsRead(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(dir, "go.mod"):     "module x\n",
		filepath.Join(dir, "a.go"):       "package a\nimport \"x/b\"\nvar _ int = b.Secret\nvar _ = v\n",
		filepath.Join(outside, "b.go"):   "package b\nconst Secret = \"hunter2\"\n",
		filepath.Join(outside, "v.go"):   "package a\nvar v = \"\"\n",
		filepath.Join(outside, "go.mod"): "module y\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "b")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(filepath.Join(outside, "v.go"), filepath.Join(dir, "v.go")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if got := said(t, root.FS(), "a.go"); got != "lacking: x/b" {
		t.Errorf("got %s", got)
	}
}

func TestCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := Check(ctx, tree(map[string]string{"a.go": "package a\nvar v int = \"\"\n"}), std, []string{"a.go"}); err == nil {
		t.Errorf("an ended context gives %+v", res)
	}
}
