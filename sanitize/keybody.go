package sanitize

import (
	"cmp"
	"encoding/base64"
	"iter"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// The text of a key may stand apart from its header and its footer: in a constant, behind a format, between comments.

var (
	// bodyStart begins the text of a key: the version and what follows it in the forms of PKCS #1, PKCS #8 and SEC 1, how an encrypted one is encrypted, and the
	// name of OpenSSH's form. Nothing else begins so: neither certificates, requests for them and public keys, nor messages that have a version too.
	bodyStart = lazyregexp.New(`^(?:M[A-P].CAQ(?:[AE]w[A-Z][AQgw]Y[A-P]|AC[A-Z]|EE[HIMQ])|MI[GH].(?:AgE[AB](?:M[A-P].G|A[g-k]|B[A-I])|M..GCSqGSIb3DQE[FM])|MI[I-L]..(?:[AQgw]IBA(?:[AQ][JK]|[AQ]E|D[A-P])|[DTjz]..Bg[ko]qhkiG9w0B(?:BQ|DA))|b3BlbnNzaC1rZXktdj)`)
	// notBody begins long base64 that is no text of a key: a certificate, a request for one, a public key, JSON, another armour written in base64 once more, a picture, a program, an archive.
	notBody = lazyregexp.New(`^(?:MI[I-L]..(?:[DTjz](?:C[BC]|ANBgkqhkiG9w0BAQE)|[AQgw]K[BC])|MI[GH].MA0GCSqGSIb3DQEBAQ|M[A-P].w..YHKoZI|AAAA|eyJ|LS0tLS1CRUdJTi|iVBORw0KGgo|/9j/|R0lGOD|AGFzbQ|UEsDB|H4sI)`)
	// armourHead is the first line of an armoured block.
	armourHead = lazyregexp.New(`-----BEGIN [A-Z0-9 ]{1,60}-----`)
	// keyNamed gives something to what is called a private key.
	keyNamed = lazyregexp.New(`(?i)private[_.-]?key[a-z0-9_]{0,20}["'` + "`" + `]?\s*[:=]`)
)

// commentLine begins a remark that has its line for itself.
var commentLine = lazyregexp.New(`^\s*(?:#|//|/?\*|;|--)\s`)

// keyCalled stand in what keyNamed matches.
var keyCalled = []string{"rivate", "RIVATE"}

// startWords stand in what bodyStart matches, but for texts in pieces.
var startWords = []string{"CAQ", "AgE", "IBA", "GCSqGSIb3DQE", "qhkiG9w0B", "b3BlbnNzaC1rZXktdj"}

const (
	// startBytes is how much of a text tells the beginning of a key, in bytes of base64.
	startBytes = 24
	// minOpenSSH is the length of the shortest key in the form of OpenSSH, in bytes of base64.
	minOpenSSH = 350
	// NearKey is how far from a header, a footer or the text of a key other text of it stands at most, in lines.
	NearKey = 50
)

// KeyBodies are the texts of private keys: what is a whole one by the length it states, what begins as they do in a text that has a header or a footer of one or in the
// lines of what is given to the name of one, near these what nobody wrote, and the private numbers of keys that are written by their numbers. Where there is such a text in
// one piece, no header and no footer is a mere mention.
func KeyBodies(s string) []Span {
	return findSpans(s, func(s string) []Span { return joinSpans(keyBodies(s), keyNumbers(s)) })
}

func keyBodies(s string) []Span {
	if !containsAny(s, keyWords) && !containsAny(s, keyCalled) && !containsAny(s, startWords) {
		return nil
	}
	heads, names := headLines(s)
	if len(heads)+len(names) == 0 && !containsAny(s, startWords) {
		return nil
	}
	b := bodies{s: s, parts: base64Parts(s), other: otherArmours(s), taken: map[int]bool{}}
	b.setApart()
	around := near(heads)
	for k, p := range b.parts {
		own := names[p.line]
		if !b.taken[k] && (b.starts(k) && (own || len(heads) > 0 || b.whole(k)) || (own || around[p.line]) && p.to-p.from >= minArmour && b.drawn(k)) {
			b.take(k)
		}
	}
	if len(heads) > 0 && len(b.out) > 0 {
		b.rest(heads)
	}
	return joinSpans(b.out)
}

// bodies looks for the texts of keys in s.
type bodies struct {
	s     string
	parts []base64Part
	// other are the armoured blocks that are no private keys, in order.
	other []Span
	out   []Span
	taken map[int]bool
	// apart are the parts that begin something else, and those that go on with them.
	apart map[int]bool
}

// base64Part is a run of base64 in a text, without what the escape sequence before it adds, and its line.
type base64Part struct{ from, to, line int }

func base64Parts(s string) (out []base64Part) {
	line := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			line++
		}
		if s[i] == '=' || !base64Byte(s[i]) {
			continue
		}
		from, letters := i, false
		for i < len(s) && s[i] != '=' && base64Byte(s[i]) {
			letters = letters || s[i] != '+' && s[i] != '/'
			i++
		}
		to := i
		for i < len(s) && s[i] == '=' {
			i++
		}
		if i-to <= 2 && (i == len(s) || !base64Byte(s[i])) {
			to = i
		}
		i--
		switch {
		case from > 0 && s[from-1] == '\\' && strings.IndexByte("nrt", s[from]) >= 0:
			from++
		case from > 0 && s[from-1] == '%' && to-from >= 2:
			from += 2
		}
		if letters && from < to {
			out = append(out, base64Part{from, to, line})
		}
	}
	return out
}

func (b *bodies) of(k int) string { return b.s[b.parts[k].from:b.parts[k].to] }

// between is what stands between part k and the next one.
func (b *bodies) between(k int) string { return b.s[b.parts[k].to:b.parts[k+1].from] }

// headLines are the numbers of the lines with headers and footers of private keys, and of those that give one something: the line of the name, and the lines below it
// in which base64 stands alone. Remarks, and lines of mere signs, may stand between.
func headLines(s string) (heads []int, names map[int]bool) {
	names = map[int]bool{}
	n, open := 0, false
	for line := range strings.Lines(s) {
		if marks(line) != nil {
			heads = append(heads, n)
		}
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case containsAny(line, keyCalled) && keyNamed.MatchString(line):
			names[n], open = true, true
		case open && !commentLine.MatchString(line):
			if run, alone := aloneRun(line); run.to > run.from {
				open = alone && run.to-run.from >= minKeyRun
				names[n] = open
			}
		}
		n++
	}
	return heads, names
}

// near are the lines that are NearKey lines away at most.
func near(lines []int) map[int]bool {
	out, done := map[int]bool{}, 0
	for _, n := range lines {
		for i := max(done, n-NearKey); i <= n+NearKey; i++ {
			out[i] = true
		}
		done = max(done, n+NearKey)
	}
	return out
}

// starts reports whether the text of a key begins with part k, perhaps in pieces.
func (b *bodies) starts(k int) bool {
	head := strings.TrimLeft(b.of(k), "+/")
	if head == "" || head[0] != 'M' && head[0] != 'b' {
		return false
	}
	all := len(head)
	for j := k + 1; j < len(b.parts) && all < minLooseRun && len(b.between(j-1)) <= minKeyRun; j++ {
		v := b.of(j)
		if all += len(v); len(head) < startBytes {
			head += v
		}
	}
	return all >= minLooseRun && bodyStart.MatchString(head)
}

// whole reports whether part k and what goes on with it are as long as a key that begins so says it is. Some letters are missing where an address writes them by their
// numbers.
func (b *bodies) whole(k int) bool {
	head := strings.TrimLeft(b.of(k), "+/")
	if len(head) < minLooseRun {
		return false
	}
	all, parts, least := len(head), 1, keyLength(head)*9/10
	for j := range b.after(k) {
		if all >= least || parts == maxKeyLines {
			break
		}
		all, parts = all+len(b.of(j)), parts+1
	}
	return all >= least
}

// keyLength is how long the text of a key is, in bytes of base64, by what its first eight bytes state. OpenSSH's form states it elsewhere, and has at least minOpenSSH.
func keyLength(head string) int {
	der, err := base64.StdEncoding.DecodeString(head[:8])
	if err != nil || head[0] != 'M' {
		return minOpenSSH
	}
	n := 2 + int(der[1])
	switch der[1] {
	case 0x81:
		n = 3 + int(der[2])
	case 0x82:
		n = 4 + int(der[2])<<8 + int(der[3])
	}
	return base64.RawStdEncoding.EncodedLen(n)
}

// setApart tells what is apart.
func (b *bodies) setApart() {
	b.apart = map[int]bool{}
	for k := range b.parts {
		if v := b.of(k); len(v) >= minKeyRun && !b.apart[k] && notBody.MatchString(v) {
			b.apart[k] = true
			for j := range b.after(k) {
				b.apart[j] = true
			}
		}
	}
}

// take takes part k and those that go on with it.
func (b *bodies) take(k int) {
	b.add(k, false)
	for j := range b.after(k) {
		b.add(j, true)
	}
}

// after are the parts that go on with part k: what stands between them is the same each time, or they are like parts of a key by themselves. A word in small letters is
// none, it may be a command.
func (b *bodies) after(k int) iter.Seq[int] {
	return func(yield func(int) bool) {
		pieces, glue := len(b.of(k)) < minKeyRun, ""
		for j := k + 1; j < len(b.parts); j++ {
			v, between := b.of(j), b.between(j-1)
			like := len(v) >= minKeyRun && mixed(v) && len(between) <= minKeyRun
			same := between == glue || glue == "" && pieces && len(between) <= minKeyRun
			if !like && (!same || strings.Trim(v, "abcdefghijklmnopqrstuvwxyz/") == "" && !pieces) {
				return
			}
			if !yield(j) {
				return
			}
			glue = between
		}
	}
}

// drawn reports whether part k may be of a key, and is mixed as if nobody wrote it.
func (b *bodies) drawn(k int) bool {
	v := b.of(k)
	return b.may(k) && len(v)*100 <= pieces(v)*mixedPiece && digits(v)*20 >= len(v)
}

// may reports whether part k may be of a key: it is mixed, and no part of something else, such as a name, a token with signs, a certificate, data.
func (b *bodies) may(k int) bool {
	p, v := b.parts[k], b.of(k)
	for _, at := range []int{p.from - 1, p.to} {
		if at >= 0 && at < len(b.s) && strings.IndexByte("-_.@:", b.s[at]) >= 0 {
			return false
		}
	}
	i, _ := slices.BinarySearchFunc(b.other, p.from, func(o Span, at int) int { return cmp.Compare(o.End, at+1) })
	return (i == len(b.other) || b.other[i].Start >= p.to) && mixed(v) && !b.apart[k]
}

// rest takes what looks like a part of a key near headers, footers and what is taken: behind comments, or in constants of its own.
func (b *bodies) rest(lines []int) {
	at, line := 0, 0
	for _, p := range joinSpans(b.out) {
		line += strings.Count(b.s[at:p.Start], "\n")
		at = p.Start
		lines = append(lines, line)
	}
	slices.Sort(lines)
	around, text := near(lines), strings.Split(b.s, "\n")
	read, alone := -1, false // a line is read once, however many parts it has
	for k, p := range b.parts {
		n := p.to - p.from
		if n < minKeyRun || b.taken[k] || !around[p.line] || !b.may(k) {
			continue
		}
		if read != p.line {
			read = p.line
			_, alone = aloneRun(text[read])
		}
		if n >= minLooseRun || alone {
			b.add(k, true)
		}
	}
}

func (b *bodies) add(k int, more bool) {
	b.taken[k] = true
	b.out = append(b.out, Span{b.parts[k].from, b.parts[k].to, more})
}

// otherArmours are the armoured blocks of a text that are no private keys.
func otherArmours(s string) (out []Span) {
	for _, m := range armourHead.FindAllStringIndex(s, -1) {
		if strings.Contains(s[m[0]:m[1]], "PRIVATE") {
			continue
		}
		if n := strings.Index(s[m[1]:], "-----"); n >= 0 {
			out = append(out, Span{Start: m[0], End: m[1] + n})
		}
	}
	return out
}
