package tools

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/sanitize"
)

// check takes a path as a model wrote it, an unusual name quoted; "" and "." are the root. It gives the name's bytes.
func (b *Box) check(written string) (string, error) {
	name := spelling.Raw(written)
	switch {
	case strings.IndexByte(name, 0) >= 0, name == written && strings.Contains(name, `\`), len(name) > 1024:
		return "", fail(BadPath, "a path has slashes and no NUL or backslash, and at most 1024 bytes")
	case strings.HasPrefix(name, "/"), name == written && len(name) > 1 && name[1] == ':':
		return "", fail(BadPath, "paths are relative to the root of the repository")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", fail(BadPath, "a path does not leave the repository")
		}
	}
	name = b.named(path.Clean(name))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fail(BadPath, "this is no path in the repository")
	}
	if b.hidden(name) {
		return "", missing(name)
	}
	return name, nil
}

func missing(name string) error { return fail(NotFound, "there is no %.200q", name) }

// hidden reports whether a path, or a folder on the way to it, is excluded or belongs to git.
func (b *Box) hidden(name string) bool {
	for p := name; p != "." && p != "/"; p = path.Dir(p) {
		if strings.EqualFold(path.Base(p), ".git") {
			return true
		}
		if slices.ContainsFunc(b.o.Exclude, func(x string) bool { return doublestar.MatchUnvalidated(x, p) }) {
			return true
		}
	}
	return false
}

// stat looks at a path without following a link anywhere on the way: os.Root keeps links from leaving the tree, but one
// inside it could lead to an excluded file.
func (b *Box) stat(name string) (os.FileInfo, error) {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		root, part := b.at(name[:i])
		info, err := root.Lstat(part)
		if err != nil || !info.IsDir() {
			return nil, missing(name)
		}
	}
	root, part := b.at(name)
	info, err := root.Lstat(part)
	if err != nil {
		return nil, missing(name)
	}
	return info, nil
}

// text reads a regular file.
func (b *Box) text(name string) ([]byte, error) {
	info, err := b.stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fail(NotAFile, "%.200q is no regular file", name)
	case info.Size() > fileLimit:
		return nil, fail(TooLarge, "%.200q is larger than %d bytes", name, fileLimit)
	}
	root, part := b.at(name)
	f, err := root.OpenFile(part, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, missing(name)
	}
	defer f.Close()
	// What was opened must be what was looked at, should the tree be changed meanwhile.
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, missing(name)
	}
	data, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	switch {
	case err != nil:
		return nil, fail(Unavailable, "%.200q cannot be read", name)
	case len(data) > fileLimit:
		return nil, fail(TooLarge, "%.200q is larger than %d bytes", name, fileLimit)
	case bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0:
		return nil, fail(Binary, "%.200q is binary", name)
	}
	return data, nil
}

func splitLines(text []byte) []string {
	s := spelling.Text(string(text))
	lines := strings.Split(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func cut(line string) string {
	return sanitize.Beginning(strings.TrimSuffix(line, "\r"), lineLimit)
}

// readArgs are those of read_file. Start is 1-based, default 1; End is inclusive.
type readArgs struct {
	Path  string `json:"path"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	// Version is head, or base for the file before the change; empty is head.
	Version string `json:"version"`
}

// FileLines is what read_file answers.
type FileLines struct {
	Path, Language string
	// Start and End are 1-based and inclusive.
	Start, End int
	// Lines is how many the whole file has.
	Lines   int
	Content string
	// Missing is how many lines fewer were given than were asked for.
	Missing int
}

func (b *Box) readFile(ctx context.Context, a readArgs) (FileLines, error) {
	name, err := b.check(a.Path)
	if err != nil {
		return FileLines{}, err
	}
	var text []byte
	switch a.Version {
	case "", "head":
		text, err = b.text(name)
	case "base":
		text, err = b.baseText(ctx, name)
	default:
		err = fail(BadArguments, "version is head or base")
	}
	if err != nil {
		return FileLines{}, err
	}
	lines := splitLines(b.shown(text))
	if a.Start <= 0 {
		a.Start = 1
	}
	end := min(len(lines), a.Start+readLines-1)
	if a.End >= a.Start {
		end = min(end, a.End)
	}
	if a.Start > len(lines) && len(lines) > 0 {
		return FileLines{}, fail(BadArguments, "%.200q has %d lines", name, len(lines))
	}
	end, err = b.allow(name, a.Start, end)
	if err != nil {
		return FileLines{}, err
	}
	out := FileLines{Path: b.label(name), Start: a.Start, Lines: len(lines), End: a.Start - 1}
	if b.o.Language != nil {
		out.Language = b.o.Language(name)
	}
	var content strings.Builder
	for _, l := range lines[min(a.Start-1, len(lines)):end] {
		l = cut(l)
		if content.Len()+len(l) > resultLimit/2 {
			break
		}
		content.WriteString(l + "\n")
		out.End++
	}
	out.Content = content.String()
	want := len(lines)
	if a.End >= a.Start {
		want = min(want, a.End)
	}
	out.Missing = max(want-out.End, 0)
	return out, nil
}

// folderArgs are those of list; without a path it is the root.
type folderArgs struct {
	Path string `json:"path"`
}

// Folder is what list answers: names in order, those of folders with a slash behind.
type Folder struct {
	Path    string
	Entries []string
	// Missing is how many more there are.
	Missing int
}

func (b *Box) listFolder(_ context.Context, a folderArgs) (Folder, error) {
	name, err := b.check(a.Path)
	if err != nil {
		return Folder{}, err
	}
	out := Folder{Path: b.label(name)}
	entries, err := b.entries(name)
	if err != nil {
		return Folder{}, err
	}
	for i, e := range entries {
		if len(out.Entries) == folderLimit {
			out.Missing = len(entries) - i
			break
		}
		entry := path.Join(name, e.Name())
		if e.IsDir() {
			entry += "/"
		}
		out.Entries = append(out.Entries, b.entry(entry))
	}
	return out, nil
}

// entries are those of a folder that may be seen, sorted by name. Links are left out.
func (b *Box) entries(name string) ([]os.DirEntry, error) {
	if name != "." {
		info, err := b.stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fail(NotAFile, "%.200q is no folder", name)
		}
	}
	root, part := b.at(name)
	f, err := root.Open(part)
	if err != nil {
		return nil, missing(name)
	}
	defer f.Close()
	all, err := f.ReadDir(-1)
	if err != nil {
		return nil, fail(Unavailable, "%.200q cannot be listed", name)
	}
	all = slices.DeleteFunc(all, func(e os.DirEntry) bool {
		return !e.IsDir() && !e.Type().IsRegular() || b.hidden(path.Join(name, e.Name()))
	})
	if name == "." {
		all = append(all, b.mounted()...)
	}
	slices.SortFunc(all, func(x, y os.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	return all, nil
}

// expression compiles what search_code is asked for.
func expression(query string, re bool) (*regexp.Regexp, error) {
	if len(query) < 2 || len(query) > 200 {
		return nil, fail(BadArguments, "a query has 2 to 200 bytes")
	}
	if !re {
		query = regexp.QuoteMeta(query)
	}
	p, err := regexp.Compile(query)
	if err != nil {
		return nil, fail(BadArguments, "the query is no regular expression (RE2): %.200s", err)
	}
	return p, nil
}
