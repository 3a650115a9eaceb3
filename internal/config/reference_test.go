package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reference renders docs/config.md from the table of settings and their shapes.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	base := defaults()
	for _, k := range keys() {
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\n", k.path, k.doc)
		fmt.Fprintf(&b, "- Value: %s\n", inWords(k.shape))
		if d := display(k.field(&base)); !slices.Contains([]string{"(none)", "0", "(not set)", ""}, d) {
			if k.path != "reviewers" && k.path != "comments_analyzer" && k.path != "fixer" {
				fmt.Fprintf(&b, "- Default: `%s`\n", d)
			}
		}
		if k.env != "" {
			fmt.Fprintf(&b, "- Environment: `%s`\n", k.env)
		}
		switch {
		case k.operator != "":
			fmt.Fprintf(&b, "- Operator only: %s.\n", k.operator)
		case k.repositoryOnly:
			b.WriteString("- `.reviewerc` only.\n")
		case k.capped:
			b.WriteString("- `.reviewerc` may not exceed what the operator's file says.\n")
		}
		if k.was != "" {
			fmt.Fprintf(&b, "- Old spelling, still read: `%s`\n", k.was)
		}
		b.WriteString(inner(k.shape, "  "))
	}
	return b.String()
}

const referenceHead = `# Configuration

This page is generated from internal/config; its test compares them.

prloop reads two YAML files: ` + "`.reviewerc`" + ` at the root of the repository, and the operator's own file,
` + "`$XDG_CONFIG_HOME/prloop/config.yml`" + ` or what ` + "`PRLOOP_CONFIG`" + ` names. A local change (` + "`prloop run --base`, `--staged`, `--commit`, `--patch`" + `) uses the ` + "`.reviewerc`" + ` of the
working tree, committed or not; a pull request uses the one at its base commit, and cannot change it
([decision 28](decisions/0028-rules-of-the-working-tree.md)). Where several layers set a value, the first of these wins:

1. the command line, or the inputs of the action
2. the environment
3. for a pull request, the [policy](policy.md) of its repository
4. the crew it chooses, a named model configuration of the operator's file (` + "`crews`" + `)
5. ` + "`.reviewerc`" + `
6. the operator's file
7. the default

` + "`prloop config explain`" + ` prints every value a local range would have, with the layer that set it; ` + "`prloop config explain 123`" + ` those of a run of a
pull request. It takes the flags of ` + "`prloop run`" + ` that change settings. ` + "`prloop config validate`" + ` checks the ` + "`.reviewerc`" + ` of the working tree, or the file it is given.
` + "`prloop schema reviewerc`" + ` and ` + "`prloop schema config`" + ` print what editors check and complete by; the first is
[published](../schemas/reviewerc.schema.json), and ` + "`# yaml-language-server: $schema=" + RepositorySchema + "`" + `
on the first line of a ` + "`.reviewerc`" + ` tells editors so. ` + "`prloop init`" + ` writes that line.

A list or group set by a stronger layer replaces the weaker one; the two are not mixed. Only what a policy says of excluded paths and guidance is added.

Files hold at most 64 KB, no anchors, aliases, merge keys or tags, and no unknown keys; ` + "`.reviewerc`" + ` is no link. A ` + "`version: 1`" + ` is accepted on top.

Since a repository's file comes from people who may not be the operator, it cannot set what would hand the operator's
key or machine over. ` + "`use: command`" + ` in ` + "`.reviewerc`" + ` runs for local ranges, as a Makefile would; relative
paths start at the repository's root. On pull requests it runs only with ` + "`allow_repo_commands`" + ` and a program that is a bare name or an absolute
path: a relative path would lead into the pull request's own files. Relative paths in the operator's file start at that file's folder.

## Budgets

Model calls, tool calls, tokens, dollars and time are bounded for each agent (` + "`limits`" + `), for each try of the fixer (` + "`fix`" + `) and for the run
(` + "`run_limits`, `wall_time`" + `), and dollars for each pull request and day (` + "`budgets`" + `). The budget of a call is reserved before it is made.
A run has $5 unless somebody says otherwise ([decision 44](decisions/0044-a-run-has-a-bound-in-dollars.md)); ` + "`--max-run-cost DOLLARS`" + ` says so for one run.
A run that cannot go on for want of a budget names it and ends with status 5. A resumed run has what its earlier processes left.

## Settings
`

// inWords says what a shape accepts.
func inWords(s shape) string {
	if s["then"] != nil {
		return inWords(s["then"].(shape)) + ", or " + strings.ReplaceAll(inWords(s["else"].(shape)), "one of ", "")
	}
	switch s["type"] {
	case "integer", "number":
		return fmt.Sprintf("%s, %v to %v", article(s["type"].(string)), s["minimum"], s["maximum"])
	case "boolean":
		return "`true` or `false`"
	case "array":
		items := s["items"].(shape)
		return fmt.Sprintf("a list of %v to %v: %s", s["minItems"], s["maxItems"], inWords(items))
	case "object":
		return "a group of keys"
	}
	switch {
	case s["enum"] != nil:
		return "one of `" + strings.ReplaceAll(words(s["enum"].([]any)), ", ", "`, `") + "`"
	case s["format"] == glob, s["format"] == pathGlob:
		return "a glob such as `docs/**`"
	case s["pattern"] == timeSpan:
		return "a time span such as `90s` or `10m`"
	case s["pattern"] != nil:
		return forms[s["pattern"].(string)]
	}
	return "text"
}

// inner lists the keys of a group, or of a list's items, indented by depth.
func inner(s shape, indent string) string {
	for _, below := range []string{"then", "items", "additionalProperties"} {
		if next, ok := s[below].(shape); ok {
			s = next
		}
	}
	properties, _ := s["properties"].(shape)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name].(shape)
		fmt.Fprintf(&b, "%s- `%s`: %s", indent, name, inWords(p))
		if required, ok := s["required"].([]any); ok && slices.Contains(required, any(name)) {
			b.WriteString(", required")
		}
		if doc, ok := p["description"].(string); ok {
			b.WriteString(". " + strings.TrimSuffix(doc, "."))
		}
		b.WriteString("\n" + inner(p, indent+"  "))
	}
	return b.String()
}
