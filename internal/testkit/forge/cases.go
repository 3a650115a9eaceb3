package forge

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Case is what case.json says about a review case: a real pull request with known findings.
type Case struct {
	ID       string `json:"id"`
	Repo     string `json:"repo"`
	PRNumber int    `json:"pr_number"`
	Title    string `json:"title"`
	Body     string `json:"body"`
	Language string `json:"language"`
	// HeadFiles are the changed files at the head, with what they must come out as.
	HeadFiles map[string]struct {
		SHA256 string `json:"sha256"`
		Lines  int    `json:"lines"`
	} `json:"head_files"`
}

// ReadCase reads case.json of a case's folder.
func ReadCase(dir string) (Case, error) {
	var c Case
	raw, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return c, fmt.Errorf("read case: %w", err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("read case %s: %w", dir, err)
	}
	return c, nil
}

// OpenCase opens the pull request of a case's folder: case.json, base.tar.gz and pr.diff. Its branches are main-N and topic-N, so
// that several cases of one repository keep their own trees; the default branch is the base of the first.
func (f *Forge) OpenCase(dir string) (*PullRequest, error) {
	c, err := ReadCase(dir)
	if err != nil {
		return nil, err
	}
	diff, err := os.ReadFile(filepath.Join(dir, "pr.diff"))
	if err != nil {
		return nil, fmt.Errorf("open case %s: %w", c.ID, err)
	}
	owner, name, _ := strings.Cut(c.Repo, "/")
	p, err := f.Open(PullSpec{
		Owner: owner, Repo: name, Number: c.PRNumber, Title: c.Title, Body: c.Body, Author: "contributor", BaseTar: filepath.Join(dir, "base.tar.gz"), Diff: diff,
		BaseRef: fmt.Sprintf("main-%d", c.PRNumber), HeadRef: fmt.Sprintf("topic-%d", c.PRNumber),
	})
	if err == nil && f.sha(p.repo.Bare, "refs/heads/main") == "" {
		_, err = f.git.run(p.repo.Bare, nil, nil, "update-ref", "refs/heads/main", "refs/heads/"+p.baseRef)
	}
	if err != nil {
		return nil, fmt.Errorf("open case %s: %w", c.ID, err)
	}
	return p, nil
}

// treeLimitBytes bounds what a case's archive may unpack to.
const treeLimitBytes = 256 << 20

// writeTar adds the regular files of a compressed archive to a fast-import stream.
func writeTar(b *bytes.Buffer, file string) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	z, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(file), err)
	}
	t := tar.NewReader(io.LimitReader(z, treeLimitBytes))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", filepath.Base(file), err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(t)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", h.Name, err)
		}
		mode := "100644"
		if h.Mode&0o111 != 0 {
			mode = "100755"
		}
		writeEntry(b, mode, strings.TrimPrefix(path.Clean("/"+h.Name), "/"), content)
	}
}
