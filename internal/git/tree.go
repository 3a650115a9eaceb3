package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Entry is one file of a tree.
type Entry struct {
	// Mode is git's octal mode: 0o100644, 0o100755, 0o120000 for a link, 0o160000 for a submodule.
	Mode uint32
	OID  string
	// Size is in bytes; 0 for submodules.
	Size int64
	// Path is slash-separated and canonical.
	Path string
}

// IsLink reports that the entry is a symbolic link.
func (e Entry) IsLink() bool { return e.Mode == modeLink }

// Modes of entries.
const (
	modeLink      = 0o120000
	modeSubmodule = 0o160000
	modeFile      = 0o100644
	modeExec      = 0o100755
)

// listLimit bounds the listing of a tree, in bytes.
const listLimit = 256 << 20

// List gives the files of a commit below prefix (a folder or file; empty for all), in git's order. A tree with a name
// that is not canonical is ErrMalformedTree as a whole (threats.md T26): who makes one is up to something.
func (r *Repository) List(ctx context.Context, commit, prefix string) ([]Entry, error) {
	if !IsOID(commit) {
		return nil, fmt.Errorf("list tree of %q: %w", commit, ErrName)
	}
	args := []string{"-r", "-l", "-z", "--full-tree", "--end-of-options", commit}
	if prefix = strings.TrimSuffix(prefix, "/"); prefix != "" {
		if err := checkPath(prefix); err != nil {
			return nil, fmt.Errorf("list tree of %s: %w", commit, err)
		}
		args = append(args, "--", prefix)
	}
	if few := r.fewListed(ctx, commit); few != nil {
		return below(few, prefix), nil
	}
	out := &fileList{fileCounter: fileCounter{left: mostFiles}}
	_, err := r.git.run(ctx, command{name: "ls-tree", at: r.place(), args: args, out: out, limit: 4 * listLimit})
	if out.full && ctx.Err() == nil {
		err = fmt.Errorf("more than %d files: %w", mostFiles, ErrTooLarge)
	}
	if err != nil {
		return nil, fmt.Errorf("list tree of %s: %w", commit, err)
	}
	entries, err := parseTree(out.String())
	if err != nil {
		return nil, fmt.Errorf("list tree of %s: %w", commit, err)
	}
	return entries, nil
}

// fileList keeps what fileCounter counts.
type fileList struct {
	fileCounter
	strings.Builder
}

func (l *fileList) Write(p []byte) (int, error) {
	if n, err := l.fileCounter.Write(p); err != nil {
		return n, err
	}
	return l.Builder.Write(p)
}

// Files is List with the paths alone.
func (r *Repository) Files(ctx context.Context, commit, prefix string) ([]string, error) {
	return r.paths(ctx, commit, prefix, func(Entry) bool { return true })
}

// Links lists the symbolic links at prefix and below it.
func (r *Repository) Links(ctx context.Context, commit, prefix string) ([]string, error) {
	return r.paths(ctx, commit, prefix, Entry.IsLink)
}

// Regular lists the files at prefix and below it that are no symbolic links, no submodules and not empty.
func (r *Repository) Regular(ctx context.Context, commit, prefix string) ([]string, error) {
	return r.paths(ctx, commit, prefix, func(e Entry) bool { return e.Mode != modeLink && e.Mode != modeSubmodule && e.Size > 0 })
}

// paths are those of the entries of List that are of interest.
func (r *Repository) paths(ctx context.Context, commit, prefix string, keep func(Entry) bool) ([]string, error) {
	entries, err := r.List(ctx, commit, prefix)
	if err != nil {
		return nil, err
	}
	paths := make([]string, 0, len(entries))
	for _, e := range entries {
		if keep(e) {
			paths = append(paths, e.Path)
		}
	}
	return paths, nil
}

// parseTree reads "mode type oid size\tpath\0" of ls-tree -l -z.
func parseTree(text string) ([]Entry, error) {
	var entries []Entry
	seen := make(map[string]struct{})
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\x00")
		meta, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 4 {
			return nil, fmt.Errorf("unreadable entry: %w", ErrMalformedTree)
		}
		mode, err := strconv.ParseUint(fields[0], 8, 32)
		if err != nil || !IsOID(fields[2]) {
			return nil, fmt.Errorf("unreadable entry: %w", ErrMalformedTree)
		}
		if err := checkPath(path); err != nil {
			return nil, err
		}
		if _, twice := seen[path]; twice {
			return nil, fmt.Errorf("path %q stands twice: %w", path, ErrMalformedTree)
		}
		seen[path] = struct{}{}
		size, _ := strconv.ParseInt(fields[3], 10, 64) // "-" for submodules
		entries = append(entries, Entry{Mode: uint32(mode), OID: fields[2], Size: size, Path: path})
	}
	return entries, nil
}
