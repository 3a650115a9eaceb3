package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const environmentHead = `# Environment variables

<!-- Generated from internal/cli/environment.txt: go test ./internal/cli -run TestEnvironmentPage -update -->

` + "`prloop help environment`" + ` prints this list. A variable wins over ` + "`.reviewerc`" + ` and the operator's file, and a flag wins over the variable
([which value wins](config.md#which-value-wins)).
`

var (
	// variables are names of environment variables at the beginning of a line of environment.txt, what they say behind a gap.
	variables = regexp.MustCompile(`^  ([A-Z][A-Z0-9_, ]*[A-Z0-9])(?:   *(\S.*))?$`)
	pageOf    = regexp.MustCompile(`\bdocs/([a-z-]+\.md)`)
	words     = regexp.MustCompile(`"[^"]*"|[^\s"]+`)
	upperName = regexp.MustCompile(`^[A-Z]+_[A-Z0-9_]+$`)
)

// environmentPage is docs/environment.md, made of what prloop help environment prints.
func environmentPage(help string) string {
	var b strings.Builder
	b.WriteString(environmentHead)
	_, groups, _ := strings.Cut(help, "\n\n")
	for group := range strings.SplitSeq(strings.TrimSpace(groups), "\n\n") {
		title, rows, _ := strings.Cut(group, "\n")
		fmt.Fprintf(&b, "\n## %s\n\n| variable | meaning |\n| --- | --- |\n", title)
		for line := range strings.SplitSeq(rows, "\n") {
			m := variables.FindStringSubmatch(line)
			if m == nil { // what the names on the line before mean
				fmt.Fprintf(&b, "%s |\n", inMarkdown(strings.TrimSpace(line)))
				continue
			}
			fmt.Fprintf(&b, "| `%s` | ", strings.ReplaceAll(m[1], ", ", "`, `"))
			if m[2] != "" {
				fmt.Fprintf(&b, "%s |\n", inMarkdown(m[2]))
			}
		}
	}
	return b.String()
}

// inMarkdown marks what is code and what is a page.
func inMarkdown(said string) string {
	said = words.ReplaceAllStringFunc(said, func(word string) string {
		if quoted, ok := strings.CutPrefix(word, `"`); ok {
			return "`" + strings.TrimSuffix(quoted, `"`) + "`"
		}
		bare := strings.TrimRight(word, ",;")
		if strings.ContainsAny(bare, "@[~?") || strings.HasPrefix(bare, "-") || upperName.MatchString(bare) {
			return "`" + bare + "`" + strings.TrimPrefix(word, bare)
		}
		return word
	})
	return pageOf.ReplaceAllString(said, "[$1]($1)")
}

// TestEnvironmentPage guards against a page that names other variables than the help does.
func TestEnvironmentPage(t *testing.T) {
	t.Parallel()
	help, err := os.ReadFile("environment.txt")
	if err != nil {
		t.Fatal(err)
	}
	page, want := filepath.Join("..", "..", "docs", "environment.md"), environmentPage(string(help))
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("docs/environment.md is not what prloop help environment says; run go test ./internal/cli -run TestEnvironmentPage -update\n%s", d)
	}
}
