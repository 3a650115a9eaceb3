package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reference renders docs/config.md from the table of settings, their shapes, the sections and testdata/reference.md.
func reference(t *testing.T) string {
	t.Helper()
	head, err := os.ReadFile(filepath.Join("testdata", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(strings.NewReplacer("{{index}}", indexTable(), "{{agent}}", agentTable(), "{{schema}}", RepositorySchema).Replace(string(head)))
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n", s.title)
		for _, row := range s.rows {
			for _, k := range keysOf(row.key) {
				b.WriteString(entry(k))
			}
		}
	}
	return linked(t, b.String())
}

// keysOf are the settings of a top-level key.
func keysOf(top string) (out []key) {
	for _, k := range keys() {
		if first, _, _ := strings.Cut(k.path, "."); first == top {
			out = append(out, k)
		}
	}
	return out
}

// anchor is where a setting is described: GitHub writes the anchors of headings in lower case.
func anchor(path string) string { return "#" + strings.ToLower(strings.ReplaceAll(path, ".", "")) }

// indexTable is the table of all top-level keys.
func indexTable() string {
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "| **[%s](#%s)** | | | |\n", s.title, strings.ReplaceAll(strings.ToLower(s.title), " ", "-"))
		for _, row := range s.rows {
			settings, name, value, says := keysOf(row.key), "`"+row.key+"`", "", row.says
			standard := row.byDefault
			if settings[0].path == row.key {
				name, value, standard = fmt.Sprintf("[%s](%s)", name, anchor(row.key)), brief(settings[0].shape), cmp.Or(standard, defaultOf(settings[0]), "none")
			} else {
				var names []string
				for _, k := range settings {
					names = append(names, fmt.Sprintf("[%s](%s)", strings.TrimPrefix(k.path, row.key+"."), anchor(k.path)))
				}
				value = strings.Join(names, ", ")
			}
			switch {
			case !slices.ContainsFunc(settings, func(k key) bool { return k.operator == "" }):
				says += "; *operator only*"
			case !slices.ContainsFunc(settings, func(k key) bool { return !k.repositoryOnly }):
				says += "; `.reviewerc` *only*"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, value, standard, says)
		}
	}
	return b.String()
}

// entry describes one setting.
func entry(k key) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\n- Value: %s\n", k.path, k.doc, inWords(k.shape))
	if d := defaultOf(k); d != "" {
		fmt.Fprintf(&b, "- Default: %s\n", d)
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
	return b.String()
}

var zeroEnd = regexp.MustCompile(`(h)0m0s$|(m)0s$`)

// defaultOf is the default of a setting, empty for none. Who an agent is by default follows from other settings.
func defaultOf(k key) string {
	if isAgent(k.shape) {
		return ""
	}
	base := defaults()
	d := strings.Trim(display(k.field(&base)), `"`)
	if k.shape["pattern"] == timeSpan {
		d = zeroEnd.ReplaceAllString(d, "$1$2") // 24h0m0s
	}
	if slices.Contains([]string{"(none)", "0", "(not set)", ""}, d) {
		return ""
	}
	return "`" + d + "`"
}

// isAgent reports whether a shape is an agent, a word for one, or a list of them.
func isAgent(s shape) bool {
	properties, _ := group(s)["properties"].(shape)
	return properties["use"] != nil && properties["preset"] != nil
}

// group is the group of keys that a shape has, or the items of its list.
func group(s shape) shape {
	for _, below := range []string{"then", "items", "additionalProperties"} {
		if next, ok := s[below].(shape); ok {
			s = next
		}
	}
	return s
}

// agentTable describes the keys of agents once, those of a reviewer included.
func agentTable() string {
	properties := agentShape(true)["properties"].(shape)
	var b strings.Builder
	for _, name := range []string{"use", "name", "lens", "model", "preset", "path", "args", "timeout", "settings"} {
		p := properties[name].(shape)
		doc := strings.TrimSuffix(p["description"].(string), ".")
		if agentShape(false)["properties"].(shape)[name] == nil {
			doc = "Reviewers only. " + doc
		}
		if name == "lens" {
			doc += " ([the lenses](agents.md#lenses))"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, inWords(p), doc)
	}
	return b.String()
}

// agentInWords says which agents a setting takes, in place of their keys.
func agentInWords(s shape) string {
	use := s["properties"].(shape)["use"].(shape)
	words := "[an agent](#an-agent) whose `use` is " + inWords(use)
	if s["properties"].(shape)["name"] != nil {
		words += ", with a `name`"
	} else if s["properties"].(shape)["model"] == nil {
		words += ", without `model`"
	}
	return words
}

var (
	// pageName is a page of docs as the program's messages name it; decisionName a decision.
	pageName     = regexp.MustCompile(`\bdocs/([a-z-]+\.md)(#[a-z-]+)?`)
	decisionName = regexp.MustCompile(`\(decision ([0-9]+)\)`)
	// indexed is a line of the index, ownKey the key that a line describes: neither is a mention.
	indexed     = regexp.MustCompile(`^\| .*\]\(#`)
	ownKey      = regexp.MustCompile("^(?: +- |\\| )`\\w+`")
	settingName = regexp.MustCompile("`?\\b[a-z]+_?[a-z]*\\.[a-zA-Z_.]+[a-zA-Z]`?|`[a-z_]+`")
)

// linked makes links of the pages, decisions and settings that the page names.
func linked(t *testing.T, page string) string {
	t.Helper()
	paths := map[string]bool{}
	for _, k := range keys() {
		paths[k.path] = true
	}
	lines, here := strings.SplitAfter(page, "\n"), "the head"
	for i, line := range lines {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			here = strings.Trim(heading, "`\n")
			continue
		}
		if indexed.MatchString(line) {
			continue
		}
		named := ownKey.FindString(line)
		line = strings.TrimPrefix(line, named)
		line = pageName.ReplaceAllString(line, "[$1]($1$2)")
		line = decisionName.ReplaceAllStringFunc(line, func(m string) string {
			number := decisionName.FindStringSubmatch(m)[1]
			files, _ := filepath.Glob(fmt.Sprintf("../../docs/decisions/%04s-*.md", number))
			if len(files) != 1 {
				t.Fatalf("%s: there are %d decisions %s", here, len(files), number)
			}
			return fmt.Sprintf("([decision %s](decisions/%s))", number, filepath.Base(files[0]))
		})
		lines[i] = named + settingName.ReplaceAllStringFunc(line, func(m string) string {
			if name := strings.Trim(m, "`"); paths[name] && name != here {
				return fmt.Sprintf("[`%s`](%s)", name, anchor(name))
			}
			return m
		})
	}
	return strings.Join(lines, "")
}

// brief says what a shape accepts in a word or two.
func brief(s shape) string {
	switch {
	case s["then"] != nil:
		return "[agent](#an-agent), `off`"
	case s["else"] != nil:
		return "`true`, or a list"
	case isAgent(s) && s["type"] == "array":
		return "list of [agents](#an-agent)"
	case isAgent(s):
		return "[agent](#an-agent)"
	case s["type"] == "integer", s["type"] == "number":
		return fmt.Sprintf("%v to %v", s["minimum"], s["maximum"])
	case s["type"] == "array":
		return "list"
	case s["type"] == "object":
		return "group"
	case s["pattern"] == timeSpan:
		return "time span"
	case s["pattern"] == httpAddress:
		return "address"
	case s["pattern"] != nil:
		return "name"
	}
	return strings.TrimPrefix(inWords(s), "one of ")
}

// inWords says what a shape accepts.
func inWords(s shape) string {
	if s["else"] != nil && s["then"] == nil {
		return "`true` or `false`, or " + inWords(s["else"].(shape))
	}
	if s["then"] != nil {
		return inWords(s["then"].(shape)) + "; or " + strings.ReplaceAll(inWords(s["else"].(shape)), "one of ", "")
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
		if isAgent(s) {
			return agentInWords(s)
		}
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

// inner lists the keys of a group, or of a list's items, indented by depth. Those of agents and those that are settings themselves are described
// in their own places.
func inner(s shape, indent string) string {
	if isAgent(s) {
		return ""
	}
	s = group(s)
	properties, _ := s["properties"].(shape)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name].(shape)
		doc, _ := p["description"].(string)
		if strings.HasPrefix(doc, "As `") {
			fmt.Fprintf(&b, "%s- `%s`: as %s\n", indent, name, strings.TrimSuffix(strings.TrimPrefix(doc, "As "), "."))
			continue
		}
		fmt.Fprintf(&b, "%s- `%s`: %s", indent, name, inWords(p))
		if required, ok := s["required"].([]any); ok && slices.Contains(required, any(name)) {
			b.WriteString(", required")
		}
		if doc != "" {
			b.WriteString(". " + strings.TrimSuffix(doc, "."))
		}
		b.WriteString("\n" + inner(p, indent+"  "))
	}
	return b.String()
}
