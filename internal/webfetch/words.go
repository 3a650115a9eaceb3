package webfetch

import (
	"html"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Parts of HTML that hold no words, and the rest of its markup. The result is data for a model, not markup for a browser: it
// has to be short, not safe.
var (
	wordless = lazyregexp.New(`(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>|<svg\b.*?</svg\s*>|<head\b.*?</head\s*>`)
	breaks   = lazyregexp.New(`(?i)</?(p|div|br|li|tr|h[1-6]|pre|section|article|ul|ol|table|blockquote)\b[^>]*>`)
	tags     = lazyregexp.New(`<[^<>]*>`)
	blanks   = lazyregexp.New(`\n\s*\n+`)
)

// words are what a person would read of a page.
func words(page string) string {
	page = wordless.ReplaceAllString(page, " ")
	page = breaks.ReplaceAllString(page, "\n")
	page = html.UnescapeString(tags.ReplaceAllString(page, ""))
	return strings.TrimSpace(blanks.ReplaceAllString(page, "\n"))
}
