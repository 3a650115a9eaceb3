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

// A file with a NUL is masked as any other, or taken out: an agent that reads by its own means reads it (threats.md T813).
func TestMaskTreeOfWhatIsNoText(t *testing.T) {
	const value = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	wide := func(s string) string { return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") + "\x00" }
	known := &sanitize.Learned{}
	known.Learn("q7Rz2Lm9Xc4Vb8Nt1Wk6")
	dir := t.TempDir()
	const gone = ""
	for name, row := range map[string]struct{ text, want string }{
		"nul.env":   {"API_TOKEN=" + value + "\n\x00\n", "API_TOKEN=[REDACTED]\n\x00\n"},
		"late.env":  {strings.Repeat("x\n", 4000) + "API_TOKEN=" + value + "\n\x00\n", strings.Repeat("x\n", 4000) + "API_TOKEN=[REDACTED]\n\x00\n"},
		"wide.ps1":  {wide("Connect " + value), wide("Connect ")[:18] + "[REDACTED]\x00"},
		"known.ps1": {wide("dial(q7Rz2Lm9Xc4Vb8Nt1Wk6)"), wide("dial(")[:12] + "[REDACTED]\x00)\x00"},
		"wide.yaml": {wide("kind: Secret\ndata:\n  smtp: UTdyMlhtOXZMNHpUMXdLOHBOM2NZNmhC\n"), gone},
		"plain.ps1": {wide("Write-Host hello"), wide("Write-Host hello")},
		"data.bin":  {"\x00\x01\x02" + strings.Repeat("x", 1000), "\x00\x01\x02" + strings.Repeat("x", 1000)},
		"large.bin": {"\x00\x01\x02" + strings.Repeat("x", dataLimitBytes), gone},
		"large.png": {"\x89PNG\r\n\x1a\n\x00" + strings.Repeat("x", dataLimitBytes), "\x89PNG\r\n\x1a\n\x00" + strings.Repeat("x", dataLimitBytes)},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := maskFile(path, known); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != row.want || os.IsNotExist(err) != (row.want == gone) {
			t.Errorf("%s is %.80q, %v", name, got, err)
		}
	}
}

func TestMaskTree(t *testing.T) {
	const value = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	known := &sanitize.Learned{}
	known.Learn("q7Rz2Lm9Xc4Vb8Nt1Wk6")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "k := \"" + value + "\"\nrest\n", "own.go": "k := \"[REDACTED]\"\n", "plain.go": "package a\n", "use.go": "dial(q7Rz2Lm9Xc4Vb8Nt1Wk6)\n", "logo.png": "\x89PNG\r\n\x1a\n\x00" + value,
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
		"a.go": "k := \"[REDACTED]\"\nrest\n", "own.go": "k := \"[REDACTED~]\"\n", "plain.go": "package a\n", "use.go": "dial([REDACTED])\n", "logo.png": "\x89PNG\r\n\x1a\n\x00" + value,
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
