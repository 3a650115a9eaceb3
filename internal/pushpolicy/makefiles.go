package pushpolicy

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// Makefiles are the targets of the makefiles of trees. make takes a target for done where a file or a folder of its name stands, unless the makefile says that
// it is phony: a new file called test would switch the tests off (threats.md T729). The zero value is of no tree.
type Makefiles struct {
	trees []makefiles
	stood map[string]bool // the folders of all trees
}

// makefiles are those of one tree.
type makefiles struct {
	folders map[string]*targets
	// shared are those that makefiles of any folder may include.
	shared targets
}

// targets are what makefiles make.
type targets struct {
	all, phony map[string]bool
	// open is true where there may be more: a makefile includes others, or was not read.
	open bool
}

// MakefileBytes bounds what is read of a tree for Makefiles.
const MakefileBytes = 4 << 20

// Add reads the makefiles of a tree, those near its root first. sizes are its files, in bytes; read gives the content of some of them.
func (m *Makefiles) Add(sizes map[string]int64, read func(names []string) (map[string][]byte, error)) error {
	if m.stood == nil {
		m.stood = map[string]bool{}
	}
	var all, names []string
	for name := range sizes {
		for d := path.Dir(name); d != "." && !m.stood[d]; d = path.Dir(d) {
			m.stood[d] = true
		}
		if isMakefile(name) && !vendored.MatchString(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	slices.SortStableFunc(all, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	left := int64(MakefileBytes)
	for _, name := range all {
		if left -= sizes[name]; left >= 0 {
			names = append(names, name)
		}
	}
	texts, err := read(names)
	if err != nil {
		return err
	}
	tree := makefiles{folders: map[string]*targets{}}
	for _, name := range all {
		of := &tree.shared
		if path.Ext(name) != ".mk" {
			if of = tree.folders[path.Dir(name)]; of == nil {
				of = &targets{}
				tree.folders[path.Dir(name)] = of
			}
		}
		of.add(texts[name])
	}
	m.trees = append(m.trees, tree)
	return nil
}

func isMakefile(name string) bool {
	return slices.Contains([]string{"GNUmakefile", "makefile", "Makefile"}, path.Base(name)) || path.Ext(name) == ".mk"
}

// add takes the targets of a makefile; nil is one that was not read.
func (t *targets) add(text []byte) {
	all, phony := MakeTargets(string(text))
	t.all, t.phony = folded(t.all, all), folded(t.phony, phony)
	t.open = t.open || text == nil || includesMakefiles.Match(text)
}

// folded adds names to a set as they are where case makes no difference.
func folded(to, names map[string]bool) map[string]bool {
	if to == nil {
		to = map[string]bool{}
	}
	for name := range names {
		to[spelling.Fold(path.Clean(name))] = true
	}
	return to
}

var (
	continued         = lazyregexp.New(`\\\r?\n[ \t]*`)
	makeRule          = lazyregexp.New(`(?m)^ *([^\s#:=][^#:=\n]*?)[ \t]*&?::?([^:=\n].*)?\r?$`)
	includesMakefiles = lazyregexp.New(`(?m)^ *[-s]?include\b|\$[({]eval\b`)
)

// MakeTargets are the targets of a makefile that stand there by name, and those among them that are phony.
func MakeTargets(text string) (all, phony map[string]bool) {
	all, phony = map[string]bool{}, map[string]bool{}
	for _, m := range makeRule.FindAllStringSubmatch(continued.ReplaceAllString(text, " "), -1) {
		if m[1] == ".PHONY" {
			made, _, _ := strings.Cut(m[2], "#")
			note(phony, made)
			continue
		}
		note(all, m[1])
	}
	return all, phony
}

// note adds to a set the words that hold no variable and no pattern.
func note(to map[string]bool, words string) {
	for word := range strings.FieldsSeq(words) {
		if !strings.ContainsAny(word, "$%") {
			to[word] = true
		}
	}
}

// usual are targets that a makefile is taken to have where not all of them can be read.
var usual = strings.Fields("all build check ci clean fmt format install lint test typecheck verify vet")

// Check refuses new files and folders that make would take for a target; allow are doublestar globs the operator opens.
func (m *Makefiles) Check(changes []Change, allow []string) (refused []review.Refusal) {
	for _, c := range changes {
		if !c.fresh() || opened(allow, c) {
			continue
		}
		if target := m.target(c.Path); target != "" {
			refused = append(refused, refuse(RuleProtectedPath, c.Path, "make would take its target "+spelling.Code(target)+" for done"))
		}
	}
	return refused
}

// target is what of a new name make would take for a target; empty when there is none.
func (m *Makefiles) target(name string) string {
	for ; name != "." && !m.stood[name]; name = path.Dir(name) {
		for folder := path.Dir(name); ; folder = path.Dir(folder) {
			target := strings.TrimPrefix(name, folder+"/")
			if slices.ContainsFunc(m.trees, func(t makefiles) bool { return t.makes(folder, spelling.Fold(target)) }) {
				return name
			}
			if folder == "." {
				break
			}
		}
	}
	return ""
}

// makes reports that make would make a folded target in a folder only where it is not there.
func (t makefiles) makes(folder, target string) bool {
	own := t.folders[folder]
	switch {
	case own == nil || own.phony[target] || t.shared.phony[target]:
		return false
	case own.all[target] || t.shared.all[target]:
		return true
	}
	return (own.open || t.shared.open) && slices.Contains(usual, target)
}
