package gosource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// library gives the types of imported packages, read from source once each. It is for one goroutine.
type library struct {
	ctx context.Context
	// tree is the checkout; std is the folder of the standard library's sources, nil without a Go.
	tree, std fs.FS
	// module is the path of the module the importing package is of, at is its folder in tree.
	module, at string
	fset       *token.FileSet
	known      map[string]*types.Package
	// lacking are the paths that could not be read.
	lacking map[string]bool
	// ours are the packages in known that the checkout holds.
	ours map[string]bool
	// own are packages that were checked as a whole, for the tests beside them.
	own map[string]*types.Package
}

var errNoSource = errors.New("its source is not here")

// Import implements types.Importer.
func (l *library) Import(name string) (*types.Package, error) {
	if name == "unsafe" {
		return types.Unsafe, nil
	}
	if p := l.own[name]; p != nil {
		return p, nil
	}
	if p, ok := l.known[name]; ok {
		if p == nil {
			l.lacking[name] = true
			return nil, errNoSource
		}
		return p, nil
	}
	l.known[name] = nil // an import cycle ends here
	p, err := l.read(name)
	if err != nil {
		l.lacking[name] = true
		return nil, err
	}
	l.known[name] = p
	return p, nil
}

// beside is the library for the tests beside a package, which see what the package's own tests declare. So do packages they import
// that import it, which are read anew.
func (l *library) beside(p *types.Package, name string) *library {
	other := *l
	other.own = map[string]*types.Package{name: p}
	other.known = map[string]*types.Package{}
	for path, q := range l.known {
		if q == nil || !l.ours[path] || !imports(q, name, map[*types.Package]bool{}) {
			other.known[path] = q
		}
	}
	return &other
}

// imports reports whether a package imports another, or is it.
func imports(p *types.Package, name string, seen map[*types.Package]bool) bool {
	if p.Path() == name {
		return true
	}
	if seen[p] {
		return false
	}
	seen[p] = true
	return slices.ContainsFunc(p.Imports(), func(q *types.Package) bool { return imports(q, name, seen) })
}

func (l *library) read(name string) (*types.Package, error) {
	dir, ours, ok := l.find(name)
	if !ok {
		return nil, errNoSource
	}
	tree := l.std
	if ours {
		tree = l.tree
		l.ours[name] = true
	}
	files, err := parseFolder(l.ctx, l.fset, tree, dir, ours, func(file string) bool { return !isTest(file) }, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errNoSource
	}
	var list []*ast.File
	for _, f := range files {
		if f.err != nil {
			return nil, f.err
		}
		if usesC(f.syntax) {
			return nil, errNoSource
		}
		declarations(f.syntax)
		list = append(list, f.syntax)
	}
	conf := types.Config{IgnoreFuncBodies: true, FakeImportC: true, Importer: l, Sizes: sizes()}
	p, err := conf.Check(name, l.fset, list, nil)
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", name, err)
	}
	return p, nil
}

// find tells which folder a package's source is in, and whether that is the checkout's.
func (l *library) find(name string) (dir string, ours, ok bool) {
	if name == l.module {
		return l.at, true, true
	}
	if below, is := strings.CutPrefix(name, l.module+"/"); is && l.module != "" {
		return path.Join(l.at, below), true, true
	}
	if l.std != nil && folder(l.std, name) {
		return name, false, true
	}
	if dir = path.Join(l.at, "vendor", name); folder(l.tree, dir) {
		return dir, true, true
	}
	if dir = path.Join("vendor", name); l.std != nil && folder(l.std, dir) { // the standard library's own
		return dir, false, true
	}
	return "", false, false
}

func folder(tree fs.FS, name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(tree, name)
	return err == nil && info.IsDir()
}

// source is one file: its syntax, as far as it could be read, and what is wrong with it.
type source struct {
	path   string
	syntax *ast.File
	err    error
}

const (
	mostFiles = 1000    // files of one folder
	mostBytes = 4 << 20 // bytes of one file
)

// parseFolder parses the files of a folder that are built here, with cgo or without, and that want takes. Its error is that of the folder or the context.
func parseFolder(ctx context.Context, fset *token.FileSet, tree fs.FS, dir string, cgo bool, want func(string) bool, mode parser.Mode) ([]source, error) {
	entries, err := fs.ReadDir(tree, dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > mostFiles {
		return nil, fmt.Errorf("%s has more than %d files", dir, mostFiles)
	}
	var out []source
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !strings.HasSuffix(name, ".go") || !e.Type().IsRegular() || !want(e.Name()) {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		data, err := read(tree, name)
		if err != nil {
			return nil, err
		}
		if !built(e.Name(), data, cgo) {
			continue
		}
		f, err := parser.ParseFile(fset, name, data, mode)
		out = append(out, source{name, f, err})
	}
	return out, nil
}

func read(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = fmt.Errorf("%s has more than %d bytes", name, mostBytes)
	}
	return data, err
}

// built reports whether a file takes part in a build for this system. The standard library is read without cgo: what cgo makes stands
// in no source.
func built(name string, data []byte, cgo bool) bool {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = runtime.GOOS, runtime.GOARCH, cgo
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	ok, err := c.MatchFile(".", name)
	return err != nil || ok // a file that cannot be read so far is the parser's to complain of
}

// declarations takes out of a file what its importers cannot see: bodies, and the imports that only they used.
func declarations(f *ast.File) {
	used := map[string]bool{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			fn.Body = empty(fn.Body)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				n.Body = empty(n.Body)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					used[x.Name] = true
				}
			}
			return true
		})
	}
	called := map[string]bool{} // names that imports account for
	for _, i := range f.Imports {
		if name := guess(i); used[name] {
			called[name] = true
		}
	}
	all := len(called) < len(used)
	var kept []ast.Decl
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			kept = append(kept, d)
			continue
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool {
			i, ok := s.(*ast.ImportSpec)
			return ok && i.Name == nil && !all && !used[guess(i)] || ok && i.Name != nil && i.Name.Name != "." && !used[i.Name.Name]
		})
		if len(g.Specs) > 0 {
			kept = append(kept, g)
		}
	}
	f.Decls = kept
}

// guess is what an imported package is called. Its path says it nearly always; where some name is of no import by that, all imports
// without a name of their own stay.
func guess(i *ast.ImportSpec) string {
	if i.Name != nil {
		return i.Name.Name
	}
	name, err := strconv.Unquote(i.Path.Value)
	if err != nil {
		return ""
	}
	return path.Base(name)
}

func empty(b *ast.BlockStmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: b.Lbrace, Rbrace: b.Rbrace}
}

func usesC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

func sizes() types.Sizes { return types.SizesFor("gc", runtime.GOARCH) }
