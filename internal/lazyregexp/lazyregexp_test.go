package lazyregexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryExpressionCompiles finds what would otherwise panic at its first use, perhaps in the middle of a run.
func TestEveryExpressionCompiles(t *testing.T) {
	packages := map[string][]*ast.File{}
	set := token.NewFileSet()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
		packages[filepath.Dir(p)] = append(packages[filepath.Dir(p)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]ast.Expr{} // by the name of the package and their own
	for _, files := range packages {
		for name, e := range constants(files) {
			exported[files[0].Name.Name+"."+name] = e
		}
	}
	seen := 0
	for _, files := range packages {
		known := constants(files)
		maps.Copy(known, exported)
		takes := helpers(files)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				at := 0
				if !isNew(call) {
					name, _ := call.Fun.(*ast.Ident)
					if name == nil {
						return true
					}
					if at, ok = takes[name.Name]; !ok {
						return true
					}
				}
				expr, ok := value(call.Args[at], known)
				if !ok {
					if name, isName := call.Args[at].(*ast.Ident); !isName || !parameter(files, name.Name, takes) {
						t.Errorf("%s: the expression is no constant this test could compile", set.Position(call.Pos()))
					}
					return true
				}
				seen++
				if _, err := regexp.Compile(expr); err != nil {
					t.Errorf("%s: %v", set.Position(call.Pos()), err)
				}
				return true
			})
		}
	}
	if seen < 50 {
		t.Errorf("only %d expressions were found in the module", seen)
	}
}

func isNew(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 || f.Sel.Name != "New" {
		return false
	}
	p, ok := f.X.(*ast.Ident)
	return ok && p.Name == "lazyregexp"
}

// helpers are a package's functions that hand one of their parameters to New: the parameter's index by the function's name.
func helpers(files []*ast.File) map[string]int {
	takes := map[string]int{}
	eachFunc(files, func(f *ast.FuncDecl, params []string) {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isNew(call) {
				if name, ok := call.Args[0].(*ast.Ident); ok && slices.Contains(params, name.Name) {
					takes[f.Name.Name] = slices.Index(params, name.Name)
				}
			}
			return true
		})
	})
	return takes
}

// parameter reports whether a name is what one of the helpers hands on.
func parameter(files []*ast.File, name string, takes map[string]int) bool {
	found := false
	eachFunc(files, func(f *ast.FuncDecl, params []string) {
		at, ok := takes[f.Name.Name]
		found = found || ok && params[at] == name
	})
	return found
}

// eachFunc gives a package's functions with the names of their parameters.
func eachFunc(files []*ast.File, do func(f *ast.FuncDecl, params []string)) {
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			var params []string
			for _, field := range f.Type.Params.List {
				for _, name := range field.Names {
					params = append(params, name.Name)
				}
			}
			do(f, params)
		}
	}
}

// constants are a package's string constants by name.
func constants(files []*ast.File) map[string]ast.Expr {
	known := map[string]ast.Expr{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i := range min(len(v.Names), len(v.Values)) {
					known[v.Names[i].Name] = v.Values[i]
				}
			}
		}
	}
	return known
}

// value is what a constant string expression says.
func value(e ast.Expr, known map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.Ident:
		if of, ok := known[e.Name]; ok {
			return value(of, known)
		}
	case *ast.SelectorExpr:
		if p, ok := e.X.(*ast.Ident); ok && known[p.Name+"."+e.Sel.Name] != nil {
			return value(known[p.Name+"."+e.Sel.Name], known)
		}
	case *ast.ParenExpr:
		return value(e.X, known)
	case *ast.BinaryExpr:
		a, ok := value(e.X, known)
		b, also := value(e.Y, known)
		return a + b, ok && also && e.Op == token.ADD
	}
	return "", false
}

func TestMethodsAnswerLikeRegexp(t *testing.T) {
	const text = "a1 b22 c"
	r := New(`([a-z])([0-9]+)`)
	if !r.MatchString(text) || !r.Match([]byte(text)) || r.FindString(text) != "a1" || r.FindStringIndex(text)[1] != 2 || r.FindStringSubmatch(text)[2] != "1" ||
		r.FindStringSubmatchIndex(text)[2] != 0 || r.FindAllString(text, -1)[1] != "b22" || r.FindAllStringIndex(text, -1)[1][0] != 3 ||
		r.FindAllStringSubmatch(text, -1)[1][2] != "22" || r.FindAllStringSubmatchIndex(text, -1)[1][5] != 6 ||
		r.ReplaceAllString(text, "$2$1") != "1a 22b c" || r.ReplaceAllStringFunc(text, strings.ToUpper) != "A1 B22 c" {
		t.Error("an answer differs from regexp's")
	}
	broken := New(`(`) // kept, not compiled
	defer func() {
		if recover() == nil {
			t.Error("a broken expression was used without a panic")
		}
	}()
	broken.MatchString("")
}
