package coverage

import (
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

var (
	pointerVersion = lazyregexp.New(`(?m)^[+ ]version https?://(?:git-lfs|git-media|hawser)`)
	pointerContent = lazyregexp.New(`(?m)^\+oid sha256:[0-9a-f]{64}\r?$`)
	pointerLine    = lazyregexp.New(`^((version|oid|size|ext-\d-\S+) \S+)?\r?$`)
)

// Pointers are the files of a brief that have a new content in Git LFS, of which git shows no more than its hash. Blank lines, which Git LFS passes over, may
// keep the version out of a diff; then nothing else is added than a pointer holds.
func Pointers(b review.Brief) []string {
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
	added, _ := diff.ChangedLines(text)
	for _, line := range added {
		if !pointerLine.MatchString(line) {
			return false
		}
	}
	return true
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
