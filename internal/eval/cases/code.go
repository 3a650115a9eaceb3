package cases

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/prloop/prloop/internal/diff"
)

// Code is the changed code of a case.
type Code struct {
	// Head are the changed files at the head, by path; deleted and binary ones are not in it.
	Head map[string]string
	// archive is the SHA-256 of the base tree's archive.
	archive string
	diff    *diff.Diff
}

// size is how many bytes it keeps.
func (c *Code) size() int {
	n := 0
	for _, text := range c.Head {
		n += len(text)
	}
	return n
}

// readCode unpacks what the diff changes, and proves that tree and diff belong together: every changed file of the tree has
// the object id the diff names for it, and the diff makes of it a file with the object id and the hash that are named for the
// head.
func (c Case) readCode(folder fs.FS, diffText []byte) (*Code, error) {
	d, err := diff.Parse(string(diffText))
	if err != nil {
		return nil, fmt.Errorf("pr.diff: %w", err)
	}
	if len(d.Files) == 0 {
		return nil, errors.New("it has a base tree and no diff")
	}
	raw, err := readFile(folder, path.Join(c.ID, path.Base(c.BaseTree.Archive)), archiveBytes)
	if err != nil {
		return nil, err
	}
	code := &Code{Head: map[string]string{}, archive: sum(raw), diff: d}
	if c.BaseTree.SHA256 != "" && code.archive != c.BaseTree.SHA256 {
		return nil, fmt.Errorf("%s is not the one case.json names: its SHA-256 is %s", c.BaseTree.Archive, code.archive)
	}
	base, err := unpack(raw, c.BaseTree.Archive, d)
	if err != nil {
		return nil, err
	}
	for i := range d.Files {
		f := &d.Files[i]
		if f.Binary || f.Change == diff.Deleted && len(f.Hunks) == 0 {
			continue
		}
		head, err := headOf(f, base)
		if err != nil {
			return nil, fmt.Errorf("the base tree is not the one of pr.diff: %s: %w", f.Path, err)
		}
		if f.Change == diff.Deleted {
			continue
		}
		if want := c.HeadFiles[f.Path].SHA256; want != "" && sum([]byte(head)) != want {
			return nil, fmt.Errorf("base tree and pr.diff do not give the head: %s has another SHA-256 than case.json says", f.Path)
		}
		code.Head[f.Path] = head
	}
	return code, nil
}

// unpack reads the files a diff changes out of an archive.
func unpack(raw []byte, name string, d *diff.Diff) (map[string]string, error) {
	wanted := map[string]bool{}
	for i := range d.Files {
		wanted[oldPath(&d.Files[i])] = true
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	files := map[string]string{}
	for t := tar.NewReader(io.LimitReader(z, archiveBytes)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg || !wanted[path.Clean(h.Name)] {
			continue
		}
		text, err := readAll(t, h.Name, codeBytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[path.Clean(h.Name)] = string(text)
	}
}

func oldPath(f *diff.File) string {
	if f.OldPath != "" {
		return f.OldPath
	}
	return f.Path
}

// headOf checks one file of the base tree and gives what the diff makes of it.
func headOf(f *diff.File, base map[string]string) (string, error) {
	old, there := base[oldPath(f)]
	from, to := objectIDs(f)
	switch {
	case f.Change == diff.Added && there:
		return "", errors.New("it is added and already there")
	case f.Change != diff.Added && !there:
		return "", errors.New("it is missing")
	case f.Change != diff.Added && !isObject(old, from):
		return "", fmt.Errorf("its object id is not %s", from)
	}
	head, err := apply(old, f)
	if err == nil && f.Change != diff.Deleted && !isObject(head, to) {
		err = fmt.Errorf("what the diff makes of it has not the object id %s", to)
	}
	return head, err
}

// objectIDs reads the line "index OLD..NEW" of a file's header; a file that is only renamed has none.
func objectIDs(f *diff.File) (from, to string) {
	for line := range strings.Lines(f.Header()) {
		if rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "index "); ok {
			ids, _, _ := strings.Cut(rest, " ")
			from, to, _ = strings.Cut(ids, "..")
		}
	}
	return from, to
}

// isObject reports whether git's object id of a text is id, which may be shortened or, for what is only renamed, empty.
func isObject(text, id string) bool {
	blob := fmt.Sprintf("blob %d\x00%s", len(text), text)
	if len(id) == 2*sha256.Size {
		return sum([]byte(blob)) == id
	}
	h := sha1.Sum([]byte(blob))
	return strings.HasPrefix(hex.EncodeToString(h[:]), id)
}

// apply makes the head version of a file.
func apply(old string, f *diff.File) (string, error) {
	lines := strings.SplitAfter(old, "\n")
	var out strings.Builder
	next := 0 // how many lines of old are done with
	for i := range f.Hunks {
		h := &f.Hunks[i]
		start := h.OldStart // a hunk without old lines follows the line it names
		if h.OldLines > 0 {
			start--
		}
		if start < next || start > len(lines) {
			return "", fmt.Errorf("line %d is not the one of the diff", h.OldStart)
		}
		out.WriteString(strings.Join(lines[next:start], ""))
		next = start
		for l := range h.Lines() {
			text := l.Text + "\n"
			if l.NoEOL {
				text = l.Text
			}
			if l.Op != '+' {
				if next >= len(lines) || lines[next] != text {
					return "", fmt.Errorf("line %d is not the one of the diff", l.Old)
				}
				next++
			}
			if l.Op != '-' {
				out.WriteString(text)
			}
		}
	}
	out.WriteString(strings.Join(lines[next:], ""))
	return out.String(), nil
}
