package gosource

import (
	"go/ast"
	"go/types"
	"go/version"
	"reflect"
	"runtime"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/suite/vet"
)

// newest is the newest version of the language that is understood.
func newest() string { return version.Lang(runtime.Version()) }

// certain are the analyzers that are right also where the types of some imports are lacking.
var certain = []string{"assign", "bools", "printf", "structtag", "unreachable", "tests"}

// left are those that need more than the source of one package, and those that the go vet of today does not have.
var left = []string{"asmdecl", "cgocall", "framepointer", "buildtag", "stdversion", "scannererr", "sqlrowserr"}

// vet has the analyzers of go vet read a package.
func (c *check) vet(p *types.Package, files []*ast.File, info *types.Info, sizes types.Sizes, whole bool) []Remark {
	v := vetting{c: c, p: p, files: files, info: info, sizes: sizes, results: map[*analysis.Analyzer]any{}, facts: map[fact]analysis.Fact{}}
	if !whole {
		v.fill()
	}
	for _, a := range vet.Suite {
		if slices.Contains(left, a.Name) || !whole && !slices.Contains(certain, a.Name) {
			continue
		}
		v.run(a)
	}
	slices.SortStableFunc(v.remarks, func(a, b Remark) int { return a.Line - b.Line })
	return v.remarks
}

type vetting struct {
	c       *check
	p       *types.Package
	files   []*ast.File
	info    *types.Info
	sizes   types.Sizes
	results map[*analysis.Analyzer]any
	facts   map[fact]analysis.Fact
	remarks []Remark
}

// fact is what an analyzer remembers of an object, or of the package where that is nil, for itself and in this package alone.
type fact struct {
	object types.Object
	kind   reflect.Type
}

// fill gives the expressions that depend on what is lacking the type that says so: analyzers count on there being one.
func (v *vetting) fill() {
	for _, f := range v.files {
		ast.Inspect(f, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if _, name := n.(*ast.Ident); !ok || name {
				return true
			}
			if _, ok := v.info.Types[e]; !ok {
				v.info.Types[e] = types.TypeAndValue{Type: types.Typ[types.Invalid]}
			}
			return true
		})
	}
}

// run has one analyzer read the package, after those it needs. One that fails has found nothing.
func (v *vetting) run(a *analysis.Analyzer) (ok bool) {
	if _, done := v.results[a]; done {
		return true
	}
	for _, needed := range a.Requires {
		if !v.run(needed) {
			return false
		}
	}
	var found []Remark
	defer func() {
		if r := recover(); r != nil {
			ok = false // an analyzer is not made for every package there may be
		}
	}()
	result, err := a.Run(&analysis.Pass{
		Analyzer: a, Fset: v.c.lib.fset, Files: v.files, Pkg: v.p, TypesInfo: v.info, TypesSizes: v.sizes,
		ResultOf: v.results, Module: &analysis.Module{Path: v.c.lib.module, GoVersion: v.c.version},
		ReadFile: func(name string) ([]byte, error) { return read(v.c.lib.tree, name) },
		Report: func(d analysis.Diagnostic) {
			at := v.c.lib.fset.Position(d.Pos)
			found = append(found, Remark{File: at.Filename, Line: at.Line, Message: d.Message})
		},
		ImportObjectFact:  func(o types.Object, f analysis.Fact) bool { return v.recall(o, f) },
		ImportPackageFact: func(p *types.Package, f analysis.Fact) bool { return p == v.p && v.recall(nil, f) },
		ExportObjectFact:  func(o types.Object, f analysis.Fact) { v.facts[fact{o, reflect.TypeOf(f)}] = f },
		ExportPackageFact: func(f analysis.Fact) { v.facts[fact{nil, reflect.TypeOf(f)}] = f },
		AllObjectFacts:    func() []analysis.ObjectFact { return nil },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	})
	if err != nil {
		return false
	}
	v.results[a] = result
	v.remarks = append(v.remarks, found...)
	return true
}

func (v *vetting) recall(o types.Object, f analysis.Fact) bool {
	kept, ok := v.facts[fact{o, reflect.TypeOf(f)}]
	if ok {
		reflect.ValueOf(f).Elem().Set(reflect.ValueOf(kept).Elem())
	}
	return ok
}
