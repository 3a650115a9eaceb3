package diff

import (
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/lineends"
)

// Change says what happened to a file, in the words of review.BriefFile.
type Change string

// The changes.
const (
	Added    Change = "added"
	Modified Change = "modified"
	Deleted  Change = "deleted"
	Renamed  Change = "renamed"
	Copied   Change = "copied"
)

// Diff is a whole two-tree diff. It must not be copied after first use.
type Diff struct {
	// Files stand in the order of the diff.
	Files []File
	// Additions, Deletions and Hunks are the sums over all files; files without hunks (binary, omitted) add nothing.
	Additions, Deletions, Hunks int

	once   sync.Once
	byPath map[string]int
	byOld  map[string]int
}

// File is one changed file.
type File struct {
	// Path is slash-separated and relative to the root: the name at the head, or the old one of a deleted file.
	Path string
	// OldPath is set when the file was renamed or copied.
	OldPath string
	Change  Change
	// OldMode and NewMode are git's octal modes (0o100644, 0o100755, 0o120000 for links, 0o160000 for submodules); 0 when
	// the header did not say, which means unchanged, or that the side does not exist.
	OldMode, NewMode uint32
	// Binary is true when git showed no text because it took the file for binary.
	Binary bool
	// Omitted says why no hunks stand here although there are some ("too large"); whoever made the diff sets it.
	Omitted string
	// Additions and Deletions count lines.
	Additions, Deletions int
	Hunks                []Hunk
	// Raw is this file's part of the diff: header and hunks, ending with a line feed.
	Raw string
	// header is the length of Raw's part before the first hunk.
	header int
}

// Hunk is one block of changed lines. Line numbers are 1-based; a side with no lines has Start as git prints it (the line
// before, 0 at the top of the file).
type Hunk struct {
	OldStart, OldLines, NewStart, NewLines int
	// Section is what git printed after the second @@: usually the line the enclosing function starts with.
	Section string
	// Additions and Deletions count lines of this hunk.
	Additions, Deletions int
	// Raw is the hunk with its @@ line.
	Raw  string
	body string
}

// Header is Raw's part before the first hunk: the diff --git line up to +++.
func (f *File) Header() string { return f.Raw[:f.header] }

// Size is how many lines the file's change counts for where its size decides something (lineends.Size).
func (f *File) Size() int {
	n := 0
	for i := range f.Hunks {
		for l := range f.Hunks[i].Lines() {
			if l.Op != ' ' {
				n += lineends.Size(l.Text)
			}
		}
	}
	return n
}

// Has reports whether line is on the head side of one of the file's hunks, which is where GitHub lets a comment stand.
func (f *File) Has(line int) bool {
	h := f.hunkAtNew(line)
	return h != nil
}

func (f *File) hunkAtNew(line int) *Hunk {
	for i := range f.Hunks {
		h := &f.Hunks[i]
		if line >= h.NewStart && line < h.NewStart+h.NewLines {
			return h
		}
	}
	return nil
}

// File gives the changed file whose Path is path, nil when there is none. It is safe for concurrent use.
func (d *Diff) File(path string) *File {
	d.index()
	if i, ok := d.byPath[path]; ok {
		return &d.Files[i]
	}
	return nil
}

// Anchored reports whether line (1-based, head side) of path stands in a hunk, so that a comment can be put there. What
// stands outside the diff is told in the report, never dropped.
func (d *Diff) Anchored(path string, line int) bool {
	f := d.File(path)
	return f != nil && f.Has(line)
}

// index builds the lookup tables on first use.
func (d *Diff) index() {
	d.once.Do(func() {
		d.byPath = make(map[string]int, len(d.Files))
		d.byOld = make(map[string]int)
		for i := range d.Files {
			f := &d.Files[i]
			// A file that turned into a link is printed twice, as deleted and as added.
			if first, ok := d.byPath[f.Path]; !ok || d.Files[first].Change == Deleted {
				d.byPath[f.Path] = i
			}
			old := f.Path
			switch f.Change {
			case Renamed:
				old = f.OldPath
			case Copied, Added:
				continue
			}
			if _, ok := d.byOld[old]; !ok {
				d.byOld[old] = i
			}
		}
	})
}

// Raw joins the raw text of all files in order.
func (d *Diff) Raw() string {
	var b strings.Builder
	for i := range d.Files {
		b.WriteString(d.Files[i].Raw)
	}
	return b.String()
}

// Withhold takes the file's content away: what is left is its header and how much changed.
func (f *File) Withhold() {
	f.Raw, f.Hunks = f.Raw[:min(f.header, len(f.Raw))], nil
}
