package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/spelling"
)

const (
	// attributesLimit is the largest file of attributes that is read, in bytes.
	attributesLimit = 1 << 20
	// attributesBatch is how many paths git is asked about at once.
	attributesBatch = 10_000
	// attributesTime bounds how long git answers about attributes for whoever opened a repository, all questions together: a tree and its patterns
	// may be made to take for ever.
	attributesTime = time.Minute
	// attributesName is what git calls files of attributes.
	attributesName = ".gitattributes"
)

var errNoTime = fmt.Errorf("no time is left to ask about attributes: %w", ErrTooLarge)

// asked is what questions about attributes and paths have taken and found so far, for whoever opened a repository.
type asked struct {
	mu    sync.Mutex
	took  time.Duration              // about attributes
	files map[string][]Entry         // all files of attributes, by commit
	names map[string]int             // how many paths, by commit
	trees map[string]map[string]info // all files of a commit of which many were asked
}

// Attributes says what the .gitattributes files of a commit, and no others, say of some attributes of paths: the value of each by path and name,
// "set" and "unset" for those without; unspecified ones are left out. Files that are withheld, or that skip tells, say nothing. git itself is asked,
// with an index that holds nothing else. ErrTooLarge when a file is larger than 1 MB, or all answers together take longer than a minute.
func (r *Repository) Attributes(ctx context.Context, commit string, skip func(file string) bool, paths, names []string) (map[string]map[string]string, error) {
	said, err := r.attributes(ctx, commit, skip, paths, names, false)
	if err != nil {
		return nil, fmt.Errorf("attributes at %s: %w", commit, err)
	}
	return said[0], nil
}

// AttributesAnyCase is Attributes as a git understands them that takes capitals for small letters (core.ignoreCase, its default on macOS and Windows). A
// file that stands in the place of another on such disks, by the letters of its name or its folder, speaks too: then there is an answer for each.
func (r *Repository) AttributesAnyCase(ctx context.Context, commit string, skip func(file string) bool, paths, names []string) ([]map[string]map[string]string, error) {
	said, err := r.attributes(ctx, commit, skip, paths, names, true)
	if err != nil {
		return nil, fmt.Errorf("attributes at %s, in any case: %w", commit, err)
	}
	return said, nil
}

func (r *Repository) attributes(ctx context.Context, commit string, skip func(string) bool, paths, names []string, anyCase bool) ([]map[string]map[string]string, error) {
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return nil, err
		}
	}
	ctx, done := r.askingInTime(ctx)
	defer done()
	all, err := r.attributesFiles(ctx, commit)
	if err != nil {
		return nil, err
	}
	fold := func(name string) string { return name }
	if anyCase {
		fold = spelling.Fold
	}
	there := map[string][]Entry{} // by what their name is for such a disk
	for _, e := range all {
		if key := fold(e.Path); path.Base(key) == attributesName && !r.hides(e.Path) && !skip(e.Path) {
			there[key] = append(there[key], e)
		}
	}
	speaking, most := map[string][]Entry{}, 1 // by the name that git asks for
	for dir := range above(paths) {
		name := path.Join(dir, attributesName)
		if files := there[fold(name)]; len(files) > 0 {
			speaking[name], most = files, max(most, len(files))
		}
	}
	for name := range speaking {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if len(speaking[dir]) > 0 { // no index holds both
				return nil, fmt.Errorf("%s is a folder and a file: %w", dir, ErrMalformedTree)
			}
		}
	}
	said := make([]map[string]map[string]string, most)
	for i := range said {
		lines := make([]string, 0, len(speaking))
		for name, files := range speaking {
			e := files[min(i, len(files)-1)]
			if e.Size > attributesLimit {
				return nil, fmt.Errorf("%s has %d bytes, more than %d: %w", e.Path, e.Size, attributesLimit, ErrTooLarge)
			}
			lines = append(lines, fmt.Sprintf("%o %s\t%s\x00", modeFile, e.OID, name))
		}
		if said[i], err = r.checkAttributes(ctx, lines, paths, names, anyCase); err != nil {
			return nil, err
		}
	}
	return said, nil
}

// askingInTime is a context that ends when the time for all questions about attributes is over. done has to be called when one is answered.
func (r *Repository) askingInTime(ctx context.Context) (limited context.Context, done func()) {
	r.asked.mu.Lock()
	defer r.asked.mu.Unlock()
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, min(attributesTime, r.git.timeout)-r.asked.took, errNoTime)
	return limited, func() {
		cancel()
		r.asked.mu.Lock()
		defer r.asked.mu.Unlock()
		r.asked.took += time.Since(began)
	}
}

// above are the folders of paths and all above them, "." for the root.
func above(paths []string) map[string]bool {
	dirs := map[string]bool{}
	for _, p := range paths {
		for dir := path.Dir(p); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return dirs
}

// attributesFiles lists the files of attributes of a commit, in any case. It lists the tree once: git looks for a name in a folder of many by going
// through all of them.
func (r *Repository) attributesFiles(ctx context.Context, commit string) ([]Entry, error) {
	r.asked.mu.Lock()
	known, ok := r.asked.files[commit]
	r.asked.mu.Unlock()
	if ok {
		return known, nil
	}
	if !IsOID(commit) {
		return nil, ErrName
	}
	if few := r.fewListed(ctx, commit); few != nil {
		return slices.DeleteFunc(slices.Clone(few), func(e Entry) bool {
			return e.Mode == modeSubmodule || spelling.Fold(path.Base(e.Path)) != attributesName
		}), nil
	}
	out := &attributesList{fileCounter: fileCounter{left: mostFiles}}
	_, err := r.git.run(ctx, command{name: "ls-tree", at: r.place(), out: out, limit: 4 * listLimit, args: []string{"-r", "-z", "--full-tree", "--end-of-options", commit}})
	if out.full && ctx.Err() == nil {
		err = fmt.Errorf("more than %d files: %w", mostFiles, ErrTooLarge)
	}
	if err != nil {
		return nil, err
	}
	oids := make([]string, len(out.found))
	for i, e := range out.found {
		if err := checkPath(e.Path); err != nil {
			return nil, err
		}
		oids[i] = e.OID
	}
	infos, err := r.check(ctx, oids)
	if err != nil {
		return nil, err
	}
	for i, in := range infos {
		if out.found[i].Size = in.size; !in.blob {
			return nil, fmt.Errorf("%s is not there: %w", out.found[i].Path, ErrUnknownRevision)
		}
	}
	r.asked.mu.Lock()
	defer r.asked.mu.Unlock()
	r.asked.files[commit] = out.found
	return out.found, nil
}

// attributesList finds the files of attributes in what ls-tree -z lists, "mode type oid\tpath\0".
type attributesList struct {
	fileCounter
	rest  []byte
	found []Entry
}

func (l *attributesList) Write(p []byte) (int, error) {
	if n, err := l.fileCounter.Write(p); err != nil {
		return n, err
	}
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte{0})
		if !whole {
			return len(p), nil
		}
		l.rest = rest
		meta, name, _ := strings.Cut(string(line), "\t")
		if fields := strings.Fields(meta); len(fields) == 3 && fields[1] == "blob" && spelling.Fold(path.Base(name)) == attributesName {
			l.found = append(l.found, Entry{OID: fields[2], Path: name})
		}
	}
}

// checkAttributes asks git about paths with an index of some lines alone.
func (r *Repository) checkAttributes(ctx context.Context, lines, paths, names []string, anyCase bool) (map[string]map[string]string, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	tmp, err := os.MkdirTemp(r.dir, "index-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	at := place{dir: r.dir, index: filepath.Join(tmp, "index")}
	if _, err := r.git.run(ctx, command{name: "update-index", at: at, args: []string{"-z", "--index-info"}, stdin: []byte(strings.Join(lines, ""))}); err != nil {
		return nil, err
	}
	said, alike := map[string]map[string]string{}, map[string]map[string]string{} // what is said of many files is kept once
	for batch := range slices.Chunk(paths, attributesBatch) {
		out, err := r.git.run(ctx, command{name: "check-attr", at: at, args: append([]string{"-z", "--stdin", "--cached"}, names...),
			settings: []setting{{"core.ignoreCase", fmt.Sprint(anyCase)}}, stdin: []byte(strings.Join(batch, "\x00") + "\x00"), limit: listLimit})
		if err != nil {
			return nil, err
		}
		fields := strings.Split(string(out), "\x00")
		if len(fields) != 3*len(batch)*len(names)+1 {
			return nil, errAnswerShape
		}
		for i, p := range batch {
			of := fields[3*len(names)*i:][:3*len(names)]
			if of[0] != p {
				return nil, errAnswerShape
			}
			key := ""
			for n := range names {
				key += of[3*n+2] + "\x00"
			}
			values, known := alike[key]
			if !known {
				values = map[string]string{}
				for ; len(of) > 0; of = of[3:] {
					if of[2] != "unspecified" {
						values[of[1]] = strings.Clone(of[2])
					}
				}
				alike[key] = values
			}
			if len(values) > 0 {
				said[p] = values
			}
		}
	}
	return said, nil
}
