// Package values counts what a JSON document holds before anything decodes it: decoding costs up to a hundred times the bytes of a
// document of tiny values (threats.md T474).
package values

// MoreThan reports whether a document has more than so many values and names. What is no document may count as one.
func MoreThan(most int, data []byte) bool {
	if len(data) < most {
		return false
	}
	n, quoted := 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{' || c == ':'):
			n++
		}
	}
	return n > most
}
