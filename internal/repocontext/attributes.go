package repocontext

import (
	"context"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/spelling"
)

// attributeLimit bounds one .gitattributes file.
const attributeLimit = 64 << 10

// attributes are the linguist marks of a commit's .gitattributes files.
type attributes struct{ rules []attribute }

type attribute struct {
	pattern string // doublestar, from the root
	name    string // linguist-generated or linguist-vendored
	on      bool
}

// readAttributes reads the .gitattributes of the given folders at a commit, outer ones first. The pull request's own version
// alone would let it hide files.
func readAttributes(ctx context.Context, src Source, o *Options, commit string, folders []string) (*attributes, error) {
	var names []string
	for _, f := range folders {
		if name := path.Join(f, ".gitattributes"); !matches(o.Exclude, name) {
			names = append(names, name)
		}
	}
	texts, err := src.ReadFiles(ctx, commit, names, attributeLimit)
	if err != nil {
		return nil, err
	}
	a := &attributes{}
	for _, name := range names {
		dir := path.Dir(name)
		for line := range strings.Lines(string(texts[name])) {
			a.parse(dir, line)
		}
	}
	return a, nil
}

func (a *attributes) parse(dir, line string) {
	fields := attributeFields(line)
	if len(fields) < 2 || strings.HasPrefix(line, "#") || strings.HasPrefix(fields[0], "[attr]") {
		return
	}
	pattern := fields[0]
	if strings.HasSuffix(pattern, "/") { // of folders, which have no attributes in git
		return
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	pattern = path.Join(dir, noBraces.Replace(strings.TrimPrefix(pattern, "/")))
	if !doublestar.ValidatePattern(pattern) {
		return
	}
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		on := !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "!") && value != "false"
		name = strings.TrimLeft(name, "-!")
		if name == "linguist-generated" || name == "linguist-vendored" {
			a.rules = append(a.rules, attribute{pattern: pattern, name: name, on: on})
		}
	}
}

// attributeFields are the pattern of a line, which may be quoted as names are, and its attributes.
func attributeFields(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, `"`) {
		return strings.Fields(line)
	}
	for end := 1; end < len(line); end++ {
		switch line[end] {
		case '\\':
			end++
		case '"':
			return append([]string{spelling.Raw(line[:end+1])}, strings.Fields(line[end+1:])...)
		}
	}
	return nil
}

// noBraces makes braces stand for themselves, as they do in git.
var noBraces = strings.NewReplacer(`\\`, `\\`, `\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`)

// reason is why the attributes leave a path out; empty for none. set is false when no rule speaks about generated.
func (a *attributes) reason(p string) (reason string, set bool) {
	generated, vendored := false, false
	for _, r := range a.rules {
		if !doublestar.MatchUnvalidated(r.pattern, p) {
			continue
		}
		if r.name == "linguist-generated" {
			generated, set = r.on, true
		} else {
			vendored = r.on
		}
	}
	switch {
	case neverSkipped(p):
		return "", set
	case generated:
		return OmittedGenerated, set
	case vendored:
		return OmittedVendored, set
	}
	return "", set
}
