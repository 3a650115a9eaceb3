package pushpolicy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

// Instructions are the files that are rules for reviewers or instructions for agents under names of their own: those of context.guidance (threats.md T746), and those
// that an agent's own file, such as CLAUDE.md, imports (threats.md T747). The zero value is of no tree.
type Instructions struct {
	// Guidance are the names and globs of context.guidance.
	Guidance []string
	// imported are folded names.
	imported map[string]bool
	// beyond is true where there are more instructions than are read: then any prose may be a part of them.
	beyond bool
}

// InstructionBytes bounds what is read of a tree for Instructions.
const InstructionBytes = 4 << 20

// instructionBounds are those of Claude Code in depth.
var instructionBounds = bounds{files: 1000, bytes: InstructionBytes, depth: 5}

// Add reads the instructions of a tree, and what they import, as Included.Add does the CI configurations. links are those of the tree.
func (in *Instructions) Add(links *Links, sizes map[string]int64, read func(names []string) (map[string][]byte, error)) error {
	if in.imported == nil {
		in.imported = map[string]bool{}
	}
	// known reports whether a name of a file is one that is looked for. Where links give it more names than are looked at, Markdown is.
	known := func(name string, is func(string) bool) bool {
		aliases, all := links.aliases(name)
		return (!all && markdown(name) || is(name) || slices.ContainsFunc(aliases, is)) && !vendored.MatchString(name)
	}
	var first []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if markdown(name) && known(name, instructs) {
			first = append(first, name)
		}
	}
	beyond, err := instructionBounds.follow(first, sizes, read, in.imports, func(name string) bool {
		return known(name, func(name string) bool { return in.imported[spelling.Fold(name)] })
	})
	in.beyond = in.beyond || beyond
	return err
}

func markdown(name string) bool {
	return slices.Contains([]string{".md", ".mdc", ".mdx", ".markdown"}, strings.ToLower(path.Ext(name)))
}

func instructs(name string) bool {
	why, _ := Acts(name)
	return reason(why) == instructsAgents
}

var (
	fence    = lazyregexp.New("^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$")
	codeSpan = lazyregexp.New("``[^\n]*?``|`[^`\n]*`")
	// imported is a path behind an @, in which a blank has a backslash before it.
	imported = lazyregexp.New(`(?:^|\s)@((?:[^\s\\]|\\ )+)`)
)

// imports takes what a text imports outside of code. Tools look from the file's own folder, some from the root.
func (in *Instructions) imports(file, text string) {
	open := ""
	var code []string // since the fence that is open
	for line := range strings.Lines(text) {
		m := fence.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case m == nil && open == "":
			in.importsOf(file, line)
		case m == nil:
			code = append(code, line)
		case open == "":
			open = m[1] + m[3]
		case strings.HasPrefix(m[1]+m[3], open) && strings.TrimSpace(m[2]+m[4]) == "":
			open, code = "", nil
		}
	}
	for _, line := range code { // nobody closed it: tools may not take it for one
		in.importsOf(file, line)
	}
}

// importsOf takes what a line imports.
func (in *Instructions) importsOf(file, line string) {
	for _, m := range imported.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
		way, _, _ := strings.Cut(strings.ReplaceAll(m[1], `\ `, " "), "#")
		way = strings.TrimRight(way, ".,;:!?)")
		if way == "" || path.IsAbs(way) {
			continue
		}
		in.imported[spelling.Fold(path.Join(".", way))] = true
		in.imported[spelling.Fold(path.Join(path.Dir(file), way))] = true
	}
}

// why says why a file is a part of instructions; empty means that it is not known as one.
func (in *Instructions) why(name string) string {
	switch {
	case slices.ContainsFunc(in.Guidance, func(rules string) bool { return guides(rules, name) }):
		return "reviewers take it for rules"
	case in.imported[spelling.Fold(name)]:
		return "a file of instructions for agents imports it"
	case in.beyond && (markdown(name) || prose.MatchString(name)):
		return "there are more instructions for agents than are read, and one may import it"
	}
	return ""
}

// guides reports whether an entry of context.guidance names a file. A name without a slash counts in every folder.
func guides(rules, file string) bool {
	switch {
	case strings.ContainsAny(rules, "*?[{"):
		return globs.Any([]string{rules}, file)
	case !strings.Contains(rules, "/"):
		return path.Base(file) == rules
	}
	return path.Clean(rules) == file
}
