package sanitize

import (
	"slices"
	"strings"
)

// KeyLines are the lines of whole texts that hold a part of a private key, the secret of an access key or a value of a Secret of Kubernetes, and where in them. A piece of
// such a text, a hunk for instance, may show neither the header nor the footer by which a key is known, nor the id beside a secret, nor the kind above a value, so its lines are looked up.
type KeyLines map[string][]Span

// hunkTitle is how much git shows of a line above a hunk, in bytes.
const hunkTitle = 80

// Learn adds the lines of a whole text.
func (k KeyLines) Learn(text string) {
	k.learn(text, func(s string) []Span {
		return joinSpans(filledKeySpans(s), PairedSecrets(s), AccountTokens(s), KeptValues(s))
	})
}

func (k KeyLines) learn(text string, find func(string) []Span) {
	spans, at := findSpans(text, find), 0
	for line := range strings.Lines(text) {
		var own []Span
		for len(spans) > 0 && spans[0].Start < at+len(line) {
			own = append(own, Span{spans[0].Start - at, spans[0].End - at, spans[0].More})
			spans = spans[1:]
		}
		at += len(line)
		k.add(line, own)
	}
}

// LearnPiece adds the lines of a text that look like the middle of a key, for texts of which the whole cannot be read. Of a diff it also adds
// the secrets that stand beside their ids in one of its versions.
func (k KeyLines) LearnPiece(text string) {
	for _, other := range "+-" {
		k.learn(version(text, byte(other)), func(s string) []Span { return joinSpans(PairedSecrets(s), AccountTokens(s)) })
	}
	for line := range strings.Lines(text) {
		if title := hunkHead.FindString(line); title != "" {
			line = strings.TrimPrefix(line[len(title):], " ")
		}
		if run, ok := armour(strings.TrimRight(line, "\r\n"), ""); ok {
			mark := min(run.from, 1) // a line of a diff is looked up without its mark
			k.add(line, []Span{{run.from, run.to, false}})
			k.add(line[mark:], []Span{{run.from - mark, run.to - mark, false}})
		}
	}
}

// version is what a diff shows of a version: its lines without marks, but those with the mark of the other version, and the lines above its hunks.
func version(diff string, other byte) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		if line[0] == other {
			continue
		}
		if strings.IndexByte("+- ", line[0]) >= 0 {
			line = line[1:]
		} else if title := hunkHead.FindString(line); title != "" {
			line = strings.TrimPrefix(line[len(title):], " ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func (k KeyLines) add(line string, spans []Span) {
	if len(spans) == 0 {
		return
	}
	line = strings.TrimRight(line, " \t\r\n")
	k[line] = joinSpans(k[line], spans)
	if as := Spelled(line); as != line { // as it is shown
		moved := slices.Clone(spans)
		for i, p := range spans {
			moved[i].Start, moved[i].End = len(Spelled(line[:p.Start])), len(Spelled(line[:min(p.End, len(line))]))
		}
		k[as] = joinSpans(k[as], moved)
	}
	if len(line) <= hunkTitle {
		return
	}
	var shown []Span
	for _, p := range spans {
		if p.Start < hunkTitle {
			shown = append(shown, Span{p.Start, min(p.End, hunkTitle), p.More})
		}
	}
	k.add(line[:hunkTitle], shown)
}

// MaskDiff is Mask for a unified diff of such texts, whose lines keep their first byte.
func (k KeyLines) MaskDiff(s string) string {
	return maskDiff(s, func(s string) string { return Mask(replaceSpans(s, k.spans(s))) })
}

// spans are the places of keys in a piece of the texts. The first line of several in a row stands for the key.
func (k KeyLines) spans(s string) (out []Span) {
	if len(k) == 0 {
		return nil
	}
	at, last := 0, -1
	n := 0
	for line := range strings.Lines(s) {
		from := 0
		if title := hunkHead.FindString(line); title != "" && strings.HasPrefix(line[len(title):], " ") {
			from = len(title) + 1
		}
		for _, p := range k[strings.TrimRight(line[from:], " \t\r\n")] {
			if v := line[from+p.Start : from+p.End]; v != Redacted {
				out = append(out, Span{at + from + p.Start, at + from + p.End, p.More && n > 0 && last >= n-1})
				last = n
			}
		}
		at += len(line)
		n++
	}
	return out
}

// MayHoldKey reports whether a line of a text looks like one of a private key: a run of base64 with letters of both cases that stands alone, has
// digits, or is longer than names mostly are. So may one like a value of a Secret. Nothing else of such a text need be looked up.
func MayHoldKey(s string) bool {
	for line := range strings.Lines(see(s).text) {
		if title := hunkHead.FindString(line); title != "" {
			line = line[len(title):]
		}
		if m := secretEntry.FindStringSubmatch(strings.TrimLeft(strings.TrimRight(line, "\n"), "+-")); m != nil && keptValue(m[2]+m[3]+m[4], false) {
			return true
		}
		_, alone := aloneRun(strings.TrimRight(line, "\r\n"))
		for _, run := range runs(line) {
			if v := run.of(line); len(v) >= minKeyRun && strings.ToUpper(v) != v && strings.ToLower(v) != v && (alone || len(v) >= 2*minKeyRun || hasDigit(v)) {
				return true
			}
		}
	}
	return false
}
