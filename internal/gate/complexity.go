package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// Complexity is how much there is to a change.
type Complexity string

// The complexities a rule tells apart.
const (
	Trivial Complexity = "trivial"
	// Prose is text for people alone, as the ends of its names say, which do not tell who runs it: literate code, or pages with scripts. It is trivial where nothing
	// grave is found (threats.md T846).
	Prose    Complexity = "prose"
	Ordinary Complexity = "ordinary"
)

// The bounds of what is trivial: few lines, or prose alone.
const (
	trivialLines = 10
	trivialFiles = 3
	proseLines   = 200
	// Beyond these no word of a scout makes a change trivial.
	smallLines = 50
	smallFiles = 5
)

// File is one changed file.
type File struct {
	// Path is its name, OldPath that of before when it was renamed or copied.
	Path, OldPath string
	// Lines is how many lines were added and removed; a long one counts as several (review.BriefFile.Lines).
	Lines int
	// Whole is true when reviewers were given all of its change: it is text, and nothing of it was left out.
	Whole bool
	// Plain is true when the change is one of text: no file was added or deleted, and none changed its name or mode.
	Plain bool
}

// Assess says by rule how much there is to a change. It is trivial when reviewers were given all of it, no file of it is protected,
// and it is ten lines in three files at most; otherwise Prose where it is prose alone and 200 lines at most. protected says why a file is more than its
// lines, such as a workflow; empty when it is not.
func Assess(files []File, protected func(name string) string) Complexity {
	lines, prosaic := 0, true
	for _, f := range files {
		if !f.Whole || protected(f.Path) != "" || f.OldPath != "" && protected(f.OldPath) != "" {
			return Ordinary
		}
		lines += f.Lines
		prosaic = prosaic && prose(f.Path) && (f.OldPath == "" || prose(f.OldPath))
	}
	plain := !slices.ContainsFunc(files, func(f File) bool { return !f.Plain })
	switch {
	case len(files) == 0:
		return Ordinary
	case plain && len(files) <= trivialFiles && lines <= trivialLines:
		return Trivial
	case prosaic && lines <= proseLines:
		return Prose
	}
	return Ordinary
}

// Small reports whether a scout may call a change trivial that the rule does not: reviewers were given all of it, no file of it is protected,
// it is one of text alone, and it is fifty lines in five files at most (decision 72).
func Small(files []File, protected func(name string) string) bool {
	lines := 0
	for _, f := range files {
		if !f.Whole || !f.Plain || protected(f.Path) != "" || f.OldPath != "" && protected(f.OldPath) != "" {
			return false
		}
		lines += f.Lines
	}
	return len(files) > 0 && len(files) <= smallFiles && lines <= smallLines
}

// trivial says how much there is to a change by the rule and the scout together. The scout may take back what the rule says; it may add to
// it only where the change is small: a change can hold words that are meant for the scout.
func (f Facts) trivial(e Ending) bool {
	ruled := f.Complexity == Trivial || f.Complexity == Prose && !e.Grave
	switch f.Scout {
	case "":
		return ruled
	case review.TrivialChange:
		return ruled || f.Small
	}
	return false
}

// prose reports whether a file is written for people alone, by the end of its name.
func prose(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".rst", ".adoc", ".asciidoc":
		return true
	}
	return false
}
