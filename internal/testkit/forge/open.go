package forge

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// PullSpec says which pull request to open. Base, and one of Head, Diff and HeadBundle, say what it changes; without them the branches
// that are there do.
type PullSpec struct {
	Owner, Repo string
	// Number defaults to the next free one.
	Number int
	Title  string
	Body   string
	// Author defaults to the repository's owner.
	Author string
	// Fork is owner/name of the repository the head branch lives in; empty means the same one.
	Fork string
	// BaseRef and HeadRef default to main and topic.
	BaseRef, HeadRef string
	Labels           []string
	Draft            bool
	// MaintainerCanModify matters for forks only.
	MaintainerCanModify bool

	// Base is the tree at the base commit. It replaces what the base branch holds; nil keeps the branch as it is.
	Base fs.FS
	// BaseTar is the path of a tar.gz with the tree at the base commit, in place of Base.
	BaseTar string
	// Head is the whole tree at the head commit.
	Head fs.FS
	// Diff is a git diff that turns Base into the head.
	Diff []byte
	// HeadBundle is the path of a git bundle whose branches BaseRef and HeadRef are taken as they are.
	HeadBundle string
}

func (s *PullSpec) defaults() {
	if s.BaseRef == "" {
		s.BaseRef = "main"
	}
	if s.HeadRef == "" {
		s.HeadRef = "topic"
	}
	if s.Author == "" {
		s.Author = s.Owner
	}
	if s.Title == "" {
		s.Title = "A change"
	}
}

// Open opens a pull request, making its repositories when they are missing.
func (f *Forge) Open(s PullSpec) (*PullRequest, error) {
	s.defaults()
	repo, err := f.AddRepo(s.Owner, s.Repo)
	if err != nil {
		return nil, err
	}
	head := repo
	if s.Fork != "" {
		owner, name, _ := strings.Cut(s.Fork, "/")
		if head, err = f.AddRepo(owner, name); err != nil {
			return nil, err
		}
	}
	if err := f.writeBranches(repo, s); err != nil {
		return nil, fmt.Errorf("open %s/%s: %w", s.Owner, s.Repo, err)
	}
	if head != repo {
		specs := []string{"+refs/heads/" + s.BaseRef + ":refs/heads/" + s.BaseRef, "+refs/heads/" + s.HeadRef + ":refs/heads/" + s.HeadRef}
		if _, err := f.git.run(head.Bare, nil, nil, append([]string{"fetch", "--quiet", repo.Bare}, specs...)...); err != nil {
			return nil, fmt.Errorf("fill the fork %s: %w", s.Fork, err)
		}
		if _, err := f.git.run(repo.Bare, nil, nil, "update-ref", "-d", "refs/heads/"+s.HeadRef); err != nil {
			return nil, err
		}
	}
	p := f.register(repo, head, s)
	if err := f.syncHead(p, head); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.happened("pull_request", "opened", p.author, nil)
	return p, nil
}

func (f *Forge) register(repo, head *Repo, s PullSpec) *PullRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	if head != repo {
		head.parent = repo
	}
	if s.Number == 0 {
		s.Number = repo.lastNumber + 1
	}
	repo.lastNumber = max(repo.lastNumber, s.Number)
	f.user(s.Author)
	now := f.now()
	p := &PullRequest{
		Number: s.Number, f: f, repo: repo, head: head, id: f.newID(), title: s.Title, body: s.Body, author: s.Author,
		state: "OPEN", draft: s.Draft, canModify: s.MaintainerCanModify, baseRef: s.BaseRef, headRef: s.HeadRef,
		labels: s.Labels, created: now, updated: now,
	}
	repo.prs[s.Number] = p
	return p
}

// writeBranches makes the commits of the base and head branches.
func (f *Forge) writeBranches(repo *Repo, s PullSpec) error {
	if s.HeadBundle != "" {
		bundle, err := filepath.Abs(s.HeadBundle)
		if err != nil {
			return err
		}
		_, err = f.git.run(repo.Bare, nil, nil, "fetch", "--quiet", bundle,
			"+refs/heads/"+s.BaseRef+":refs/heads/"+s.BaseRef, "+refs/heads/"+s.HeadRef+":refs/heads/"+s.HeadRef)
		return err
	}
	if s.BaseTar != "" {
		if err := f.commit(repo, s.BaseRef, "", "Base", time.Unix(1700000000, 0), func(b *bytes.Buffer) error { return writeTar(b, s.BaseTar) }); err != nil {
			return err
		}
	}
	if s.Base != nil {
		if err := f.Commit(repo, s.BaseRef, "", "Base", s.Base); err != nil {
			return err
		}
	}
	base := f.sha(repo.Bare, "refs/heads/"+s.BaseRef)
	if base == "" {
		return fmt.Errorf("the base branch %s is empty", s.BaseRef)
	}
	if s.Head == nil && s.Diff == nil && f.sha(repo.Bare, "refs/heads/"+s.HeadRef) != "" {
		return nil
	}
	if s.Head != nil {
		return f.Commit(repo, s.HeadRef, base, s.Title, s.Head)
	}
	return f.commitDiff(repo, s.HeadRef, base, s.Title, s.Diff)
}

// Commit puts a whole tree on a branch as one commit; an empty parent makes a root commit. Pull requests whose head it is
// follow. Executable bits and symbolic links are kept where the file system tells of them.
func (f *Forge) Commit(repo *Repo, branch, parent, message string, tree fs.FS) error {
	return f.CommitAt(repo, branch, parent, message, tree, time.Unix(1700000000, 0))
}

// CommitAt is Commit with the time of the commit.
func (f *Forge) CommitAt(repo *Repo, branch, parent, message string, tree fs.FS, at time.Time) error {
	return f.commit(repo, branch, parent, message, at, func(b *bytes.Buffer) error {
		return fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return readEntry(b, tree, path, d)
		})
	})
}

// commit feeds git fast-import a commit whose tree is what write adds.
func (f *Forge) commit(repo *Repo, branch, parent, message string, at time.Time, write func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	who := fmt.Sprintf("Forge <forge@example.com> %d +0000", at.Unix())
	fmt.Fprintf(&b, "commit refs/heads/%s\nauthor %s\ncommitter %s\ndata %d\n%s\n", branch, who, who, len(message), message)
	if parent != "" {
		fmt.Fprintf(&b, "from %s\n", parent)
	}
	b.WriteString("deleteall\n")
	if err := write(&b); err != nil {
		return fmt.Errorf("read the tree: %w", err)
	}
	if _, err := f.git.run(repo.Bare, b.Bytes(), nil, "fast-import", "--quiet", "--force", "--date-format=raw"); err != nil {
		return err
	}
	return f.syncHeads(repo, branch)
}

func readEntry(b *bytes.Buffer, tree fs.FS, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	mode := "100644"
	var content []byte
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		mode = "120000"
		target, err := fs.ReadLink(tree, path)
		if err != nil {
			return err
		}
		content = []byte(target)
	default:
		if info.Mode()&0o111 != 0 {
			mode = "100755"
		}
		if content, err = fs.ReadFile(tree, path); err != nil {
			return err
		}
	}
	writeEntry(b, mode, path, content)
	return nil
}

func writeEntry(b *bytes.Buffer, mode, path string, content []byte) {
	fmt.Fprintf(b, "M %s inline %s\ndata %d\n", mode, quotePath(path), len(content))
	b.Write(content)
	b.WriteByte('\n')
}

// quotePath writes a path the way fast-import reads any byte: C style, in octal where needed.
func quotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// commitDiff applies a diff onto a commit and puts the result on a branch.
func (f *Forge) commitDiff(repo *Repo, branch, base, message string, diff []byte) error {
	dir, err := os.MkdirTemp(f.dir, "index")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := f.git.run(repo.Bare, nil, env, "read-tree", base); err != nil {
		return err
	}
	if len(diff) > 0 {
		if _, err := f.git.run(repo.Bare, diff, env, "apply", "--cached", "--whitespace=nowarn", "-"); err != nil {
			return fmt.Errorf("apply the pull request's diff: %w", err)
		}
	}
	tree, err := f.git.line(repo.Bare, nil, env, "write-tree")
	if err != nil {
		return err
	}
	commit, err := f.git.line(repo.Bare, []byte(message), nil, "commit-tree", tree, "-p", base)
	if err != nil {
		return err
	}
	if _, err := f.git.run(repo.Bare, nil, nil, "update-ref", "refs/heads/"+branch, commit); err != nil {
		return err
	}
	return f.syncHeads(repo, branch)
}
