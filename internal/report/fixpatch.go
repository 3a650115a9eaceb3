package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Bounds of what a report shows of a patch; the rest stands in the saved file.
const (
	patchEdits = 60
	patchBytes = 24_000
	applyText  = "Whole, among the artifacts of the run, as "
)

// patch shows edits as code in the file's own language, each under a sentence that says where it goes (decision 21).
func (p *page) patch(d FixData) {
	if len(d.Patch)+d.PatchLeft == 0 && d.PatchFile == "" {
		return
	}
	p.add(secPatch)
	if d.PatchFile != "" {
		p.add(applyText+span(d.PatchFile)+":", fence("git apply --index "+d.PatchFile, "sh"))
	}
	if len(d.Patch) > 0 {
		p.add(openDetails + "\n<summary>" + count(len(d.Patch), "edit") + " to make by hand, in this order</summary>")
		for _, e := range d.Patch {
			p.edit(e)
		}
		p.add(closeDetails)
	}
	if d.PatchLeft > 0 {
		p.add(fmt.Sprintf("%s not shown here.", plural(d.PatchLeft, "edit is", "edits are")))
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 more " + one
	}
	return strconv.Itoa(n) + " more " + many
}

func (p *page) edit(e Edit) {
	at := p.links.place(Finding{File: e.File, Line: e.Start, LineEnd: lastLine(e)})
	switch {
	case e.Kind == EditNew && e.Text == "":
		p.add("Add the empty file " + span(e.File) + ".")
	case e.Kind == EditNew:
		p.add("Add the file "+span(e.File)+":", editText(e))
	case e.Kind == EditDeleted:
		p.add("Delete the file " + span(e.File) + ".")
	case e.Kind == EditRenamed:
		p.add("Rename " + span(e.OldFile) + " to " + span(e.File) + ".")
	case e.Kind == EditBinary:
		p.add("Take the binary file " + span(e.File) + " from the patch.")
	case e.Text == "":
		p.add("Take out " + at + ".")
	case e.Lines == 0 && e.Start == 0:
		p.add("Put in at the top of "+span(e.File)+":", editText(e))
	case e.Lines == 0:
		p.add("Put in after "+at+":", editText(e))
	default:
		p.add("Replace "+at+" by:", editText(e))
	}
}

// editText fences what stands there afterwards.
func editText(e Edit) string {
	return fence(strings.TrimSuffix(e.Text, "\n"), editLanguage(e.File))
}

func lastLine(e Edit) int {
	if e.Lines > 1 {
		return e.Start + e.Lines - 1
	}
	return 0
}

var fileEnding = lazyregexp.New(`^\.(c|cc|cpp|cs|css|go|h|html|java|js|json|jsx|kt|lua|md|php|py|rb|rs|scala|sh|sql|swift|toml|ts|tsx|vue|xml|yaml|yml|zig)$`)

// editLanguage colours code by the ending of its file's name.
func editLanguage(file string) string {
	if m := fileEnding.FindStringSubmatch(path.Ext(file)); m != nil {
		return m[1]
	}
	return ""
}

// edits gives edits the form they are shown in: those of one file together, from its end to its start, within bounds.
func edits(list []Edit) (kept []Edit, left int) {
	var files []string
	byFile := map[string][]Edit{}
	for _, e := range list {
		e = edit(e)
		name := cmp.Or(e.OldFile, e.File)
		if name == "" {
			left++
			continue
		}
		if byFile[name] == nil {
			files = append(files, name)
		}
		byFile[name] = append(byFile[name], e)
	}
	size := 0
	for _, f := range files {
		for _, e := range fromTheEnd(byFile[f]) {
			if size += len(e.Text) + len(e.File); len(kept) == patchEdits || size > patchBytes {
				size = patchBytes // nothing smaller slips in later: what is left out is a tail
				left++
				continue
			}
			kept = append(kept, e)
		}
	}
	return kept, left
}

// fromTheEnd orders the edits of one file so that each leaves the line numbers of the next as they are: the last place
// first, and a new name at the very end.
func fromTheEnd(list []Edit) []Edit {
	slices.SortFunc(list, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(boolRank(a.Kind == EditRenamed), boolRank(b.Kind == EditRenamed)), cmp.Compare(b.Start, a.Start),
			cmp.Compare(a.Lines, b.Lines), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.File, b.File), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// edit is e as it is shown; one that says nothing has no names.
func edit(e Edit) Edit {
	out := Edit{Kind: e.Kind, File: pathWord(e.File)}
	switch e.Kind {
	case EditNew:
		out.Text = codeLines(e.Text)
	case EditDeleted, EditBinary:
	case EditRenamed:
		if out.OldFile = pathWord(e.OldFile); out.OldFile == "" || out.File == "" {
			return Edit{}
		}
	default:
		out.Kind, out.Start, out.Lines, out.Text = EditChange, max(e.Start, 0), max(e.Lines, 0), codeLines(e.Text)
		if out.Lines > 0 && out.Start == 0 || out.Lines == 0 && out.Text == "" {
			return Edit{} // no place, or nothing to do there
		}
	}
	return out
}
