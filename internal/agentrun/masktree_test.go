package agentrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/sanitize"
)

// A file that is called as another is masked takes its place, and the other is not shown: neither is taken for the other.
func TestMaskedNamesThatAreTaken(t *testing.T) {
	const value = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	dir := t.TempDir()
	for name, text := range map[string]string{
		value + "/a.go": "hidden\n", sanitize.MaskName(value) + "/a.go": "shown\n", "b/" + value: "hidden\n", "b/" + sanitize.MaskName(value): "shown\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := maskTree(dir, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sanitize.MaskName(value) + "/a.go", "b/" + sanitize.MaskName(value)} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != "shown\n" {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestMaskTree(t *testing.T) {
	const value = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	known := &sanitize.Learned{}
	known.Learn("q7Rz2Lm9Xc4Vb8Nt1Wk6")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "k := \"" + value + "\"\nrest\n", "own.go": "k := \"[REDACTED]\"\n", "plain.go": "package a\n", "use.go": "dial(q7Rz2Lm9Xc4Vb8Nt1Wk6)\n", "logo.png": "\x89PNG\x00" + value,
		value + "/" + value + ".txt": "x\n", "big.txt": strings.Repeat(value+"\n", maskLimitBytes/len(value)),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.go", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := maskTree(dir, known); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.go": "k := \"[REDACTED]\"\nrest\n", "own.go": "k := \"[REDACTED~]\"\n", "plain.go": "package a\n", "use.go": "dial([REDACTED])\n", "logo.png": "\x89PNG\x00" + value,
		sanitize.MaskPath(value + "/" + value + ".txt"): "x\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "big.txt")); !os.IsNotExist(err) {
		t.Errorf("a file too large to be masked is left: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 7 {
		t.Errorf("%v, %v", entries, err)
	}
}
