package report

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	leftLine    = lazyregexp.New(`^(\d+) more edits? (?:is|are) not shown here\.$`)
	emptyEdit   = lazyregexp.New("^Add the empty file `([^`]*)`\\.$")
	newEdit     = lazyregexp.New("^Add the file `([^`]*)`:$")
	deletedEdit = lazyregexp.New("^Delete the file `([^`]*)`\\.$")
	renamedEdit = lazyregexp.New("^Rename `([^`]*)` to `([^`]*)`\\.$")
	binaryEdit  = lazyregexp.New("^Take the binary file `([^`]*)` from the patch\\.$")
	outEdit     = lazyregexp.New(`^Take out (.*)\.$`)
	topEdit     = lazyregexp.New("^Put in at the top of `([^`]*)`:$")
	afterEdit   = lazyregexp.New(`^Put in after (.*):$`)
	replaceEdit = lazyregexp.New(`^Replace (.*) by:$`)
)

// patch reads the section of edits.
func (p *reader) patch(d *FixData) {
	if name, ok := p.take(applyText); ok {
		d.PatchFile = unspan(name)
		p.fenced()
	}
	if p.peek() == openDetails && strings.HasSuffix(p.lines[p.at+1], " to make by hand, in this order</summary>") {
		p.at += 2
		for p.peek() != closeDetails {
			d.Patch = append(d.Patch, p.edit())
		}
		p.line()
	}
	if m := leftLine.FindStringSubmatch(p.peek()); m != nil {
		p.at++
		d.PatchLeft = p.int(m[1])
	}
}

func (p *reader) edit() Edit {
	var m []string
	is := func(re *lazyregexp.Regexp) bool {
		m = re.FindStringSubmatch(p.peek())
		return m != nil
	}
	var e Edit
	text := true
	switch {
	case is(emptyEdit):
		e, text = Edit{Kind: EditNew, File: m[1]}, false
	case is(newEdit):
		e = Edit{Kind: EditNew, File: m[1]}
	case is(deletedEdit):
		e, text = Edit{Kind: EditDeleted, File: m[1]}, false
	case is(renamedEdit):
		e, text = Edit{Kind: EditRenamed, OldFile: m[1], File: m[2]}, false
	case is(binaryEdit):
		e, text = Edit{Kind: EditBinary, File: m[1]}, false
	case is(topEdit):
		e = Edit{Kind: EditChange, File: m[1]}
	case is(outEdit):
		e, text = p.placed(m[1]), false
	case is(afterEdit):
		e = p.placed(m[1])
		e.Lines = 0
	case is(replaceEdit):
		e = p.placed(m[1])
	default:
		p.fail("an edit")
	}
	p.at++
	if text {
		_, e.Text = p.fenced()
		e.Text += "\n"
	}
	return e
}

// placed is an edit of the lines that a place names.
func (p *reader) placed(s string) Edit {
	var f Finding
	p.place(&f, s, !strings.HasPrefix(s, "["))
	e := Edit{Kind: EditChange, File: f.File, Start: f.Line, Lines: 1}
	if f.LineEnd > 0 {
		e.Lines = f.LineEnd - f.Line + 1
	}
	return e
}
