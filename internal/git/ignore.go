package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ignore answers what the .gitignore files of a commit ignore. git is asked in a folder of our own that holds nothing but
// those files and empty folders: what it may read there is what prloop wrote.
type ignore struct {
	git  *Git
	at   place
	root *os.Root
}

func (r *Repository) newIgnore(ctx context.Context, dir, base string, entries []Entry) (*ignore, error) {
	var files []Entry
	for _, e := range entries {
		if (e.Path == ".gitignore" || strings.HasSuffix(e.Path, "/.gitignore")) && e.Mode != modeLink && e.Mode != modeSubmodule && e.Size <= bigFile {
			files = append(files, e)
		}
	}
	if err := r.export(ctx, files, dir); err != nil {
		return nil, fmt.Errorf("ignored files of %s: %w", base, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &ignore{git: r.git, root: root, at: place{dir: r.dir, index: filepath.Join(dir, "..", "no-index"), work: dir}}, nil
}

func (i *ignore) close() { i.root.Close() }

// of gives the ignored ones of some entries.
func (i *ignore) of(ctx context.Context, entries []candidate) (map[string]bool, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, e := range entries {
		if e.info.IsDir() {
			// Patterns such as build/ match folders alone, and git looks whether it is one.
			if err := i.root.MkdirAll(filepath.FromSlash(e.path), 0o700); err != nil {
				return nil, &TakeError{Rule: TakeBadName, Path: e.path, Err: err}
			}
		}
		in.WriteString("./" + e.path + "\x00") // a name that begins with a colon is no magic then
	}
	// check-ignore refuses to run with literal pathspecs.
	out, err := i.git.run(ctx, command{name: "check-ignore", at: i.at, args: []string{"-z", "--stdin", "--no-index"}, stdin: []byte(in.String()),
		extra: []string{"GIT_LITERAL_PATHSPECS=0"}, limit: listLimit, ok: 1})
	if err != nil && !errors.Is(err, errAnswer) {
		return nil, err
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[strings.TrimPrefix(name, "./")] = name != ""
	}
	return ignored, nil
}

// same reports whether a file of the folder has the bytes of an entry of base.
func (w *taking) same(name string, was Entry) (bool, error) {
	f, err := w.open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var sum hash.Hash = sha1.New()
	if len(was.OID) == 2*sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", was.Size)
	if _, err := io.Copy(sum, io.LimitReader(f, was.Size)); err != nil {
		return false, &TakeError{Rule: TakeUnreadable, Path: name, Err: err}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)) == was.OID, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
