// Package symbols reads source code by tree-sitter, and Go by Go's own parser: what a file defines, which names it uses, what it imports.
// It bounds what one file may cost, and keeps what it read by the content of the file, so that nothing unchanged is read twice.
package symbols
