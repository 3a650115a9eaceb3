package repocontext

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

const (
	// parseMicros is the longest one file may take; hostile inputs of 40 kB took 38 s without it.
	parseMicros = 300_000
	// parseWall is when a parse is given up although the parser did not stop by itself.
	parseWall = 2 * time.Second
	// depthLimit is the deepest nesting of brackets that is parsed.
	depthLimit = 400
	// parseLimit is the largest file parsed, in bytes.
	parseLimit = 512 << 10
	// walkLimit bounds how deep definitions are looked for.
	walkLimit = 200
)

// grammar says which nodes of a language are definitions and imports.
type grammar struct {
	name      string // gotreesitter's
	functions string // node types, each between spaces
	types     string
	imports   string
}

var javascript = grammar{
	functions: " function_declaration generator_function_declaration method_definition arrow_function function_expression ",
	types:     " class_declaration abstract_class_declaration interface_declaration enum_declaration type_alias_declaration ",
	imports:   " import_statement ",
}

// byLanguage holds the languages whose structure is read, by the names Language gives.
var byLanguage = map[string]grammar{
	"go":         {"go", " function_declaration method_declaration ", " type_declaration ", " import_declaration "},
	"python":     {"python", " function_definition ", " class_definition ", " import_statement import_from_statement "},
	"javascript": {"javascript", javascript.functions, javascript.types, javascript.imports},
	"typescript": {"typescript", javascript.functions, javascript.types, javascript.imports},
	"tsx":        {"tsx", javascript.functions, javascript.types, javascript.imports},
	"java": {"java", " method_declaration constructor_declaration compact_constructor_declaration ",
		" class_declaration interface_declaration enum_declaration record_declaration ", " import_declaration "},
	"ruby": {"ruby", " method singleton_method ", " class module ", ""},
	"rust": {"rust", " function_item ", " impl_item struct_item enum_item trait_item ", " use_declaration "},
	"c":    {"c", " function_definition ", " struct_specifier enum_specifier ", " preproc_include "},
	"c++":  {"cpp", " function_definition ", " class_specifier struct_specifier enum_specifier ", " preproc_include using_declaration "},
	"c#": {"c_sharp", " method_declaration constructor_declaration local_function_statement property_declaration operator_declaration ",
		" class_declaration struct_declaration interface_declaration record_declaration enum_declaration ", " using_directive "},
	"php": {"php", " function_definition method_declaration ", " class_declaration interface_declaration trait_declaration enum_declaration ",
		" namespace_use_declaration "},
}

func hasGrammar(path string) bool {
	_, ok := byLanguage[Language(path)]
	return ok
}

// structure is what is read from one file's syntax tree.
type structure struct {
	spans []span
	// imports are import declarations as written; nil when the language has no node for them.
	imports []string
}

// definitions reads a file's functions, types and imports. ok is false when its structure is not known: no grammar, too
// large, too slow, too deep, or broken beyond reading.
func definitions(path string, text []byte) (structure, bool) {
	g, known := byLanguage[Language(path)]
	if !known || len(text) > parseLimit || tooDeep(text) || stuck.Load() >= stuckLimit {
		return structure{}, false
	}
	type answer struct {
		structure
		ok bool
	}
	// Loading a grammar takes its time once; it counts against no file.
	entry := grammars.DetectLanguageByName(g.name)
	if entry == nil {
		return structure{}, false
	}
	p := gotreesitter.NewParser(entry.Language()) // not safe for concurrent use, so each call has its own
	p.SetTimeoutMicros(parseMicros)
	done := make(chan answer, 1)
	go func() {
		s, ok := parse(g, entry, p, text)
		done <- answer{s, ok}
	}()
	timer := time.NewTimer(parseWall)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.structure, a.ok
	case <-timer.C:
		stuck.Add(1)
		go func() {
			<-done
			stuck.Add(-1)
		}()
		return structure{}, false
	}
}

// stuck counts parses that were given up. The parser's own limit does not hold in its error recovery, whose cost grows
// with the square of the open constructs, and nothing can stop it there; it ends by itself, and until it has, no more
// than stuckLimit others may join it.
var stuck atomic.Int32

const stuckLimit = 2

// tooDeep reports nesting no person writes: the input recovery is slowest on.
func tooDeep(text []byte) bool {
	depth, angles := 0, 0
	for _, c := range text {
		switch c {
		case '(', '[', '{':
			depth++
			angles = 0
		case ')', ']', '}':
			depth = max(0, depth-1)
		case '<':
			angles++
		case ';', '>':
			angles = 0
		}
		if depth > depthLimit || angles > depthLimit {
			return true
		}
	}
	return false
}

// parse parses a file. A panic of the parser counts as "not known": its input is hostile.
func parse(g grammar, entry *grammars.LangEntry, p *gotreesitter.Parser, text []byte) (s structure, ok bool) {
	defer func() {
		if recover() != nil {
			s, ok = structure{}, false
		}
	}()
	lang := p.Language()
	var tree *gotreesitter.Tree
	var err error
	if entry.TokenSourceFactory != nil {
		tree, err = p.ParseWithTokenSourceStrict(text, entry.TokenSourceFactory(text, lang))
	} else {
		tree, err = p.ParseStrict(text)
	}
	if tree != nil {
		defer tree.Release()
	}
	if err != nil || tree == nil || tree.RootNode() == nil {
		return s, false
	}
	w := &walker{g: g, lang: lang, text: text}
	w.walk(tree.RootNode(), "", 0)
	return structure{spans: w.spans, imports: w.imports(tree.RootNode())}, true
}

// walker collects definitions.
type walker struct {
	g     grammar
	lang  *gotreesitter.Language
	text  []byte
	spans []span
}

func has(list, kind string) bool { return strings.Contains(list, " "+kind+" ") }

func (w *walker) walk(n *gotreesitter.Node, owner string, depth int) {
	if n == nil || depth > walkLimit {
		return
	}
	kind := n.Type(w.lang)
	function := has(w.g.functions, kind)
	if n.IsNamed() && (function || has(w.g.types, kind)) {
		if name := w.name(n, kind); name != "" {
			if owner != "" {
				name = owner + "." + name
			}
			w.spans = append(w.spans, w.span(n, name, function))
			if !function {
				owner = name
			}
		}
	}
	for i := range n.ChildCount() {
		w.walk(n.Child(i), owner, depth+1)
	}
}

// span takes what belongs to a definition with it: decorators, export keywords, the variable an arrow function is kept in.
func (w *walker) span(n *gotreesitter.Node, name string, function bool) span {
	for p := n.Parent(); p != nil; p = p.Parent() {
		switch p.Type(w.lang) {
		case "decorated_definition", "export_statement", "variable_declarator", "lexical_declaration", "variable_declaration", "pair", "public_field_definition", "field_definition", "template_declaration":
			n = p
			continue
		}
		break
	}
	end := int(n.EndPoint().Row) + 1
	if n.EndPoint().Column == 0 && end > int(n.StartPoint().Row)+1 {
		end--
	}
	return span{start: int(n.StartPoint().Row) + 1, end: end, name: name, function: function}
}

// name finds a definition's name.
func (w *walker) name(n *gotreesitter.Node, kind string) string {
	switch kind {
	case "method_declaration":
		if r := n.ChildByFieldName("receiver", w.lang); r != nil {
			return receiver(r.Text(w.text)) + w.field(n, "name")
		}
	case "type_declaration":
		if s := n.NamedChild(0); s != nil {
			return w.field(s, "name")
		}
	case "struct_specifier", "class_specifier", "enum_specifier":
		if n.ChildByFieldName("body", w.lang) == nil {
			return "" // a use of the type
		}
	case "impl_item":
		return w.field(n, "type")
	case "arrow_function", "function_expression":
		p := n.Parent()
		if p == nil {
			return ""
		}
		for _, f := range []string{"name", "key", "property", "left"} {
			if s := w.field(p, f); s != "" {
				return s
			}
		}
		return ""
	}
	if s := w.field(n, "name"); s != "" {
		return s
	}
	// C hides the name in nested declarators.
	for d := n.ChildByFieldName("declarator", w.lang); d != nil; d = d.ChildByFieldName("declarator", w.lang) {
		if d.ChildByFieldName("declarator", w.lang) == nil {
			return oneLine(d.Text(w.text))
		}
	}
	return ""
}

func (w *walker) field(n *gotreesitter.Node, field string) string {
	c := n.ChildByFieldName(field, w.lang)
	if c == nil {
		return ""
	}
	return oneLine(c.Text(w.text))
}

// receiver makes "T." of Go's "(t *T[K])".
func receiver(s string) string {
	s, _, _ = strings.Cut(strings.Trim(s, "() "), "[")
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return strings.TrimLeft(f[len(f)-1], "*") + "."
}

// oneLine keeps names short and on one line: they are text of the repository.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "..."
	}
	return s
}
