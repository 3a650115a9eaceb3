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
	case !tracked && !w.within[c.path] && strings.Count(c.path, "/") > takeDepth:
		return refuse(TakeBadName, fmt.Sprintf("more than %d folders deep", takeDepth))
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
// one runs what its configuration says (threats.md T20).
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

func (w *taking) readAll(name string) ([]byte, error) {
	f, err := w.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := make([]byte, w.found[name].size)
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, &TakeError{Rule: TakeUnreadable, Path: name, Err: err}
	}
	return text, nil
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
