package repocontext

import (
	"path"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
)

// Attributes by which git writes another text into a working tree or an archive than the commit holds.
const (
	attributeEncoding = "working-tree-encoding"
	attributeIdent    = "ident"
	attributeSubst    = "export-subst"
)

// encodings are the encodings that a line of attributes asks for; an empty one is that of a word without a value.
var encodings = lazyregexp.New(`(?:^|[ \t])working-tree-encoding(?:=([^ \t\r\n]*))?`)

// plain reports whether text in an encoding of a working tree is the bytes that are shown.
func plain(encoding string) bool {
	return encoding == "unset" || strings.EqualFold(encoding, "utf-8") || strings.EqualFold(encoding, "utf8")
}

// readConverted takes out files of which people, builds and packages get another text than is shown: attributes at the base, or at the head, have git
// write them in another encoding, or put something into the changed lines. So it does with a file of attributes that asks for an encoding: it
// decides that of files nobody changed.
func (b *builder) readConverted(base, head attributes) {
	for i := range b.o.Diff.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		if bf.Omitted != "" || f.Change == diff.Deleted {
			continue
		}
		for _, said := range []attributes{base, head} {
			encoding, asked := said[f.Path][attributeEncoding]
			if asked && !plain(encoding) || said.on(f.Path, attributeIdent) && adds(f, "$Id:") || said.on(f.Path, attributeSubst) && adds(f, "$Format:") {
				bf.Omitted = OmittedConverted
			}
		}
		if path.Base(f.Path) != ".gitattributes" {
			continue
		}
		for line := range f.Added() {
			for _, m := range encodings.FindAllStringSubmatch(line.Text, -1) {
				if !plain(m[1]) {
					bf.Omitted = OmittedConverted
				}
			}
		}
	}
}

// adds reports whether an added line holds some words.
func adds(f *diff.File, words string) bool {
	for line := range f.Added() {
		if strings.Contains(line.Text, words) {
			return true
		}
	}
	return false
}
