package diff

import (
	"iter"
	"strconv"
	"strings"
)

// lineLimit bounds line numbers: git's own are 32 bits in places, and sums of two must not overflow.
const lineLimit = 1 << 30

// Line is one line of a hunk.
type Line struct {
	// Op is ' ' for context, '+' for added, '-' for removed.
	Op byte
	// Text is the line without its mark and its line feed.
	Text string
	// Old and New are 1-based line numbers; Old is 0 for added lines, New for removed ones.
	Old, New int
	// NoEOL is true when the file ends here without a line feed.
	NoEOL bool
}

// Lines walks the hunk.
func (h *Hunk) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		old, head := first(h.OldStart, h.OldLines), first(h.NewStart, h.NewLines)
		rest := h.body
		for rest != "" {
			var line string
			line, rest = cut(rest)
			l := Line{Op: ' '}
			if line != "" {
				l.Op, l.Text = line[0], line[1:]
			}
			if l.Op != '+' {
				l.Old = old
				old++
			}
			if l.Op != '-' {
				l.New = head
				head++
			}
			if strings.HasPrefix(rest, `\`) {
				l.NoEOL = true
				_, rest = cut(rest)
			}
			if !yield(l) {
				return
			}
		}
	}
}

// Added walks the lines the file's head version gained.
func (f *File) Added() iter.Seq[Line] { return f.only('+') }

// Removed walks the lines the file lost.
func (f *File) Removed() iter.Seq[Line] { return f.only('-') }

func (f *File) only(op byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for i := range f.Hunks {
			for l := range f.Hunks[i].Lines() {
				if l.Op == op && !yield(l) {
					return
				}
			}
		}
	}
}

// first is the number of a side's first line: with no lines git prints the line before.
func first(start, lines int) int {
	if lines == 0 {
		return start + 1
	}
	return start
}

func cut(s string) (line, rest string) {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// parseHunk reads one hunk at the start of s and returns its length, or on a fault the offset of the fault.
func parseHunk(s string) (Hunk, int, *Error) {
	head, _ := cut(s)
	h, ok := parseHunkHeader(head)
	if !ok || len(head) == len(s) {
		if strings.HasPrefix(head, "@@@ ") {
			return h, 0, foreign(head)
		}
		return h, 0, &Error{Detail: "not a hunk", Err: ErrMalformed}
	}
	start := len(head) + 1
	pos := start
	old, add, noted := h.OldLines, h.NewLines, true // a note follows a line, and only one does
	for old > 0 || add > 0 {
		i := strings.IndexByte(s[pos:], '\n')
		if i < 0 {
			return h, pos, &Error{Detail: "a hunk ends before the lines its header promises", Err: ErrTruncated}
		}
		op := s[pos]
		if op == '\\' && noted {
			return h, pos, &Error{Detail: "a note about a missing line feed follows no line", Err: ErrMalformed}
		}
		noted = op == '\\'
		switch {
		case noted:
		case (op == ' ' || op == '\n') && old > 0 && add > 0:
			old--
			add--
		case op == '+' && add > 0:
			add--
			h.Additions++
		case op == '-' && old > 0:
			old--
			h.Deletions++
		case op == '@':
			return h, pos, &Error{Detail: "a hunk ends before the lines its header promises", Err: ErrTruncated}
		default:
			return h, pos, &Error{Detail: "a hunk line does not fit its header", Err: ErrMalformed}
		}
		pos += i + 1
	}
	if !noted && strings.HasPrefix(s[pos:], `\`) {
		line, _ := cut(s[pos:])
		pos = min(pos+len(line)+1, len(s))
	}
	h.Raw, h.body = s[:pos], s[start:pos]
	return h, pos, nil
}

// parseHunkHeader reads "@@ -1,2 +3,4 @@ section".
func parseHunkHeader(line string) (Hunk, bool) {
	var h Hunk
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return h, false
	}
	ranges, section, ok := strings.Cut(rest, " @@")
	if !ok {
		return h, false
	}
	old, head, ok := strings.Cut(ranges, " +")
	if !ok {
		return h, false
	}
	var okOld, okNew bool
	h.OldStart, h.OldLines, okOld = parseRange(old)
	h.NewStart, h.NewLines, okNew = parseRange(head)
	h.Section = strings.TrimPrefix(section, " ")
	return h, okOld && okNew && h.OldLines+h.NewLines > 0
}

func parseRange(s string) (start, lines int, ok bool) {
	first, count, counted := strings.Cut(s, ",")
	a, err := strconv.ParseUint(first, 10, 31)
	if err != nil || a > lineLimit {
		return 0, 0, false
	}
	if !counted {
		return int(a), 1, true
	}
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || n > lineLimit || (a == 0 && n > 0) {
		return 0, 0, false
	}
	return int(a), int(n), true
}
