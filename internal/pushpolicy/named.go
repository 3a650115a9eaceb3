package pushpolicy

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

// Named are the files that others which act by themselves name by a path: git hooks, settings of agents, install scripts of packages, backends of builds, and what editors and
// shells run as a folder is opened. They act with them, whatever their ending (threats.md T828). The zero value is of no tree.
type Named struct {
	// by has for each folded path the file that names it first.
	by map[string]string
	// called are the names of scripts of manifests that others which act by themselves call.
	called map[string]bool
	// plugins are the folders that marketplaces of agents name as those of plugins, by folded path: their prose instructs agents (threats.md T829).
	plugins map[string]string
	// beyond is true where there is more of such files than is read: then any file may be named.
	beyond bool
	// Changed are the files that the pull request changes: a finding about its own work can be fixed.
	Changed map[string]bool
}

// NamedBytes bounds what is read of a tree for Named.
const NamedBytes = 16 << 20

// namedBounds are of the files that act by themselves, and of the shell scripts that they name.
var namedBounds = bounds{files: 10_000, bytes: NamedBytes, depth: 5}

// Add reads the files of a tree that act by themselves, as Included.Add does the CI configurations.
func (n *Named) Add(links *Links, sizes map[string]int64, read func(names []string) (map[string][]byte, error)) error {
	if n.by == nil {
		n.by, n.plugins, n.called = map[string]string{}, map[string]string{}, map[string]bool{}
	}
	manifests := map[string]string{} // they are read last
	var first []string
	as := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		aliases, _ := links.aliases(name)
		for _, alias := range append([]string{name}, aliases...) {
			if !vendored.MatchString(name) && acting(alias) {
				first, as[name] = append(first, name), alias
				break
			}
		}
	}
	beyond, err := namedBounds.follow(first, sizes, read, func(name, text string) {
		known := name
		if alias, is := as[name]; is {
			known = alias
		}
		if manifest.MatchString(known) {
			manifests[known] = text
		} else {
			n.names(known, text)
		}
	}, func(name string) bool { return shellScript.MatchString(name) && n.file(name) != "" })
	n.beyond = n.beyond || beyond
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		n.names(name, manifests[name])
	}
	return err
}

var (
	shellScript = lazyregexp.New(`(?i)\.(sh|bash|zsh)$|(^|/)[^./]+$`)
	// says are the endings of settings and scripts. Prose mentions files, lists of what is ignored do too, and lock files name none of the tree.
	says = lazyregexp.New(`(?i)(^|/)\.?[^./]*$|\.(json[c5]?|ya?ml|toml|sh|bash|zsh|fish|ps1|bat|cmd|[cm]?[jt]s|py|rb|pl|lua|php|r|el|exs|pkl|code-workspace)$`)
	// opening are the files that run as a folder is entered or opened.
	opening = lazyregexp.New(`(?i)(^|/)(\.envrc|\.gitpod\.yml|\.?devcontainer\.json|\.devcontainer/.*|\.(exrc|n?vimrc|lvimrc|gdbinit|lldbinit|ghci|ocamlinit|pdbrc|irbrc|pryrc|rprofile)|` +
		`\.(nvim|lazy)\.lua|\.iex\.exs|\.dir-locals(-2)?\.el)$`)
	editorTasks = lazyregexp.New(`(?i)(^|/)\.vscode/tasks\.json$|\.code-workspace$`)
	manifest    = lazyregexp.New(`(?i)(^|/)(package\.(json5?|yaml)|composer\.json|pyproject\.toml|cargo\.toml)$`)
	// mentions are files of agents that speak of others, and run none.
	mentions = lazyregexp.New(`(?i)(ignore|rules[\w-]*|hints|guidelines|instructions|include)$`)
)

// acting reports that a file names others that act with it.
func acting(name string) bool {
	why, _ := Acts(name)
	switch reason(why) {
	case gitHooks:
		return says.MatchString(name)
	case instructsAgents:
		return says.MatchString(name) && !mentions.MatchString(name)
	}
	return opening.MatchString(name) || editorTasks.MatchString(name) || manifest.MatchString(name)
}

// names takes what the text of a file names, from each folder down to its own: settings speak of the root, of the project's folder, or of their own.
func (n *Named) names(file, text string) {
	why, _ := Acts(file)
	var folders []string
	for folder := path.Dir(file); ; folder = path.Dir(folder) {
		if folders = append(folders, folder); folder == "." || folder == "/" || manifest.MatchString(file) { // a manifest speaks of its own folder
			break
		}
	}
	if marketplace.MatchString(file) {
		n.offers(file, text)
	}
	folders = n.within(folders, matchesOf(elsewhere, text))
	for _, part := range n.acts(file, text) {
		part = variable.ReplaceAllString(part, " ")
		for _, script := range matchesOf(calling, part) {
			n.called[script] = script != "test" // tests have rules of their own
		}
		for _, word := range distinct(append(paths(part), modules(part)...)) {
			if !strings.ContainsAny(word, "./") || len(word) > mostPath || prose.MatchString(word) && reason(why) != instructsAgents {
				continue
			}
			for _, folder := range folders {
				if !n.name(spelling.Fold(path.Join(folder, word)), file) {
					return
				}
			}
		}
		for _, run := range append(interpreted.FindAllString(part, -1), modules(part)...) { // interpreters find an ending themselves; a linter is given a folder
			for _, word := range distinct(paths(run)) {
				if strings.Contains(word, "/") && len(word) <= mostPath {
					for _, folder := range folders {
						if !n.name(anyEnding+spelling.Fold(path.Join(folder, word)), file) {
							return
						}
					}
				}
			}
		}
	}
}

var marketplace = lazyregexp.New(`(?i)(^|/)\.[a-z]+(-plugin|/plugins)/marketplace\.json$`)

// offers takes the folders of the plugins that a marketplace offers, from the folder that it stands in. The root is none.
func (n *Named) offers(file, text string) {
	values := valuesOf(file, text)
	roots := []string{""}
	for _, v := range values {
		if len(v.below) > 0 && v.below[len(v.below)-1] == "pluginRoot" {
			roots = append(roots, v.text)
		}
	}
	if roots = distinct(roots); len(roots) > mostElsewhere {
		roots, n.beyond = roots[:mostElsewhere], true
	}
	for _, v := range values {
		if len(v.below) == 0 || !slices.Contains(v.below, "source") {
			continue
		}
		for _, root := range roots {
			for from := path.Dir(path.Dir(file)); ; from = path.Dir(from) {
				if len(n.plugins) == mostNamed {
					n.beyond = true
					return
				}
				if folder := path.Join(from, root, v.text); folder != "." {
					n.plugins[spelling.Fold(folder)] = file
				}
				if from == "." || from == "/" {
					break
				}
			}
		}
	}
}

// plugin is the marketplace that names a folder above a file as that of a plugin; empty where there is none.
func (n *Named) plugin(name string) string {
	for folder := path.Dir(spelling.Fold(name)); folder != "." && folder != "/"; folder = path.Dir(folder) {
		if by := n.plugins[folder]; by != "" {
			return by
		}
	}
	return ""
}

// mostPath is the most bytes of a path.
const mostPath = 1024

// anyEnding is before names that may have an ending more: interpreters add theirs.
const anyEnding = "*/"

// mostNamed is how many paths are kept, and mostElsewhere in how many other folders the commands of a file are looked for: beyond these any file may be named.
const (
	mostNamed     = 500_000
	mostElsewhere = 20
)

// name keeps a path; false means that there are too many.
func (n *Named) name(name, file string) bool {
	switch {
	case n.by[name] != "":
	case len(n.by) == mostNamed:
		n.beyond = true
		return false
	default:
		n.by[name] = file
	}
	return true
}

// within are folders, and others seen from each of them.
func (n *Named) within(folders, others []string) []string {
	all := slices.Clip(folders)
	for i, other := range distinct(others) {
		if i == mostElsewhere {
			n.beyond = true
			break
		}
		for _, folder := range folders {
			all = append(all, path.Join(folder, other))
		}
	}
	return all
}

// distinct are words without those that came before.
func distinct(words []string) []string {
	seen := make(map[string]bool, len(words))
	return slices.DeleteFunc(words, func(word string) bool {
		again := seen[word]
		seen[word] = true
		return again
	})
}

var (
	// variable is what stands for a folder in a path: of the project, of the plugin.
	variable = lazyregexp.New(`\$(\{[\w:.-]*\}|\w+)`)
	// inProse are files that tell agents in words what to do.
	inProse = lazyregexp.New(`(?i)\.(md|mdc|mdx|markdown|rst|adoc|txt)$`)
	module  = lazyregexp.New(`(?:^|\s)-m[\s"',]+([\w.]+)`)
)

// modules are the paths of what python -m runs, with the packages that it is in.
func modules(text string) (all []string) {
	for _, m := range module.FindAllStringSubmatch(text, -1) {
		all = append(all, packages("./"+strings.ReplaceAll(m[1], ".", "/"))...)
	}
	return all
}

// packages are the paths of a module and of each package above it.
func packages(module string) (all []string) {
	for ; strings.Contains(module, "/") && path.Base(module) != "."; module = module[:strings.LastIndexByte(module, '/')] {
		all = append(all, module)
	}
	return all
}

var (
	// elsewhere is where commands of a file are run, or looked for; calling names the script of a manifest that they call.
	elsewhere = lazyregexp.New(`(?m)(?:\bcd[ \t]+|["']?\b(?:root|cwd|source_dir|working[_-]?[dD]irectory)["']?[ \t]*[:=][ \t]*)["']?(?:\$\{\w*\}/)?([\w.-]+(?:/[\w.-]+)*/?)`)
	calling   = lazyregexp.New(`\b(?:npm|pnpm|yarn|bun)(?:[ \t]+-\S+)*(?:[ \t]+run(?:-script)?)?(?:[ \t]+-\S+)*[ \t]+([\w:.-]+)`)
)

// acts are the parts of a file that say what runs by itself.
func (n *Named) acts(file, text string) []string {
	switch base := strings.ToLower(path.Base(file)); {
	case editorTasks.MatchString(file):
		if !strings.Contains(text, "folderOpen") {
			return nil
		}
	case base == "pyproject.toml":
		return backends(text)
	case base == "cargo.toml":
		return matchesOf(cargoBuild, text)
	case manifest.MatchString(file):
		return installs(text, func(script string) bool { return n.called[script] && base != "composer.json" })
	}
	var all []string
	for _, value := range valuesOf(file, text) {
		last := ""
		if len(value.below) > 0 {
			last = value.below[len(value.below)-1]
		}
		if why, _ := Acts(file); reason(why) == instructsAgents && len(value.below) > 0 && !slices.ContainsFunc(value.below, runs.MatchString) || selects.MatchString(last) || tells.MatchString(last) && strings.ContainsAny(value.text, " \n") {
			continue
		}
		all = append(all, value.text)
	}
	return all
}

// valuesOf are the texts of a file: of settings each value, else all of it.
func valuesOf(file, text string) []yamlText {
	switch strings.ToLower(path.Ext(file)) {
	case ".json", ".yml", ".yaml":
		if all, err := yamlTexts(text); err == nil {
			return all
		}
	}
	return []yamlText{{text: text}}
}

var (
	// runs are the keys of agents' settings below which stands what they run, or read as instructions.
	runs = lazyregexp.New(`(?i)hook|command|script|helper|status_?line|instructions|context_?file|prompt|output_?style|^(args|run|cmd|read|notify|agents?|skills|rules)$`)
	// tells are the keys below which stand files to read, or words for an agent, which mention any.
	tells = lazyregexp.New(`(?i)prompt|instructions`)
	// selects are the keys of hooks that say for which files they run.
	selects    = lazyregexp.New(`^(files|exclude|glob|types)$`)
	cargoBuild = lazyregexp.New(`(?m)^\s*(?:package\.)?build\s*=\s*["']([^"']+)`)
	backend    = lazyregexp.New(`build-backend["']?\s*=\s*["']([\w.]+)`)
	backendIn  = lazyregexp.New(`backend-path["']?\s*=\s*\[([^\]]*)`)
	buildHook  = lazyregexp.New(`(?m)^\s*(?:custom-hook|script)\s*=\s*["']([^"']+)|^\[tool\.hatch\.[\w.-]*hooks\.custom\][^\[]*?path\s*=\s*["']([^"']+)`)
)

// matchesOf are what the groups of a pattern match.
func matchesOf(pattern *lazyregexp.Regexp, text string) (all []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1:]...)
	}
	return all
}

// backends are the modules that build a Python project, and its hooks.
func backends(text string) []string {
	all := matchesOf(buildHook, text)
	for _, way := range matchesOf(backendIn, text) {
		for _, q := range quoted.FindAllString(way, -1) {
			for _, module := range matchesOf(backend, text) {
				all = append(all, "./"+q[1:len(q)-1]+"/"+strings.ReplaceAll(module, ".", "/"), "./"+q[1:len(q)-1]+"/"+strings.Split(module, ".")[0])
			}
		}
	}
	return all
}

var (
	// installing are the scripts that npm and composer run by themselves as packages are installed; hooking are the keys of tools that run as somebody commits.
	installing = lazyregexp.New(`^((pre|post)?(install|prepare)|prepublish|dependencies|pnpm:devPreinstall|(pre|post)-(install|update|autoload|root|package|create|archive|dependencies|command|file|operations|pool)\b.*)$`)
	hooking    = lazyregexp.New(`^(husky|lint-staged|nano-staged|simple-git-hooks|gitHooks|ghooks|pre-(commit|push))$`)
	// interpreted is what an interpreter runs, with what it loads before, or a command that is called by its path. What else it is given is data, as it is for a builder.
	interpreted = lazyregexp.New(`(?m)(?:^|[\s;&|(@])(?:(?:node|bun|deno|tsx|ts-node|jiti|zx|python3?|ruby|perl|php|(?:ba|z|da|k|fi)?sh)(?:\s+run)?(?:\s+(?:-r|--require|--import|--loader)\s+[^\s;&|]+|\s+-[^\s;&|]+)*\s+[^\s;&|]+)|` +
		`(?:^|[;&|(])[ \t]*[\w.-]+/[^\s;&|]+`)
)

// installs are the commands of a manifest that run as packages are installed or somebody commits. Of other scripts that those call, what an interpreter runs: a build names the sources it packs.
func installs(text string, called func(script string) bool) (all []string) {
	var parsed map[string]any
	if json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &parsed) != nil {
		return []string{text}
	}
	for key, value := range parsed {
		if hooking.MatchString(key) {
			all = append(all, textIn(value)...)
		}
	}
	scripts, _ := parsed["scripts"].(map[string]any)
	var next []string
	seen := map[string]bool{}
	call := func(name string) {
		if !seen[name] && scripts[name] != nil {
			seen[name], next = true, append(next, name)
		}
	}
	for name := range scripts {
		if installing.MatchString(name) || called(name) {
			call(name)
		}
	}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, command := range textIn(scripts[name]) {
			all = append(all, interpreted.FindAllString(command, -1)...)
			for word := range strings.FieldsFuncSeq(command, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(";&|\"'@", r) }) {
				if scripts[word] != nil {
					call("pre" + word)
					call(word)
					call("post" + word)
				}
			}
		}
	}
	return all
}

// textIn are the texts of a value of JSON. Keys say when they count.
func textIn(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, textIn(one)...)
		}
	case map[string]any:
		for _, one := range v {
			all = append(all, textIn(one)...)
		}
	}
	return all
}

// file is the one that names a path; empty where none is known.
func (n *Named) file(name string) string {
	name = spelling.Fold(name)
	if by := n.by[name]; by != "" {
		return by
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	if slices.Contains([]string{"__main__", "__init__", "index"}, path.Base(stem)) {
		if by := n.by[anyEnding+path.Dir(stem)]; by != "" {
			return by
		}
	}
	if prose.MatchString(name) || stem == name {
		return ""
	}
	return n.by[anyEnding+stem]
}

// why says why a file acts with another that names it; empty means that it is not known to.
func (n *Named) why(name string) string {
	if by := n.plugin(name); by != "" && inProse.MatchString(name) {
		return spelling.Name(by) + " names its folder as that of a plugin for agents"
	}
	switch by := n.file(name); {
	case n.Changed[name]:
	case by != "":
		return spelling.Name(by) + " names it, and acts without anybody running the project"
	case n.beyond && !prose.MatchString(name):
		return "there are more hooks, manifests and settings than are read, and one may name it"
	}
	return ""
}
