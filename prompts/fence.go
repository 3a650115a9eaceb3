package prompts

import (
	"errors"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// ErrFence says that the random word is too short or has characters that could be confused with text around it.
var ErrFence = errors.New("fence of the prompt: want 16 to 64 letters and digits")

var fenceShape = lazyregexp.New(`^[A-Za-z0-9]{16,64}$`)

// fenced puts untrusted text between two lines that carry the word. Should the word occur in the text after all, it is
// taken out there: nobody can close the block from inside (threats.md T02).
func fenced(word, name, text string) string {
	text = strings.TrimRight(strings.ReplaceAll(text, word, "[removed]"), "\n")
	return "<<<" + word + " " + inline(strings.ReplaceAll(name, word, "[removed]")) + "\n" + text + "\n" + word + ">>>\n"
}

// inlineLimit bounds names of files and people in running text, in characters.
const inlineLimit = 300

// inline keeps a name on its line.
func inline(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }), " ")
	if r := []rune(s); len(r) > inlineLimit {
		s = string(r[:inlineLimit]) + "…"
	}
	return s
}
