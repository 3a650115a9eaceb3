package pushpolicy

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// row is one line of the table of protected paths.
type row struct {
	// pattern is a file name, or the end of a path, with the tool's own spelling: * stands for any part of a name, {a,b} for
	// either. A slash at its end makes it a folder, with all that is below.
	pattern string
	depth   depth
	reason  reason
	// source is where the name was found: a page of the tool's documentation, or a public repository that holds such a file.
	source string
}

// depth is where a pattern counts.
type depth int

const (
	anyDepth depth = iota
	atRoot
)

// reason says why a path is protected. It stands in refusals.
type reason string

const (
	configuresReview reason = "it configures the review"
	namesOwners      reason = "it names the code owners"
	instructsAgents  reason = "agents take instructions or settings from it"
	gitHooks         reason = "it belongs to git hooks"
	gitSettings      reason = "git takes settings from it"
	runsCI           reason = "it tells a CI what to run"
	steersBots       reason = "bots and scanners take settings from it"
	deploys          reason = "it decides what is deployed, and how"
	loadsItself      reason = "editors, shells or interpreters load it on their own"
	declaresPackages reason = "it is a package manifest or a lock file"
	runsBuilds       reason = "it decides what a build runs"
	configuresChecks reason = "linters or test runners take settings from it"
	// replacesRunners is for names that a repository may have as its own, and that may be changed, though not added: they come before
	// what is installed where a runner looks first, such as the folder in which python3 -m is called.
	replacesRunners reason = "a test runner, an installer, or what they load, would be replaced by it"
	// harmless is for dot files that may be changed, though not added.
	harmless reason = ""
)

// protected refuses changes of what decides how the repository is built, judged or run
// (threats.md T08), and new dot files. A rename counts at both ends.
func (t *tree) protected(c Change) []review.Refusal {
	for _, name := range c.names() {
		why := cmp.Or(Protected(name), t.beside(name))
		if why == "" && c.fresh() && name == c.Path && strings.HasPrefix(path.Base(name), ".") {
			why = "it is a new dot file"
		}
		if why == "" && c.fresh() && name == c.Path && t.replaces(name) {
			why = string(replacesRunners)
		}
		if why != "" && !refusedByKind(name) {
			return []review.Refusal{refuse(RuleProtectedPath, name, why)}
		}
	}
	return nil
}

// replaces reports that a new file comes before what is installed: at the root, and for Python in each folder of a project, where python3 -m is called.
func (t *tree) replaces(name string) bool {
	folder := "."
	for rest := name; ; rest = name[len(folder)+1:] {
		if why, _ := lookUp(spelling.Fold(rest)); why == replacesRunners && (folder == "." || t.project(folder)) {
			return true
		}
		next, _, below := strings.Cut(rest, "/")
		if folder = path.Join(folder, next); !below || path.Ext(name) != ".py" {
			return false
		}
	}
}

// project reports that a folder is that of a Python project.
func (t *tree) project(folder string) bool {
	return slices.ContainsFunc(projectFiles, func(name string) bool { return t.files[folder+"/"+name] })
}

// projectFiles are the files that each make a folder that of a Python project.
var projectFiles = []string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt"}

// Protected says why a path is protected; empty means that it is not, or only where it is new. Case and Unicode composition make no difference.
func Protected(name string) string {
	name = spelling.Fold(name)
	if strings.HasPrefix(name, ".") && strings.Contains(name, "/") {
		return inDotFolder
	}
	switch why, listed := lookUp(name); {
	case why != "" && why != replacesRunners:
		return string(why)
	case strings.Contains(path.Dir(name), "/."):
		return inDotFolder
	case !listed && strings.HasPrefix(path.Base(name), "."):
		return "it is a dot file"
	}
	return ""
}

const inDotFolder = "it is in a dot folder"

// Acts says why tools act on what a file says because of its name: CI, hooks, builds, checks, editors, agents. It is empty for
// other names. manifest is true for package manifests and lock files. Unlike Protected it does not count dot files that nobody
// is known to read, nor owners.
func Acts(name string) (why string, manifest bool) {
	reason, _ := lookUp(spelling.Fold(name))
	if reason == harmless || reason == namesOwners || reason == replacesRunners {
		return "", false
	}
	return string(reason), reason == declaresPackages
}

// refusedByKind knows the names that have rules of their own, which no operator lifts.
func refusedByKind(name string) bool {
	return slices.Contains([]string{".gitattributes", ".gitmodules"}, path.Base(spelling.Fold(name)))
}

// lookUp finds a folded path in the table.
func lookUp(name string) (reason, bool) {
	t := compiled()
	folders, base := path.Split(name)
	keys := []string{"/" + name, base, path.Base(folders) + "/" + base}
	for above := ""; folders != ""; {
		var folder string
		folder, folders, _ = strings.Cut(folders, "/")
		keys = append(keys, folder+"/", above+folder+"/")
		above = folder + "/"
	}
	replaces := false
	found := func(why reason) bool { // what a fix may not even change comes first
		replaces = replaces || why == replacesRunners
		return why != replacesRunners
	}
	for _, key := range keys {
		if why, ok := t.exact[key]; ok && found(why) {
			return why, true
		}
	}
	for _, g := range t.names {
		if strings.HasPrefix(base, g.begin) && strings.HasSuffix(base, g.end) && doublestar.MatchUnvalidated(g.glob, base) && found(g.reason) {
			return g.reason, true
		}
	}
	for _, g := range t.paths {
		if doublestar.MatchUnvalidated(g.glob, name) && found(g.reason) {
			return g.reason, true
		}
	}
	if replaces {
		return replacesRunners, true
	}
	return "", false
}

// table is rows made ready for looking up: folded, and without alternatives.
type table struct {
	// exact holds what has no wildcard: a name, two names with a slash between, folders with one at their end, and paths from
	// the root with one before.
	exact map[string]reason
	// names match the last part of a path at any depth, paths a whole one.
	names, paths []compiledGlob
}

type compiledGlob struct {
	glob   string
	reason reason
	// begin and end are what stands before the first wildcard and after the last one: cheaper to compare than a glob.
	begin, end string
}

var compiled = sync.OnceValue(func() table {
	t := table{exact: map[string]reason{}}
	for _, r := range rows {
		for _, glob := range alternatives(spelling.Fold(r.pattern)) {
			wild, folder := strings.Contains(glob, "*"), strings.HasSuffix(glob, "/")
			switch {
			case !wild && r.depth == atRoot:
				t.exact["/"+glob] = r.reason
			case !wild:
				t.exact[glob] = r.reason
			case !folder && r.depth == anyDepth && !strings.Contains(glob, "/"):
				t.names = append(t.names, compiledGlob{glob, r.reason, glob[:strings.Index(glob, "*")], glob[strings.LastIndex(glob, "*")+1:]})
			default:
				if folder {
					glob += "**"
				}
				if r.depth == anyDepth {
					glob = "**/" + glob
				}
				t.paths = append(t.paths, compiledGlob{glob: glob, reason: r.reason})
			}
		}
	}
	return t
})

// alternatives are the patterns a pattern with {a,b} stands for.
func alternatives(pattern string) []string {
	open := strings.LastIndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	among, after, _ := strings.Cut(pattern[open+1:], "}")
	var all []string
	for one := range strings.SplitSeq(among, ",") {
		all = append(all, alternatives(pattern[:open]+one+after)...)
	}
	return all
}
