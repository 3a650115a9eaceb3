package evidence

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Models copy what they were shown together with its margin, put it between backticks, or leave out its middle. Such a quote is read
// as what was copied, and no further: a number or a mark has to be the one of its line, and all parts of a shortened quote have to
// stand in the file, in order. A quote of words that are not in the file stays false.

// shownLine is one line as reviewers are shown it: its number at the head, 0 for none, its mark in a diff, and its text, folded and
// with straight quotation marks.
type shownLine struct {
	number int
	mark   string
	text   string
}

// diffLines are the lines of a diff's hunks; none for a diff that cannot be read.
func diffLines(text string) *shownLines {
	if countLines(text) > linesMost {
		return &shownLines{untold: true}
	}
	d, err := diff.Parse(text)
	if err != nil {
		return &shownLines{}
	}
	var out []shownLine
	for i := range d.Files {
		for k := range d.Files[i].Hunks {
			for l := range d.Files[i].Hunks[k].Lines() {
				out = append(out, shownLine{l.New, strings.TrimSpace(string(l.Op)), foldLine(l.Text)})
			}
		}
	}
	return joined(out)
}

func foldLine(s string) string { return straight(Fold(strings.TrimRight(s, "\r\n"))) }

var marks = strings.NewReplacer("\u201c", `"`, "\u201d", `"`, "\u2018", "'", "\u2019", "'")

// straight writes quotation marks and dashes as code does.
func straight(s string) string { return strings.Map(hyphen, marks.Replace(s)) }

// hyphen writes every dash, and the minus of mathematics, as the one of code.
func hyphen(r rune) rune {
	if r >= 0x80 && (unicode.Is(unicode.Pd, r) || r == '\u2212') {
		return '-'
	}
	return r
}

// bare takes the backticks, or the fence, from around a whole quote.
func bare(quote string) string {
	quote = strings.TrimSpace(quote)
	if inner, ok := strings.CutPrefix(quote, "```"); ok {
		_, inner, _ = strings.Cut(inner, "\n")
		return strings.TrimSuffix(inner, "```")
	}
	if len(quote) > 2 && quote[0] == '`' && quote[len(quote)-1] == '`' {
		return quote[1 : len(quote)-1]
	}
	return quote
}

// vainMost bounds how much of a text is compared with a quote in vain, in lines, or pieces of one, behind a beginning that was right.
const vainMost = 500_000

// search is the looking for one quote. A text that repeats itself, and a quote that does so too, could be compared line by line for
// hours; what is not found before left is used up is not known to be missing.
type search struct {
	left int
	// ruled is how much text the rules for secrets have read, in bytes; known are values beside those that they find.
	ruled int
	known *sanitize.Learned
	// from and to are the first and the last line of a quote that was found line by line, where these have numbers.
	from, to int
}

// copied reports whether a quote, read as what was copied, stands in lines.
func (s *search) copied(lines *shownLines, quote string) bool {
	if lines.untold {
		s.left = 0
	}
	quote = bare(quote)
	return s.inMargins(lines.each, quote) || s.inParts(lines.text, straight(Fold(quote)))
}

// gaveUp reports whether the search ended before all was compared.
func (s *search) gaveUp() bool { return s.left <= 0 }

// mostPlaces bounds how many places of a quote are told apart.
const mostPlaces = 1000

// numberMargin is how a line begins that was copied with its number.
var numberMargin = lazyregexp.New(`(?m)^[ \t]*[0-9]+[ \t]*[|:]?`)

// spans are the first and the last lines of a quote wherever it stands in lines, at most mostPlaces. One that stands nowhere is read without numbers of lines.
// Of one with a mask nobody knows: it is of the line of the secret, or of one that was written to look as that line is shown (threats.md T462).
func spans(lines *shownLines, quote string) [][2]int {
	if quote = bare(quote); masked(quote) {
		return nil
	}
	if out := spansOf(lines, quote); len(out) > 0 {
		return out
	}
	return spansOf(lines, numberMargin.ReplaceAllString(quote, ""))
}

func spansOf(lines *shownLines, quote string) (out [][2]int) {
	quote = straight(Fold(quote))
	if quote == "" {
		return nil
	}
	for at := 0; len(out) < mostPlaces; {
		i := strings.Index(lines.text[at:], quote)
		if i < 0 {
			break
		}
		at += i
		out = append(out, [2]int{lines.number(at), lines.number(at + len(quote) - 1)})
		at++
	}
	return out
}

// masked reports whether something was left out of a quote that looks like a secret.
func masked(quote string) bool { return strings.Contains(quote, sanitize.Redacted) }

// is reports whether a folded line of a quote, which is not blank, is this one, with or without its margin. The last line of a quote may end early.
func (l shownLine) is(quoted string, last bool) bool {
	same := func(s string) bool { return s == l.text || last && s != "" && strings.HasPrefix(l.text, s) }
	marked := l.mark != "" && strings.HasPrefix(quoted, l.mark)
	if numbered := quoted[0] >= '0' && quoted[0] <= '9'; !marked && !numbered { // as most lines are
		return same(quoted)
	}
	read := []string{quoted}
	if rest, ok := strings.CutPrefix(quoted, strconv.Itoa(l.number)); ok && l.number > 0 {
		rest = strings.TrimLeft(rest, " ")
		read = append(read, rest, strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(rest, "|"), ":"), " "))
	}
	for _, s := range read {
		if rest, ok := strings.CutPrefix(s, l.mark); ok && l.mark != "" {
			read = append(read, strings.TrimLeft(rest, " "))
		}
	}
	return slices.ContainsFunc(read, same)
}

// ellipsis is what models write for what they leave out of a quote, also as a comment.
var ellipsis = lazyregexp.New(`\s*(?://|#|/\*|--)?\s*(?:\.{3,}|\x{2026})\s*(?:\*/)?\s*`)

// inMargins reports whether the lines of a quote stand in lines one after the other, each with its own margin or none. A line that is
// an ellipsis stands for any that were left out.
func (s *search) inMargins(lines []shownLine, quote string) bool {
	parts := [][]string{nil}
	for line := range strings.Lines(quote) {
		switch line = foldLine(line); {
		case line == "":
		case ellipsis.MatchString(line) && strings.Trim(ellipsis.ReplaceAllString(line, ""), " +-") == "":
			parts = append(parts, nil)
		default:
			parts[len(parts)-1] = append(parts[len(parts)-1], line)
		}
	}
	found := false
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		n, at := 0, 0
		for ; n == 0 && at < len(lines); at++ {
			if lines[at].is(part[0], len(part) == 1) {
				if n = s.stands(lines[at:], part); n == 0 && s.gaveUp() {
					return false
				}
			}
		}
		if n == 0 {
			return false
		}
		if !found {
			s.from = lines[at-1].number
		}
		s.to = lines[at-2+n].number
		lines, found = lines[at-1+n:], true
	}
	return found
}

// stands is how many lines, blank ones between them included, begin a text and are those of a quote; 0 when they are not. The first is known to be.
func (s *search) stands(lines []shownLine, quoted []string) int {
	n := 1
	for i, q := range quoted[1:] {
		from := n
		for n < len(lines) && lines[n].text == "" && !lines[n].is(q, false) {
			n++
		}
		if s.left -= n - from + 1; s.gaveUp() || n == len(lines) || !lines[n].is(q, i == len(quoted)-2) {
			return 0
		}
		n++
	}
	return n
}

// elidedMost is how much an ellipsis may stand for, in bytes: a long function.
const elidedMost = 16_000

// inParts reports whether a folded quote stands in a folded text, its parts in order when an ellipsis divides it. An ellipsis divides no words.
func (s *search) inParts(text, quote string) bool {
	parts := elided(quote)
	if len(parts) == 1 {
		stands, all := s.looked(text, quote)
		if !all {
			s.left = 0
		}
		return stands
	}
	return slices.ContainsFunc(parts, func(p string) bool { return strings.ContainsFunc(p, isWord) }) && s.inOrder(text, parts, 0) != nil
}

// elided are the parts of a folded quote that an ellipsis divides; those before and behind it may be empty.
func elided(quote string) []string {
	return strings.Split(ellipsis.ReplaceAllString(quote, "\x00"), "\x00")
}

// inOrder are the places of the parts of a quote in a folded text, none of them before from; nil where they do not stand there in order.
func (s *search) inOrder(text string, parts []string, from int) (places [][2]int) {
	until := len(text)
	for i, p := range parts {
		if p == "" {
			continue
		}
		for {
			at := strings.Index(text[from:until], p)
			if at < 0 {
				return nil
			}
			begin, end := from+at, from+at+len(p)
			whole := (i == 0 || !splits(text[:begin], p)) && (i == len(parts)-1 || !splits(p, text[end:]))
			if from = begin + 1; whole {
				places = append(places, [2]int{begin, end})
				from, until = end, min(len(text), end+elidedMost)
				break
			}
			if s.left -= 1 + len(p)/64; s.gaveUp() {
				return nil
			}
		}
	}
	return places
}

// splits reports whether a word goes on from one text to the next.
func splits(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return isWord(a) && isWord(b)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// inRegions reports whether a quote stands in a region of its file as it was shown: a value is masked there that only another file calls a secret.
func (c *Checker) inRegions(s *search, f review.Finding) bool {
	quote := straight(Fold(bare(f.Evidence)))
	return slices.ContainsFunc(c.regions[f.File], func(r review.Region) bool {
		lines := numbered(r.Text, r.Start)
		return strings.Contains(lines.text, quote) || s.copied(lines, f.Evidence)
	})
}
