package sources

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/sanitize"
)

// Merged is a pull request of one's own repository that was merged.
type Merged struct {
	// Dir is a checkout that has the commits.
	Dir string
	// Base is the target branch as it was before the merge, First the first version that was reviewed, Last the one that was merged: revisions as
	// people type them.
	Base, First, Last string
	// ID names the case; Title and Body are those of the pull request.
	ID, Title, Body string
	// Language is the repository's main language.
	Language string
	// Clean makes a case that expects nothing of a pull request whose first version was merged as it was.
	Clean bool
}

// maxFile is the largest file of the tree that is kept, in bytes.
const maxFile = 400_000

// maxQuote is how many lines of a change are quoted in the text of an expected finding.
const maxQuote = 12

// Import makes a case: what the authors changed of their own first lines before the merge is what is expected to be found
// there. Lines they only added later, and changes of white space, expect nothing.
func (m Merged) Import(ctx context.Context, out string) (Imported, error) {
	i := Imported{Cases: filepath.Join(out, "cases")}
	tmp, err := os.MkdirTemp("", "prloop-import-*")
	if err != nil {
		return i, err
	}
	defer os.RemoveAll(tmp)
	h, err := m.open(ctx, filepath.Join(tmp, "repository"))
	if err != nil {
		return i, err
	}
	c := cases.Case{ID: m.ID, Title: m.Title, Body: m.Body, Language: m.Language, BaseSHA: h.base, HeadSHA: h.first, Clean: m.Clean, Source: "merged pull request"}
	d, err := h.repo.Diff(ctx, h.base, h.first, git.DiffOptions{})
	if err != nil {
		return i, err
	}
	later, err := h.repo.Diff(ctx, h.first, h.last, git.DiffOptions{})
	if err != nil {
		return i, err
	}
	c.Diff.Files, c.Diff.Additions, c.Diff.Deletions = len(d.Files), d.Additions, d.Deletions
	if c.HeadFiles, err = h.headFiles(ctx, d); err != nil {
		return i, err
	}
	subjects, err := h.subjects(ctx)
	if err != nil {
		return i, err
	}
	c.Golden = fixed(d, later, subjects)
	switch {
	case len(c.Golden) == 0 && !m.Clean:
		return i, fmt.Errorf("%w: between %.12s and %.12s no line of the first version was changed", ErrEmpty, h.first, h.last)
	case len(c.Golden) > 0 && m.Clean:
		return i, fmt.Errorf("%s was changed before the merge at %d places: it is no clean case", m.ID, len(c.Golden))
	}
	archive, tree, err := h.archive(ctx, d)
	if err != nil {
		return i, err
	}
	c.BaseTree = &tree
	if err := i.add(c, archive, []byte(d.Raw())); err != nil {
		return i, err
	}
	return i.done()
}

// history is a range in a repository of our own, which borrows the checkout's objects. base is where the work left the
// target branch.
type history struct {
	repo              *git.Repository
	base, first, last string
}

func (m Merged) open(ctx context.Context, dir string) (h history, err error) {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return h, err
	}
	c, err := g.Checkout(m.Dir)
	if err != nil {
		return h, err
	}
	if h.repo, err = g.Open(ctx, dir); err != nil {
		return h, err
	}
	if err = h.repo.Borrow(c); err != nil {
		return h, err
	}
	var base string
	for _, r := range []struct {
		rev string
		to  *string
	}{{m.Base, &base}, {m.First, &h.first}, {m.Last, &h.last}} {
		if *r.to, err = c.Resolve(ctx, r.rev); err != nil {
			return h, err
		}
	}
	if h.base, err = h.repo.MergeBase(ctx, base, h.first); err == nil && h.base == h.first {
		err = fmt.Errorf("%w: %s holds %s", ErrMerged, sanitize.Line(m.Base, 100), sanitize.Line(m.First, 100))
	}
	return h, err
}

// maxCommits is how many commits are looked through for what they changed.
const maxCommits = 100

// subjects are those of the commits after the first version, oldest first, by the files they changed; none where history has
// merges, or is long.
func (h history) subjects(ctx context.Context) (map[string][]string, error) {
	commits, err := h.repo.Commits(ctx, h.first, h.last)
	var merges *git.TakeError
	if errors.As(err, &merges) || len(commits) > maxCommits {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, c := range commits {
		d, err := h.repo.Diff(ctx, c.Parent, c.Commit, git.DiffOptions{})
		if err != nil {
			return nil, err
		}
		subject, _, _ := strings.Cut(c.Message, "\n")
		for i := range d.Files {
			name := oldName(&d.Files[i])
			out[name] = append(out[name], subject)
		}
	}
	return out, nil
}

func (h history) headFiles(ctx context.Context, d *diff.Diff) (map[string]cases.HeadFile, error) {
	var names []string
	for i := range d.Files {
		if f := &d.Files[i]; f.Change != diff.Deleted && !f.Binary && f.Omitted == "" {
			names = append(names, f.Path)
		}
	}
	texts, err := h.repo.ReadFiles(ctx, h.first, names, maxBytes)
	if err != nil {
		return nil, err
	}
	out := map[string]cases.HeadFile{}
	for name, text := range texts {
		sum := sha256.Sum256(text)
		out[name] = cases.HeadFile{SHA256: hex.EncodeToString(sum[:]), Lines: bytes.Count(text, []byte("\n"))}
	}
	return out, nil
}

// archive packs the tree at the base: text files of at most maxFile bytes, and whatever the pull request changes.
func (h history) archive(ctx context.Context, d *diff.Diff) ([]byte, cases.Tree, error) {
	var t cases.Tree
	entries, err := h.repo.List(ctx, h.base, "")
	if err != nil {
		return nil, t, err
	}
	var names []string
	for _, e := range entries {
		if e.Mode&0o170000 == 0o100000 {
			names = append(names, e.Path)
		}
	}
	texts, err := h.repo.ReadFiles(ctx, h.base, names, maxFile)
	if err != nil {
		return nil, t, err
	}
	var changed []string
	for i := range d.Files {
		changed = append(changed, oldName(&d.Files[i]))
	}
	more, err := h.repo.ReadFiles(ctx, h.base, changed, maxBytes)
	if err != nil {
		return nil, t, err
	}
	maps.Copy(texts, more)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range names {
		text, ok := texts[name]
		if !ok || bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		t.Files, t.Bytes = t.Files+1, t.Bytes+int64(len(text))
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Format: tar.FormatPAX}))
		_, failed := w.Write(text)
		err = errors.Join(err, failed)
	}
	err = errors.Join(err, w.Close(), z.Close())
	return b.Bytes(), t, err
}

// fixed makes an expected finding of each run of lines that first added and later changed or removed.
func fixed(first, later *diff.Diff, subjects map[string][]string) []cases.Expected {
	var out []cases.Expected
	for i := range later.Files {
		f := &later.Files[i]
		name := oldName(f)
		for k := range f.Hunks {
			for _, b := range blocks(&f.Hunks[k]) {
				lines := slices.DeleteFunc(b.old, func(l diff.Line) bool { return !first.Touched(name, l.Old) })
				if len(lines) == 0 || sameText(b.removed, b.added) {
					continue
				}
				out = append(out, cases.Expected{
					ID: fmt.Sprint("G", len(out)+1), Text: describe(b, subjects[name]), Original: "changed before the merge", Categories: cases.Categories(), Origin: "human", AnchorOrigin: "history",
					Anchors: []cases.Anchor{{File: name, Start: lines[0].Old, End: lines[len(lines)-1].Old, Side: cases.Right}},
				})
			}
		}
	}
	return out
}

func oldName(f *diff.File) string {
	if f.OldPath != "" {
		return f.OldPath
	}
	return f.Path
}

// block is a run of removed lines and of those that take their place.
type block struct {
	old            []diff.Line
	removed, added []string
}

func blocks(h *diff.Hunk) []block {
	var out []block
	var b block
	flush := func() {
		if len(b.old) > 0 {
			out = append(out, b)
		}
		b = block{}
	}
	for l := range h.Lines() {
		switch l.Op {
		case '-':
			if len(b.added) > 0 {
				flush()
			}
			b.old, b.removed = append(b.old, l), append(b.removed, l.Text)
		case '+':
			b.added = append(b.added, l.Text)
		default:
			flush()
		}
	}
	flush()
	return out
}

// sameText reports whether two texts differ in white space alone.
func sameText(a, b []string) bool {
	fold := func(lines []string) string { return strings.Join(strings.Fields(strings.Join(lines, " ")), "") }
	return fold(a) == fold(b)
}

// describe is the text of an expected finding: nobody wrote one, so it quotes what became of the lines, and says what the commits
// that changed the file call it.
func describe(b block, subjects []string) string {
	var out strings.Builder
	out.WriteString("Its authors changed this before the merge:\n")
	quote := func(mark string, lines []string) {
		for k, l := range lines {
			if k == maxQuote {
				fmt.Fprintf(&out, "%s (%d more lines)\n", mark, len(lines)-k)
				return
			}
			out.WriteString(mark + l + "\n")
		}
	}
	quote("-", b.removed)
	quote("+", b.added)
	if len(subjects) > 0 {
		out.WriteString("in: " + strings.Join(subjects, "; ") + "\n")
	}
	return sanitize.Redact(strings.ToValidUTF8(out.String(), "\uFFFD"))
}
