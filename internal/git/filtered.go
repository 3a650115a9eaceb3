package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// largeFilter is the filter of Git LFS; harmless are filters that no more than shorten a text, which may be read as it is.
const largeFilter = "lfs"

var harmless = []string{"nbstripout"}

// filters are the filters that attributes name for files of the working tree, by path: any commit holds other bytes than lie there, such as encrypted
// ones. They are not run, and whether the checkout has them does not count: its owner's own configuration, where they may be set up, is not read.
func (w *worktree) filters(ctx context.Context, paths []string) (map[string]string, error) {
	settings := w.settings
	if info := filepath.Join(w.c.common, "info", "attributes"); regular(info) {
		settings = append(slices.Clone(settings), setting{"core.attributesFile", info})
	}
	filters := map[string]string{}
	for batch := range slices.Chunk(paths, attributesBatch) {
		out, err := w.r.git.run(ctx, command{name: "check-attr", at: w.at, settings: settings, args: []string{"-z", "--stdin", "filter"},
			stdin: []byte(strings.Join(batch, "\x00") + "\x00"), limit: listLimit})
		if err != nil {
			return nil, err
		}
		said := strings.Split(string(out), "\x00")
		if len(said) != 3*len(batch)+1 {
			return nil, errAnswerShape
		}
		for i, path := range batch {
			if name := said[3*i+2]; !slices.Contains([]string{"", "unspecified", "unset", "set"}, name) && !slices.Contains(harmless, name) {
				filters[path] = strings.Clone(name)
			}
		}
	}
	return filters, nil
}

// sift tells the regular files of a working tree that are taken over from those that are not: large ones, and those of which a commit would hold other
// bytes. A file of Git LFS whose content is what the index names is neither: it is unchanged.
func (w *worktree) sift(ctx context.Context, files map[string]fs.FileInfo) (taken []string, skipped []SkippedFile, err error) {
	paths := sortedKeys(files)
	filters, err := w.filters(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	staged, err := w.staged(ctx, filters)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range paths {
		filter := filters[path]
		switch {
		case filter == largeFilter && w.asCommitted(path):
			taken = append(taken, path)
		case filter == largeFilter && staged[path] != "" && w.pointed(path, staged[path]):
		case filter == largeFilter:
			skipped = append(skipped, SkippedFile{Path: path, Begins: w.begins(path), Filter: filter})
		case filter != "":
			skipped = append(skipped, SkippedFile{Path: path, Filter: filter}) // of plain bytes nothing is looked at
		case files[path].Size() > takeLimit:
			skipped = append(skipped, SkippedFile{Path: path, Begins: w.begins(path)})
		default:
			taken = append(taken, path)
		}
	}
	return taken, skipped, nil
}

// staged are the blobs that the index has of files with the filter of Git LFS.
func (w *worktree) staged(ctx context.Context, filters map[string]string) (map[string]string, error) {
	blobs := map[string]string{}
	if !slices.Contains(slices.Collect(maps.Values(filters)), largeFilter) {
		return blobs, nil
	}
	out, err := w.run(ctx, "ls-files", nil, "-z", "--stage")
	for entry := range strings.SplitSeq(string(out), "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); filters[path] == largeFilter && len(fields) == 3 {
			blobs[path] = fields[1]
		}
	}
	return blobs, err
}

// asCommitted reports whether a file of Git LFS lies there as commits hold it: as a pointer, or empty.
func (w *worktree) asCommitted(path string) bool {
	data := w.begins(path)
	return len(data) == 0 || len(data) < 1024 && bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/"))
}

// pointed reports whether a blob is the pointer to the content that a file has.
func (w *worktree) pointed(path, blob string) bool {
	root, err := os.OpenRoot(w.c.Top)
	if err != nil {
		return false
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return false
	}
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sum.Sum(nil), size)
	same, err := isBlob(strings.NewReader(pointer), int64(len(pointer)), blob)
	return same && err == nil
}
