package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of TakeTree.
const (
	// takeEntries is how many entries of the folder are looked at; what base ignores is not looked into.
	takeEntries = 300_000
	// takeDepth is how many folders what is new may lie in. git is asked about each level, and looks at all above it.
	takeDepth = 100
	// takeChanged is how many files may be new or changed. The push policy allows fewer.
	takeChanged = 1000
)

// TakeTree takes a fixer's folder as a plain tree (decision 6, threats.md T20-T24) and gives the tree's object id: the tree of
// base itself when nothing changed. The folder is data. No git runs in it: files are opened one by one inside of it, their
// bytes are hashed as they are, whatever attributes, filters or .git it holds, and the tree is built in r with an index of
// our own. Ignored is what the .gitignore files of base ignore, for files that base does not have. Links, pipes, sockets,
// devices, files with other names elsewhere, repositories inside the folder, files over 8 MB and what is new below 100 folders are a
// *TakeError that names the path; so are patterns that take git more than a minute, without one. Nothing may write the folder meanwhile.
func (r *Repository) TakeTree(ctx context.Context, dir, base string) (string, error) {
	if !IsOID(base) {
		return "", fmt.Errorf("take tree onto %q: %w", base, ErrName)
	}
	tree, err := r.takeTree(ctx, dir, base)
	if err != nil {
		return "", fmt.Errorf("take tree onto %s: %w", base, err)
	}
	return tree, nil
}

func (r *Repository) takeTree(ctx context.Context, dir, base string) (string, error) {
	entries, err := r.List(ctx, base, "")
	if err != nil {
		return "", err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", &TakeError{Rule: TakeUnreadable, Detail: "it is no folder", Err: err}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", &TakeError{Rule: TakeUnreadable, Detail: "it cannot be opened", Err: err}
	}
	defer root.Close()
	tmp, err := os.MkdirTemp(r.dir, "index-take-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	ignore, err := r.newIgnore(ctx, filepath.Join(tmp, "ignore"), base, entries)
	if err != nil {
		return "", err
	}
	defer ignore.close()
	w := &taking{root: root, ignore: ignore, base: map[string]Entry{}, within: map[string]bool{}, found: map[string]found{}}
	for _, e := range entries {
		w.base[e.Path] = e
		for d := parent(e.Path); d != ""; d = parent(d) {
			w.within[d] = true
		}
	}
	if err := w.walk(ctx); err != nil {
		return "", err
	}
	return r.writeTree(ctx, w, place{dir: r.dir, index: filepath.Join(tmp, "index")}, base)
}

func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)]
}

// writeTree builds the tree: base's index, then what differs.
func (r *Repository) writeTree(ctx context.Context, w *taking, at place, base string) (string, error) {
	blobs := filepath.Join(filepath.Dir(at.index), "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		return "", err
	}
	lines, err := r.differing(ctx, w, blobs, len(base))
	if err != nil {
		return "", err
	}
	if _, err := r.git.run(ctx, command{name: "read-tree", at: at, args: []string{"--end-of-options", base}}); err != nil {
		return "", err
	}
	if lines != "" {
		if _, err := r.git.run(ctx, command{name: "update-index", at: at, args: []string{"-z", "--index-info"}, stdin: []byte(lines)}); err != nil {
			return "", err
		}
	}
	out, err := r.git.run(ctx, command{name: "write-tree", at: at})
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(out))
	if !IsOID(tree) {
		return "", errAnswerShape
	}
	return tree, nil
}

// differing gives the lines of update-index --index-info: removals first, so that a folder can take a file's place.
func (r *Repository) differing(ctx context.Context, w *taking, tmp string, oidLength int) (string, error) {
	var lines strings.Builder
	for _, name := range sortedKeys(w.base) {
		if _, ok := w.found[name]; !ok && w.base[name].Mode != modeSubmodule && !r.hides(name) { // what is withheld was never there
			fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", oidLength), name)
		}
	}
	changed, err := w.changed()
	if err != nil || len(changed) == 0 {
		return lines.String(), err
	}
	oids, err := r.hash(ctx, w, changed, tmp)
	if err != nil {
		return "", err
	}
	for i, name := range changed {
		fmt.Fprintf(&lines, "%o %s\t%s\x00", w.mode(name), oids[i], name)
	}
	return lines.String(), nil
}

// mode is git's for a file of the folder. Links are text files in a clone and stay links.
func (w *taking) mode(name string) uint32 {
	switch {
	case w.base[name].Mode == modeLink:
		return modeLink
	case w.found[name].exec:
		return modeExec
	}
	return modeFile
}

// changed are the files that are new or differ from base, within the bounds.
func (w *taking) changed() ([]string, error) {
	var names []string
	var bytes int64
	for _, name := range sortedKeys(w.found) {
		f := w.found[name]
		if was, tracked := w.base[name]; tracked && was.Size == f.size {
			same, err := w.same(name, was)
			if err != nil {
				return nil, err
			}
			if same && w.mode(name) == was.Mode {
				continue
			}
		}
		names, bytes = append(names, name), bytes+f.size
		switch {
		case f.size > takeLimit:
			return nil, &TakeError{Rule: TakeTooLarge, Path: name, Detail: fmt.Sprintf("%d bytes, at most %d", f.size, takeLimit)}
		case len(names) > takeChanged:
			return nil, &TakeError{Rule: TakeTooManyFiles, Detail: fmt.Sprintf("more than %d new or changed files", takeChanged)}
		case bytes > bundleBytes:
			return nil, &TakeError{Rule: TakeTooLarge, Detail: fmt.Sprintf("more than %d bytes in new and changed files", bundleBytes)}
		}
	}
	return names, nil
}

// hash writes files as blobs, their bytes as they are. git reads copies in a folder of ours: one process for all, and none of
// it ever sees a name or a folder of the agent's.
func (r *Repository) hash(ctx context.Context, w *taking, names []string, tmp string) ([]string, error) {
	var list strings.Builder
	for i, name := range names {
		text, err := w.readAll(name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(tmp, strconv.Itoa(i)), text, 0o600); err != nil {
			return nil, err
		}
		fmt.Fprintf(&list, "%d\n", i)
	}
	out, err := r.git.run(ctx, command{name: "hash-object", packs: true, at: place{dir: r.dir, work: tmp}, stdin: []byte(list.String()),
		args: []string{"-w", "--no-filters", "--stdin-paths"}})
	if err != nil {
		return nil, err
	}
	oids := strings.Fields(string(out))
	if len(oids) != len(names) || slices.ContainsFunc(oids, func(oid string) bool { return !IsOID(oid) }) {
		return nil, errAnswerShape
	}
	return oids, nil
}
