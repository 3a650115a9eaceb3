package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// standIn is a gh that has the release in $RELEASE and answers for its attestation with the status $ATTESTED.
const standIn = `#!/bin/sh
case "$1 $2" in
"release download") [ "$3 $4 $5 $6" = "v1.2.3 --repo prloop/prloop --dir" ] && cp "$RELEASE/$9" "$RELEASE/${11}" "$7" ;;
"attestation verify") exit "$ATTESTED" ;;
*) exit 9 ;;
esac
`

// What the action runs has the right checksum and attestation, or is not there.
func TestFetch(t *testing.T) {
	target := runtime.GOOS + "-" + runtime.GOARCH
	dir := release(t, "v1.2.3", target)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(standIn), 0o755); err != nil {
		t.Fatal(err)
	}
	archive, sums := filepath.Join(dir, "prloop_v1.2.3_"+target+".tar.gz"), filepath.Join(dir, "SHA256SUMS")
	good, list := read(t, archive), read(t, sums)
	for _, row := range []struct {
		name, version, archive, sums, attested, want string
	}{
		{"as released", "v1.2.3", good, list, "0", ""},
		{"another archive", "v1.2.3", good + "x", list, "0", "FAILED"},
		{"no checksum", "v1.2.3", good, "", "0", "does not name"},
		{"no attestation", "v1.2.3", good, list, "1", ""},
		{"no such release", "v1.2.4", good, list, "0", ""},
		{"no version", "../v1", good, list, "0", "is no version"},
		{"a flag", "--help", good, list, "0", "is no version"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for name, text := range map[string]string{archive: row.archive, sums: row.sums} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out := filepath.Join(t.TempDir(), "bin", "prloop")
			c := exec.CommandContext(t.Context(), "tools/release/fetch", row.version, out)
			c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RELEASE="+dir, "ATTESTED="+row.attested)
			said, err := c.CombinedOutput()
			if row.name == "as released" {
				if got := run(t, dir, out); err != nil || got != "prloop v1.2.3 "+target+"\n" {
					t.Fatalf("%v: %s\n%s", err, said, got)
				}
				return
			}
			if _, there := os.Stat(out); err == nil || there == nil || !bytes.Contains(said, []byte(row.want)) {
				t.Errorf("%v, %v: %s", err, there, said)
			}
		})
	}
}

// The action takes a release where a version is named, and hands the version on as data.
func TestTheActionFetches(t *testing.T) {
	text := read(t, filepath.Join("..", "..", "action.yml"))
	for _, want := range []string{"\n  version:\n", "\n        VERSION: ${{ inputs.version }}\n      run: tools/release/fetch \"$VERSION\" bin/prloop\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("action.yml lacks %q", want)
		}
	}
	if strings.Count(text, "if: inputs.version == ''") != 2 || strings.Count(text, "inputs.version }}") != 1 {
		t.Error("Go is set up and prloop built without a version only")
	}
}
