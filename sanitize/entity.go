package sanitize

import (
	"html"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	entity     = lazyregexp.New(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
	entityHere = lazyregexp.New(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
	// amps are ampersands encoded any number of times over: &amp;#38;amp; and so on, taken at once to stay linear.
	amps = lazyregexp.New(`&(?:(?:amp|AMP|#0{0,5}38|#[xX]0{0,4}26);)+`)
)

// entityRounds bounds the decoding; text that needs more was made to cost time.
const entityRounds = 12

// decodeEntities decodes HTML entities until nothing changes (threats.md S3). Only those that end in a semicolon
// are entities to Markdown. Text that does not settle loses its ampersands.
func decodeEntities(s string) string {
	for range entityRounds {
		if !strings.Contains(s, "&") {
			return s
		}
		t := amps.ReplaceAllString(s, "&")
		t = entity.ReplaceAllStringFunc(t, html.UnescapeString)
		if t == s {
			return s
		}
		s = t
	}
	return strings.ReplaceAll(s, "&", "")
}
