package forge_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

// TestCases opens every carried case and compares the head's files with what the case says they are.
func TestCases(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob(filepath.Join("testdata", "cases", "*", "case.json"))
	if err != nil || len(dirs) < 3 {
		t.Fatalf("%d cases, %v", len(dirs), err)
	}
	for _, d := range dirs {
		dir := filepath.Dir(d)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			f := forgetest.Start(t)
			p, err := f.OpenCase(dir)
			if err != nil {
				t.Fatal(err)
			}
			c, err := forge.ReadCase(dir)
			if err != nil {
				t.Fatal(err)
			}
			owner, name, _ := strings.Cut(c.Repo, "/")
			repo, err := f.AddRepo(owner, name)
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range c.HeadFiles {
				raw, err := exec.CommandContext(t.Context(), "git", "--git-dir", repo.Bare, "show", p.HeadSHA()+":"+file).Output()
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprintf("%x", sha256.Sum256(raw)); got != want.SHA256 {
					t.Errorf("%s is %s at the head, want %s", file, got, want.SHA256)
				}
			}
			view := gh(t, f.Env(""), "pr", "view", fmt.Sprint(p.Number), "-R", c.Repo, "--json", "changedFiles", "--jq", ".changedFiles")
			if strings.TrimSpace(view.stdout) != fmt.Sprint(len(c.HeadFiles)) {
				t.Errorf("gh counts %s changed files, want %d: %s", view.stdout, len(c.HeadFiles), view.stderr)
			}
		})
	}
}

// TestCasesOfOneRepository opens two cases of one repository: each pull request shows its own diff, whatever was opened after it.
func TestCasesOfOneRepository(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	for n, name := range map[int]string{7: "seven", 8: "eight"} {
		dir := t.TempDir()
		caseFile := fmt.Sprintf(`{"id":"c%d","repo":"acme/widgets","pr_number":%d,"title":"Change %s"}`, n, n, name)
		diff := fmt.Sprintf("diff --git a/%[1]s.txt b/%[1]s.txt\n--- a/%[1]s.txt\n+++ b/%[1]s.txt\n@@ -1 +1 @@\n-old %[1]s\n+new %[1]s\n", name)
		base := archive(t, name+".txt", "old "+name+"\n")
		for file, text := range map[string]string{"case.json": caseFile, "pr.diff": diff, "base.tar.gz": base} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.OpenCase(dir); err != nil {
			t.Fatal(err)
		}
	}
	for n, name := range map[int]string{7: "seven", 8: "eight"} {
		files := gh(t, f.Env(""), "pr", "view", fmt.Sprint(n), "-R", "acme/widgets", "--json", "files", "--jq", ".files[].path").stdout
		if files != name+".txt\n" {
			t.Errorf("pull request %d changes %q", n, files)
		}
	}
}

// archive is a compressed archive of one file.
func archive(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
	_, werr := w.Write([]byte(text))
	if err := errors.Join(err, werr, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSameTreesSameCommits keeps runs comparable: a pull request opened twice has the same commits.
func TestSameTreesSameCommits(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		f := forgetest.Start(t)
		heads = append(heads, pull(t, f).HeadSHA())
	}
	if heads[0] == "" || heads[0] != heads[1] {
		t.Errorf("the heads are %v", heads)
	}
}

// TestBundle opens a pull request from a git bundle.
func TestBundle(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	pull(t, f)
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(t.TempDir(), "b")
	if got := git(t, repo.Bare, "bundle", "create", "-q", bundle, "main", "topic"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	again := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "copy", HeadBundle: bundle})
	if again.HeadSHA() == "" || again.HeadSHA() != repo.FindPull(7).HeadSHA() {
		t.Errorf("the head out of the bundle is %q", again.HeadSHA())
	}
}

// TestExtensionInstall is gh's way to a precompiled extension: newest release, asset of this platform, binary.
func TestExtensionInstall(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	repo, err := f.AddRepo("acme", "gh-hello")
	if err != nil {
		t.Fatal(err)
	}
	var assets []forge.Asset
	for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-arm64", "darwin-amd64"} {
		assets = append(assets, forge.Asset{Name: "gh-hello-" + platform, Content: []byte("#!/bin/sh\necho hello from " + platform + "\n")})
	}
	repo.SetRelease(forge.Release{Tag: "v1.0.0", Assets: assets})
	env := f.Env("")
	if got := gh(t, env, "extension", "install", "acme/gh-hello"); got.code != 0 {
		t.Fatalf("gh extension install: %s%s", got.stdout, got.stderr)
	}
	if got := gh(t, env, "hello"); !strings.Contains(got.stdout, "hello from ") {
		t.Errorf("gh hello: %+v", got)
	}
}
