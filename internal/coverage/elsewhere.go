package coverage

import (
	"strings"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
)

// Pointers are the files of a brief that have a new content in Git LFS, of which git shows no more than its hash.
func Pointers(b review.Brief) []string {
	var out []string
	for _, f := range b.Files {
		for line := range strings.Lines(f.Diff) {
			if text, added := strings.CutPrefix(line, "+"); added && pushpolicy.IsPointer(text) {
				out = append(out, f.Path)
				break
			}
		}
	}
	return out
}

// Submodules are the files of a brief that are other repositories, of which the pull request names a commit.
func Submodules(b review.Brief) []string {
	var out []string
	for _, f := range b.Files {
		if strings.Contains(f.Diff, "\n+Subproject commit ") {
			out = append(out, f.Path)
		}
	}
	return out
}
