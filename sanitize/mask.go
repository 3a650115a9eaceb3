package sanitize

import (
	"slices"
	"sort"
	"strings"
)

// Span is the place of one value, in bytes of the text it stands in. It never crosses a line.
type Span struct {
	Start, End int
	// More is true for a line of a value that began on a line before, such as those of a private key.
	More bool
}

// Mask puts Redacted in the place of every value the secret rules find, and keeps everything else to the byte: the lines, the
// quotes around a value, the name it is given to. Unlike Redact it leaves diffs standing, so it is for what agents read. Doing it
// twice changes nothing.
func Mask(s string) string { return replaceSpans(s, Secrets(s)) }

// maskDiff masks a unified diff by a mask that keeps the lines: the first byte of each line, which says what became of the line, is no part of a value,
// and a value may go on behind it. What git cut off a line above a hunk is not there to be known by: the word that it cut, and a text in quotes that does not end, is left
// out (threats.md T508).
func maskDiff(s string, mask func(string) string) string {
	lines := strings.Split(s, "\n")
	marks, titles := make([]string, len(lines)), map[int]int{}
	for i, line := range lines {
		if head := len(hunkHead.FindString(line)); head > 0 && len(line) > head+hunkTitle {
			titles[i] = head
		}
		if line != "" && strings.IndexByte("+- ", line[0]) >= 0 {
			marks[i], lines[i] = line[:1], line[1:]
		}
	}
	lines = strings.Split(mask(strings.Join(lines, "\n")), "\n")
	for i := range lines {
		if head, cut := titles[i]; cut {
			lines[i] = lines[i][:head] + endedWords(lines[i][head:])
		}
		lines[i] = marks[i] + lines[i]
	}
	return strings.Join(lines, "\n")
}

// endedWords are what stands of the beginning of a line before the word that was cut, and before a text in quotes that does not end.
func endedWords(title string) string {
	title = title[:max(0, strings.LastIndexAny(title, " \t"))]
	for _, quote := range []string{`"`, "`"} {
		if strings.Count(title, quote)%2 == 1 {
			title = title[:strings.LastIndex(title, quote)]
		}
	}
	return strings.TrimRight(title, " \t")
}

// Secrets finds the values Mask takes out, in their order. With all of them replaced no secret rule finds anything more.
func Secrets(s string) []Span {
	var all []Span
	for range 16 { // what stands around a mask may look like a value without it
		text := replaceSpans(s, all)
		found := findSpans(text, ownSpans)
		if len(found) == 0 {
			found = findSpans(text, deepSpans)
		}
		next := joinSpans(all, original(found, all))
		if slices.Equal(next, all) {
			break
		}
		all = next
	}
	return all
}

// findSpans finds in the text as it is and as it is seen: a hidden character ends no value, and an escape sequence covers none.
func findSpans(s string, find func(string) []Span) []Span {
	v := see(s)
	if v.same() {
		return find(s)
	}
	return joinSpans(find(s), v.inRaw(find(v.text)))
}

// replaceSpans puts Redacted into the place of each span.
func replaceSpans(s string, spans []Span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for _, p := range spans {
		b.WriteString(s[done:p.Start])
		b.WriteString(Redacted)
		done = p.End
	}
	b.WriteString(s[done:])
	return b.String()
}

// original gives spans of a text with masks their places in the text without: an end inside a mask goes to the end of what
// the mask stands for.
func original(spans, masks []Span) []Span {
	moved := make([]int, len(masks)+1) // how much shorter the text is before each mask
	for i, m := range masks {
		moved[i+1] = moved[i] + m.End - m.Start - len(Redacted)
	}
	shift := func(at int, end bool) int {
		// The first mask that ends behind at, or begins there.
		i := sort.Search(len(masks), func(i int) bool {
			stop := masks[i].Start - moved[i] + len(Redacted)
			return at < stop || at == stop && end
		})
		if i == len(masks) || at < masks[i].Start-moved[i] || at == masks[i].Start-moved[i] && end {
			return at + moved[i]
		}
		if end {
			return masks[i].End
		}
		return masks[i].Start
	}
	out := slices.Clone(spans)
	for i := range out {
		out[i].Start, out[i].End = shift(out[i].Start, false), shift(out[i].End, true)
	}
	return out
}

// joinSpans joins lists into one, in order; spans that overlap become one.
func joinSpans(lists ...[]Span) []Span {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b Span) int { return a.Start - b.Start })
	var out []Span
	for _, p := range all {
		if n := len(out); n > 0 && p.Start < out[n-1].End {
			out[n-1].End, out[n-1].More = max(out[n-1].End, p.End), out[n-1].More && p.More
			continue
		}
		out = append(out, p)
	}
	return out
}

// appendLines adds the span from start to end, one for each line it touches. The mark a diff puts before a removed line stays,
// in texts nobody said are diffs too.
func appendLines(out []Span, s string, start, end int) []Span {
	more := false
	for start < end {
		stop := end
		if n := strings.IndexByte(s[start:end], '\n'); n >= 0 {
			stop = start + n
		}
		from, to := start, stop
		for from < to && (s[from] == ' ' || s[from] == '\t' || s[from] == '\r') {
			from++
		}
		for to > from && (s[to-1] == ' ' || s[to-1] == '\t' || s[to-1] == '\r') {
			to--
		}
		if from < to && (from == 0 || s[from-1] == '\n') && removed(s[from:to]) {
			from++
		}
		if from < to && s[from:to] != Redacted {
			out = append(out, Span{from, to, more})
			more = true
		}
		start = stop + 1
	}
	return out
}

// removed reports whether a line begins with a diff's mark of removed lines. Five dashes are a key's.
func removed(line string) bool {
	return line[0] == '-' && (!strings.HasPrefix(line, "-----") || strings.HasPrefix(line, "------"))
}

// ownSpans finds by our own rules.
func ownSpans(s string) []Span {
	return joinSpans(keySpans(s), patternSpans(s), assignmentSpans(s), KeptValues(s))
}

// patternSpans are those redactPatterns takes out.
func patternSpans(s string) []Span {
	if len(s) < 4 || !strings.ContainsAny(s, "_-.:/=") && !containsAny(s, unmarked) {
		return nil
	}
	var out []Span
	present, at := patternWords().In(s), 0
	for _, list := range [][]pattern{specPatterns, ownPatterns()} {
		for _, p := range list {
			from := at
			at += len(p.words)
			if !present.Any(from, len(p.words)) {
				continue
			}
			inLines(s, s, p.words, func(line string, at int) {
				done := 0
				for _, m := range p.in(line) {
					if m[0] < done || ofPublic(line, m[0], m[1]) {
						continue
					}
					start, end := p.widen(line, m[0], m[1])
					out = appendLines(out, s, at+start, at+end)
					done = end
				}
			})
		}
	}
	return append(append(out, PairedSecrets(s)...), AccountTokens(s)...)
}

// widen takes the whole word a match stands in.
func (p pattern) widen(s string, start, stop int) (int, int) {
	end := stop
	for start > 0 && wordByte(s[start-1]) {
		start--
	}
	for end < len(s) && (wordByte(s[end]) || strings.IndexByte("+/=.%~:", s[end]) >= 0) {
		end++
	}
	for end > stop && strings.IndexByte(".:~%", s[end-1]) >= 0 {
		end--
	}
	return start, end
}

// inLines calls visit for each line of s that holds one of the words in text, which is s or s in lower case; at is where the
// line begins.
func inLines(s, text string, words []string, visit func(line string, at int)) {
	for _, w := range words {
		for i := 0; i < len(text); {
			n := strings.Index(text[i:], w)
			if n < 0 {
				break
			}
			from := strings.LastIndexByte(s[:i+n], '\n') + 1
			to := len(s)
			if e := strings.IndexByte(s[i+n:], '\n'); e >= 0 {
				to = i + n + e
			}
			visit(s[from:to], from)
			i = to + 1
		}
	}
}

// lowerASCII is s in lower case, each byte in its place.
func lowerASCII(s string) string {
	capital := func(c rune) bool { return c >= 'A' && c <= 'Z' }
	if strings.IndexFunc(s, capital) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		c := s[i]
		if capital(rune(c)) {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// deepSpans are the values the second pass finds, wherever they stand. Where too many of its rules would have to be tried, lines are
// looked at one by one, so that keywords in one line mask no words of another.
func deepSpans(s string) []Span { return deepSpansBy(s, 1, false) }

// sureSpans are those of them that are sure.
func sureSpans(s string) []Span { return deepSpansBy(s, 1, true) }

// deepSpansBy finds by the rules of gitleaks what our own patterns left, by the text of the secret, wherever that stands. Only lines
// that hold a long word with a digit, and their neighbours, are looked at, so ordinary prose costs nothing. Of least lines for which
// too many rules would have to be tried, every candidate is taken for a secret.
func deepSpansBy(s string, least int, sure bool) []Span {
	values := map[string]bool{}
	look := func(lines []string, limit int) bool {
		pieces, ok := deepSecrets(candidates(lines), limit, sure)
		for _, piece := range pieces {
			values[piece] = true
		}
		return ok
	}
	for chunk := range slices.Chunk(strings.Split(s, "\n"), deepLines) {
		if look(chunk, deepRules) {
			continue
		}
		for part := range slices.Chunk(chunk, least) {
			text, limit := strings.Join(part, "\n"), deepRules
			if len(text) <= shortLine {
				limit = shortRules
			}
			if least < deepLines && look(part, limit) {
				continue
			}
			for _, word := range candidate.FindAllString(text, -1) { // no line end is part of a word
				if likely(word) && !isPublic(word) {
					values[word] = true
				}
			}
		}
	}
	return occurrences(s, values)
}

// occurrences are the places of values of six bytes and more that are known.
func occurrences(s string, values map[string]bool) []Span {
	if len(values) == 0 {
		return nil
	}
	byHead := map[string][]string{}
	for v := range values {
		byHead[v[:6]] = append(byHead[v[:6]], v)
	}
	var out []Span
	for i := 0; i+6 <= len(s); i++ {
		for _, v := range byHead[s[i:i+6]] {
			if strings.HasPrefix(s[i:], v) && !publicHere(s[max(0, i-digestReach):i], v, s[i+len(v):]) {
				out = appendLines(out, s, i, i+len(v))
			}
		}
	}
	return joinSpans(out)
}
