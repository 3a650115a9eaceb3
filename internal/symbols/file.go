package symbols

// Kind says what a definition defines.
type Kind string

// Kinds of definitions.
const (
	Function Kind = "function"
	Type     Kind = "type"
	// Implementation holds methods of a type that is defined elsewhere, as impl does in Rust.
	Implementation Kind = "implementation"
	// Value is a constant, a variable, a field or a member of an enumeration, outside of functions.
	Value Kind = "value"
)

// Definition is one definition. Lines are 1-based and inclusive.
type Definition struct {
	Name string `json:"n"`
	// Owner is the type around it, or that of its receiver, with outer types in front ("Outer.Inner"); empty for none.
	Owner string `json:"o,omitempty"`
	Kind  Kind   `json:"k"`
	// Local says that it stands inside of a function.
	Local bool `json:"l,omitempty"`
	Start int  `json:"s"`
	// At is the line of its name: annotations may stand above.
	At int `json:"a"`
	// Head is the last line of its signature.
	Head int `json:"h"`
	End  int `json:"e"`
}

// Full is the name with its owner in front ("Server.Close").
func (d Definition) Full() string {
	if d.Owner == "" {
		return d.Name
	}
	return d.Owner + "." + d.Name
}

// Expression stands for whose member a name is when no name says it, as in server().Close.
const Expression = "()"

// Use is one line that uses a name.
type Use struct {
	Name string
	Line int
	// Of is the name in front of it ("Server" in Server.Close), Expression when something else stands there; empty for none.
	Of string
}

// File is what is read from one file.
type File struct {
	Definitions []Definition
	// Uses are in the order of the file, once for each name and line. Where a definition is named is no use of it.
	Uses []Use
	// Imports are import declarations as written; nil when the language has no node for them.
	Imports []string
}
