package pushpolicy

import (
	"maps"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// badName says what is wrong with what a fix makes of a name, and has no reason to: it hides something from a reader, or some file system takes it for
// another name (threats.md T28).
func badName(name string) string {
	if !utf8.ValidString(name) {
		return "it is not UTF-8"
	}
	for _, r := range name {
		switch {
		case unicode.IsControl(r):
			return "it holds control characters"
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp), r >= 0xfe00 && r <= 0xfe0f:
			return "it holds invisible characters"
		case strings.ContainsRune(`\:*?"<>|`, r):
			return "it holds a character some systems forbid"
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "", part == ".", part == "..":
			return "it is not canonical"
		case len(part) > 255:
			return "a part of it is too long"
		case strings.HasPrefix(part, "-"):
			return "a part of it reads as an option"
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " "):
			return "a part of it begins or ends with a space or ends with a dot"
		case device(part):
			return "a part of it is a device on Windows"
		case shortName(part):
			return "a part of it is another file's short name on Windows"
		}
	}
	return ""
}

// device knows the names Windows keeps for itself, whatever their extension.
func device(part string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '1' && stem[3] <= '9'
}

// shortName knows the second names NTFS gives to long ones: GITHUB~1 for .github.
func shortName(part string) bool {
	stem, _, _ := strings.Cut(part, ".")
	name, number, ok := strings.Cut(stem, "~")
	return ok && name != "" && number != "" && len(stem) <= 8 && strings.Trim(number, "0123456789") == ""
}

// shellCode is what a script runs, or takes for an option or a file of options, when a list of files is written into it, and what a runner of workflows obeys
// when the list is printed: ##vso[, ##[ (threats.md T694). PowerShell takes the quotation marks of prose for its own. What frameworks have in their names stays:
// [id].tsx, (group), @slot below a folder, $route.tsx, +page.svelte.
var shellCode = lazyregexp.New(`[\x60;&'‘-‟]|\$[({]| -[^ ]| @|##` + runnerlog.Order)

// tree knows the names around a change.
type tree struct {
	spelled map[string]string // every file and folder, folded, as first spelled
	twice   map[string]string // folded names with a second spelling, or that are a file and a folder
	files   map[string]bool
	folders map[string]bool
	folded  map[string]bool // files alone, folded
	stood   map[string]bool // the folders that were there before the change
}

func newTree(changes []Change, paths []string) *tree {
	t := &tree{spelled: map[string]string{}, twice: map[string]string{}, files: map[string]bool{}, folders: map[string]bool{}, folded: map[string]bool{}}
	made := map[string]bool{}
	for _, c := range changes {
		made[c.Path] = c.fresh()
	}
	for _, p := range paths {
		if !made[p] {
			t.add(p)
		}
	}
	t.stood = maps.Clone(t.folders)
	for _, c := range changes {
		t.stand(c)
		if !c.gone() {
			t.add(c.Path) // in case the list was made before the change
		}
	}
	return t
}

// stand notes the folders that a change found: those of a file that it edits, moves or deletes.
func (t *tree) stand(c Change) {
	for _, name := range c.names() {
		if name == c.Path && c.fresh() {
			continue
		}
		for d := path.Dir(name); d != "." && d != "/"; d = path.Dir(d) {
			t.stood[d] = true
		}
	}
}

func (t *tree) add(p string) {
	if t.files[p] {
		return
	}
	t.files[p] = true
	t.folded[spelling.Fold(p)] = true
	t.spell(p, false)
	for d := path.Dir(p); d != "." && d != "/" && !t.folders[d]; d = path.Dir(d) {
		t.folders[d] = true
		t.spell(d, true)
	}
}

func (t *tree) spell(name string, folder bool) {
	key := spelling.Fold(name)
	first, known := t.spelled[key]
	switch {
	case !known:
		t.spelled[key] = name
	case first != name, folder == t.files[name]:
		t.twice[key] = first
	}
}

// names are the rules about a new name, and about it among the others of the tree. What was there already of it may stay.
func (t *tree) names(c Change) []review.Refusal {
	if !c.fresh() {
		return nil
	}
	added := t.new(c.Path)
	why := badName(added)
	switch {
	case why != "":
	case len(c.Path) > 1024:
		why = "it is too long"
	case shellCode.MatchString(added), added == c.Path && strings.HasPrefix(added, "@"):
		why = "a script that lists files, or what reads its output, would run what is new in it, or take it for an option"
	}
	if why != "" {
		return []review.Refusal{refuse(RuleBadName, c.Path, why)}
	}
	for p := c.Path; p != "." && p != "/"; p = path.Dir(p) {
		if first, ok := t.twice[spelling.Fold(p)]; ok && spelling.Fold(p) != "" {
			return append(t.embedded(c), refuse(RuleCaseCollision, c.Path, "it falls together with "+other(p, first)+" where case makes no difference"))
		}
	}
	return t.embedded(c)
}

// new is what a change adds to the tree of a name: the name below the folders that stood.
func (t *tree) new(name string) string {
	for d := path.Dir(name); d != "." && d != "/"; d = path.Dir(d) {
		if t.stood[d] {
			return name[len(d)+1:]
		}
	}
	return name
}

func other(p, first string) string {
	if p == first {
		return "another spelling of " + spelling.Code(first)
	}
	return spelling.Code(first)
}

// embedded finds a folder that git itself takes for a repository: whoever enters it runs what its configuration says
// (threats.md T20).
func (t *tree) embedded(c Change) []review.Refusal {
	for d := path.Dir(c.Path); d != "." && d != "/"; d = path.Dir(d) {
		k := spelling.Fold(d)
		if t.folded[k+"/head"] && (t.folded[k+"/config"] || t.folded[k+"/commondir"] || t.folders[d+"/objects"] && t.folders[d+"/refs"]) {
			return []review.Refusal{refuse(RuleEmbedded, c.Path, "git takes the folder "+spelling.Code(d)+" for a repository")}
		}
	}
	return nil
}
