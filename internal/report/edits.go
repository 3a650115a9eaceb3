package report

import (
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

// Edit is one place a patch changes: "replace these lines of the file by that text". It says what a hunk says without
// being a diff, which no comment of prloop may hold (decision 21).
type Edit struct {
	// Kind is change, new, deleted, renamed or binary.
	Kind string
	File string
	// OldFile is the name before, of an edit that renames. Edits of a renamed file's lines bear its old name.
	OldFile string
	// Start is the 1-based line at the base commit, and Lines how many lines from there on are replaced. With no lines,
	// Text is put in after line Start. Both are 0 for whole files.
	Start, Lines int
	// Text is what stands there afterwards, every line with its line end; empty when lines are only taken out.
	Text string
}

// The kinds of edits.
const (
	EditChange  = "change"
	EditNew     = "new"
	EditDeleted = "deleted"
	EditRenamed = "renamed"
	// EditBinary is a file whose content is no text: it stands in the saved patch alone.
	EditBinary = "binary"
)

var hunkStart = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// Edits reads the text of git's unified diff. Lines of context are left out, so each edit names changed lines alone. It
// never fails: what it cannot read it passes over, and the saved patch is what is applied.
func Edits(patch string) []Edit {
	var r editReader
	for line := range strings.SplitSeq(patch, "\n") {
		r.line(strings.TrimSuffix(line, "\r"))
	}
	r.close()
	return r.out
}

// editReader walks a patch. old and fresh are how many lines the hunk still has on either side.
type editReader struct {
	out        []Edit
	file       Edit // kind and names of the file at hand
	at         int  // next line of the old file
	old, fresh int
	edit       *Edit
	text       []string
	whole      bool // the file at hand has been written down
}

func (r *editReader) line(s string) {
	if r.old > 0 || r.fresh > 0 {
		r.hunk(s)
		return
	}
	r.flush()
	switch {
	case strings.HasPrefix(s, "diff --git "):
		r.close()
		r.file = Edit{Kind: EditChange, File: gitName(s)}
	case strings.HasPrefix(s, "new file mode"):
		r.file.Kind = EditNew
	case strings.HasPrefix(s, "deleted file mode"):
		r.file.Kind = EditDeleted
	case strings.HasPrefix(s, "rename from "):
		r.file.OldFile = given(strings.TrimPrefix(s, "rename from "))
	case strings.HasPrefix(s, "rename to "):
		r.file.File = given(strings.TrimPrefix(s, "rename to "))
		r.out, r.whole = append(r.out, Edit{Kind: EditRenamed, File: r.file.File, OldFile: r.file.OldFile}), true
		r.file.File = r.file.OldFile
	case strings.HasPrefix(s, "--- ") && s != "--- /dev/null":
		r.file.File = pathName(s[4:], "a/")
	case strings.HasPrefix(s, "+++ ") && r.file.Kind == EditNew:
		r.file.File = pathName(s[4:], "b/")
	case strings.HasPrefix(s, "Binary files "), strings.HasPrefix(s, "GIT binary patch"):
		r.out, r.whole = append(r.out, Edit{Kind: EditBinary, File: r.file.File}), true
	default:
		if m := hunkStart.FindStringSubmatch(s); m != nil {
			r.begin(m[1], m[2], m[3])
		}
	}
}

func (r *editReader) begin(start, old, fresh string) {
	r.at, _ = strconv.Atoi(start)
	r.old, r.fresh = lineCount(old), lineCount(fresh)
	if r.old == 0 {
		r.at++ // git counts from the line before when there is none to take out
	}
}

func lineCount(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

func (r *editReader) hunk(s string) {
	switch {
	case strings.HasPrefix(s, "-"):
		r.open().Lines++
		r.at++
		r.old--
	case strings.HasPrefix(s, "+"):
		r.open()
		r.text = append(r.text, s[1:]+"\n")
		r.fresh--
	case strings.HasPrefix(s, `\`): // "\ No newline at end of file" is of no help to a reader
	default:
		r.flush()
		r.at++
		r.old--
		r.fresh--
	}
}

func (r *editReader) open() *Edit {
	if r.edit == nil {
		r.edit = &Edit{Kind: r.file.Kind, File: r.file.File, Start: r.at}
	}
	return r.edit
}

// flush writes down the edit at hand.
func (r *editReader) flush() {
	if r.edit == nil {
		return
	}
	e := *r.edit
	e.Text = strings.Join(r.text, "")
	switch {
	case e.Kind == EditNew:
		e.Start, e.Lines = 0, 0
	case e.Kind == EditDeleted:
		e.Start, e.Lines, e.Text = 0, 0, ""
	case e.Lines == 0:
		e.Start--
	}
	r.out, r.edit, r.text, r.whole = append(r.out, e), nil, nil, true
}

// close ends a file; one without any hunk, such as a new empty file, is an edit too.
func (r *editReader) close() {
	r.flush()
	if !r.whole && r.file.File != "" && r.file.Kind != EditChange {
		r.out = append(r.out, Edit{Kind: r.file.Kind, File: r.file.File})
	}
	r.old, r.fresh, r.whole, r.file = 0, 0, false, Edit{}
}

// gitName is the name of the first line of a file, right when both names are the same and hold no " b/".
func gitName(s string) string {
	if _, b, ok := strings.Cut(s, " b/"); ok {
		return given(b)
	}
	if i := strings.LastIndex(s, ` "b/`); i >= 0 {
		return pathName(s[i+1:], "b/")
	}
	return ""
}

func pathName(s, side string) string {
	return spelling.Name(strings.TrimPrefix(spelling.Raw(strings.TrimSuffix(s, "\t")), side))
}

// given is the one spelling of a name that git printed.
func given(s string) string { return spelling.Name(spelling.Raw(s)) }

// pathWord is a name's one spelling, fit for a code span.
func pathWord(s string) string { return word(given(s)) }
