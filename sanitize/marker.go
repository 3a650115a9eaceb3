package sanitize

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// markWord is what makes the first line a marker; it stands in a comment exactly once.
const markWord = "pr-review-loop-marker"

// PlainMarker is the first line of every comment (spec.md A7).
const PlainMarker = "<!-- " + markWord + " -->"

// Marker identifies one comment as prloop's (decision 2, threats.md "Marker").
type Marker struct {
	// ReviewID makes the second line (decision 11, spec.md R10).
	ReviewID string
	// Run and Round say which pass posted it.
	Run   string
	Round int
	// Command is the id of the command whose answer the comment is; empty for reports.
	Command string
	// Part of Parts, both from 1. Comment sets them.
	Part, Parts int
	// Nonce is random for each posting; it decides whether something was posted already.
	Nonce string
	// Sticky puts the line with the review id before the plain marker (spec.md R10): the comment comes to have other reports later, under one nonce.
	Sticky bool
	// Asked names the line of a comment that asked for this one, as "COMMENT.LINE" (decision 49); empty when none did.
	Asked string
	// Raised are who raised something that a report leaves open and that stands nowhere else, each as RaisedBy names them.
	Raised []string
	// Fixed is what people said that a fix is said to have done, each as SaidThen names it.
	Fixed []string
	// Objected are the objections of people that a report leaves open, each as whoever keeps them writes it, or None alone where none is left of those before.
	Objected []string
	// Base is the base branch that a report is about, as BaseNamed names it.
	Base string
	// Since is the first commit on which what Raised names was raised, by its full id; empty where Raised is.
	Since string
	// Words is what the body of a pull request and its title are, as they were written; empty in other markers. Where Title is given, Comment sets it.
	Words string
	// Title is that of the pull request whose body it is, and not in the text.
	Title string
	// RepoID and PR bind the marker to one pull request; they are in the MAC and not in the text.
	RepoID string
	PR     int
	// Key makes the MAC; without it, a run or a nonce, the third line is not written. It may be several (Keys): the first one signs.
	Key []byte
}

// KeySize is the length of a key when there are several.
const KeySize = 32

// Keys are the keys that one may be, each of KeySize when there are several: the first signs, and all are accepted, so that a key can be
// replaced while comments made with the old one are still about.
func Keys(key []byte) [][]byte {
	if len(key) <= KeySize || len(key)%KeySize != 0 {
		return [][]byte{key}
	}
	return slices.Collect(slices.Chunk(key, KeySize))
}

// ErrMarker means a marker is missing, broken, or not ours.
var ErrMarker = errors.New("marker not authentic")

// ErrOtherKey is the ErrMarker of a marker that another key signed, ours or anybody's.
var ErrOtherKey = fmt.Errorf("%w: it was made with another key", ErrMarker)

var (
	markerName = lazyregexp.New(`^[0-9A-Za-z._:/+-]{1,100}$`)
	reviewLine = lazyregexp.New(`^<!-- code-review-agent:review_id=([0-9A-Za-z._:/+-]{1,100}) -->$`)
	ownLine    = lazyregexp.New(`^<!-- prloop v1 kid=([0-9a-f]{8}) run=([0-9A-Za-z._:/+-]{1,100}) round=([0-9]{1,4}) (?:command=([0-9A-Za-z._:/+-]{1,100}) )?` +
		`part=([0-9]{1,2})/([0-9]{1,2}) nonce=([0-9A-Za-z._:/+-]{1,100})(?: asked=([0-9]{1,20}\.[0-9]{1,2}))?(?: raised=([0-9a-f,]{1,300}))?(?: fixed=([0-9a-f,]{1,300}))?(?: objected=([0-9A-Za-z._,+]+))?(?: base=([0-9a-f]{16}))?(?: since=([0-9a-f]{40,64}))?(?: words=([0-9a-f]{16}))? mac=([0-9a-f]{64}) -->$`)
	askedLine    = lazyregexp.New(`^[0-9]{1,20}\.[0-9]{1,2}$`)
	raisedLine   = lazyregexp.New(`^[0-9a-f]{8}$`)
	baseLine     = lazyregexp.New(`^[0-9a-f]{16}$`)
	sinceLine    = lazyregexp.New(`^[0-9a-f]{40,64}$`)
	objectedLine = lazyregexp.New(`^[0-9A-Za-z._+]{1,100}$`)
	plainMark    = lazyregexp.New(`<!--\s*` + markWord + `\s*-->`)
)

// MostRaised is how many names Raised and Fixed have at most.
const MostRaised = 30

// MostObjected is how many objections Objected has at most, and None what it has where there is none.
const (
	MostObjected = 20
	None         = "none"
)

// RaisedBy is what a marker calls who raised something.
func RaisedBy(name string) string { return listed("prloop raised by\x00" + name) }

// SaidThen is what a marker calls what people say in a conversation, which is another once they say more.
func SaidThen(words string) string { return listed("prloop said then\x00" + words) }

// ThreadNamed is what a marker calls a thread by what GitHub calls it.
func ThreadNamed(node string) string { return listed("prloop thread\x00" + node) }

// BaseNamed is what a marker calls a base branch; empty for none. Whoever may push can make up names of branches, so it is longer than the others.
func BaseNamed(ref string) string {
	if ref == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("prloop base branch\x00" + ref))
	return hex.EncodeToString(sum[:8])
}

func listed(what string) string {
	sum := sha256.Sum256([]byte(what))
	return hex.EncodeToString(sum[:4])
}

// valid refuses names that could end the HTML comment they stand in.
func (m Marker) valid() error {
	for _, f := range []struct{ name, value string }{{"review id", m.ReviewID}, {"run", m.Run}, {"command", m.Command}, {"nonce", m.Nonce}} {
		if f.value != "" && (!markerName.MatchString(f.value) || strings.Contains(f.value, "--")) {
			return fmt.Errorf("marker: %s %q: only letters, digits and ._:/+- can stand in it", f.name, f.value)
		}
	}
	if m.Asked != "" && !askedLine.MatchString(m.Asked) {
		return fmt.Errorf("marker: asked %q: it names no line of a comment", m.Asked)
	}
	for field, names := range map[string][]string{"raised": m.Raised, "fixed": m.Fixed} {
		if i := slices.IndexFunc(names, func(name string) bool { return !raisedLine.MatchString(name) }); i >= 0 || len(names) > MostRaised {
			return fmt.Errorf("marker: %s %q: they are %d names of 8 digits at most", field, names, MostRaised)
		}
	}
	if i := slices.IndexFunc(m.Objected, func(o string) bool { return !objectedLine.MatchString(o) }); i >= 0 || len(m.Objected) > MostObjected {
		return fmt.Errorf("marker: objected %q: they are %d words at most, of letters, digits and ._+", m.Objected, MostObjected)
	}
	if m.Base != "" && !baseLine.MatchString(m.Base) {
		return fmt.Errorf("marker: base %q: it is 16 digits", m.Base)
	}
	if m.Since != "" && !sinceLine.MatchString(m.Since) {
		return fmt.Errorf("marker: since %q: it is the full id of a commit", m.Since)
	}
	if m.Sticky && m.ReviewID == "" {
		return errors.New("marker: a sticky comment begins with its review id, and there is none")
	}
	if m.Round < 0 || m.Round > 9999 {
		return fmt.Errorf("marker: round %d is out of range", m.Round)
	}
	return nil
}

// seal puts the marker lines that can be made before a body.
func (m Marker) seal(body string) string {
	m.Key = Keys(m.Key)[0]
	rest := "\n" + body + "\n"
	if body == "" {
		rest = ""
	}
	var b strings.Builder
	first := []string{PlainMarker + "\n"}
	if m.ReviewID != "" {
		first = append(first, fmt.Sprintf("<!-- code-review-agent:review_id=%s -->\n", m.ReviewID))
	}
	if m.Sticky {
		slices.Reverse(first)
	}
	b.WriteString(strings.Join(first, ""))
	if len(m.Key) > 0 && m.Run != "" && m.Nonce != "" {
		command, asked, raised, fixed, objected, base, since, words := "", "", "", "", "", "", "", ""
		if m.Command != "" {
			command = "command=" + m.Command + " "
		}
		if m.Asked != "" {
			asked = " asked=" + m.Asked
		}
		if len(m.Raised) > 0 {
			raised = " raised=" + strings.Join(m.Raised, ",")
		}
		if len(m.Fixed) > 0 {
			fixed = " fixed=" + strings.Join(m.Fixed, ",")
		}
		if len(m.Objected) > 0 {
			objected = " objected=" + strings.Join(m.Objected, ",")
		}
		if m.Base != "" {
			base = " base=" + m.Base
		}
		if m.Since != "" {
			since = " since=" + m.Since
		}
		if m.Title != "" {
			m.Words = sumOfWords(m.Title, rest)
			words = " words=" + m.Words
		}
		fmt.Fprintf(&b, "<!-- prloop v1 kid=%s run=%s round=%d %spart=%d/%d nonce=%s%s%s%s%s%s%s%s mac=%s -->\n",
			keyID(m.Key), m.Run, m.Round, command, m.Part, m.Parts, m.Nonce, asked, raised, fixed, objected, base, since, words, hex.EncodeToString(m.mac(rest)))
	}
	b.WriteString(rest)
	return b.String()
}

// mac authenticates the marker's fields and the rest of the body, each with its length before it. White space at the
// body's end and kinds of line end are left out: GitHub may change them.
func (m Marker) mac(rest string) []byte {
	h := hmac.New(sha256.New, m.Key)
	sum := sha256.Sum256([]byte(ended(rest)))
	fields := []string{"prloop marker v1", m.RepoID, strconv.Itoa(m.PR), m.ReviewID, m.Run, strconv.Itoa(m.Round), strconv.Itoa(m.Part), strconv.Itoa(m.Parts), m.Nonce, string(sum[:])}
	if m.Command != "" { // reports have neither, and those of before knew no such fields
		fields = append(fields, "command="+m.Command)
	}
	if m.Asked != "" {
		fields = append(fields, "asked="+m.Asked)
	}
	if len(m.Raised) > 0 {
		fields = append(fields, "raised="+strings.Join(m.Raised, ","))
	}
	if len(m.Fixed) > 0 {
		fields = append(fields, "fixed="+strings.Join(m.Fixed, ","))
	}
	if len(m.Objected) > 0 {
		fields = append(fields, "objected="+strings.Join(m.Objected, ","))
	}
	if m.Base != "" {
		fields = append(fields, "base="+m.Base)
	}
	if m.Since != "" {
		fields = append(fields, "since="+m.Since)
	}
	if m.Words != "" {
		fields = append(fields, "words="+m.Words)
	}
	if m.Sticky {
		fields = append(fields, "sticky")
	}
	for _, f := range fields {
		writeSized(h, f)
	}
	return h.Sum(nil)
}

// ended is a text without the white space at its end.
func ended(text string) string { return strings.TrimRight(text, " \t\r\n") }

// sumOfWords is what Marker.Words says of a title and the rest of a body. No key is in it: it tells prloop's words from those of a person who writes
// to be read, also where the key is lost.
func sumOfWords(title, rest string) string {
	sum := sha256.Sum256([]byte("prloop words\x00" + strings.TrimSpace(title) + "\x00" + ended(rest)))
	return hex.EncodeToString(sum[:8])
}

// Reworded reports whether somebody changed the title or the body of a pull request since prloop wrote them. Of a body that does not say what they were it is false.
func Reworded(title, body string) bool {
	h, ok := readHeader(body)
	return ok && h.m.Words != "" && h.m.Words != sumOfWords(title, h.rest)
}

func writeSized(h hash.Hash, s string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// keyID names a key without telling it, so that two keys can be valid while one is being replaced.
func keyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("prloop marker key id\x00"), key...))
	return hex.EncodeToString(sum[:4])
}

// header is what the first lines of a comment say.
type header struct {
	m        Marker
	kid, mac string
	rest     string
}

// readHeader reads the marker lines at the very beginning of a body.
func readHeader(body string) (header, bool) {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	line, rest, _ := strings.Cut(body, "\n")
	h := header{rest: rest}
	if sub := reviewLine.FindStringSubmatch(line); sub != nil {
		h.m.ReviewID, h.m.Sticky = sub[1], true
		line, h.rest, _ = strings.Cut(rest, "\n")
	}
	if line != PlainMarker {
		return header{}, false
	}
	line, after, _ := strings.Cut(h.rest, "\n")
	if sub := reviewLine.FindStringSubmatch(line); sub != nil && !h.m.Sticky {
		h.m.ReviewID, h.rest = sub[1], after
		line, after, _ = strings.Cut(after, "\n")
	}
	if sub := ownLine.FindStringSubmatch(line); sub != nil {
		h.kid, h.mac, h.rest = sub[1], sub[15], after
		h.m.Run, h.m.Command, h.m.Nonce, h.m.Asked, h.m.Base, h.m.Since, h.m.Words = sub[2], sub[4], sub[7], sub[8], sub[12], sub[13], sub[14]
		h.m.Round, _ = strconv.Atoi(sub[3]) // the expression lets digits through only
		h.m.Part, _ = strconv.Atoi(sub[5])
		h.m.Parts, _ = strconv.Atoi(sub[6])
		if sub[9] != "" {
			h.m.Raised = strings.Split(sub[9], ",")
		}
		if sub[10] != "" {
			h.m.Fixed = strings.Split(sub[10], ",")
		}
		if sub[11] != "" {
			h.m.Objected = strings.Split(sub[11], ",")
		}
	}
	return h, true
}

// ParseMarker reads a marker at the beginning of a body without believing it: anybody can paste one (threats.md T34). Fields
// whose line is missing are zero.
func ParseMarker(body string) (Marker, bool) {
	h, ok := readHeader(body)
	return h.m, ok
}

// Verify reads a marker and proves that whoever holds key, or one of several, made this very body for this pull request: the marker stands at
// the beginning, there is one, and the MAC holds. The error wraps ErrMarker.
func Verify(body string, key []byte, repoID string, pr int) (Marker, error) {
	h, ok := readHeader(body)
	switch {
	case !ok || h.mac == "":
		return Marker{}, fmt.Errorf("%w: the body does not begin with one", ErrMarker)
	case len(key) == 0:
		return Marker{}, fmt.Errorf("%w: there is no key to verify it with", ErrMarker)
	case strings.Contains(h.rest, markWord):
		return Marker{}, fmt.Errorf("%w: there is more than one", ErrMarker)
	}
	keys := Keys(key)
	i := slices.IndexFunc(keys, func(k []byte) bool { return h.kid == keyID(k) })
	if i < 0 {
		return Marker{}, ErrOtherKey
	}
	m := h.m
	m.RepoID, m.PR, m.Key = repoID, pr, keys[i]
	got, err := hex.DecodeString(h.mac)
	if err != nil || !hmac.Equal(got, m.mac(h.rest)) {
		return Marker{}, fmt.Errorf("%w: it was made for another comment, or the comment was edited", ErrMarker)
	}
	return m, nil
}

// HasMarker reports whether the plain marker stands in a body outside quotes and code, wherever else: the comments
// analyzer ignores such comments (spec.md A7, decision 2). It says nothing about who wrote it.
func HasMarker(body string) bool {
	if !plainMark.MatchString(body) {
		return false
	}
	src := []byte(flatten(cut(strings.ToValidUTF8(body, "\uFFFD"), 262_144)))
	doc := oracleParser().Parse(text.NewReader(src))
	found := false
	walk := func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Blockquote, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			found = found || plainMark.Match(htmlBlock(n, src))
		case *ast.RawHTML:
			found = found || plainMark.Match(n.Segments.Value(src))
		}
		return ast.WalkContinue, nil
	}
	if err := ast.Walk(doc, walk); err != nil {
		return true // the walk above returns no error; if it did, ignoring the comment is the safe reading
	}
	return found
}

// htmlBlock is the source of an HTML block with its last line.
func htmlBlock(n *ast.HTMLBlock, src []byte) []byte {
	var out []byte
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		out = append(out, seg.Value(src)...)
	}
	if n.HasClosure() {
		out = append(out, n.ClosureLine.Value(src)...)
	}
	return out
}
