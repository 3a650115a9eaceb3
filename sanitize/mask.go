package sanitize

import (
	"slices"
	"sort"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
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

// MaskDiff is Mask for unified diffs: the first byte of each line, which says what became of the line, is no part of a value,
// and a value may go on behind it.
func MaskDiff(s string) string { return maskDiff(s, Mask) }

// maskDiff is MaskDiff by any mask that keeps the lines.
func maskDiff(s string, mask func(string) string) string {
	lines := strings.Split(s, "\n")
	marks := make([]string, len(lines))
	for i, line := range lines {
		if line != "" && strings.IndexByte("+- ", line[0]) >= 0 {
			marks[i], lines[i] = line[:1], line[1:]
		}
	}
	lines = strings.Split(mask(strings.Join(lines, "\n")), "\n")
	for i := range lines {
		lines[i] = marks[i] + lines[i]
	}
	return strings.Join(lines, "\n")
}

// Secrets finds the values Mask takes out, in their order. With all of them replaced no secret rule finds anything more.
func Secrets(s string) []Span {
	var all []Span
	for range 16 { // what stands around a mask may look like a value without it
		text := replaceSpans(s, all)
		found := ownSpans(text)
		if len(found) == 0 {
			found = deepSpans(text)
		}
		if len(found) == 0 && !plain(text) {
			found = hiddenSpans(text)
		}
		next := joinSpans(all, original(found, all))
		if slices.Equal(next, all) {
			break
		}
		all = next
	}
	return all
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
	return joinSpans(keySpans(s), patternSpans(s), assignmentSpans(s))
}

// patternSpans are those redactPatterns takes out.
func patternSpans(s string) []Span {
	if len(s) < 4 || !strings.ContainsAny(s, "_-.:/=") && !containsAny(s, unmarked) {
		return nil
	}
	var out []Span
	for _, list := range [][]pattern{specPatterns, ownPatterns()} {
		for _, p := range list {
			inLines(s, s, p.words, func(line string, at int) {
				done := 0
				for _, m := range p.re.FindAllStringIndex(line, -1) {
					if m[0] < done || p.sure != nil && !p.sure(line[m[0]:m[1]]) {
						continue
					}
					start, end := p.widen(line, m[0], m[1])
					out = appendLines(out, s, at+start, at+end)
					done = end
				}
			})
		}
	}
	return out
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

var (
	// keyBody is a line of an armoured key, perhaps as a piece of a string in code. What is not written like one stays: the words
	// around a key must not hide code from a reviewer.
	keyBody = lazyregexp.New("^[\"'`]?[A-Za-z0-9+/=]{16,}(?:\\\\[nr])*[\"'`]?[ \t]*[+,;.\\\\]?\r?$")
	// keyRemark is a line of the head of such a block.
	keyRemark = lazyregexp.New(`^(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines|Key-Derivation|Argon2-[A-Za-z]+): ?`)
)

// keyWords stand in the first and last lines of keys.
var keyWords = []string{"PRIVATE KEY", "PuTTY-User-Key", "Private-MAC"}

// keySpans are the lines of private keys: their first and last line, and each between that is written like key material.
func keySpans(s string) []Span {
	if !containsAny(s, keyWords) {
		return nil
	}
	var out []Span
	var lines, texts []string
	var starts []int
	at := 0
	for line := range strings.SplitSeq(s, "\n") {
		text := line
		if line != "" && (removed(line) || line[0] == '+') { // a diff's
			text = line[1:]
		}
		_, text = splitContainer(text)
		lines, texts, starts = append(lines, line), append(texts, strings.TrimSpace(text)), append(starts, at)
		at += len(line) + 1
	}
	mark := func(i int, more bool) {
		from := strings.Index(lines[i], texts[i])
		for _, p := range appendLines(nil, s, starts[i]+from, starts[i]+from+len(texts[i])) {
			p.More = more
			out = append(out, p)
		}
	}
	left, first := 0, -1 // how many lines may follow a header, and the first line of what could be the rest of a key
	for i, line := range lines {
		var heads, ends [][]int
		if containsAny(line, keyWords) {
			heads, ends = keyHead.FindAllStringIndex(line, -1), keyEnd.FindAllStringIndex(line, -1)
		}
		switch body := keyBody.MatchString(texts[i]) || left > 0 && keyRest.MatchString(texts[i]); {
		case len(heads) > 0 || len(ends) > 0:
			all := slices.Concat(heads, ends)
			from, to := all[0][0], 0
			for _, m := range all {
				from, to = min(from, m[0]), max(to, m[1])
			}
			if len(heads) > 0 && to == heads[len(heads)-1][1] { // key material may follow on the line
				to += len(keyText.FindString(line[to:]))
			}
			if len(heads) == 0 && left == 0 && first >= 0 { // its header stands above what is seen
				for j := first; j < i; j++ {
					mark(j, j > first)
				}
			}
			out = appendLines(out, s, starts[i]+from, starts[i]+to)
			out[len(out)-1].More = len(heads) == 0 && (left > 0 || first >= 0)
			left, first = 0, -1
			if len(heads) > 0 && (len(ends) == 0 || ends[len(ends)-1][0] < heads[len(heads)-1][0]) {
				left = maxKeyLines
			}
		case body && left > 0:
			mark(i, true)
			left--
		case body && first < 0:
			first = i
		case body:
		case left > 0 && (texts[i] == "" || texts[i] == Redacted || keyRemark.MatchString(texts[i])):
			left--
		default:
			left, first = 0, -1
		}
	}
	return out
}

// assignmentSpans are the values redactAssignments takes out.
func assignmentSpans(s string) []Span {
	if !strings.ContainsAny(s, "=:") {
		return nil
	}
	var out []Span
	lower := lowerASCII(s)
	inLines(s, lower, []string{"://"}, func(line string, at int) {
		for _, m := range urlPassword.FindAllStringSubmatchIndex(line, -1) {
			if !reference.MatchString(line[m[4]:m[5]]) {
				out = appendLines(out, s, at+m[4], at+m[5])
			}
		}
	})
	inLines(s, lower, []string{"authorization"}, func(line string, at int) {
		for _, m := range authHeader.FindAllStringSubmatchIndex(line, -1) {
			out = appendLines(out, s, at+m[4], at+m[5])
		}
	})
	// The expression of an assignment is slow to search with and quick to match where a name stands.
	for _, name := range namesOfSecrets {
		for i := 0; ; i++ {
			n := strings.Index(lower[i:], name.word)
			if n < 0 {
				break
			}
			i += n
			if !name.follows(lower[:i]) {
				continue
			}
			rest := s[i:min(len(s), i+assignmentReach)]
			m := assignedHere.FindStringSubmatchIndex(rest)
			if m == nil {
				continue
			}
			from := i
			i += m[1] - 1 // the value is looked at once, also when it is made of such names
			value := strings.TrimRight(rest[m[6]:m[7]], ".:!?*_~")
			if secretValue(rest[m[2]:m[3]], m[4] < m[5], value) {
				out = appendLines(out, s, from+m[6], from+m[7])
			}
		}
	}
	return out
}

// nameOfSecret is how the expression of an assignment begins: a word, and what has to stand before it.
type nameOfSecret struct {
	word   string
	before []string
}

func (n nameOfSecret) follows(before string) bool {
	return n.before == nil || slices.ContainsFunc(n.before, func(b string) bool { return strings.HasSuffix(before, b) })
}

// namesOfSecrets are the beginnings of assignment.
var namesOfSecrets = []nameOfSecret{
	{"secret", nil}, {"token", nil}, {"passwd", nil}, {"password", nil}, {"passphrase", nil}, {"pwd", nil}, {"credential", nil}, {"bearer", nil},
	{"_auth", nil}, {"key", keyKinds()},
}

func keyKinds() []string {
	out := []string{"_"}
	for _, kind := range []string{"api", "private", "access", "auth", "account", "encryption", "signing"} {
		out = append(out, kind, kind+"-") // with "_" it ends in "_"
	}
	return append(out, "_-")
}

// assignedHere is assignment from its name on; the reach is how far it is looked for, in bytes.
var assignedHere = lazyregexp.New(`^(?i)((?:secret|token|passw(?:or)?d|passphrase|pwd|credential|key|_auth|bearer)[0-9a-z_.-]{0,24}\\?["'\x60]?\]?\s{0,4}(?::=|=>|==|=|:)\s{0,4}(?:bearer |basic )?)(\\?["'\x60]?)([^\s"'\x60,;<>\[\](){}|\\]{6,})`)

const assignmentReach = 8 << 10

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
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// deepSpans are the values the second pass finds (see redactDeep), wherever they stand. Where too many of its rules would have to
// be tried, lines are looked at one by one, so that keywords in one line mask no words of another.
func deepSpans(s string) []Span {
	values := map[string]bool{}
	look := func(part string) bool {
		pieces, ok := deepSecrets(part)
		for _, piece := range pieces {
			values[piece] = true
		}
		return ok
	}
	lines := strings.Split(s, "\n")
	for i := 0; i < len(lines); i += deepLines {
		chunk := lines[i:min(i+deepLines, len(lines))]
		if part := candidates(chunk); part == "" || look(part) {
			continue
		}
		for _, line := range chunk {
			if likely(line) && !look(line) {
				for _, word := range candidate.FindAllString(line, -1) {
					if likely(word) {
						values[word] = true
					}
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
			if strings.HasPrefix(s[i:], v) {
				out = appendLines(out, s, i, i+len(v))
			}
		}
	}
	return joinSpans(out)
}

// hiddenSpans are values that show only once hidden characters are gone.
func hiddenSpans(s string) []Span {
	var out []Span
	at := 0
	for line := range strings.SplitSeq(s, "\n") {
		if text := strings.TrimSuffix(line, "\r"); !plain(text) {
			shown, places := seen(text)
			if shown != text {
				for _, p := range ownSpans(shown) {
					out = appendLines(out, s, at+places[p.Start], at+places[p.End-1]+1)
				}
			}
		}
		at += len(line) + 1
	}
	return joinSpans(out)
}

// seen is a line without what cannot be seen, and where each of its bytes stands in the line.
func seen(line string) (string, []int) {
	var b strings.Builder
	var places []int
	skip := escapes.FindAllStringIndex(line, -1)
	var prev rune
	for i, r := range line {
		for len(skip) > 0 && skip[0][1] <= i {
			skip = skip[1:]
		}
		if len(skip) > 0 && i >= skip[0][0] {
			continue
		}
		c := cleanRune(r, prev)
		if c < 0 {
			continue
		}
		if c == '\n' {
			c = ' '
		}
		prev = c
		n, _ := b.WriteRune(c)
		for range n {
			places = append(places, i)
		}
	}
	return b.String(), places
}
