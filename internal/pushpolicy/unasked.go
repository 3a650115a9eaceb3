package pushpolicy

import (
	"maps"
	"path"
	"slices"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// RuleUnasked is the rule of Asked.
const RuleUnasked = "unasked-file"

// Asked are the files that somebody asked a fix to change: those that the pull request changes, and those that a finding names which has to be fixed, or is a person's. A fix
// changes no other file but tests: files act in more ways than any list of their names has (threats.md T733). The zero value is of no pull request.
type Asked struct {
	files map[string]bool
	// moved are those that the base branch has no more under their names: a merge brings a fix to the new place, which may be protected (threats.md T845).
	moved map[string]bool
	// said has what may be a path in the words of findings, with the folders of the files that these are about; texts are all of them.
	said  map[string][]string
	texts []string
	// Links are those of the trees: what they lead to is what their names say, too.
	Links Links
	// repo is the name of the repository in links to files.
	repo string
	// stands has the files of the merge base and of the pull request by their last part.
	stands map[string][]string
	// tests are those of the merge base.
	tests standingTests
}

// AskedOf are the files that the task of a fixer asks for. stood are all files of the merge base, which no fix of any run has changed.
func AskedOf(task review.Task, stood []string) Asked {
	a := Asked{files: map[string]bool{}, moved: map[string]bool{}, said: map[string][]string{}, stands: map[string][]string{}, tests: testsOf(stood), repo: task.Repo.Owner + "/" + task.Repo.Name}
	ask := func(spelled string) {
		if name := spelling.Raw(spelled); name != "" {
			a.files[name] = true
		}
	}
	for _, f := range task.Brief.Files {
		ask(f.Path)
		ask(f.OldPath)
		if f.Moved {
			a.moved[spelling.Raw(f.Path)] = true
		}
	}
	for _, name := range append(slices.Collect(maps.Keys(a.files)), stood...) {
		a.stands[path.Base(name)] = append(a.stands[path.Base(name)], name)
	}
	if task.Fix != nil {
		for i, f := range slices.Concat(task.Fix.IssuesToFix, task.Fix.OptionalIssues) {
			if i >= len(task.Fix.IssuesToFix) && f.Source.Type != "comment" && f.Source.Type != "review" {
				continue // an offer of an agent's asks for nothing (threats.md T822)
			}
			ask(f.File)
			folder := path.Dir(spelling.Raw(f.File))
			if f.Assessment != nil {
				a.hear(folder, f.Assessment.Reason)
				if f.Assessment.Fact != nil {
					ask(f.Assessment.Fact.File)
				}
			}
			a.hear(folder, f.Title, f.Description, f.Suggestion)
		}
	}
	for name := range a.files {
		if stem(name) != "" {
			a.tests.asked[path.Dir(name)] = append(a.tests.asked[path.Dir(name)], name)
		}
	}
	return a
}

// Moved has a fix change no file that stood at the merge base and that the base branch has no more.
func (a Asked) Moved(stood, now []string) {
	stands := make(map[string]bool, len(now))
	for _, name := range now {
		stands[name] = true
	}
	for _, name := range stood {
		if !stands[name] {
			a.moved[name] = true
		}
	}
}

// Refuse says why a fix may not change a file; empty means that it may.
func (a Asked) Refuse(name string) string {
	switch {
	case a.moved[name]:
		return "the base branch has moved or deleted it since: bring the branch up to date"
	case a.asks(name), a.tests.has(name):
		return ""
	case len(testKinds(name)) > 0:
		return "it is new where no tests of its kind stood, and no finding that has to be fixed names it"
	}
	return "the pull request does not change it, and no finding that has to be fixed names it"
}

// refuseLink is Refuse for the name that a link gives a file, which is no file of the trees.
func (a Asked) refuseLink(name string) string {
	if len(testKinds(name)) > 0 {
		return ""
	}
	return a.Refuse(name)
}

// Beside lists the files of changes that neither the pull request changes nor a finding is about.
func (a Asked) Beside(changes []Change) (names []string) {
	for _, c := range changes {
		if !a.files[c.Path] {
			names = append(names, c.Path)
		}
	}
	return names
}

// asks reports that the pull request changes a file, or that a finding names it.
func (a Asked) asks(name string) bool { return a.files[name] || a.mentioned(name) }

// mostHeard is how many changes are looked for in the words of findings and beside files: a fix of more is refused for their number.
const mostHeard = 1000

// Check refuses the changes of files that nobody asked for; allow are doublestar globs the operator opens.
func (a Asked) Check(changes []Change, allow []string) []review.Refusal {
	var refused []review.Refusal
	if len(changes) > mostHeard {
		a.said, a.texts, a.tests.asked = nil, nil, nil
	}
	for _, c := range changes {
		for _, name := range c.names() {
			why := a.Refuse(name)
			if why == "" && !a.asks(name) {
				why = a.Links.protected(name, a.refuseLink)
				if why == "" && !c.gone() && !declared(c) {
					why = "it has the name of a test and no test that prloop knows, and no finding that has to be fixed names it"
				}
			}
			if why != "" && !globs.Any(allow, name) {
				refused = append(refused, refuse(RuleUnasked, name, why))
			}
		}
	}
	return refused
}
