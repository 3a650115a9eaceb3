package diff

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

const fileMark = "diff --git "

// Parse reads a git diff of two trees. An empty text is a diff of no files. Errors are *Error: combined diffs, hunks
// shorter than their header says and everything git would not print are refused, never skipped. The result keeps text
// alive.
func Parse(text string) (*Diff, error) {
	d := &Diff{}
	if text == "" {
		return d, nil
	}
	if !strings.HasPrefix(text, fileMark) {
		return nil, at(text, 0, foreign(text))
	}
	d.Files = make([]File, 0, strings.Count(text, "\n"+fileMark)+1)
	for start := 0; start < len(text); {
		// No line of a hunk starts with a letter, so the next mark at a line's start begins the next file.
		end := len(text)
		if i := strings.Index(text[start:], "\n"+fileMark); i >= 0 {
			end = start + i + 1
		}
		f, off, fault := parseFile(text[start:end])
		if fault != nil {
			return nil, at(text, start+off, fault)
		}
		d.Files = append(d.Files, f)
		d.Additions += f.Additions
		d.Deletions += f.Deletions
		d.Hunks += len(f.Hunks)
		start = end
	}
	return d, nil
}

// at turns a fault at a byte offset into one at a line.
func at(text string, offset int, e *Error) *Error {
	e.Line = 1 + strings.Count(text[:min(offset, len(text))], "\n")
	return e
}

// foreign names what stands where a file header should.
func foreign(line string) *Error {
	if strings.HasPrefix(line, "diff --cc ") || strings.HasPrefix(line, "diff --combined ") || strings.HasPrefix(line, "@@@ ") {
		return &Error{Detail: "ask for a diff of two trees", Err: ErrCombined}
	}
	return &Error{Detail: "text outside of any file", Err: ErrMalformed}
}

// parseFile reads one file's section. On a fault it returns the byte offset of it too.
func parseFile(raw string) (File, int, *Error) {
	f := File{Raw: raw}
	end := headerEnd(raw)
	if err := f.readHeader(raw[:end]); err != nil {
		return f, 0, err
	}
	f.header = end
	rest := raw[end:]
	switch {
	case rest == "":
		return f, 0, nil
	case strings.HasPrefix(rest, "Binary files "), strings.HasPrefix(rest, "GIT binary patch"):
		f.Binary = true
		f.header = len(raw)
		return f, 0, nil
	}
	for pos := end; pos < len(raw); {
		h, n, fault := parseHunk(raw[pos:])
		if fault != nil {
			return f, pos + n, fault
		}
		f.Hunks = append(f.Hunks, h)
		f.Additions += h.Additions
		f.Deletions += h.Deletions
		pos += n
	}
	return f, 0, nil
}

// headerEnd finds where the header of a file's section ends: at the first line that is a hunk, a binary note, or not a
// header at all.
func headerEnd(raw string) int {
	for pos := 0; pos < len(raw); {
		line := raw[pos:]
		if strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "Binary files ") || strings.HasPrefix(line, "GIT binary patch") {
			return pos
		}
		i := strings.IndexByte(line, '\n')
		if i < 0 {
			return len(raw)
		}
		pos += i + 1
	}
	return len(raw)
}

// readHeader lets go-gitdiff read names and modes.
func (f *File) readHeader(header string) *Error {
	if !strings.HasSuffix(header, "\n") {
		return &Error{Detail: "the file header ends within a line", Err: ErrTruncated}
	}
	if strings.Contains(header, `"`) { // go-gitdiff takes a quote behind an escaped backslash for a part of the name; written as a number it is none to it
		header = strings.ReplaceAll(header, `\\`, `\134`)
	}
	files, _, err := gitdiff.Parse(strings.NewReader(header))
	if err != nil || len(files) != 1 {
		return &Error{Detail: "the file header is not one git prints", Err: ErrMalformed}
	}
	g := files[0]
	f.Path, f.OldMode, f.NewMode = g.NewName, uint32(g.OldMode), uint32(g.NewMode)
	switch {
	case g.IsNew:
		f.Change = Added
	case g.IsDelete:
		f.Change, f.Path = Deleted, g.OldName
	case g.IsRename:
		f.Change, f.OldPath = Renamed, g.OldName
	case g.IsCopy:
		f.Change, f.OldPath = Copied, g.OldName
	default:
		f.Change = Modified
	}
	if f.Path == "" || (f.OldPath == "" && (f.Change == Renamed || f.Change == Copied)) {
		return &Error{Detail: "the file header names no file", Err: ErrMalformed}
	}
	return nil
}
