package gateway

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"
)

// Bounds of what masks remembers, per generation; there are two.
const (
	maskedTexts = 4096
	maskedBytes = 1 << 20
)

// Masks are the masks over every text that a model is sent. Conversations repeat their beginning with every call, so that what became
// of a text is remembered: for most texts only that they stay as they are.
type Masks struct {
	// Values, Known and Learned are Options.Mask, MaskKnown and MaskLearned; each may be nil. What Learned does is not remembered.
	Values, Known, Learned func(string) string

	mu         sync.Mutex
	young, old map[[sha256.Size]byte]outcome
	bytes      int
	// shown are the lines of Gateway.Show. A set is never changed: a new one takes its place.
	shown map[string]struct{}
}

// Show is Masks.Show for all agents.
func (g *Gateway) Show(texts ...string) { g.masks.Show(texts...) }

// Show names texts that prloop made of what is masked already, such as the change as a reviewer is told it. Their lines reach
// models as they are: coverage is counted on them, and a mask over a whole request learns values of one text and takes them out of
// another, so that a description could hide code. What is learned later than they were shown hides nothing of them either. Known is
// applied to them all the same.
func (m *Masks) Show(texts ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]struct{}, len(m.shown))
	for line := range m.shown {
		all[line] = struct{}{}
	}
	for _, text := range texts {
		for line := range strings.SplitSeq(string([]rune(text)), "\n") { // as JSON carries it
			all[line] = struct{}{}
		}
	}
	if len(all) > len(m.shown) { // what is remembered was masked without them
		m.shown, m.young, m.old, m.bytes = all, nil, nil, 0
	}
}

// outcome is what became of a text; it has no text when the text stays as it is.
type outcome struct {
	changed bool
	text    string
}

// Mask gives a text as a model may see it.
func (m *Masks) Mask(s string) string {
	if s == "" {
		return s
	}
	key := textKey(s)
	m.mu.Lock()
	o, known := m.young[key]
	if !known {
		o, known = m.old[key]
	}
	shown := m.shown
	m.mu.Unlock()
	if !known {
		t := s
		if m.Values != nil {
			t = maskUnshown(s, m.Values, shown)
		}
		if m.Known != nil {
			t = m.Known(t)
		}
		if t != s {
			o = outcome{true, t}
		}
	}
	m.remember(key, o, len(shown))
	if o.changed {
		s = o.text
	}
	if m.Learned != nil {
		s = maskUnshown(s, m.Learned, shown)
	}
	return s
}

// textKey is the hash of a text, which it takes in pieces: a copy of the whole would take as much memory again.
func textKey(s string) (key [sha256.Size]byte) {
	h := sha256.New()
	var piece [4096]byte
	for s != "" {
		n := copy(piece[:], s)
		h.Write(piece[:n])
		s = s[n:]
	}
	h.Sum(key[:0])
	return key
}

// maskUnshown masks a text in which the lines that are shown stay, and the JSON strings that hold nothing else: a command may hand on its request as it
// got it.
func maskUnshown(s string, mask func(string) string, shown map[string]struct{}) string {
	var b strings.Builder
	for s != "" {
		start, end := shownString(s, shown)
		if start > 0 {
			masked := keepLines(s[:start], mask(s[:start]), shown)
			if start == len(s) && b.Len() == 0 { // the whole text: most are long, and a copy takes as much memory again
				return masked
			}
			b.WriteString(masked)
		}
		b.WriteString(s[start:end])
		s = s[end:]
	}
	return b.String()
}

// shownString is the place of the first JSON string of several lines that are all shown; the end of the text when there is none.
func shownString(s string, shown map[string]struct{}) (start, end int) {
	if len(shown) == 0 || !strings.Contains(s, `\n`) {
		return len(s), len(s)
	}
	for start = max(0, strings.IndexByte(s, '"')); ; start = end - 1 { // what ends one may begin the next, if the text has an odd one before
		n := stringEnd(s[start:])
		if n == 0 {
			return len(s), len(s)
		}
		if end = start + n; holdsShown(s[start:end], shown) && !inShown(s, start, end, shown) {
			return start, end
		}
	}
}

// stringEnd is the length of the JSON string that a text begins with; 0 when it does not end.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// holdsShown reports whether a JSON string has several lines, all shown but for blank ones.
func holdsShown(quoted string, shown map[string]struct{}) bool {
	var text string
	if !strings.Contains(quoted, `\n`) || json.Unmarshal([]byte(quoted), &text) != nil || strings.Trim(text, "\n") == "" {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if _, ok := shown[line]; !ok && line != "" {
			return false
		}
	}
	return true
}

// inShown reports whether a place in a text is part of a line that is shown itself.
func inShown(s string, start, end int, shown map[string]struct{}) bool {
	before, after := s[strings.LastIndexByte(s[:start], '\n')+1:start], s[end:]
	after, _, _ = strings.Cut(after, "\n")
	_, ok := shown[before+s[start:end]+after]
	return ok
}

// keepLines is a masked text in which the lines that are shown stand as they were. A mask that does not keep the lines keeps none.
func keepLines(was, masked string, shown map[string]struct{}) string {
	if was == masked || len(shown) == 0 || strings.Count(was, "\n") != strings.Count(masked, "\n") {
		return masked
	}
	var b strings.Builder
	for line := range strings.Lines(was) {
		n := strings.IndexByte(masked, '\n') + 1
		if n == 0 {
			n = len(masked)
		}
		if _, ok := shown[strings.TrimSuffix(line, "\n")]; ok {
			b.WriteString(line)
		} else {
			b.WriteString(masked[:n])
		}
		masked = masked[n:]
	}
	b.WriteString(masked)
	return b.String()
}

// remember puts an outcome among the young ones; those that nobody asked for during a whole generation are forgotten. shown is how
// many lines were shown when the text was masked.
func (m *Masks) remember(key [sha256.Size]byte, o outcome, shown int) {
	if len(o.text) > maskedBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.young[key]; known || shown != len(m.shown) {
		return
	}
	if m.young == nil || len(m.young) >= maskedTexts || m.bytes+len(o.text) > maskedBytes {
		m.young, m.old, m.bytes = map[[sha256.Size]byte]outcome{}, m.young, 0
	}
	m.young[key] = o
	m.bytes += len(o.text)
}
