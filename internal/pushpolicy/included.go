package pushpolicy

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// IncludedBytes bounds what is read of a tree for Included.
const IncludedBytes = 1 << 20

const (
	includedFiles = 100
	// includedPatterns bounds what each file is matched with.
	includedPatterns = 100
)

// includedBounds are of the CI's own files, what they include, and what that includes.
var includedBounds = bounds{files: includedFiles, bytes: IncludedBytes, depth: 3}

// Included is what the CI configurations of trees name, and the folders of actions: a pipeline is made of it, wherever it stands (threats.md T711).
// The zero value is of no tree.
type Included struct {
	// named are files, patterns what GitLab finds some by.
	named, patterns, actions map[string]bool
	reasons                  map[string]reason
	// beyond is true where the CI's own files, and what they include, are more than is read: then any configuration may be a part of them.
	beyond bool
	// Links are those of the trees.
	Links Links
	// Instructions are what agents and reviewers are told in them.
	Instructions Instructions
}

// Add reads the CI configurations of a tree, and what they name. sizes are its files, in bytes; read gives the content of some of them.
func (in *Included) Add(sizes map[string]int64, read func(names []string) (map[string][]byte, error)) error {
	if in.named == nil {
		in.named, in.patterns, in.actions = map[string]bool{}, map[string]bool{}, map[string]bool{}
		in.reasons = map[string]reason{}
	}
	var next []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if (pipeline(name) || unnamed.MatchString(name)) && !vendored.MatchString(name) && in.reason(name) == runsCI {
			next = append(next, name)
		}
		if folder := path.Dir(name); action.MatchString(name) && folder != "." { // the root's would be the whole repository
			in.actions[folder] = true
		}
	}
	beyond, err := includedBounds.follow(next, sizes, read, func(name, text string) {
		in.mentions(name, text)
		in.beyond = in.beyond || len(in.patterns) > includedPatterns
	}, func(name string) bool {
		// What is JSON includes nothing, and what other tools are known to read says nothing to a CI.
		return pipeline(name) && path.Ext(name) != ".json" && in.why(name) != "" && slices.Contains([]reason{runsCI, harmless}, in.reason(name))
	})
	in.beyond = in.beyond || beyond
	return err
}

// reason is what Acts says of a name. Trees have most of theirs in common.
func (in *Included) reason(name string) reason {
	if _, known := in.reasons[name]; !known {
		why, _ := Acts(name)
		in.reasons[name] = reason(why)
	}
	return in.reasons[name]
}

var (
	vendored = lazyregexp.New(`(^|/)(vendor|node_modules)/`)
	action   = lazyregexp.New(`(?i)(^|/)action\.ya?ml$`)
	// workflow are the files that are written as GitHub's are.
	workflow = lazyregexp.New(`(?i)(^|/)\.(github|gitea|forgejo)/workflows/|(^|/)action\.ya?ml$`)
	// unnamed are the CI's files whose names have no ending of their own.
	unnamed = lazyregexp.New(`(?i)(^|/)(jenkinsfile[^/]*|[^./]+)$`)
	quoted  = lazyregexp.New(`"[^"\n]+"|'[^'\n]+'`)
)

// pipeline reports that a pipeline may be made of a file of this name. Scripts and sources are not meant: they act when the project runs.
func pipeline(name string) bool {
	return slices.Contains([]string{".yml", ".yaml", ".json", ".jsonnet", ".libsonnet", ".star", ".groovy", ".jenkins", ".jenkinsfile"}, strings.ToLower(path.Ext(name)))
}

// mentions takes what the text of a file names, from the root of the tree or from the file's own folder.
func (in *Included) mentions(file, text string) {
	for _, value := range textsOf(file, text) {
		if workflow.MatchString(file) && value.includesNothing() {
			continue
		}
		words := paths(value.text)
		for _, word := range words {
			for _, name := range []string{path.Join(".", word), path.Join(path.Dir(file), word)} {
				if pipeline(name) {
					in.named[name] = true
				}
			}
		}
		if !slices.Contains(value.below, "include") && !slices.Contains(value.below, "local") {
			continue
		}
		for _, word := range words { // there GitLab takes patterns
			if strings.Contains(word, "*") {
				in.patterns[path.Join(".", strings.ReplaceAll(word, "**.", "**/*."))] = true
			}
		}
	}
}

// textsOf are the texts of a CI's file. Where it is YAML that cannot be read, all of it may stand below any key.
func textsOf(file, text string) []yamlText {
	var below []string
	if ext := strings.ToLower(path.Ext(file)); ext == ".yml" || ext == ".yaml" {
		all, err := yamlTexts(text)
		if err == nil {
			return all
		}
		below = []string{"include"}
	}
	all := []yamlText{{text, below}}
	for _, q := range quoted.FindAllString(text, -1) {
		all = append(all, yamlText{q[1 : len(q)-1], below})
	}
	return all
}

// includesNothing reports that a text of a workflow of GitHub, Gitea or Forgejo is a command, whose files are as its scripts, or a path that
// tells when it runs. No such command adds to the pipeline. What an input of an action stands for nobody knows.
func (t yamlText) includesNothing() bool {
	if len(t.below) == 0 || slices.Contains(t.below, "with") {
		return false
	}
	last := t.below[len(t.below)-1]
	return last == "run" || t.below[0] == "on" && (last == "paths" || last == "paths-ignore")
}

// paths are what of a text may be a path: its words, and all of it, since a name may have blanks. Azure takes backslashes for slashes, and
// says with an @ in which repository a file stands.
func paths(text string) []string {
	text = strings.ReplaceAll(text, `\`, "/")
	all := append(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`,;:()[]{}<>=|&$!?#%^", r) }), strings.TrimSpace(text))
	for _, word := range all {
		if at := strings.LastIndexByte(word, '@'); at > 0 {
			all = append(all, word[:at])
		}
	}
	return all
}

// why says why a file is a part of a CI; empty means that it is not known as one.
func (in *Included) why(name string) string {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if in.actions[folder] {
			return "it is in the folder of an action"
		}
	}
	switch {
	case !pipeline(name):
	case in.beyond:
		return "there are more CI configurations than are read, and one may include it"
	case in.named[name] || in.matched(name):
		return "a CI configuration includes it"
	}
	return ""
}

// matched reports that a pattern stands for a file.
func (in *Included) matched(name string) bool {
	for pattern := range in.patterns {
		if doublestar.MatchUnvalidated(pattern, name) {
			return true
		}
	}
	return false
}

// part says why a file is a part of a CI, or of instructions.
func (in *Included) part(name string) string {
	return cmp.Or(in.why(name), in.Instructions.why(name))
}

// Check refuses changes of what is included, and of what links give a protected name; allow are doublestar globs the operator opens.
func (in *Included) Check(changes []Change, allow []string) (refused []review.Refusal) {
	for _, c := range changes {
		if opened(allow, c) {
			continue
		}
		for _, name := range c.names() {
			why := cmp.Or(in.part(name), in.Links.protected(name, func(alias string) string { return cmp.Or(Protected(alias), in.part(alias)) }))
			if why != "" {
				refused = append(refused, refuse(RuleProtectedPath, name, why))
				break
			}
		}
	}
	return refused
}
