package config

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated pages")

// The `.reviewerc` of the README is one, and every line of it does something.
func TestReadmeExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README shows no .reviewerc")
	}
	s, err := Resolve(Input{Repository: &File{Name: ".reviewerc", Data: []byte(example)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Reviewers) != 3 || s.MinReviewers != 2 || len(s.Context.Exclude) == 0 || len(s.Verify) == 0 || s.RunLimits.CostUSD == 0 {
		t.Errorf("%+v", s)
	}
}

// Every setting says what it takes, and nothing is no default.
func TestReferenceIsWhole(t *testing.T) {
	for line := range strings.Lines(reference(t)) {
		if line = strings.TrimRight(line, "\n"); strings.HasSuffix(line, ": ") || strings.HasSuffix(line, "`null`") {
			t.Errorf("%q", line)
		}
	}
}

// Every top-level key stands once in the index, and nothing else does: a key without a section would not be described.
func TestIndexHasEveryKey(t *testing.T) {
	var want, got []string
	for _, k := range keys() {
		top, _, _ := strings.Cut(k.path, ".")
		want = append(want, top)
	}
	slices.Sort(want)
	for _, s := range sections {
		for _, row := range s.rows {
			got = append(got, row.key)
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(slices.Compact(want), got); d != "" {
		t.Errorf("the sections of docs/config.md lack (-) or have too many (+):\n%s", d)
	}
}

// Guards against a reference or schema that says something else than the program does.
func TestGeneratedPages(t *testing.T) {
	root := filepath.Join("..", "..")
	for name, want := range map[string]string{
		"docs/config.md":                 reference(t),
		"schemas/reviewerc.schema.json":  string(Schema(Repository)),
		"docs/schema/config.schema.json": string(Schema(Operator)),
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s is not what the code says; run go test ./internal/config -update\n%s", name, d)
		}
	}
}
