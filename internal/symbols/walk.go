package symbols

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/odvcencio/gotreesitter"

	"github.com/prloop/prloop/sanitize"
)

const (
	// importLimit bounds the list of imports.
	importLimit = 100
	// usesLimit bounds how many uses of names are taken from one file.
	usesLimit = 60_000
	// definitionsLimit bounds how many definitions are.
	definitionsLimit = 20_000
	// nameLimit is the longest name that is a use, in bytes.
	nameLimit = 100
)

// notes is what was read of a file so far.
type notes struct {
	text []byte
	file File
	// onLine are the names already used on the line that uses were seen on last.
	onLine map[string]bool
	last   int // that line
}

// walker collects definitions and uses.
type walker struct {
	notes
	g    grammar
	lang *gotreesitter.Language
	// at is the line of the name that was read last.
	at int
	// named are where the names of definitions begin, in bytes.
	named map[uint32]bool
}

func has(list, kind string) bool { return strings.Contains(list, " "+kind+" ") }

func (w *walker) walk(n *gotreesitter.Node, owner string, inside bool, depth int) {
	if n == nil || depth > walkLimit || len(w.file.Definitions) >= definitionsLimit {
		return
	}
	kind := n.Type(w.lang)
	if n.IsNamed() {
		switch function := has(w.g.functions, kind); {
		case function || has(w.g.types, kind):
			if name := w.name(n, kind); name != "" {
				d := w.definition(n, name, owner, kind, function)
				d.Local = inside
				w.file.Definitions = append(w.file.Definitions, d)
				if !function {
					owner = d.Full()
				}
			}
			inside = inside || function
		case has(w.g.values, kind) && !inside:
			w.values(n, kind, owner)
		case kind == "property_identifier" && owner != "" && w.within(n, "enum_body"):
			w.value(n, n, owner)
		case has(names, kind) && n.ChildCount() == 0 && !w.named[n.StartByte()]:
			w.use(n.Text(w.text), int(n.StartByte()), int(n.StartPoint().Row)+1)
		}
	}
	for i := range n.ChildCount() {
		w.walk(n.Child(i), owner, inside, depth+1)
	}
}

func (w *walker) within(n *gotreesitter.Node, kind string) bool {
	p := n.Parent()
	return p != nil && p.Type(w.lang) == kind
}

// definition describes the definition of a function or a type.
func (w *walker) definition(n *gotreesitter.Node, name, owner, kind string, function bool) Definition {
	d := w.span(n)
	d.Kind = Type
	switch {
	case function:
		d.Kind = Function
	case kind == "impl_item":
		d.Kind = Implementation
	}
	d.Name, d.Owner = name, owner
	for _, sign := range []string{".", "::"} { // a member that a function of JavaScript is assigned to, one of C++ that is defined outside of its class
		if at := strings.LastIndex(name, sign); at > 0 && function {
			d.Owner, d.Name = name[:at], name[at+len(sign):]
		}
	}
	d.Head = w.head(n, d)
	d.At = min(max(w.at, d.Start), d.Head)
	return d
}

// head is the last line of a definition's signature: where its body begins, or the line before when the body has its own.
func (w *walker) head(n *gotreesitter.Node, d Definition) int {
	body := n.ChildByFieldName("body", w.lang)
	if body == nil {
		return min(int(n.StartPoint().Row)+1, d.End)
	}
	line := int(body.StartPoint().Row) + 1
	begin := min(int(body.StartByte()), len(w.text))
	before := w.text[max(0, begin-nameLimit):begin]
	if len(bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])) == 0 {
		line--
	}
	return min(max(line, d.Start), d.End)
}

// values takes the names that a declaration gives to constants, variables and fields.
func (w *walker) values(n *gotreesitter.Node, kind, owner string) {
	switch kind {
	case "variable_declarator": // a function that is kept in a variable is defined by itself
		if v := n.ChildByFieldName("value", w.lang); v != nil && has(w.g.functions, v.Type(w.lang)) {
			w.field(n, "name")
			return
		}
	case "assignment":
		if left := n.ChildByFieldName("left", w.lang); left != nil && has(" identifier constant ", left.Type(w.lang)) {
			w.value(n, left, owner)
		}
		return
	}
	found := false
	for i := range n.ChildCount() {
		if f := n.FieldNameForChild(i, w.lang); f == "name" || f == "declarator" || f == "property" || f == "left" {
			if leaf := w.leaf(n.Child(i)); leaf != nil {
				found = true
				w.value(n, leaf, owner)
			}
		}
	}
	if found {
		return
	}
	for i := range n.NamedChildCount() { // without fields: the first name, or the declarators of a list
		c := n.NamedChild(i)
		if c == nil {
			continue
		}
		switch kind := c.Type(w.lang); {
		case has(" variable_declaration variable_declarator ", kind):
			for j := range c.NamedChildCount() {
				if v := c.NamedChild(j); v != nil && v.Type(w.lang) == "variable_declarator" {
					if leaf := w.leaf(v); leaf != nil {
						w.value(n, leaf, owner)
					}
				}
			}
		case has(names, kind), kind == "variable_name":
			if leaf := w.leaf(c); leaf != nil {
				w.value(n, leaf, owner)
			}
			return
		}
	}
}

// leaf is the name within a declarator.
func (w *walker) leaf(n *gotreesitter.Node) *gotreesitter.Node {
	for range walkLimit {
		if n == nil || n.ChildCount() == 0 {
			break
		}
		next := n.ChildByFieldName("declarator", w.lang)
		if next == nil {
			next = n.ChildByFieldName("name", w.lang)
		}
		for i := 0; next == nil && i < n.NamedChildCount(); i++ {
			if c := n.NamedChild(i); c != nil && has(names, c.Type(w.lang)) {
				next = c
			}
		}
		if next == nil {
			return nil
		}
		n = next
	}
	if n == nil || !has(names, n.Type(w.lang)) {
		return nil
	}
	return n
}

func (w *walker) value(n, name *gotreesitter.Node, owner string) {
	text := name.Text(w.text)
	if text == "" || len(text) > nameLimit {
		return
	}
	w.named[name.StartByte()] = true
	d := w.span(n)
	d.Name, d.Owner, d.Kind, d.Head = text, owner, Value, d.Start
	d.At = max(int(name.StartPoint().Row)+1, d.Start)
	w.file.Definitions = append(w.file.Definitions, d)
}

// use notes a name that begins at a byte, once a line.
func (n *notes) use(name string, at, line int) {
	if line != n.last {
		n.last, n.onLine = line, map[string]bool{}
	}
	if len(name) < 2 || len(name) > nameLimit || n.onLine[name] || len(n.file.Uses) >= usesLimit {
		return
	}
	n.onLine[name] = true
	n.file.Uses = append(n.file.Uses, Use{Name: name, Line: line, Of: qualifier(n.text[:at])})
}

// qualifier is the name in front of a point, an arrow or two colons at the end of a text.
func qualifier(before []byte) string {
	before = before[max(0, len(before)-nameLimit):]
	s := string(before)
	for _, sign := range []string{"?.", ".", "->", "::"} {
		rest, ok := strings.CutSuffix(s, sign)
		if !ok {
			continue
		}
		of := rest[strings.LastIndexFunc(rest, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})+1:]
		return cmp.Or(of, Expression)
	}
	return ""
}

// span takes what belongs to a definition with it: decorators, export keywords, the variable an arrow function is kept in.
func (w *walker) span(n *gotreesitter.Node) Definition {
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
	return Definition{Start: int(n.StartPoint().Row) + 1, End: end}
}

// name finds a definition's name.
func (w *walker) name(n *gotreesitter.Node, kind string) string {
	switch kind {
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
			w.named[d.StartByte()], w.at = true, int(d.StartPoint().Row)+1
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
	w.named[c.StartByte()], w.at = true, int(c.StartPoint().Row)+1
	return oneLine(c.Text(w.text))
}

// oneLine keeps names short and on one line: they are text of the repository. A long one is masked before it is cut (threats.md T793).
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if utf8.RuneCountInString(s) > 120 {
		return sanitize.Line(s, 120)
	}
	return s
}

// imports lists the import declarations at the top level; nil when the language has no node for them.
func (w *walker) imports(root *gotreesitter.Node) []string {
	if w.g.imports == "" {
		return nil
	}
	all := []string{}
	for i := range root.ChildCount() { // NamedChild would count from the first each time
		if n := root.Child(i); n != nil && has(w.g.imports, n.Type(w.lang)) && len(all) < importLimit {
			all = append(all, strings.TrimSpace(strings.ToValidUTF8(n.Text(w.text), "\ufffd")))
		}
	}
	return all
}
