package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"index/suffixarray"
	"slices"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/needles"
)

// Learned are values of which one place of a change tells that they are secrets, and that are secrets wherever else they stand (see Random and Drawn). They are
// held in memory alone. Its methods may be called at the same time; nil has learned nothing.
type Learned struct {
	mu     sync.Mutex
	values []string
	places *needles.Index
	// spared are the texts of Spare, a line each.
	spared *suffixarray.Index
}

// Learn adds those of some values that nobody can take for a word of another text.
func (l *Learned) Learn(values ...string) {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !Random(v) && !Drawn(v) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(slices.Concat(l.values, values))
}

// Spare forgets what stands in texts that are shown to everybody, such as names of files, and learns it never again: whoever gives a file the name of a value
// could otherwise have it called by a mask that leads nobody to it.
func (l *Learned) Spare(texts ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := strings.Join(slices.DeleteFunc(slices.Clone(texts), l.spares), "\n")
	if all == "" {
		return
	}
	if l.spared != nil {
		all += "\n" + string(l.spared.Bytes())
	}
	l.spared = suffixarray.New([]byte(all))
	l.keep(slices.Clone(l.values))
}

// spares reports whether a value stands in a text of Spare.
func (l *Learned) spares(v string) bool {
	return l.spared != nil && l.spared.Lookup([]byte(v), 1) != nil
}

// keep sets the values, without those that are spared.
func (l *Learned) keep(all []string) {
	all = slices.DeleteFunc(all, l.spares)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != len(l.values) {
		l.values, l.places = all, needles.NewIndex(all)
	}
}

// Values are what was learned, sorted.
func (l *Learned) Values() []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.values
}

// Spans are the places of the values in a text, hidden characters between aside. It is read once, however many values there are, and a line that may
// hide something once more: no value goes over the end of one.
func (l *Learned) Spans(s string) []Span {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	places := l.places
	l.mu.Unlock()
	if places == nil {
		return nil
	}
	find := func(s string) (spans []Span) {
		places.Each(s, func(start, end int) { spans = append(spans, Span{Start: start, End: end}) })
		return joinSpans(append(spans, encodedSpans(s, places)...))
	}
	all, at := find(s), 0
	for line := range strings.Lines(s) {
		if !plain(strings.TrimRight(line, "\r\n")) {
			for _, p := range findSpans(line, find) {
				all = append(all, Span{Start: at + p.Start, End: at + p.End})
			}
		}
		at += len(line)
	}
	return joinSpans(all)
}

// minEncoded is how long the shortest value is in base64, in bytes.
const minEncoded = minDrawnValue * 4 / 3

// encodedSpans are the places of values in base64, at whatever alignment, and in hex, as tools print them. What is long enough is decoded: the values are too many to be encoded.
func encodedSpans(s string, places *needles.Index) (out []Span) {
	for i := 0; i < len(s); i++ {
		from := i
		for i < len(s) && (wordByte(s[i]) || s[i] == '+' || s[i] == '/') {
			i++
		}
		if i-from < minEncoded {
			continue
		}
		run := alphabetOfURLs.Replace(s[from:i])
		for shift := range 4 {
			part := run[shift:]
			if len(part)%4 == 1 {
				part = part[:len(part)-1]
			}
			text, _ := base64.RawStdEncoding.DecodeString(part)
			places.Each(string(text), func(start, end int) {
				out = append(out, Span{Start: from + shift + start*4/3, End: from + shift + (end*4+2)/3})
			})
		}
		for _, m := range hexRun.FindAllStringIndex(run, -1) {
			for shift := range 2 {
				text, _ := hex.DecodeString(run[m[0]+shift : m[1]-(m[1]-m[0]-shift)%2])
				places.Each(string(text), func(start, end int) {
					out = append(out, Span{Start: from + m[0] + shift + start*2, End: from + m[0] + shift + end*2})
				})
			}
		}
	}
	return out
}

// hexRun is hex that may hold a value.
var hexRun = lazyregexp.New(`[0-9A-Fa-f]{26,}`)

// alphabetOfURLs puts the signs of base64 for those that it has in addresses.
var alphabetOfURLs = strings.NewReplacer("-", "+", "_", "/")

// Mask puts Redacted in the place of every value.
func (l *Learned) Mask(s string) string { return replaceSpans(s, l.Spans(s)) }

// MaskDiff is KeyLines.MaskDiff that masks the values too.
func (l *Learned) MaskDiff(s string, keys KeyLines) string {
	return maskDiff(s, func(s string) string { return l.Mask(Mask(replaceSpans(s, keys.spans(s)))) })
}

// Redact is the package's Redact that takes the values out too.
func (l *Learned) Redact(s string) string { return l.Mask(Redact(s)) }

// Secrets are the places of Secrets and of the values.
func (l *Learned) Secrets(s string) []Span { return joinSpans(Secrets(s), l.Spans(s)) }
