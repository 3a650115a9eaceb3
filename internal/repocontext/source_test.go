package repocontext

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/diff"
)

const baseID, headID = "base", "head"

// memory is a Source of two commits held in memory. It remembers what was asked for.
type memory struct {
	files map[string]map[string]string // commit, path, text
	asked map[string]bool              // "commit:path"
	links []string                     // paths that are links
	looks int                          // calls of Begins
}

func (m *memory) ReadFiles(_ context.Context, commit string, paths []string, limit int) (map[string][]byte, error) {
	if m.asked == nil {
		m.asked = map[string]bool{}
	}
	got := map[string][]byte{}
	for _, p := range paths {
		m.asked[commit+":"+p] = true
		if text, ok := m.files[commit][p]; ok && len(text) <= limit {
			got[p] = []byte(text)
		}
	}
	return got, nil
}

func (m *memory) Begins(_ context.Context, commit string, paths []string, n int) (map[string][]byte, error) {
	m.looks++
	got := map[string][]byte{}
	for _, p := range paths {
		if text, ok := m.files[commit][p]; ok {
			got[p] = []byte(text[:min(len(text), n)])
		}
	}
	return got, nil
}

func (m *memory) Links(_ context.Context, commit, prefix string) ([]string, error) {
	var got []string
	for _, p := range m.links {
		if _, there := m.files[commit][p]; there && (p == prefix || strings.HasPrefix(p, prefix+"/")) {
			got = append(got, p)
		}
	}
	return got, nil
}

func (m *memory) Files(_ context.Context, commit, prefix string) ([]string, error) {
	var got []string
	for p := range m.files[commit] {
		if prefix == "" || p == prefix || strings.HasPrefix(p, prefix+"/") {
			got = append(got, p)
		}
	}
	return got, nil
}

// oneLineChange is the diff of a file whose line n changed from old to text, without context lines.
func oneLineChange(path string, n int, old, text string) string {
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nindex 1111111..2222222 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]d +%[2]d @@\n-%[3]s\n+%[4]s\n", path, n, old, text)
}

func newFile(path, text string) string {
	n := strings.Count(text, "\n")
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n+%[3]s\n",
		path, n, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+"))
}

func parseDiff(t testing.TB, text string) *diff.Diff {
	t.Helper()
	d, err := diff.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
