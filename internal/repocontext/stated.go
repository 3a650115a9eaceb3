package repocontext

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

const (
	// stands is what is before a statement: the start of a line, the end of another statement, the sign by which PHP begins, a comment that MySQL runs, or a sign of code and
	// a quote. A comment that mentions one has words before it.
	stands = `(?:^\x{feff}?[ \t]*|[;{}][ \t]*|<\?(?:php\s|\s)\s{0,20}|/\*M?!\d{0,6}\s{0,20}|\*/\s{0,20}|(?:[(=,:>\[]|-e)[ \t]*["'\x60]\s{0,20})`
	// apart are blanks and comments between the words of one. What may be anything is bounded, so that no beginning of a statement is read to the end of a text.
	apart = `(?:\s|/\*[^*]{0,80}\*+/|(?:--|#)[^\n]{0,80}\n)+`
	// variable is what SQL calls the encoding that statements are read in.
	variable = `(?:names|char(?:acter)?` + apart + `set|charset|[\w@."\x60]{0,40}(?:character_set_client|client_encoding)["\x60]?)`
)

// stated is a statement that sets an encoding of two bytes for what stands in its file: of SQL and its clients, PHP, Perl, Vim, and LaTeX.
var stated = lazyregexp.New(`(?im)` + stands + `(?:` +
	`(?:alter\s[^;]{0,200}\s)?set` + apart + `(?:[^;]{0,200}?,\s{0,20})?(?:(?:local|session|global)` + apart + `)?` + variable + `(?:` + apart + `)?(?:to\b|:?=)?(?:` + apart + `)?|` +
	`select` + apart + `[^;]{0,80}?set_config\s?\(\s{0,20}'client_encoding'\s?,\s{0,20}|` +
	`\\?charset[ \t]|\\encoding[ \t]{1,20}|\\C[ \t]{1,20}|scriptencoding[ \t]{1,20}|` +
	`declare\s{0,20}\([^)]{0,80}?encoding\s{0,20}=\s{0,20}|` +
	`use\s{1,20}[\w:]{0,40}encoding\b[\s(]{0,20}(?:qw\W{1,5})?|` +
	`\\inputencoding\s{0,20}\{\s{0,20}|\\begin\s{0,20}\{CJK\*?\}[^\n{]{0,40}\{|\\(?:usepackage|RequirePackage)\s{0,20}\[(?:[^\]]{0,80},)?\s{0,20}` +
	`)["'\x60]?(` + pairNames + `|` + pairWords + `|` + pairNumbers + `)\b`)

// Of each of these lists a word stands in every such statement, in small letters.
var (
	statedWords = []string{"names", "char", "encoding", `\c `, "\\c\t", `\begin`, "inputenc"}
	pairParts   = []string{"jis", "kanji", "gb", "euc", "big", "uhc", "johab", "pck", "ksc", "2022", "932", "936", "942", "943", "949", "950", "1361", "33722", "51932", "54936"}
)

// statedEncodings are the encodings of two bytes that statements of a text set. They count wherever they stand: a program may run again what is above, and who reads
// part of the file does not see where another sets it (threats.md T889).
func statedEncodings(text string) (names []string) {
	lower := strings.ToLower(text)
	for _, words := range [][]string{pairParts, statedWords} {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(lower, word) }) {
			return nil
		}
	}
	for _, m := range stated.FindAllStringSubmatch(text, -1) {
		names = append(names, encodingName(m[1]))
	}
	return names
}
