package gosource

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"go/version"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Remark is what is said of a line.
type Remark struct {
	// File is a path below the checkout, with slashes.
	File string
	Line int
	// Error tells that the package does not compile. Else an analyzer of go vet finds the line suspicious.
	Error   bool
	Message string
}

// Result is what became of reading some files.
type Result struct {
	Remarks []Remark
	// Lacking are imports whose source is not here, sorted: what depends on their types was not checked.
	Lacking []string
}

// Check reads the packages that some files of a checkout are of, tests of a folder only if one of its files is one. std holds the sources of the standard library, and may be nil. Its
// error is that of the context: what cannot be read is a remark or nothing.
func Check(ctx context.Context, tree, std fs.FS, files []string) (res Result, err error) {
	defer func() { // the checker is not made for all that a file may hold
		if r := recover(); r != nil {
			err = fmt.Errorf("read Go packages: %v", r)
		}
	}()
	dirs := map[string]bool{} // and whether their tests are asked for
	for _, f := range files {
		dirs[path.Dir(f)] = dirs[path.Dir(f)] || isTest(f)
	}
	lacking := map[string]bool{}
	libraries := map[string]*library{} // by the folder of the module: what is imported is read once
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		c := check{dir: dir, tests: dirs[dir], lacking: lacking}
		at, module, goVersion := moduleOf(tree, dir)
		c.version = goVersion
		if libraries[at] == nil {
			libraries[at] = &library{ctx: ctx, tree: tree, std: std, module: module, at: at, fset: token.NewFileSet(),
				known: map[string]*types.Package{}, ours: map[string]bool{}}
		}
		lib := *libraries[at]
		lib.lacking = map[string]bool{}
		c.lib = &lib
		if err := c.folder(ctx); err != nil {
			return Result{}, err
		}
		res.Remarks = append(res.Remarks, c.remarks...)
	}
	res.Lacking = slices.Sorted(maps.Keys(lacking))
	return res, nil
}

// check is the work on one folder.
type check struct {
	dir, version string
	tests        bool
	lib          *library
	remarks      []Remark
	lacking      map[string]bool
}

func (c *check) folder(ctx context.Context) error {
	files, err := parseFolder(ctx, c.lib.fset, c.lib.tree, c.dir, true, func(name string) bool { return c.tests || !isTest(name) }, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return context.Cause(ctx)
	}
	var inside, outside []*ast.File
	broken, cgo := false, false
	for _, f := range files {
		if f.err != nil {
			broken = true
			c.syntax(f)
			continue
		}
		cgo = cgo || usesC(f.syntax)
		if isTest(f.path) && strings.HasSuffix(f.syntax.Name.Name, "_test") {
			outside = append(outside, f.syntax)
		} else {
			inside = append(inside, f.syntax)
		}
	}
	if broken || cgo { // types mean little then
		return context.Cause(ctx)
	}
	name := path.Join(c.lib.module, strings.TrimPrefix(strings.TrimPrefix(c.dir, c.lib.at), "/"))
	if c.dir == c.lib.at {
		name = c.lib.module
	}
	if len(inside) > 0 {
		p, sound := c.types(ctx, name, inside)
		if !sound {
			return context.Cause(ctx)
		}
		c.lib = c.lib.beside(p, name)
	}
	if len(outside) > 0 {
		c.types(ctx, name+"_test", outside)
	}
	return context.Cause(ctx)
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// syntax takes the errors of the parser.
func (c *check) syntax(f source) {
	var list scanner.ErrorList
	if !errors.As(f.err, &list) || len(list) == 0 {
		return
	}
	list.Sort() // those after the first follow from it
	c.remarks = append(c.remarks, Remark{File: f.path, Line: list[0].Pos.Line, Error: true, Message: list[0].Msg})
}

// mostErrors is how many errors of a folder are told.
const mostErrors = 10

// types checks a package, and has the analyzers read it when it is sound.
func (c *check) types(ctx context.Context, name string, files []*ast.File) (*types.Package, bool) {
	var wrong []types.Error
	conf := types.Config{Importer: c.lib, Sizes: sizes(), GoVersion: c.version, Error: func(err error) {
		var t types.Error
		if errors.As(err, &t) {
			wrong = append(wrong, t)
		}
	}}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{}}
	p, _ := conf.Check(name, c.lib.fset, files, info)
	if context.Cause(ctx) != nil { // what is missing then is missing by that
		return p, false
	}
	maps.Copy(c.lacking, c.lib.lacking)
	whole := len(c.lib.lacking) == 0
	sound := true
	for _, t := range wrong {
		if !whole {
			break // it may come from what is lacking
		}
		at := t.Fset.Position(t.Pos)
		if sound = false; len(c.remarks) >= mostErrors {
			break
		}
		c.remarks = append(c.remarks, Remark{File: at.Filename, Line: at.Line, Error: true, Message: t.Msg})
	}
	if sound && p != nil {
		c.remarks = append(c.remarks, c.vet(p, files, info, conf.Sizes, whole)...)
	}
	return p, sound
}

// moduleOf finds the module a folder is of: its folder, its path, and the version of the language.
func moduleOf(tree fs.FS, dir string) (at, module, goVersion string) {
	for at = dir; ; at = path.Dir(at) {
		if data, err := read(tree, path.Join(at, "go.mod")); err == nil {
			module, goVersion = readModule(data)
			return at, module, goVersion
		}
		if at == "." {
			return at, "", ""
		}
	}
}

// readModule takes the module's path and version of the language out of a go.mod.
func readModule(data []byte) (module, goVersion string) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "module":
			module = strings.Trim(words[1], `"`+"`")
		case "go":
			// A language that the checker of this program does not know is checked as the newest it does.
			if v := "go" + words[1]; version.IsValid(v) && version.Compare(version.Lang(v), newest()) <= 0 {
				goVersion = v
			}
		}
	}
	return module, goVersion
}
