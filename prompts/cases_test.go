package prompts_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

const casesDir = "../internal/testkit/forge/testdata/cases"

// folders is a repocontext.Source: a commit is the name of a folder.
type folders string

func (d folders) ReadFiles(_ context.Context, commit string, paths []string, limit int) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, p := range paths {
		if data, err := os.ReadFile(filepath.Join(string(d), commit, filepath.FromSlash(p))); err == nil && len(data) <= limit {
			out[p] = data
		}
	}
	return out, nil
}

func (d folders) Begins(ctx context.Context, commit string, paths []string, n int) (map[string][]byte, error) {
	out, err := d.ReadFiles(ctx, commit, paths, math.MaxInt)
	for p, data := range out {
		out[p] = data[:min(len(data), n)]
	}
	return out, err
}

func (d folders) Files(_ context.Context, commit, prefix string) ([]string, error) {
	var out []string
	root := filepath.Join(string(d), commit)
	err := filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(root, p); err == nil && !e.IsDir() && strings.HasPrefix(filepath.ToSlash(rel), prefix) {
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	return out, err
}

func (d folders) Attributes(context.Context, string, func(string) bool, []string, []string) (map[string]map[string]string, error) {
	return nil, nil
}

func (d folders) AttributesAnyCase(context.Context, string, func(string) bool, []string, []string) ([]map[string]map[string]string, error) {
	return nil, nil
}

func (d folders) Regular(ctx context.Context, commit, prefix string) ([]string, error) {
	return d.Files(ctx, commit, prefix)
}

func (d folders) Links(context.Context, string, string) ([]string, error) { return nil, nil }

func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	raw, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		p := filepath.Join(dir, filepath.FromSlash(h.Name))
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// caseTask is the request a reviewer gets for a carried case.
func caseTask(t *testing.T, dir string) review.Task {
	t.Helper()
	c, err := forge.ReadCase(dir)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := os.ReadFile(filepath.Join(dir, "pr.diff"))
	if err != nil {
		t.Fatal(err)
	}
	trees := t.TempDir()
	for _, side := range []string{"base", "head"} {
		unpack(t, filepath.Join(dir, "base.tar.gz"), filepath.Join(trees, side))
	}
	apply := exec.Command("git", "apply", "--unsafe-paths", "-")
	apply.Dir, apply.Stdin = filepath.Join(trees, "head"), bytes.NewReader(patch)
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+trees, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("apply: %v %s", err, out)
	}
	d, err := diff.Parse(string(patch))
	if err != nil {
		t.Fatal(err)
	}
	b, err := repocontext.Build(t.Context(), folders(trees), repocontext.Options{Diff: d, Base: "base", Head: "head"})
	if err != nil {
		t.Fatal(err)
	}
	owner, name, _ := strings.Cut(c.Repo, "/")
	return review.Task{
		Version: review.TaskVersion, Role: review.RoleReviewer, Agent: "general", PRNumber: c.PRNumber, Title: c.Title, Body: c.Body, Brief: b,
		Repo: review.Repo{Owner: owner, Name: name}, BaseSHA: strings.Repeat("b", 40), HeadSHA: strings.Repeat("a", 40),
	}
}

var golden = flag.Lookup("update")

// What models are asked for the three carried cases is read in review, and five reviewers share nearly all of it.
func TestCases(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(casesDir, "*", "case.json"))
	if err != nil || len(dirs) < 3 {
		t.Fatalf("%d cases: %v", len(dirs), err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			task := caseTask(t, dir)
			// The golden keeps the prompt without the code around and outside the changes, which are repocontext's to choose.
			bare := task
			bare.Brief.Related = nil
			bare.Brief.Files = slices.Clone(task.Brief.Files)
			for i := range bare.Brief.Files {
				bare.Brief.Files[i].Context = nil
			}
			got, err := prompts.Brief(bare, "Kq7w2Zr9Tn4xBm5c")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "cases", filepath.Base(dir)+".golden")
			if golden.Value.String() == "true" {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("run with -update and raise Version if an answer may change:\n%s", d)
			}
			s, err := prompts.Measure(task, "Kq7w2Zr9Tn4xBm5c")
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d of %d bytes are shared: %.1f %%", s.Common*s.Reviewers, s.Total, 100*s.Ratio())
			if s.Ratio() < 0.95 {
				t.Errorf("%.1f %% of the bytes are shared, want 95", 100*s.Ratio())
			}
		})
	}
}
