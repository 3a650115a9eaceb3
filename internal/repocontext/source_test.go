package repocontext

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
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
	// questions are how often somebody asked about attributes.
	questions int
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

// Attributes asks git about a folder that holds the files of attributes.
func (m *memory) Attributes(ctx context.Context, commit string, skip func(string) bool, paths, names []string) (map[string]map[string]string, error) {
	m.questions++
	return checkAttributes(ctx, m.read(commit, func(name string) bool { return path.Base(name) == ".gitattributes" && !skip(name) }), paths, names, "core.ignoreCase=false")
}

// AttributesAnyCase knows no two files of attributes that stand in one place, and files in folders of small letters alone.
func (m *memory) AttributesAnyCase(ctx context.Context, commit string, skip func(string) bool, paths, names []string) ([]map[string]map[string]string, error) {
	m.questions++
	texts := map[string]string{}
	for name, text := range m.read(commit, func(name string) bool { return strings.EqualFold(path.Base(name), ".gitattributes") && !skip(name) }) {
		texts[strings.ToLower(name)] = text
	}
	said, err := checkAttributes(ctx, texts, paths, names, "core.ignoreCase=true")
	return []map[string]map[string]string{said}, err
}

// read gives the files of a commit that are wanted.
func (m *memory) read(commit string, wanted func(name string) bool) map[string]string {
	texts := maps.Clone(m.files[commit])
	maps.DeleteFunc(texts, func(name, _ string) bool { return !wanted(name) })
	_, _ = m.ReadFiles(context.Background(), commit, slices.Collect(maps.Keys(texts)), 0) // which remembers
	return texts
}

func checkAttributes(ctx context.Context, texts map[string]string, paths, names []string, setting string) (map[string]map[string]string, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "attributes-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, text := range texts {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, part := range []string{"objects", "refs"} { // what a repository is for git, beside the next
		if err := os.MkdirAll(filepath.Join(dir, ".git", part), 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", setting, "check-attr", "-z", "--stdin"}, names...)...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(strings.Join(paths, "\x00")), append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	got := map[string]map[string]string{}
	for said := range slices.Chunk(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), 3) {
		if said[2] == "unspecified" {
			continue
		}
		if got[said[0]] == nil {
			got[said[0]] = map[string]string{}
		}
		got[said[0]][said[1]] = said[2]
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

func (m *memory) Regular(ctx context.Context, commit, prefix string) ([]string, error) {
	got, err := m.Files(ctx, commit, prefix)
	return slices.DeleteFunc(got, func(p string) bool { return slices.Contains(m.links, p) || m.files[commit][p] == "" }), err
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
