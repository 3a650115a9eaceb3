// Package tools is what a builtin reviewer may do beside thinking: read files of the exported head tree, search and list
// it, ask for the history of a path, for the function around a line, and for linters where they are allowed (review
// agent spec, "Tools"). All of a Box only reads; an Editor, which a fixer has, writes regular files of its clone too.
// Arguments come from a model that reads untrusted text, so paths are checked and opened below one os.Root (threats.md T25),
// links are never followed (threats.md T24), excluded paths are as if they were not there (spec.md G1), and every result is bounded and
// depends on the tree and the arguments alone.
package tools
