package canary

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/sanitize"
)

// A canary is one of its key and its run, and stands in every file that is looked into for credentials, for its owner alone.
func TestPlant(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	value := Of(key, "run-1")
	if value != Of(slices.Clone(key), "run-1") || value == Of(key, "run-2") || value == Of(bytes.Repeat([]byte{8}, 32), "run-1") || !strings.HasPrefix(value, Prefix) || len(value) < 40 {
		t.Errorf("%q", value)
	}
	home := t.TempDir()
	if err := Plant(home, value); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		at := filepath.Join(home, name)
		data, err := os.ReadFile(at)
		if err != nil || strings.Count(string(data), value) != 1 {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if info, err := os.Stat(at); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
	if err := Plant(filepath.Join(home, "nowhere"), value); err == nil {
		t.Error("planted where there is no home")
	}
}

// What somebody takes out of these files is named, in whatever spelling (threats.md L0).
func TestCanaryIsNamed(t *testing.T) {
	value := Of(bytes.Repeat([]byte{7}, 32), "run-1")
	reversed := []byte(value)
	slices.Reverse(reversed)
	for what, text := range map[string]string{
		"the file": "password " + value, "without its beginning": "key: " + value[17:], "reversed": string(reversed), "in capitals": strings.ToUpper(value), "spaced": strings.Join(strings.Split(value, ""), " "),
	} {
		if got := sanitize.Leaked(text, sanitize.Policy{Known: []string{value}}); got != "canary" {
			t.Errorf("%s: %q", what, got)
		}
	}
	for _, text := range []string{"prlcanary_", "prlcanary_…", "canary", "the prefix prlcanary_ begins each"} {
		if got := sanitize.Leaked(text, sanitize.Policy{Known: []string{value}}); got != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}
