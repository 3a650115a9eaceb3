package floors

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// The forms of citations, one for each kind of document. They are the same in code, tests, scripts and pages; in Markdown the
// name of the document may be a link.
var (
	// byNumber cites rows and headings of docs/spec.md and docs/threats.md by number, several after one name, ranges included.
	byNumber = regexp.MustCompile(`\b(spec|threats)\.md(?:\]\([^()\s]*\))? (` + number + `(?:(?:, | and | or | to |-)` + number + `)*)`)
	// byHeading cites a section of a page in docs by its heading.
	byHeading = regexp.MustCompile(`\b([a-z][a-z-]*)\.md "([^"\n]+)"`)
	// byDecision cites pages of docs/decisions.
	byDecision = regexp.MustCompile(`\b[Dd]ecisions? \[?([0-9]+)((?:(?:, | and | to )[0-9]+)*)\b`)
	// link is a Markdown link; byTest and byScript name what holds a promise, byFile where something is done.
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	byTest   = regexp.MustCompile(`\b([\w./-]+_test\.go):(\w+)`)
	byScript = regexp.MustCompile(`\bscript:([\w./-]+)`)
	byFile   = regexp.MustCompile("`([a-z][\\w-]*/[\\w./-]+\\.(?:go|md|sql|yml))[`:]")

	one     = regexp.MustCompile(`([A-Z])([0-9]+(?:\.[0-9]+)?)`)
	through = regexp.MustCompile(`([A-Z])([0-9]+)(?: to |-)[A-Z]([0-9]+)`)
)

// Scripts stand in one of two folders: those of features, and those of attacks.
const (
	scripts = "internal/cli/testdata/script"
	attacks = "internal/cli/testdata/attack"
)

const number = `[A-Z][0-9]+(?:\.[0-9]+)?\b`

// unsettled are ways to cite that nobody can follow: documents that are not here, and numbers without their document.
var unsettled = []*regexp.Regexp{
	regexp.MustCompile(`\b[Dd]esign [0-9]`),
	regexp.MustCompile(`\b[Ss]tyle [0-9]`),
	regexp.MustCompile(`\b[Ss]ecurity (?:§|[0-9]+\.[0-9]|[0-9]+(?:[,;:)]|$)|[TKS][0-9]|P[0-9]+(?:[,;:).]| and ))`),
	regexp.MustCompile(`\b[Ff]inding [0-9]+, T[0-9]`),
	regexp.MustCompile(`\breview (?:loop|agent) spec\b|\breviewer design\b|\brepo policy\b`),
	regexp.MustCompile(`\b[TK][0-9]{2,3}\b|\bP1[0-9]\b|\bP[4-9](?:[:)]| and P| says| allows)|§`),
	regexp.MustCompile(`\bA[1-7]\b|\([BES][0-9]{1,2}\)`),
}

// whole is a page without a number or heading behind it, or with one on the next line, where no search finds it.
var whole = regexp.MustCompile(`(?:^|[ (])(?:spec|threats|design)\.md\b`)

// exempt are files whose words are not prloop's, or which define what others cite.
func exempt(name string) bool {
	switch {
	case name == self, name == "docs/spec.md", name == "docs/threats.md":
		return true
	case name == "internal/lazyregexp/lazyregexp_test.go": // it matches such words
		return true
	case strings.HasPrefix(name, "docs/decisions/"): // they name the specifications, by links
		return true
	case strings.Contains("/"+name, "/testdata/"):
		return !strings.HasSuffix(name, ".txtar")
	}
	return strings.HasSuffix(name, ".sum") || strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, "docs/")
}

// listed holds the pages where a number stands alone because the page says once whose they are.
var listed = map[string]string{"internal/failpoint/doc.go": "threats"}

// self holds examples of what is wrong.
const self = "internal/floors/citations_test.go"

// library is all text of the repository, by path.
type library map[string]string

// numbers writes out a list such as "P5, T20 to T24".
func numbers(list string) []string {
	var out []string
	for _, m := range through.FindAllStringSubmatch(list, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		if to-from > 99 { // its ends will do
			continue
		}
		for n := from; n <= to; n++ {
			out = append(out, fmt.Sprintf("%s%0*d", m[1], len(m[2]), n))
		}
	}
	out = append(out, one.FindAllString(list, -1)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// check gives every citation that leads nowhere, as "file:line: what is wrong", and how many citations there are.
func (lib library) check() (faults []string, cited int) {
	pages := map[string]page{}
	for name, text := range lib {
		if strings.HasSuffix(name, ".md") && !strings.Contains("/"+name, "/testdata/") {
			pages[name] = read(text)
			for _, f := range pages[name].faults {
				faults = append(faults, name+": "+f)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lib)) {
		lines := strings.Split(lib[name], "\n")
		_, isPage := pages[name]
		if isPage {
			lines = prose(lib[name])
		}
		for i, line := range lines {
			wrong := func(format string, args ...any) {
				faults = append(faults, fmt.Sprintf("%s:%d: ", name, i+1)+fmt.Sprintf(format, args...))
			}
			if name != self {
				cited += lib.checkLine(pages, line, wrong)
			}
			if isPage {
				lib.checkPage(pages, name, line, wrong)
			}
			if !exempt(name) {
				lib.checkForms(pages, name, line, wrong)
			}
		}
	}
	return faults, cited
}

// checkLine resolves the citations of one line.
func (lib library) checkLine(pages map[string]page, line string, wrong func(string, ...any)) (cited int) {
	for _, m := range byNumber.FindAllStringSubmatch(line, -1) {
		for _, n := range numbers(m[2]) {
			cited++
			if !pages["docs/"+m[1]+".md"].numbers[n] {
				wrong("docs/%s.md has no %s", m[1], n)
			}
		}
	}
	for _, m := range byHeading.FindAllStringSubmatch(line, -1) {
		cited++
		if p, ok := pages["docs/"+m[1]+".md"]; !ok || !p.headings[m[2]] {
			wrong("docs/%s.md has no section %q", m[1], m[2])
		}
	}
	for _, m := range byDecision.FindAllStringSubmatch(line, -1) {
		for _, n := range regexp.MustCompile(`[0-9]+`).FindAllString(m[1]+m[2], -1) {
			cited++
			if !lib.has("docs/decisions/" + fmt.Sprintf("%04s", n) + "-") {
				wrong("there is no decision %s", n)
			}
		}
	}
	return cited
}

// checkPage resolves the links of one line of a Markdown page, and the tests, scripts and files it names.
func (lib library) checkPage(pages map[string]page, name, line string, wrong func(string, ...any)) {
	for _, m := range link.FindAllStringSubmatch(line, -1) {
		target, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, ":") {
			continue // another site
		}
		to := name
		if target != "" {
			to = path.Join(path.Dir(name), target)
		}
		p, isPage := pages[to]
		switch {
		case lib[to] == "" && !lib.has(to+"/"):
			wrong("%s leads to no file", m[1])
		case anchor != "" && (!isPage || !p.slugs[anchor]):
			wrong("%s has no #%s", to, anchor)
		}
	}
	for _, m := range byTest.FindAllStringSubmatch(line, -1) {
		if !strings.Contains(lib[m[1]], "\nfunc "+m[2]+"(") {
			wrong("%s has no %s", m[1], m[2])
		}
	}
	for _, m := range byScript.FindAllStringSubmatch(line, -1) {
		file := "/" + m[1] + ".txtar"
		if m[1] != "folder/name" && lib[scripts+file] == "" && lib[attacks+file] == "" {
			wrong("there is no %s or %s", scripts+file, attacks+file)
		}
	}
	for _, m := range byFile.FindAllStringSubmatch(line, -1) {
		if top, _, _ := strings.Cut(m[1], "/"); lib.has(top+"/") && lib[m[1]] == "" {
			wrong("there is no %s", m[1])
		}
	}
}

// checkForms finds citations in forms nobody can follow.
func (lib library) checkForms(pages map[string]page, name, line string, wrong func(string, ...any)) {
	if doc := listed[name]; doc != "" {
		for _, n := range regexp.MustCompile(`\bK[0-9]{2}\b`).FindAllString(line, -1) {
			if n != "K01" && n != "K02" && !pages["docs/"+doc+".md"].numbers[n] {
				wrong("docs/%s.md has no %s", doc, n)
			}
		}
		return
	}
	rest := byHeading.ReplaceAllString(byNumber.ReplaceAllString(line, ""), "")
	if m := whole.FindString(rest); m != "" && !strings.HasSuffix(name, ".md") {
		wrong("%q cites a page and none of its rows or sections", m)
		return
	}
	for _, re := range unsettled {
		if m := re.FindString(rest); m != "" {
			wrong("%q cites nothing that is here: write spec.md A2, threats.md T87, design.md \"Identity\" or decision 15, or say the reason", m)
			return
		}
	}
}

// has reports whether a path begins so.
func (lib library) has(prefix string) bool {
	for name := range lib {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// checkTables finds rows of docs/threats.md that say what is done and name nothing that holds it, or another row that is not
// there, and decisions that are not in the index.
func (lib library) checkTables() (faults []string) {
	threats := read(lib["docs/threats.md"])
	for i, line := range prose(lib["docs/threats.md"]) {
		m := row.FindStringSubmatch(line)
		if m == nil || !strings.Contains("PTI", m[1][:1]) {
			continue
		}
		cells := strings.Split(m[2], "|")
		if last := cells[len(cells)-1]; !strings.Contains(last, "`") && !one.MatchString(last) && !strings.Contains(last, "the kill suites") {
			faults = append(faults, fmt.Sprintf("docs/threats.md:%d: %s names nothing that holds it", i+1, m[1]))
		} else {
			for _, n := range numbers(code.ReplaceAllString(last, "")) {
				if !threats.numbers[n] {
					faults = append(faults, fmt.Sprintf("docs/threats.md:%d: %s is held by %s, which is not there", i+1, m[1], n))
				}
			}
		}
	}
	for name := range lib {
		if dir, file := path.Split(name); dir == "docs/decisions/" && file != "README.md" && !strings.Contains(lib[dir+"README.md"], "("+file+")") {
			faults = append(faults, name+" is not in docs/decisions/README.md")
		}
	}
	return faults
}

// TestCitationsLeadSomewhere reads every text file that git knows or would add.
func TestCitationsLeadSomewhere(t *testing.T) {
	root := filepath.Join("..", "..")
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("list the files of the repository: %v", err)
	}
	lib := library{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		switch {
		case err != nil:
		case utf8.Valid(data) && !strings.Contains(string(data), "\x00"):
			lib[name] = string(data)
		default:
			lib[name] = "\n" // a picture, or an archive: it can be linked to and cites nothing
		}
	}
	faults, cited := lib.check()
	for _, f := range append(faults, lib.checkTables()...) {
		t.Error(f)
	}
	if cited < 200 {
		t.Errorf("only %d citations were found: the forms are not those of the repository", cited)
	}
}

// Each line is one fault, and what stands beside it is none.
func TestDanglingCitationsAreFound(t *testing.T) {
	sound := library{
		"docs/spec.md":                           "# Spec\n\n### A1 Finding\n\n| R1 | x | y |\n| D3.1 | x | y |\n",
		"docs/threats.md":                        "# Threats\n\n| T08 | x | y | `a/a_test.go:TestA` |\n| T09 | x | y | T08 |\n\n## Git attack set\n",
		"docs/design.md":                         "# Design\n\n## Identity\n\n[a](threats.md#git-attack-set) [b](#identity) [c](decisions/README.md) [d](https://x.test/y) `a/a_test.go:TestA` `script:x/y`\n\n```\n[e](nowhere.md)\n```\n",
		"docs/decisions/README.md":               "[x](0015-x.md)\n",
		"docs/decisions/0015-x.md":               "The review loop spec says so.\n",
		"a/a.go":                                 "// spec.md A1, R1 and D3.1; threats.md T08 to T09, design.md \"Identity\", decision 15.\n",
		"a/a_test.go":                            "package a\n\nfunc TestA(t *testing.T) {}\n",
		"a/testdata/x.json":                      `{"x": "design 5"}`,
		"internal/cli/testdata/script/x/y.txtar": "# threats.md T08: x\n",
	}
	if faults, cited := sound.check(); len(faults) > 0 || cited != 8 {
		t.Fatalf("%d citations, faults %q", cited, faults)
	}
	if faults := sound.checkTables(); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, c := range []struct{ file, line, want string }{
		{"a/b.go", "// (spec.md A9)", "docs/spec.md has no A9"},
		{"a/b.go", "// (spec.md A1, R7)", "docs/spec.md has no R7"},
		{"a/b.go", "// (threats.md T08-T10)", "docs/threats.md has no T10"},
		{"a/b.go", `// (design.md "Identities")`, `no section "Identities"`},
		{"a/b.go", `// (nowhere.md "Identity")`, `no section "Identity"`},
		{"a/b.go", "// decisions 15 and 16", "no decision 16"},
		{"a/b.go", "// (design 5)", `"design 5" cites nothing`},
		{"a/b.go", "// (style 9)", `"style 9" cites nothing`},
		{"a/b.go", "// (security 7.4, layer 0)", "cites nothing"},
		{"a/b.go", "// (security P14)", "cites nothing"},
		{"a/b.go", "// (threat T08)", `"T08" cites nothing`},
		{"a/b.go", "// (review agent spec)", "cites nothing"},
		{"a/b.go", "// the counts (A2)", "cites nothing"},
		{"a/b.go", "// (threats.md", "none of its rows"},
		{"a/b_test.go", `{"a masked secret (S9)"},`, "cites nothing"},
		{"a/testdata/z.txtar", "# T08: x", "cites nothing"},
		{"docs/b.md", "[x](nowhere.md)", "leads to no file"},
		{"docs/b.md", "[x](threats.md#nothing)", "has no #nothing"},
		{"docs/b.md", "[x](../a/a.go#L1)", "has no #L1"},
		{"docs/b.md", "`a/a_test.go:TestB`", "has no TestB"},
		{"docs/b.md", "`script:x/z`", "x/z.txtar"},
		{"docs/b.md", "`a/z.go`", "there is no a/z.go"},
		{"docs/threats.md", sound["docs/threats.md"] + "| T09 | x | y | `z` |", "T09 is given twice"},
		{"docs/threats.md", sound["docs/threats.md"] + "| T10 | x | y | nobody |", "T10 names nothing that holds it"},
		{"docs/threats.md", sound["docs/threats.md"] + "| T10 | x | y | T99 |", "held by T99"},
		{"docs/decisions/0016-y.md", "# 16. Y", "0016-y.md is not in"},
	} {
		lib := maps.Clone(sound)
		lib[c.file] = c.line
		faults, _ := lib.check()
		if faults = append(faults, lib.checkTables()...); len(faults) != 1 || !strings.Contains(faults[0], c.want) {
			t.Errorf("%s: %s: faults %q, want one with %q", c.file, c.line, faults, c.want)
		}
	}
}
