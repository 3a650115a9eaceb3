package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// coverage is which changed files were read (design 3.15): a file counts when every changed line of it stood in the requests of
// at least Request.MinReviewers complete reviewers. Access to the tree does not count, and neither does the static reviewer,
// unless rules are all that was asked for.
type coverage struct {
	// reviewed are the names of files that count, leftOut the others; both in the order of the diff.
	reviewed []string
	leftOut  []review.LeftOut
}

// unread are the files that too few reviewers were given and that may not go unread.
func (c coverage) unread() []review.LeftOut {
	return slices.DeleteFunc(slices.Clone(c.leftOut), func(l review.LeftOut) bool { return l.Excused })
}

// cover computes the coverage of a brief. readers are, for each complete reviewer that counts, the names of the files that it
// was not given whole; need is how many of them a file needs.
func cover(b review.Brief, readers [][]string, need int) coverage {
	missing := make([]map[string]bool, len(readers))
	for i, names := range readers {
		missing[i] = map[string]bool{}
		for _, n := range names {
			missing[i][n] = true
		}
	}
	var c coverage
	for _, f := range b.Files {
		n := 0
		for i := range readers {
			if !missing[i][f.Path] {
				n++
			}
		}
		switch {
		case f.Omitted != "":
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: f.Omitted, Excused: f.Excused})
		case !whole(f) && f.HunksGiven < f.Hunks:
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: fmt.Sprintf("%d of %d hunks given: over budget", f.HunksGiven, f.Hunks)})
		case !whole(f):
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: "given without all of its changed lines"})
		case n < need:
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: fmt.Sprintf("given to %d of %d needed reviewers", n, need)})
		default:
			c.reviewed = append(c.reviewed, f.Path)
		}
	}
	return c
}

// missed are the files of a brief that whoever is given it does not get whole, those that were left out included.
func missed(b review.Brief) []string {
	var out []string
	for _, f := range b.Files {
		if !whole(f) {
			out = append(out, maskedName(f.Path)) // as the snapshot calls it, whatever the agent was told
		}
	}
	return out
}

// whole reports whether every changed line of a file stands in its diff. The lines are counted again: what was cut, or lost on
// its way, is not there. A file whose change has no lines (a rename, a mode) is whole when its header says so.
func whole(f review.BriefFile) bool {
	if f.Omitted != "" || f.Diff == "" {
		return false
	}
	d, err := diff.Parse(f.Diff)
	if err != nil || len(d.Files) != 1 {
		return false
	}
	return d.Hunks == f.Hunks && d.Additions == f.Additions && d.Deletions == f.Deletions && !maskedOver(d.Files[0])
}

// mostMasks is how many masks a changed line may have and still count as read. Values that look like secrets are masked; a line made
// of them hides code.
const mostMasks = 8

func maskedOver(f diff.File) bool {
	for i := range f.Hunks {
		for l := range f.Hunks[i].Lines() {
			if l.Op != ' ' && strings.Count(l.Text, sanitize.Redacted) > mostMasks {
				return true
			}
		}
	}
	return false
}

// submodules are the files of a brief that are other repositories, of which the pull request names a commit.
func submodules(b review.Brief) []string {
	var out []string
	for _, f := range b.Files {
		if strings.Contains(f.Diff, "\n+Subproject commit ") {
			out = append(out, f.Path)
		}
	}
	return out
}
