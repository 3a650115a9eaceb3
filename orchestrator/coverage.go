package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// coverage is which changed files were read (decision 30): a file counts when every changed line of it stood in the requests of
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

// cover computes the coverage of a brief. readers are, for each complete reviewer that counts, the entries that it
// was not given whole, lost the same of those that gave no complete answer; need is how many of the former a file needs; hidden says of files what a mask keeps from all of them.
func cover(b review.Brief, readers, lost [][]string, need int, hidden map[string]string) coverage {
	read, unfinished := whoGot(readers), whoGot(lost)
	var c coverage
	for _, f := range b.Files {
		n := read(entry(f, f.Path))
		switch {
		case f.Omitted != "":
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: f.Omitted, Excused: f.Excused})
		case !whole(f) && f.HunksGiven < f.Hunks:
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: fmt.Sprintf("%d of %d hunks given: over budget", f.HunksGiven, f.Hunks)})
		case !whole(f):
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: "given without all of its changed lines"})
		case illegible(f):
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: "changed words in another encoding than UTF-8, of which nobody could read a letter"})
		case hidden[f.Path] != "":
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: hidden[f.Path]})
		case n < need:
			c.leftOut = append(c.leftOut, review.LeftOut{Path: f.Path, Reason: tooFew(n, unfinished(entry(f, f.Path)), need)})
		default:
			c.reviewed = append(c.reviewed, f.Path)
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
	return fmt.Sprintf("given to %s, of which %d gave no complete answer; %d needed", plural(n+lost, "reviewer", "reviewers"), lost, need)
}

// missed are the entries of a brief that whoever is given it does not get whole, those that were left out included.
func missed(b review.Brief) []string {
	var out []string
	for _, f := range b.Files {
		if !whole(f) {
			out = append(out, entry(f, sanitize.MaskSpelled(f.Path))) // as the snapshot calls it, whatever the agent was told
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
	return d.Hunks == f.Hunks && d.Additions == f.Additions && d.Deletions == f.Deletions
}

// illegible reports whether a changed line holds letters in another encoding than UTF-8: several bytes in a row that are shown as the
// one character for what cannot be read. Whole words of a program can be written so. A single such byte leaves its word legible.
func illegible(f review.BriefFile) bool {
	if !strings.Contains(f.Diff, unreadRun) {
		return false
	}
	added, removed := changedLines(f.Diff)
	for _, lines := range []map[int]string{added, removed} {
		for _, line := range lines {
			if strings.Contains(line, unreadRun) {
				return true
			}
		}
	}
	return false
}

// unreadRun is how two bytes in a row that are no UTF-8 are shown.
const unreadRun = "\ufffd\ufffd"

const (
	hiddenPart = "a part was masked as a secret, which no rule says it is: a name in plain words, or a made-up value that says so, such as test-token-1, is not masked, lines of a private key are known as such where the change shows its first one, and PRLOOP_SECRETS=show lets models read all"
	hiddenMore = "a part was masked as a secret, and the static reviewer found more secrets than it may report: keep fewer of them in one change"
	hiddenName = "a part of its name is masked as a secret, and what is left may be the name of another file too: rename it"
)

// hidden are the files that may be taken for others, and those with a changed line, or a name, of which a mask hides what may be code, and of which no rule says that it is
// a secret: a finding of a rule stands for one value of its line, and no rule speaks of removed lines. A mask takes out what looks
// like a value; code can be made to look like one, and nobody but the rules was shown it.
func (g gathered) hidden() map[string]string {
	out := map[string]string{}
	for _, name := range g.in.Snapshot.Alike {
		out[name] = hiddenName
	}
	if g.in.Request.Secrets == ShowSecrets {
		return out
	}
	why := hiddenPart
	if slices.ContainsFunc(g.in.Reports, overfull) {
		why = hiddenMore
	}
	said := map[Line]int{} // how many values, by the reviewer that knows of most
	by := map[string]map[Line]int{}
	for _, f := range slices.Concat(g.findings, g.again) {
		if !g.rules[f.Source.Name] || f.Line == nil || !ofSecrets(f) {
			continue
		}
		last := *f.Line
		if f.LineEnd != nil {
			last = *f.LineEnd
		}
		for n := *f.Line; n <= last && n-*f.Line < maxRuleLines; n++ {
			at := Line{f.File, n}
			if by[f.Source.Name] == nil {
				by[f.Source.Name] = map[Line]int{}
			}
			by[f.Source.Name][at]++
			said[at] = max(said[at], by[f.Source.Name][at])
		}
	}
	for _, at := range g.in.Snapshot.Opaque {
		if said[at]--; said[at] < 0 {
			out[at.File] = cmp.Or(out[at.File], why)
		}
	}
	for _, at := range g.in.Snapshot.OpaqueRemoved {
		out[at.File] = cmp.Or(out[at.File], hiddenPart)
	}
	return out
}

// secretRule begins the ids of what the static reviewer finds by its rules about secrets.
const secretRule = "STATIC-SECRET-"

// maxRuleLines is how many lines one finding of a rule may stand for: a private key.
const maxRuleLines = 200

var (
	pointerVersion = lazyregexp.New(`(?m)^[+ ]version https?://(?:git-lfs|git-media|hawser)`)
	pointerContent = lazyregexp.New(`(?m)^\+oid sha256:[0-9a-f]{64}\r?$`)
	pointerLine    = lazyregexp.New(`^((version|oid|size|ext-\d-\S+) \S+)?\r?$`)
)

// pointers are the files of a brief that have a new content in Git LFS, of which git shows no more than its hash. Blank lines, which Git LFS passes over, may
// keep the version out of a diff; then nothing else is added than a pointer holds.
func pointers(b review.Brief) []string {
	var out []string
	for _, f := range b.Files {
		if pointerContent.MatchString(f.Diff) && (pointerVersion.MatchString(f.Diff) || addsPointer(f.Diff)) {
			out = append(out, f.Path)
		}
	}
	return out
}

// addsPointer reports whether all added lines are of a pointer.
func addsPointer(text string) bool {
	added, _ := changedLines(text)
	for _, line := range added {
		if !pointerLine.MatchString(line) {
			return false
		}
	}
	return true
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
