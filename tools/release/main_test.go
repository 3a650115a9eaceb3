package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var when = time.Unix(1_700_000_000, 0).UTC()

// release packs programs that only say who they are.
func release(t *testing.T, v string, targets ...string) string {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	dir := t.TempDir()
	for _, target := range targets {
		for _, name := range []string{"gh-review-loop", "prloop"} {
			if err := os.WriteFile(filepath.Join(dir, name+"_"+v+"_"+target), []byte("#!/bin/sh\necho "+name+" "+v+" "+target+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := pack(v, dir, when); err != nil {
		t.Fatal(err)
	}
	return dir
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A user unpacks an archive or a package and runs what is in it; checksums are those of what is there.
func TestRelease(t *testing.T) {
	dir := release(t, "v1.2.3", "linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64")
	for _, target := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"} {
		// gh installs the first file whose name ends so: there may be one only.
		if found, _ := filepath.Glob(filepath.Join(dir, "*"+target)); len(found) != 1 || filepath.Base(found[0]) != "gh-review-loop_v1.2.3_"+target {
			t.Errorf("%s: gh would choose among %v", target, found)
		}
		empty := t.TempDir()
		run(t, empty, "tar", "-xzf", filepath.Join(dir, "prloop_v1.2.3_"+target+".tar.gz"))
		if got := run(t, empty, "./prloop"); got != "prloop v1.2.3 "+target+"\n" {
			t.Errorf("%s: %q", target, got)
		}
		for _, page := range []string{"LICENSE", "README.md"} {
			if read(t, filepath.Join(empty, page)) != read(t, page) {
				t.Errorf("%s: %s is another", target, page)
			}
		}
	}
	root := t.TempDir()
	run(t, dir, "dpkg-deb", "-x", "prloop_v1.2.3_amd64.deb", root)
	if got := run(t, root, "usr/bin/prloop"); got != "prloop v1.2.3 linux-amd64\n" {
		t.Errorf("%q", got)
	}
	if got := run(t, dir, "dpkg-deb", "-f", "prloop_v1.2.3_arm64.deb", "Package", "Version", "Architecture"); got != "Package: prloop\nVersion: 1.2.3\nArchitecture: arm64\n" {
		t.Errorf("%q", got)
	}
	sums := run(t, dir, "sha256sum", "-c", "SHA256SUMS")
	entries, err := os.ReadDir(dir)
	if err != nil || strings.Count(sums, ": OK\n") != len(entries)-1 {
		t.Errorf("%v, %d files:\n%s", err, len(entries), sums)
	}
	formula := read(t, filepath.Join(dir, "prloop.rb"))
	for line := range strings.Lines(read(t, filepath.Join(dir, "SHA256SUMS"))) {
		if sum, name, _ := strings.Cut(strings.TrimSpace(line), "  "); strings.HasSuffix(name, ".tar.gz") {
			want := `url "https://github.com/prloop/prloop/releases/download/v1.2.3/` + name + "\"\n      sha256 \"" + sum + "\"\n"
			if !strings.Contains(formula, want) {
				t.Errorf("the formula does not hold\n%s\n%s", want, formula)
			}
		}
	}
	if !strings.Contains(formula, "\n  version \"1.2.3\"\n") {
		t.Error(formula)
	}
}

func TestTheSameReleaseTwice(t *testing.T) {
	sums := func() string { return read(t, filepath.Join(release(t, "v1.2.3", "linux-amd64"), "SHA256SUMS")) }
	first := sums()
	t.Chdir(filepath.Join("tools", "release"))
	if again := sums(); again != first || strings.Contains(first, "prloop.rb") {
		t.Errorf("%s\n%s", first, again)
	}
}

// A build of a commit without a tag comes before every release.
func TestVersionsOfDebian(t *testing.T) {
	dir := release(t, "7e22175-dirty", "linux-amd64")
	version := strings.TrimSpace(run(t, dir, "dpkg-deb", "-f", "prloop_7e22175-dirty_amd64.deb", "Version"))
	run(t, dir, "dpkg", "--compare-versions", version, "lt", "0.0.1")
}

func TestRefusedVersions(t *testing.T) {
	for _, v := range []string{"", "../v1", "v1 2", "-v1"} {
		if err := pack(v, t.TempDir(), when); err == nil {
			t.Errorf("%q is taken", v)
		}
	}
	if err := pack("v1", t.TempDir(), when); err == nil {
		t.Error("a release of nothing")
	}
}
