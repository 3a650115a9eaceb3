package tools

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/sanitize"
)

// safe is a text as a model may see it.
func (b *Box) safe(s string) string {
	if b.o.Unmasked {
		return s
	}
	return b.known.Mask(sanitize.Mask(s))
}

// shown is a file as a model may see it: the same lines. Nothing in it is written like what stands for something else, also where nothing is masked: hidden characters
// are made visible all the same (threats.md T806).
func (b *Box) shown(text []byte) []byte { return []byte(b.safe(sanitize.Spelled(string(text)))) }

// path is a path without what is masked in it.
func (b *Box) path(name string) string {
	if b.o.Unmasked {
		return name
	}
	return sanitize.MaskPath(name)
}

// label is a path as a model may see it.
func (b *Box) label(name string) string { return spelling.Name(b.path(name)) }

// entry is label for the last name of a path; one that ends in a slash is a folder.
func (b *Box) entry(name string) string {
	folder := strings.HasSuffix(name, "/")
	if !b.o.Unmasked {
		name = sanitize.MaskPath(strings.TrimSuffix(name, "/"))
	}
	name = path.Base(name)
	if folder {
		name += "/"
	}
	return spelling.Name(name)
}

// named is the path a label stands for.
func (b *Box) named(label string) string {
	name, err := sanitize.UnmaskPath(label, func(folder string) ([]string, error) {
		entries, err := b.entries(folder)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, err
	})
	if err != nil { // no such folder: whoever opens it says so
		return path.Clean(label)
	}
	return name
}

// masked is a file as a model sees it, and the values behind its masks.
type masked struct {
	// text is spelled, and has Redacted in the place of each value.
	text  string
	marks []mark
	// open is true when nothing is masked and the word is one like any other.
	open bool
}

// mark is one Redacted in a masked text.
type mark struct {
	at    int
	value string
}

func (m mark) end() int { return m.at + len(sanitize.Redacted) }

// masked masks a file for an edit.
func (b *Box) masked(data []byte) masked {
	s := sanitize.Spelled(string(data))
	if b.o.Unmasked {
		return masked{text: s, open: true}
	}
	var m masked
	var text strings.Builder
	done := 0
	for _, p := range b.known.Secrets(s) {
		text.WriteString(s[done:p.Start])
		m.marks = append(m.marks, mark{text.Len(), s[p.Start:p.End]})
		text.WriteString(sanitize.Redacted)
		done = p.End
	}
	m.text = text.String() + s[done:]
	return m
}

// replace puts a new text into the place of an old one that stands once in the masked text, and gives the file with its values
// and where the new text begins in it. Masks in the new text stand for the values of the old one, in their order.
func (m masked) replace(old, next string) (file []byte, at int, err error) {
	from := strings.Index(m.text, old)
	to := from + len(old)
	var inside, before, behind []mark
	for _, k := range m.marks {
		switch {
		case k.end() <= from:
			before = append(before, k)
		case k.at >= to:
			behind = append(behind, k)
		case k.at >= from && k.end() <= to:
			inside = append(inside, k)
		default:
			return nil, 0, fail(BadArguments, "old begins or ends inside %s; take all of it, or none", sanitize.Redacted)
		}
	}
	values := make([]string, len(inside))
	for i, k := range inside {
		values[i] = k.value
	}
	if !m.open {
		if next, err = unmasked(next, values); err != nil {
			return nil, 0, err
		}
	}
	head := fill(m.text[:from], 0, before)
	whole := sanitize.Unspelled(head + next + fill(m.text[to:], to, behind))
	return []byte(whole), len(sanitize.Unspelled(head)), nil
}

// unmasked puts values back into a text, in their order.
func unmasked(text string, values []string) (string, error) {
	parts := strings.Split(text, sanitize.Redacted)
	switch n := len(parts) - 1; {
	case n == 0:
		return text, nil
	case n > len(values):
		return "", fail(BadArguments, "new holds %s %d times and old %d times: it stands for a value you are not shown, so leave it where it stands, or read the value from the environment instead",
			sanitize.Redacted, n, len(values))
	case n < len(values) && len(slices.Compact(slices.Clone(values))) > 1:
		return "", fail(BadArguments, "new keeps %d of the %d values that old has as %s, and it is not clear which: change them one at a time", n, len(values), sanitize.Redacted)
	}
	var b strings.Builder
	for i, p := range parts {
		b.WriteString(p)
		if i < len(parts)-1 {
			b.WriteString(values[i])
		}
	}
	return b.String(), nil
}

// fill is a part of a masked text, which begins at offset, with the values of its marks.
func fill(text string, offset int, marks []mark) string {
	var b strings.Builder
	done := 0
	for _, k := range marks {
		b.WriteString(text[done : k.at-offset])
		b.WriteString(k.value)
		done = k.end() - offset
	}
	b.WriteString(text[done:])
	return b.String()
}

// pieceBytes is the shortest part of a value that counts as shown.
const pieceBytes = 8

// uncovers reports whether a file with this text next would show more of a value than it does now: that a rule finds it, and how much of
// it, may hang on the name before it, on its quotes, or on the first line of a key (threats.md T123).
func (m masked) uncovers(next masked) bool {
	if m.open {
		return false
	}
	lost := map[string]int{}
	for _, k := range m.marks {
		lost[k.value]++
	}
	for _, k := range next.marks {
		lost[k.value]--
	}
	pieces := map[string]int{} // how often more than before
	for value, n := range lost {
		if n <= 0 {
			continue
		}
		if len(value) < pieceBytes && strings.Count(next.text, value) > strings.Count(m.text, value) {
			return true
		}
		for i := 0; i+pieceBytes <= len(value); i++ {
			pieces[value[i:i+pieceBytes]] = 0
		}
	}
	if len(pieces) == 0 {
		return false
	}
	count := func(text string, by int) {
		for i := 0; i+pieceBytes <= len(text); i++ {
			if n, ok := pieces[text[i:i+pieceBytes]]; ok {
				pieces[text[i:i+pieceBytes]] = n + by
			}
		}
	}
	count(next.text, 1)
	count(m.text, -1)
	for _, n := range pieces {
		if n > 0 {
			return true
		}
	}
	return false
}
