// Package markdown shows a report on a terminal: headings, tables, lists, quotes, code and the folded parts, wrapped to the
// terminal's width. It knows the vocabulary reports are made of (package report) and shows everything else as text.
//
// The usual renderers register several hundred languages when the program starts, which costs every child of prloop its
// start-up time (decision 18); reports need none of them.
package markdown
