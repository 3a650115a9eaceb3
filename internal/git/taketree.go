package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of TakeTree.
const (
	// takeEntries is how many entries of the folder are looked at; what base ignores is not looked into.
	takeEntries = 300_000
	// takeChanged is how many files may be new or changed. The push policy allows fewer.
	takeChanged = 1000
)

// TakeTree takes a fixer's folder as a plain tree (design 3.6, security T20-T24) and gives the tree's object id: the tree of
// base itself when nothing changed. The folder is data. No git runs in it: files are opened one by one inside of it, their
// bytes are hashed as they are, whatever attributes, filters or .git it holds, and the tree is built in r with an index of
// our own. Ignored is what the .gitignore files of base ignore, for files that base does not have. Links, pipes, sockets,
// devices, files with other names elsewhere, repositories inside the folder and files over 8 MB are a *TakeError that names
// the path. Nothing may write the folder meanwhile.
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
		return "", err
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

// taking walks a folder of an agent's.
type taking struct {
	root   *os.Root
	ignore *ignore
	base   map[string]Entry
	within map[string]bool // the folders base has
	found  map[string]found
	seen   int
}

// found is one regular file of the folder.
type found struct {
	size int64
	exec bool
}

// walk looks at the folder level by level, so that git is asked once a level what is ignored.
func (w *taking) walk(ctx context.Context) error {
	for folders := []string{""}; len(folders) > 0; {
		var level []candidate
		for _, d := range folders {
			more, err := w.read(d)
			if err != nil {
				return err
			}
			level = append(level, more...)
		}
		kept, err := w.notIgnored(ctx, level)
		if err != nil {
			return err
		}
		folders = folders[:0:0]
		for _, c := range kept {
			if c.info.IsDir() {
				folders = append(folders, c.path)
			}
			if err := w.judge(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// candidate is one entry of the folder before it is judged.
type candidate struct {
	path string
	info os.FileInfo
}

func (w *taking) read(dir string) ([]candidate, error) {
	name := filepath.FromSlash(dir)
	if name == "" {
		name = "."
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, &TakeError{Rule: TakeUnreadable, Path: dir, Err: err}
	}
	defer f.Close()
	names, err := f.Readdirnames(takeEntries - w.seen + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &TakeError{Rule: TakeUnreadable, Path: dir, Err: err}
	}
	if w.seen += len(names); w.seen > takeEntries {
		return nil, &TakeError{Rule: TakeTooManyFiles, Detail: fmt.Sprintf("more than %d entries", takeEntries)}
	}
	slices.Sort(names)
	var all []candidate
	for _, n := range names {
		p := n
		if dir != "" {
			p = dir + "/" + n
		}
		if p == ".git" {
			continue // the clone's own; nobody reads it
		}
		info, err := w.root.Lstat(filepath.FromSlash(p))
		if err != nil {
			return nil, &TakeError{Rule: TakeUnreadable, Path: p, Err: err}
		}
		all = append(all, candidate{p, info})
	}
	return all, nil
}

// notIgnored drops what is new and ignored by base.
func (w *taking) notIgnored(ctx context.Context, level []candidate) ([]candidate, error) {
	var ask []candidate
	for _, c := range level {
		if _, tracked := w.base[c.path]; !tracked && !w.within[c.path] && checkPath(c.path) == nil {
			ask = append(ask, c)
		}
	}
	ignored, err := w.ignore.of(ctx, ask)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(level, func(c candidate) bool { return ignored[c.path] }), nil
}

// judge refuses what is no plain file or folder, and notes the files.
func (w *taking) judge(c candidate) error {
	refuse := func(rule, detail string) error { return &TakeError{Rule: rule, Path: c.path, Detail: detail} }
	was, tracked := w.base[c.path]
	name := c.path[strings.LastIndexByte(c.path, '/')+1:]
	mode := c.info.Mode()
	switch {
	case isDotGit(name):
		return refuse(TakeEmbedded, "a repository inside the folder")
	case checkPath(c.path) != nil:
		return refuse(TakeBadName, "git must not hold such a name")
	case mode&os.ModeSymlink != 0:
		return refuse(TakeLink, "a symbolic link")
	case mode.IsDir():
		return w.folder(c, tracked && was.Mode == modeSubmodule)
	case !mode.IsRegular():
		return refuse(TakeSpecial, "a pipe, socket or device")
	case linkedElsewhere(c.info):
		return refuse(TakeHardLink, "the file has another name elsewhere")
	case c.info.Size() > takeLimit && (!tracked || was.Size != c.info.Size()):
		return refuse(TakeTooLarge, fmt.Sprintf("%d bytes, at most %d", c.info.Size(), takeLimit))
	}
	w.found[c.path] = found{size: c.info.Size(), exec: mode&0o100 != 0}
	return nil
}

// folder refuses folders that hold something where base has a submodule, and those git takes for a bare repository: entering
// one runs what its configuration says (security T20).
func (w *taking) folder(c candidate, submodule bool) error {
	inside, err := w.read(c.path)
	if err != nil {
		return err
	}
	w.seen -= len(inside) // they are counted when they are walked
	if submodule && len(inside) > 0 {
		return &TakeError{Rule: TakeSubmodule, Path: c.path, Detail: "files in the place of a submodule"}
	}
	file, sub := map[string]bool{}, map[string]bool{}
	for _, i := range inside {
		name := strings.ToLower(i.path[len(c.path)+1:])
		file[name], sub[name] = i.info.Mode().IsRegular(), i.info.IsDir()
	}
	_, old := w.base[c.path+"/HEAD"]
	if !old && file["head"] && (file["config"] || file["commondir"] || sub["objects"] && sub["refs"]) {
		return &TakeError{Rule: TakeEmbedded, Path: c.path, Detail: "git takes the folder for a bare repository"}
	}
	return nil
}

// writeTree builds the tree: base's index, then what differs.
func (r *Repository) writeTree(ctx context.Context, w *taking, at place, base string) (string, error) {
	lines, err := r.differing(ctx, w, len(base))
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
func (r *Repository) differing(ctx context.Context, w *taking, oidLength int) (string, error) {
	var gone, there strings.Builder
	for _, name := range sortedKeys(w.base) {
		if _, ok := w.found[name]; !ok && w.base[name].Mode != modeSubmodule {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", oidLength), name)
		}
	}
	changed := 0
	for _, name := range sortedKeys(w.found) {
		f := w.found[name]
		was, tracked := w.base[name]
		mode := uint32(modeFile)
		switch {
		case tracked && was.Mode == modeLink:
			mode = modeLink // links are text files in a clone
		case f.exec:
			mode = modeExec
		}
		if tracked && was.Size == f.size {
			same, err := w.same(name, was)
			if err != nil {
				return "", err
			}
			if same && mode == was.Mode {
				continue
			}
		}
		if f.size > takeLimit {
			return "", &TakeError{Rule: TakeTooLarge, Path: name, Detail: fmt.Sprintf("%d bytes, at most %d", f.size, takeLimit)}
		}
		if changed++; changed > takeChanged {
			return "", &TakeError{Rule: TakeTooManyFiles, Detail: fmt.Sprintf("more than %d new or changed files", takeChanged)}
		}
		oid, err := r.hash(ctx, w, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&there, "%o %s\t%s\x00", mode, oid, name)
	}
	return gone.String() + there.String(), nil
}

// hash writes a file's bytes as a blob, unfiltered.
func (r *Repository) hash(ctx context.Context, w *taking, name string) (string, error) {
	f, err := w.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text := make([]byte, w.found[name].size)
	if _, err := io.ReadFull(f, text); err != nil {
		return "", &TakeError{Rule: TakeUnreadable, Path: name, Err: err}
	}
	out, err := r.git.run(ctx, command{name: "hash-object", at: r.place(), args: []string{"-w", "--no-filters", "--stdin"}, stdin: text})
	if err != nil {
		return "", err
	}
	oid := strings.TrimSpace(string(out))
	if !IsOID(oid) {
		return "", errAnswerShape
	}
	return oid, nil
}

// open opens a file of the folder that was a plain one, and checks that it still is.
func (w *taking) open(name string) (*os.File, error) {
	f, err := w.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, &TakeError{Rule: TakeUnreadable, Path: name, Err: err}
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != w.found[name].size {
		f.Close()
		return nil, &TakeError{Rule: TakeUnreadable, Path: name, Detail: "it changed while it was read", Err: err}
	}
	return f, nil
}
