// Package coverage is the law of coverage (decision 30): which changed files were read, by whom, and why the others were not. It is pure.
package coverage

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Coverage is which changed files were read (decision 30): a file counts when every changed line of it stood in the requests of
// as many complete reviewers as are needed. Access to the tree does not count, and neither does the static reviewer,
// unless rules are all that was asked for.
type Coverage struct {
	// Reviewed are the names of files that count, LeftOut the others; both in the order of the diff.
	Reviewed []string
	LeftOut  []review.LeftOut
}

// Unread are the files that too few reviewers were given and that may not go unread.
func (c Coverage) Unread() []review.LeftOut {
	return slices.DeleteFunc(slices.Clone(c.LeftOut), func(l review.LeftOut) bool { return l.Excused })
}

// Of computes the coverage of a brief. readers are, for each complete reviewer that counts, the entries that it
// was not given whole, lost the same of those that gave no complete answer; need is how many of the former a file needs; hidden says of files what a mask keeps from all of them.
func Of(b review.Brief, readers, lost [][]string, need int, hidden map[string]string) Coverage {
	read, unfinished := whoGot(readers), whoGot(lost)
	var c Coverage
	for _, f := range b.Files {
		n := read(entry(f, f.Path))
		switch {
		case f.Omitted != "":
			c.LeftOut = append(c.LeftOut, review.LeftOut{Path: f.Path, Reason: f.Omitted, Excused: f.Excused})
		case !Whole(f) && f.HunksGiven < f.Hunks:
			c.LeftOut = append(c.LeftOut, review.LeftOut{Path: f.Path, Reason: fmt.Sprintf("%d of %d hunks given: over budget", f.HunksGiven, f.Hunks)})
		case !Whole(f):
			c.LeftOut = append(c.LeftOut, review.LeftOut{Path: f.Path, Reason: "given without all of its changed lines"})
		case illegible(f):
			c.LeftOut = append(c.LeftOut, review.LeftOut{Path: f.Path, Reason: "changed words in another encoding than UTF-8, of which nobody could read a letter"})
		case hidden[f.Path] != "":
			c.LeftOut = append(c.LeftOut, review.LeftOut{Path: f.Path, Reason: hidden[f.Path]})
		case n < need:
			c.LeftOut = append(c.LeftOut, review.LeftOut{Path: f.Path, Reason: tooFew(n, unfinished(entry(f, f.Path)), need)})
		default:
			c.Reviewed = append(c.Reviewed, f.Path)
		}
	}
	return c
}

// entry is a file of a brief under a name. What goes and what comes in its place, such as a link, have one name between them; no name
// has two slashes in a row.
func entry(f review.BriefFile, name string) string {
	if f.Change == string(diff.Deleted) {
		name += "//deleted"
	}
	return name
}

// whoGot counts, for an entry, the reviewers that were given all of it; missed are those each was not given whole.
func whoGot(missed [][]string) func(entry string) int {
	sets := make([]map[string]bool, len(missed))
	for i, names := range missed {
		sets[i] = map[string]bool{}
		for _, n := range names {
			sets[i][n] = true
		}
	}
	return func(entry string) (n int) {
		for _, set := range sets {
			if !set[entry] {
				n++
			}
		}
		return n
	}
}

// tooFew says why a file counts as unread that n complete reviewers were given, and lost others that gave no complete answer.
func tooFew(n, lost, need int) string {
	if lost == 0 {
		return fmt.Sprintf("given to %d of %d needed reviewers", n, need)
	}
	return fmt.Sprintf("given to %s, of which %d gave no complete answer; %d needed", reviewers(n+lost), lost, need)
}

// Missed are the entries of a brief that whoever is given it does not get whole, those that were left out included.
func Missed(b review.Brief) []string {
	var out []string
	for _, f := range b.Files {
		if !Whole(f) {
			out = append(out, entry(f, sanitize.MaskSpelled(f.Path))) // as the snapshot calls it, whatever the agent was told
		}
	}
	return out
}

// Whole reports whether every changed line of a file stands in its diff. The lines are counted again: what was cut, or lost on
// its way, is not there. A file whose change has no lines (a rename, a mode) is whole when its header says so.
func Whole(f review.BriefFile) bool {
	if f.Omitted != "" || f.Diff == "" {
		return false
	}
	d, err := diff.Parse(f.Diff)
	if err != nil || len(d.Files) != 1 {
		return false
	}
	return d.Hunks == f.Hunks && d.Additions == f.Additions && d.Deletions == f.Deletions
}

// illegible reports whether a changed line holds letters in another encoding than UTF-8: several bytes in a row that are shown by their
// numbers. Whole words of a program can be written so. A single such byte leaves its word legible.
func illegible(f review.BriefFile) bool {
	if !spelling.HasRun(f.Diff) {
		return false
	}
	added, removed := diff.ChangedLines(f.Diff)
	for _, lines := range []map[int]string{added, removed} {
		for _, line := range lines {
			if spelling.HasRun(line) {
				return true
			}
		}
	}
	return false
}

func reviewers(n int) string {
	if n == 1 {
		return "1 reviewer"
	}
	return fmt.Sprintf("%d reviewers", n)
}
