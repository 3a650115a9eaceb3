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
	"time"
)

// ignoreTime bounds how long git answers what is ignored, all questions of one take together: patterns and folders may be made to take for ever.
const ignoreTime = time.Minute

var errIgnoreTime = errors.New("no time is left to ask what is ignored")

// ignore answers what the .gitignore files of a commit ignore. git is asked in a folder of our own that holds nothing but
// those files and empty folders: what it may read there is what prloop wrote.
type ignore struct {
	git  *Git
	at   place
	root *os.Root
	all  time.Duration // for all questions
	left time.Duration // of it
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
	all := min(ignoreTime, r.git.timeout)
	return &ignore{git: r.git, root: root, all: all, left: all, at: place{dir: r.dir, index: filepath.Join(dir, "..", "no-index"), work: dir}}, nil
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
	out, err := i.ask(ctx, in.String())
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[strings.TrimPrefix(name, "./")] = name != ""
	}
	return ignored, nil
}

// ask has git answer in the time that is left. Patterns that take longer are a *TakeError: it is what base or the folder holds that does, and a
// second time would end the same way.
func (i *ignore) ask(ctx context.Context, names string) ([]byte, error) {
	limited, cancel := context.WithTimeoutCause(ctx, i.left, errIgnoreTime)
	defer cancel()
	began := time.Now()
	// check-ignore refuses to run with literal pathspecs.
	out, err := i.git.run(limited, command{name: "check-ignore", at: i.at, args: []string{"-z", "--stdin", "--no-index"}, stdin: []byte(names),
		extra: []string{"GIT_LITERAL_PATHSPECS=0"}, limit: listLimit, ok: 1})
	i.left -= time.Since(began)
	switch {
	case errors.Is(err, errAnswer):
		return out, nil
	case errors.Is(err, errIgnoreTime):
		return nil, &TakeError{Rule: TakeTooLarge, Detail: fmt.Sprintf("git takes more than %s to tell what its .gitignore files ignore", i.all), Err: err}
	}
	return out, err
}

// same reports whether a file of the folder has the bytes of an entry of base.
func (w *taking) same(name string, was Entry) (bool, error) {
	f, err := w.open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	is, err := isBlob(f, was.Size, was.OID)
	if err != nil {
		return false, &TakeError{Rule: TakeUnreadable, Path: name, Err: err}
	}
	return is, nil
}

// isBlob reports whether the first bytes of a file are those of a blob of that size.
func isBlob(f io.Reader, size int64, oid string) (bool, error) {
	var sum hash.Hash = sha1.New()
	if len(oid) == 2*sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", size)
	if _, err := io.Copy(sum, io.LimitReader(f, size)); err != nil {
		return false, err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)) == oid, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
