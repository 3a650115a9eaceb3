package symbols

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// readGo reads a Go file with Go's own parser, which takes a tenth of the time of tree-sitter's, or less, and no grammar to decode. It gives up at the
// tenth wrong line and at 100,000 levels of nesting, so it needs no clock. What it has after an error is too little: nothing is known then.
func readGo(text []byte) (f File, ok bool) {
	defer func() { // whatever a file may hold
		if recover() != nil {
			f, ok = File{}, false
		}
	}()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return File{}, false
	}
	r := &goReader{notes: notes{text: text, file: File{Imports: []string{}}}, lines: set.File(tree.FileStart), skipped: map[*ast.Ident]bool{tree.Name: true}}
	ast.Walk(&goScope{goReader: r}, tree)
	return r.file, true
}

// goReader collects the definitions and uses of a Go file.
type goReader struct {
	notes
	lines *token.File
	depth int // of the node that is read
	// skipped are names that are no uses: those of definitions, of labels and of the packages of types.
	skipped map[*ast.Ident]bool
}

// goScope reads what is in a type, in a function, or in a declaration.
type goScope struct {
	*goReader
	owner  string
	inside bool     // of a function
	around ast.Node // the declaration, struct or interface right around
}

// line is where a place is in this file, whatever its //line comments say.
func (r *goReader) line(p token.Pos) int { return r.lines.PositionFor(p, false).Line }

// Visit is called for a node before what is in it, and with nil after that.
func (s *goScope) Visit(node ast.Node) ast.Visitor {
	if node == nil {
		s.depth--
		return nil
	}
	if s.depth >= walkLimit || len(s.file.Definitions) >= definitionsLimit {
		return nil
	}
	within := *s
	switch n := node.(type) {
	case *ast.Ident:
		switch n.Name {
		case "nil", "true", "false", "iota":
		default:
			if !s.skipped[n] {
				s.use(n.Name, s.lines.Offset(n.Pos()), s.line(n.Pos()))
			}
		}
		return nil
	case *ast.GenDecl:
		if n.Tok == token.IMPORT {
			s.imports(n)
			return nil
		}
		within.around = n
	case *ast.FuncDecl:
		s.define(s.function(n), n.Name)
		within.inside = true
	case *ast.FuncLit:
		within.inside = true
	case *ast.TypeSpec:
		within.owner = s.define(s.typeOf(n), n.Name).Full()
		s.types(n.Type)
	case *ast.ValueSpec:
		s.values(n, n.Names...)
		s.types(n.Type)
	case *ast.StructType, *ast.InterfaceType:
		within.around = n
	case *ast.Field:
		switch s.around.(type) {
		case *ast.StructType:
			s.values(n, append(n.Names, embedded(n)...)...)
		case *ast.InterfaceType:
			s.values(n, n.Names...)
		}
		s.types(n.Type)
		within.around = nil
	case *ast.LabeledStmt:
		s.skipped[n.Label] = true
	case *ast.BranchStmt:
		s.skipped[n.Label] = true
	default:
		s.types(typesIn(n)...)
	}
	s.depth++
	return &within
}

func (s *goScope) imports(n *ast.GenDecl) {
	if len(s.file.Imports) < importLimit {
		written := s.text[s.lines.Offset(n.Pos()):s.lines.Offset(n.End())]
		s.file.Imports = append(s.file.Imports, strings.ToValidUTF8(string(written), "\ufffd"))
	}
}

// function describes the definition of a function.
func (s *goScope) function(n *ast.FuncDecl) Definition {
	d := Definition{Name: oneLine(n.Name.Name), Kind: Function, Start: s.line(n.Pos()), At: s.line(n.Name.Pos()), End: s.line(n.End())}
	d.Head = d.Start
	if n.Body != nil {
		d.Head = s.line(n.Body.Pos())
	}
	d.At = min(d.At, d.Head)
	if n.Recv != nil && len(n.Recv.List) > 0 {
		d.Owner = oneLine(receiver(n.Recv.List[0].Type))
	}
	return d
}

// receiver is the name of the type of a receiver.
func receiver(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// typeOf describes the definition of a type. With it belongs the declaration, unless that is of several.
func (s *goScope) typeOf(n *ast.TypeSpec) Definition {
	whole := ast.Node(n)
	if decl, ok := s.around.(*ast.GenDecl); ok && len(decl.Specs) == 1 {
		whole = decl
	}
	at := s.line(n.Pos())
	return Definition{Name: oneLine(n.Name.Name), Owner: s.owner, Kind: Type, Start: s.line(whole.Pos()), At: at, Head: at, End: s.line(whole.End())}
}

func (s *goScope) define(d Definition, name *ast.Ident) Definition {
	d.Local = s.inside
	s.skipped[name] = true
	s.file.Definitions = append(s.file.Definitions, d)
	return d
}

// values takes the names that a declaration outside of functions gives to constants, variables, fields and methods of interfaces.
func (s *goScope) values(n ast.Node, names ...*ast.Ident) {
	if s.inside || len(names) == 0 {
		return
	}
	start, end := s.line(n.Pos()), s.line(n.End()) // once: the way to the end may be long
	for _, name := range names {
		if len(name.Name) <= nameLimit {
			s.define(Definition{Name: name.Name, Owner: s.owner, Kind: Value, Start: start, At: s.line(name.Pos()), Head: start, End: end}, name)
		}
	}
}

// embedded is the name of a field that has only a type.
func embedded(f *ast.Field) []*ast.Ident {
	t := f.Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if name, ok := t.(*ast.Ident); ok && len(f.Names) == 0 {
		return []*ast.Ident{name}
	}
	return nil
}

// typesIn are the types that an expression or a statement names.
func typesIn(node ast.Node) []ast.Expr {
	switch n := node.(type) {
	case *ast.CompositeLit:
		return []ast.Expr{n.Type}
	case *ast.TypeAssertExpr:
		return []ast.Expr{n.Type}
	case *ast.ArrayType:
		return []ast.Expr{n.Elt}
	case *ast.MapType:
		return []ast.Expr{n.Key, n.Value}
	case *ast.ChanType:
		return []ast.Expr{n.Value}
	case *ast.Ellipsis:
		return []ast.Expr{n.Elt}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "make" || f.Name == "new") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	case *ast.TypeSwitchStmt:
		var all []ast.Expr
		for _, c := range n.Body.List {
			all = append(all, c.(*ast.CaseClause).List...)
		}
		return all
	}
	return nil
}

// types skips the names of packages in types.
func (s *goScope) types(all ...ast.Expr) {
	for _, e := range all {
		switch t := e.(type) {
		case *ast.SelectorExpr:
			if p, ok := t.X.(*ast.Ident); ok {
				s.skipped[p] = true
			}
		case *ast.StarExpr:
			s.types(t.X)
		case *ast.ParenExpr:
			s.types(t.X)
		case *ast.UnaryExpr:
			s.types(t.X)
		case *ast.BinaryExpr:
			s.types(t.X, t.Y)
		case *ast.IndexExpr:
			s.types(t.X, t.Index)
		case *ast.IndexListExpr:
			s.types(t.X)
			s.types(t.Indices...)
		}
	}
}
