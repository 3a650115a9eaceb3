package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// keyHead is BEGIN PRIVATE KEY in all its kinds, with or without dashes: a header alone is
	// redacted too.
	keyHead = lazyregexp.New(`-*\s?BEGIN` + blankSign + keyKind + `-*|PuTTY-User-Key-File-[0-9]`)
	keyEnd  = lazyregexp.New(`-*\s?END` + blankSign + keyKind + `-*|Private-MAC:\s*[0-9a-fA-F]*`)
	// keyText is key material that follows a header on its own line, real or escaped line ends between.
	keyText = lazyregexp.New(`^(?:(?:\\+[nr]|\s)*[A-Za-z0-9+/=]{16,})*(?:\\+[nr])*`)
	// keyRemark is a line of the head of such a block.
	keyRemark = lazyregexp.New(`^(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines|Key-Derivation|Argon2-[A-Za-z]+): ?`)
	// keyOpening and keyClosing are what may stand around the text of a key in its line: quotes, comment marks, the signs between
	// the pieces of a string in code. Nothing that is called or that names something.
	keyOpening = lazyregexp.New("^[^0-9A-Za-z_]*(?:[bBrRuUfF]{1,2}[\"'`])?$")
	keyClosing = lazyregexp.New("^(?:\\\\+[nr])*(?:[\"'`\\s+,;.)\\]}|\\\\*]|-->|\\*/|…)*$")
	// encodedKey is BEGIN PRIVATE KEY in base64, at any of three places.
	encodedKey = lazyregexp.New(`^` + encodedBegin + `[0-9A-Za-z+/]{0,32}(?:UFJJVkFU|UklWQVRF|FBSSVZB)`)
	// otherArmour is the last line of an armoured block that is no private key.
	otherArmour = lazyregexp.New(`-----END [A-Z0-9 ]+-----`)
	// laterHunk is the header of a hunk that does not begin with the file.
	laterHunk = lazyregexp.New(`^@@+ (?:-[0-9]+(?:,[0-9]+)? ){1,8}\+(?:[2-9]|[1-9][0-9]+)(?:,[0-9]+)? @@+ ?`)
)

// keyWords stand in the first and last lines of keys.
var keyWords = []string{"PRIVATE KEY", "PRIVATE+KEY", "PRIVATE%20KEY", "OpenVPN Static key", "PuTTY-User-Key", "Private-MAC"}

const (
	// blankSign is a blank, in addresses and forms too.
	blankSign = `(?: |\+|%20)`
	// keyKind is what the first and the last line of a key call it.
	keyKind = `(?:(?:[A-Z0-9]+` + blankSign + `){0,4}PRIVATE` + blankSign + `KEY(?:` + blankSign + `BLOCK)?|OpenVPN Static key V[0-9])`
	// maxKeyLines bounds how far behind the last line of a key its end is looked for.
	maxKeyLines = 200
	// minKeyRun is the shortest line of a key, in bytes, that is known by itself when nothing else stands in it; minLooseRun is the
	// shortest one among other words.
	minKeyRun, minLooseRun = 16, 40
	// minArmour and maxArmour bound the full lines of armoured keys; minHunkLines is how many of them at the start of a hunk are
	// taken for the middle of a key.
	minArmour, maxArmour = 60, 76
	minHunkLines         = 2
	// encodedHead is how much of a key in base64 tells what it is, in bytes of base64.
	encodedHead = 64
)

// keyBlock is what is seen of one private key.
type keyBlock struct {
	// spans are its header, the key material of each line, and its footer. Code that stands between them is in none.
	spans []Span
	// end is where the block ends, with all that stands between its header and its footer.
	end int
}

// redactKeys replaces private keys by Redacted, what is between their lines included (threats.md L2). A header goes with what it
// opens and a footer with what it closes, wherever the text begins or ends. A fence is never crossed, so a block cut off by the end
// of its code block leaves the fence standing.
func redactKeys(s string) string { return replaceSpans(s, keyRegions(s)) }

// keyRegions are whole keys, over several lines.
func keyRegions(s string) []Span {
	var out []Span
	for _, b := range keyBlocks(s) {
		if len(b.spans) > 0 {
			out = append(out, Span{Start: b.spans[0].Start, End: b.end})
		}
	}
	return joinSpans(out, keyBodies(s), keyNumbers(s))
}

// keySpans are the lines of private keys: their first and last line, and each between that holds key material, and the texts of keys that stand apart. Those of a
// mention are among them.
func keySpans(s string) []Span {
	out := append(keyBodies(s), keyNumbers(s)...)
	for _, b := range keyBlocks(s) {
		out = append(out, b.spans...)
	}
	return joinSpans(out)
}

// keyBlocks finds the private keys of a text without hidden characters.
func keyBlocks(s string) []keyBlock {
	keys, hunks, encoded := containsAny(s, keyWords), strings.Contains(s, "@@ -"), strings.Contains(s, encodedBegin)
	if !keys && !hunks && !encoded {
		return nil
	}
	t := keyReader{s: s, lines: strings.Split(s, "\n")}
	at := 0
	for _, line := range t.lines {
		t.starts = append(t.starts, at)
		at += len(line) + 1
	}
	for i := 0; i < len(t.lines); i++ {
		switch line := t.lines[i]; {
		case keys && containsAny(line, keyWords):
			i = t.marked(i)
		case hunks && strings.HasPrefix(line, "@@"):
			t.hunk(i)
		case encoded && strings.Contains(line, encodedBegin):
			i = t.encoded(i)
		}
	}
	return t.blocks
}

// keyReader reads a text line by line.
type keyReader struct {
	s      string
	lines  []string
	starts []int
	blocks []keyBlock
	// free is the first line that no block has taken.
	free int
	// done is how much of the line at is read.
	at, done int
}

// keyMark is a header or a footer, in bytes of its line.
type keyMark struct {
	from, to int
	head     bool
}

// marks are the headers and footers of a line, in order.
func marks(line string) []keyMark {
	if !containsAny(line, keyWords) {
		return nil
	}
	var out []keyMark
	for _, m := range keyHead.FindAllStringIndex(line, -1) {
		out = append(out, keyMark{m[0], m[1], true})
	}
	for _, m := range keyEnd.FindAllStringIndex(line, -1) {
		out = append(out, keyMark{m[0], m[1], false})
	}
	slices.SortFunc(out, func(a, b keyMark) int { return a.from - b.from })
	return out
}

// marked reads the headers and footers of line i and the keys that begin or end there. It returns the last line it has read.
func (t *keyReader) marked(i int) int {
	line := t.lines[i]
	done := 0
	if t.at == i {
		done = t.done
	}
	list := slices.DeleteFunc(marks(line), func(m keyMark) bool { return m.from < done })
	for k := 0; k < len(list); k++ {
		m, next := list[k], len(line)
		if k+1 < len(list) {
			next = list[k+1].from
		}
		switch {
		case !m.head:
			t.footer(i, done, m)
			done = m.to
		case k+1 < len(list) && !list[k+1].head: // the whole key on one line
			k++
			done = list[k].to
			t.add(t.line(nil, i, m.from, done), t.starts[i]+done)
		default:
			done = m.to + len(keyText.FindString(line[m.to:next]))
			spans := t.line(nil, i, m.from, done)
			for _, run := range runs(line[done:next]) {
				if loose(run.of(line[done:next])) {
					spans = t.line(spans, i, done+run.from, done+run.to)
				}
			}
			if k+1 == len(list) {
				return t.header(i, m, done, spans)
			}
			t.add(spans, spans[len(spans)-1].End)
		}
	}
	t.free = max(t.free, i+1)
	return i
}

// header reads what the last header of line i opens. It returns the last line that is read.
func (t *keyReader) header(i int, m keyMark, done int, spans []Span) int {
	around := keyLine{before: t.lines[i][:m.from], behind: t.lines[i][done:]}
	body, sure, stop := t.below(i+1, around)
	f := t.next(stop)
	if f < 0 { // no footer: short lines count only behind long ones
		spans = append(spans, body[:sure]...)
		end := spans[len(spans)-1].End
		t.add(spans, end)
		last := i
		for last+1 < len(t.lines) && t.starts[last+1] < end {
			last++
		}
		t.free = last + 1
		return last
	}
	if f == stop {
		sure = len(body)
	}
	spans = append(spans, body[:sure]...)
	foot := marks(t.lines[f])[0]
	if f > stop {
		spans = append(spans, t.above(f, stop, foot)...)
	}
	spans = append(spans, t.sameLine(f, 0, foot)...)
	spans = t.line(spans, f, foot.from, foot.to)
	t.add(spans, t.starts[f]+foot.to)
	t.free, t.at, t.done = f, f, foot.to
	return f - 1 // there may be more marks
}

// footer reads what a footer closes whose header is not seen.
func (t *keyReader) footer(i, done int, m keyMark) {
	var spans []Span
	if done == 0 {
		spans = t.above(i, t.free, m)
	}
	spans = append(spans, t.sameLine(i, done, m)...)
	t.add(t.line(spans, i, m.from, m.to), t.starts[i]+m.to)
}

// next is the line of the footer of a key whose last line stands before line i, or -1.
func (t *keyReader) next(i int) int {
	for j := i; j < len(t.lines) && j <= i+maxKeyLines; j++ {
		if list := marks(t.lines[j]); len(list) > 0 {
			if list[0].head {
				return -1
			}
			return j
		}
		if _, text := splitContainer(t.lines[j]); fenceRun(text) != "" {
			return -1
		}
	}
	return -1
}

// below reads key material from line i on. sure is how many of the spans count without a footer, stop the first line that is none.
func (t *keyReader) below(i int, around keyLine) (out []Span, sure, stop int) {
	long, gap, certain := false, false, true
	for ; i < len(t.lines); i++ {
		run, kind := around.read(t.lines[i])
		switch kind {
		case lineOther:
			return out, sure, i
		case lineBlank:
			gap = true
			continue
		case lineLong:
			long = true
		case lineShort:
			certain = certain && long && !gap
		}
		out = t.line(out, i, run.from, run.to)
		if certain {
			sure = len(out)
		}
		gap = false
	}
	return out, sure, i
}

// above reads key material upwards, from the line before footer i to line first.
func (t *keyReader) above(i, first int, m keyMark) []Span {
	around := keyLine{before: t.lines[i][:m.from], behind: t.lines[i][m.to:]}
	var out []Span
	long := false
	for j := i - 1; j >= first; j-- {
		run, kind := around.read(t.lines[j])
		if kind == lineOther {
			break
		}
		if kind == lineBlank {
			continue
		}
		long = long || kind == lineLong
		out = append(t.line(nil, j, run.from, run.to), out...)
		if kind == lineShort && j < i-1 { // the rest of a line that is cut off
			break
		}
	}
	if !long {
		out = slices.DeleteFunc(out, func(p Span) bool { v := t.s[p.Start:p.End]; return !hasDigit(v) && !strings.HasSuffix(v, "=") })
	}
	return out
}

// sameLine is key material before a footer on its line.
func (t *keyReader) sameLine(i, done int, m keyMark) []Span {
	part := t.lines[i][done:m.from]
	var out []Span
	for _, run := range runs(part) {
		if v := run.of(part); loose(v) || len(v) >= minKeyRun && run.to == len(strings.TrimRight(part, "\\nr \t")) {
			out = t.line(out, i, done+run.from, done+run.to)
		}
	}
	return out
}

// hunk reads the lines at the start of a hunk that begins in the middle of a key: neither header nor footer is in it.
func (t *keyReader) hunk(i int) {
	head := laterHunk.FindString(t.lines[i])
	if head == "" {
		return
	}
	var spans []Span
	if run, ok := armour(t.lines[i][len(head):], ""); ok { // git shows a line above the hunk
		spans = t.line(spans, i, len(head)+run.from, len(head)+run.to)
	}
	before, n, j := "", 0, i+1
	for ; j < len(t.lines); j++ {
		run, ok := armour(t.lines[j], before)
		if !ok {
			break
		}
		if n == 0 {
			before = t.lines[j][:run.from]
		}
		n++
		spans = t.line(spans, j, run.from, run.to)
	}
	if n < minHunkLines {
		return
	}
	for k := j; k < len(t.lines) && k <= j+1; k++ { // the last line may be a short one
		if otherArmour.MatchString(t.lines[k]) && marks(t.lines[k]) == nil {
			return
		}
	}
	t.add(spans, spans[len(spans)-1].End)
}

// encoded reads a key, header and all, that is written in base64 once more, over as many lines as it takes. It returns the last line
// that is read.
func (t *keyReader) encoded(i int) int {
	line := t.lines[i]
	from := strings.Index(line, encodedBegin)
	to := from
	for to < len(line) && base64Byte(line[to]) {
		to++
	}
	head, long, width := line[from:to], to-from, 0
	spans, open, j := t.line(nil, i, from, to), keyClosing.MatchString(line[to:]), i+1
	for ; open && j < len(t.lines); j++ {
		run, ok := aloneRun(t.lines[j])
		v := run.of(t.lines[j])
		if len(head) < encodedHead {
			head += v
		}
		// The last line may be a short one. No other line is longer than the first that stands alone.
		long += len(v)
		if !ok || strings.Contains(v, encodedBegin) || width > 0 && len(v) > width || len(v) < minKeyRun && long%4 != 0 ||
			len(head) >= encodedHead && !encodedKey.MatchString(head) {
			break
		}
		spans = t.line(spans, j, run.from, run.to)
		if width == 0 {
			width = len(v)
		}
		open = len(v) == width && !strings.HasSuffix(v, "=")
	}
	if !encodedKey.MatchString(head) {
		return i
	}
	t.add(spans, spans[len(spans)-1].End)
	return j - 1
}

// add keeps a block.
func (t *keyReader) add(spans []Span, end int) {
	for i := range spans {
		spans[i].More = i > 0
	}
	t.blocks = append(t.blocks, keyBlock{spans, end})
}

// line adds a span of line i.
func (t *keyReader) line(out []Span, i, from, to int) []Span {
	return appendLines(out, t.s, t.starts[i]+from, t.starts[i]+to)
}

// Kinds of lines behind a header.
const (
	lineOther = iota // no line of a key
	lineBlank        // nothing, a remark, or a mask
	lineShort        // nothing but some characters that key material is written with
	lineLong
)

// keyLine is what stands around a header or a footer in its line. The other lines of the key often have the same around them: a
// comment mark, a line number, the name of a file, the time.
type keyLine struct{ before, behind string }

// read finds the key material in a line.
func (k keyLine) read(line string) (textRun, int) {
	if containsAny(line, keyWords) && marks(line) != nil || strings.HasPrefix(line, "@@") {
		return textRun{}, lineOther
	}
	at := likeBefore(line, strings.TrimRight(k.before, " \t"))
	if at == 0 && line != "" && (removed(line) || line[0] == '+') { // a diff's
		at = 1
	}
	container, text := splitContainer(line[at:])
	at += len(container)
	text = strings.TrimSpace(text)
	if fenceRun(text) != "" {
		return textRun{}, lineOther
	}
	if behind := strings.TrimSpace(k.behind); behind != "" {
		text = strings.TrimSuffix(text, behind)
	}
	if text == "" || text == Redacted || keyRemark.MatchString(text) {
		return textRun{}, lineBlank
	}
	run := longestText(text)
	v := run.of(text)
	alone := v != "" && keyOpening.MatchString(text[:run.from]) && keyClosing.MatchString(text[run.to:])
	run = textRun{at + run.from, at + run.to}
	switch {
	case alone && len(v) >= minKeyRun:
		return run, lineLong
	case alone:
		return run, lineShort
	}
	if run = longestText(line); loose(run.of(line)) {
		return run, lineLong
	}
	return textRun{}, lineOther
}

// likeBefore is the length of the part of a line that is written like the text before a header: numbers may differ, and the white
// space beside them.
func likeBefore(line, before string) int {
	i := 0
	for j := 0; j < len(before); {
		switch c := before[j]; {
		case blank(c):
			for j < len(before) && blank(before[j]) {
				j++
			}
			for i < len(line) && blank(line[i]) {
				i++
			}
		case digit(c):
			if i == len(line) || !digit(line[i]) {
				return 0
			}
			for j < len(before) && digit(before[j]) {
				j++
			}
			for i < len(line) && digit(line[i]) {
				i++
			}
		case i == len(line) || line[i] != c:
			return 0
		default:
			i, j = i+1, j+1
		}
	}
	return i
}

func blank(c byte) bool { return c == ' ' || c == '\t' }
func digit(c byte) bool { return c >= '0' && c <= '9' }

// textRun is a run of the characters of base64 in a line.
type textRun struct{ from, to int }

func (r textRun) of(line string) string { return line[r.from:r.to] }

func runs(line string) []textRun {
	var out []textRun
	from := -1
	for i := 0; i <= len(line); i++ {
		if i < len(line) && base64Byte(line[i]) {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			out = append(out, textRun{from, i})
			from = -1
		}
	}
	return out
}

func base64Byte(c byte) bool {
	return c == '+' || c == '/' || c == '=' || digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
}

func longestText(line string) textRun {
	var best textRun
	for _, r := range runs(line) {
		if r.to-r.from > best.to-best.from {
			best = r
		}
	}
	return best
}

// loose reports whether a run is key material whatever stands beside it.
func loose(run string) bool { return len(run) >= minLooseRun && mixed(run) }

// mixed reports whether a text has small letters, capitals and digits.
func mixed(s string) bool {
	return hasDigit(s) && strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz")
}

// aloneRun is the longest run of a line, behind the mark of a diff, and whether nothing but quotes and comment marks stands around it.
func aloneRun(line string) (textRun, bool) {
	at := 0
	if line != "" && strings.IndexByte("+- ", line[0]) >= 0 {
		at = 1
	}
	run := longestText(line[at:])
	run = textRun{at + run.from, at + run.to}
	return run, run.to > run.from && keyOpening.MatchString(line[:run.from]) && keyClosing.MatchString(line[run.to:])
}

// armour is the run of a full line of an armoured key, with the mark of a diff, quotes or comment marks before it, or what stands
// before the run of the first such line.
func armour(line, before string) (textRun, bool) {
	run, alone := aloneRun(line)
	v := run.of(line)
	if len(v) < minArmour || len(v) > maxArmour || !mixed(v) || !keyClosing.MatchString(line[run.to:]) {
		return run, false
	}
	return run, alone || before != "" && likeBefore(line[:run.from], before) == run.from
}
