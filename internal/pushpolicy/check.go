package pushpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// The rules' names. They stand in reports and setbacks and are never renamed.
const (
	RuleProtectedPath = "protected-path"
	RuleLink          = "link"
	RuleSubmodule     = "submodule"
	RuleModeChange    = "mode-change"
	RuleLFSPointer    = "lfs-pointer"
	RuleAttributes    = "gitattributes"
	RuleEmbedded      = "embedded-repository"
	RuleCaseCollision = "case-collision"
	RuleTooManyFiles  = "too-many-files"
	RuleTooLarge      = "too-large"
	RuleScopeBrake    = "scope-brake"
	RuleDeletedTest   = "deleted-test"
	RuleSkippedTest   = "skipped-test"
	RuleBinary        = "binary"
	RuleBadName       = "bad-name"
	RuleEmptyTree     = "empty-tree"
)

// Check gives every rule the changes break, in their order; none means that they may be pushed. allow are doublestar globs
// the operator opens: they lift protected-path, binary, deleted-test and skipped-test for the paths they match, never the
// rules about what git or a file system would make of a name, a mode or a line. paths are all files of the tree the changes lead to,
// for the rules that compare names; without them nothing is said about a tree that is left empty.
func Check(changes []Change, l Limits, allow, paths []string) []review.Refusal {
	var refused []review.Refusal
	tree := newTree(changes, paths)
	for _, c := range changes {
		open := opened(allow, c)
		refused = append(refused, kinds(c)...)
		refused = append(refused, tree.names(c)...)
		refused = append(refused, hiddenLines(c)...)
		if open {
			continue
		}
		refused = append(refused, tree.protected(c)...)
		if c.Binary && !c.gone() && len(kinds(c)) == 0 && len(c.Added)+len(c.Removed) == 0 {
			refused = append(refused, refuse(RuleBinary, c.Path, "nobody can review its content"))
		}
	}
	for _, t := range Tests(changes) {
		rule := ""
		switch t.Kind {
		case TestDeleted:
			rule = RuleDeletedTest
		case TestSkipped:
			rule = RuleSkippedTest
		}
		if rule != "" && !matches(allow, t.Path) {
			refused = append(refused, refuse(rule, t.Path, t.String()))
		}
	}
	if paths != nil && len(changes) > 0 && len(tree.files) == 0 {
		refused = append(refused, refuse(RuleEmptyTree, "", "no file is left"))
	}
	return append(refused, sizes(changes, l.withDefaults())...)
}

func refuse(rule, path, detail string) review.Refusal {
	return review.Refusal{Rule: rule, Path: spelling.Name(path), Detail: detail}
}

// sizes are the rules about the fix as a whole.
func sizes(changes []Change, l Limits) []review.Refusal {
	var refused []review.Refusal
	files, lines := Totals(changes)
	var bytes int64
	for _, c := range changes {
		bytes += c.written()
	}
	if files > l.Files {
		refused = append(refused, refuse(RuleTooManyFiles, "", fmt.Sprintf("%d files, at most %d", files, l.Files)))
	}
	if bytes > l.Bytes {
		refused = append(refused, refuse(RuleTooLarge, "", fmt.Sprintf("%d bytes, at most %d", bytes, l.Bytes)))
	}
	if l.BrakeFiles > 0 && files > l.BrakeFiles {
		refused = append(refused, refuse(RuleScopeBrake, "", fmt.Sprintf("%d files for a pull request that allows %d", files, l.BrakeFiles)))
	}
	if l.BrakeLines > 0 && lines > l.BrakeLines {
		refused = append(refused, refuse(RuleScopeBrake, "", fmt.Sprintf("%d changed lines for a pull request that allows %d", lines, l.BrakeLines)))
	}
	return refused
}

// kinds are the rules about what sort of entry a change makes or touches.
func kinds(c Change) []review.Refusal {
	var refused []review.Refusal
	oldType, newType := c.OldMode&modeType, c.NewMode&modeType
	switch {
	case oldType == modeSubmodule || newType == modeSubmodule:
		refused = append(refused, refuse(RuleSubmodule, c.Path, "a submodule is added, moved or removed"))
	case oldType == modeLink || newType == modeLink:
		refused = append(refused, refuse(RuleLink, c.Path, "a symbolic link is added, changed or removed"))
	case c.gone():
	case c.OldMode == 0 && c.NewMode == modeExec:
		refused = append(refused, refuse(RuleModeChange, c.Path, "a new file is executable"))
	case c.OldMode != 0 && c.OldMode != c.NewMode:
		refused = append(refused, refuse(RuleModeChange, c.Path, fmt.Sprintf("mode %o became %o", c.OldMode, c.NewMode)))
	}
	for _, name := range c.names() {
		switch base := spelling.Fold(name[strings.LastIndexByte(name, '/')+1:]); base {
		case ".gitattributes":
			refused = append(refused, refuse(RuleAttributes, name, "it decides how git treats other files"))
		case ".gitmodules":
			refused = append(refused, refuse(RuleSubmodule, name, "it names submodules"))
		}
	}
	if slices.ContainsFunc(c.Added, func(l Line) bool { return IsPointer(l.Text) || l.N == 1 && version.MatchString(l.Text) }) {
		refused = append(refused, refuse(RuleLFSPointer, c.Path, "its content would be kept elsewhere"))
	}
	return refused
}

var (
	pointer = lazyregexp.New(`^oid sha256:[0-9a-fA-F]{64}`)
	// version begins a pointer whose other lines the file may have already.
	version = lazyregexp.New(`^version https?://(?:git-lfs|git-media|hawser)`)
)

// IsPointer reports whether a line is the one of a file of Git LFS that names its content, which no diff shows. Git LFS passes over blank lines, and reads no further than
// the first kilobyte, so that neither the line's number nor what stands around it tells more.
func IsPointer(line string) bool { return pointer.MatchString(line) }

// opened reports that the operator opened every path of a change.
func opened(allow []string, c Change) bool {
	return !slices.ContainsFunc(c.names(), func(name string) bool { return !matches(allow, name) })
}

func matches(allow []string, name string) bool {
	return globs.Any(allow, name)
}
