package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/sanitize"
)

// JSON writes a value as JSON in which no terminal and no runner of workflows acts on a text.
func JSON(w io.Writer, v any) error {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, inertJSON(out.String()))
	return err
}

// inertJSON writes what a terminal obeys or nobody sees (threats.md T41), and the beginning of a runner's command, as JSON escapes: the
// texts are the same to whoever reads the JSON. Neither stands outside of a text.
func inertJSON(s string) string {
	var b strings.Builder
	for _, r := range runnerlog.JSON(s) {
		if r < utf8.RuneSelf && r != 0x7f || sanitize.Terminal(string(r)) == string(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
