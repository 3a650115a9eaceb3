package pushpolicy

import "github.com/prloop/prloop/internal/lineends"

// Change is one file that differs between two trees.
type Change struct {
	// Path is slash-separated: the name in the new tree, or the old one of a deleted file.
	Path string
	// OldPath is set when the file was renamed.
	OldPath string
	// Status is git's letter: A, M, D, R or T (a file that became a link, or a link a file).
	Status byte
	// OldMode and NewMode are git's octal modes; 0 on the side that does not exist.
	OldMode, NewMode uint32
	// Size is the new content's in bytes; 0 for deleted files and submodules.
	Size int64
	// Binary is true when no lines stand here because git showed none: the content is binary, or too large to compare.
	Binary bool
	// Added and Removed are the lines that changed, in order.
	Added, Removed []Line
	// Content are all lines of a file that stood before and may hold tests (MayHoldTests); nil where they were not read.
	Content []string
}

// Line is one line of a file.
type Line struct {
	// N is 1-based: in the new content for added lines, in the old one for removed lines.
	N    int
	Text string
}

// Limits bound a fix. Zero fields are the defaults; the brake has none.
type Limits struct {
	// Files is the most files a fix may change; 0 means 100.
	Files int
	// Bytes is the most it may write, in bytes: added lines, and binary files whole; 0 means 4 MB.
	Bytes int64
	// BrakeFiles and BrakeLines are the scope brake: more files, or more added and removed lines, than that is
	// no fix of this pull request any more. 0 means no brake.
	BrakeFiles, BrakeLines int
}

// Defaults of Limits.
const (
	DefaultFiles = 100
	DefaultBytes = 4 << 20
)

// The brake's floor: what a fix of the smallest pull request may still need, such as a test with its data.
const (
	brakeFloorFiles = 10
	brakeFloorLines = 200
)

// Brake gives the default limits with the scope brake for a pull request of that many files and changed lines: twice its
// own size, and at least 10 files and 200 lines.
func Brake(prFiles, prLines int) Limits {
	return Limits{BrakeFiles: max(2*prFiles, brakeFloorFiles), BrakeLines: max(2*prLines, brakeFloorLines)}
}

func (l Limits) withDefaults() Limits {
	if l.Files <= 0 {
		l.Files = DefaultFiles
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	return l
}

// Git's modes.
const (
	modeType      = 0o170000
	modeLink      = 0o120000
	modeSubmodule = 0o160000
	modeExec      = 0o100755
)

// gone reports that the file is not in the new tree.
func (c Change) gone() bool { return c.Status == 'D' }

// fresh reports that the name is new in the tree.
func (c Change) fresh() bool { return c.Status == 'A' || c.Status == 'R' || c.Status == 'C' }

// names are the paths the change touches.
func (c Change) names() []string {
	if c.OldPath != "" && c.OldPath != c.Path {
		return []string{c.OldPath, c.Path}
	}
	return []string{c.Path}
}

// written is how many bytes the change writes.
func (c Change) written() int64 {
	if c.Binary {
		return c.Size
	}
	var n int64
	for _, l := range c.Added {
		n += int64(len(l.Text)) + 1
	}
	return n
}

// Totals are the files and the added and removed lines of a fix, as the scope brake counts them: a long line is several (lineends.Size).
func Totals(changes []Change) (files, lines int) {
	for _, c := range changes {
		for _, changed := range [][]Line{c.Added, c.Removed} {
			for _, l := range changed {
				lines += lineends.Size(l.Text)
			}
		}
	}
	return len(changes), lines
}
