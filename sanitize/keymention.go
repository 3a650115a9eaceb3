package sanitize

import (
	"slices"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// keyMarkText is a header or a footer without what it says of the key itself.
var keyMarkText = lazyregexp.New(`-*\s?(?:BEGIN|END)` + blankSign + keyKind + `-*|PuTTY-User-Key-File-[0-9]|Private-MAC:`)

// filledKeySpans are keySpans without those of mentions.
func filledKeySpans(s string) []Span {
	out := keyBodies(s)
	apart := len(out) > 0
	out = append(out, keyNumbers(s)...)
	for _, b := range keyBlocks(s) {
		if apart || !b.mention(s) {
			out = append(out, b.spans...)
		}
	}
	return joinSpans(out)
}

// mentionSpans are the headers and footers of mentions, which nothing hidden turns into a key.
func mentionSpans(s string) []Span {
	find := func(s string) (out []Span) {
		if len(keyBodies(s)) > 0 {
			return nil
		}
		for _, b := range keyBlocks(s) {
			if !b.mention(s) {
				continue
			}
			for _, p := range b.spans {
				for _, m := range keyMarkText.FindAllStringIndex(s[p.Start:p.End], -1) {
					out = append(out, Span{Start: p.Start + m[0], End: p.Start + m[1]})
				}
			}
		}
		return joinSpans(out)
	}
	v, out := see(s), find(s)
	if v.same() || len(out) == 0 {
		return out
	}
	seen := v.inRaw(find(v.text))
	return slices.DeleteFunc(out, func(p Span) bool { return !slices.Contains(seen, p) })
}

// mention reports whether a block of s is no more than words about keys: code that reads or writes them, a pattern, a document. What stands at its
// header and its footer, names in code too, is not long enough for a key, nor like a part of one.
func (b keyBlock) mention(s string) bool {
	all, mixedRuns := 0, 0
	for _, p := range b.spans {
		text := keyMarkText.ReplaceAllString(s[p.Start:p.End], " ")
		for _, r := range runs(text) {
			v := r.of(text)
			if len(v) >= 2*minKeyRun || len(v) >= minKeyRun && hasDigit(v) {
				return false
			}
			if all += len(v); mixed(v) {
				mixedRuns += len(v)
			}
		}
	}
	return all < minArmour && mixedRuns < minKeyRun
}
