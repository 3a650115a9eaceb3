package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// readBatch bounds how many bytes of blobs one git process hands over.
const readBatch = 32 << 20

const (
	// fewNames is how many paths of a commit are looked up by themselves, mostListed of how many files a list is kept for those beyond.
	fewNames, mostListed = 1000, 300_000
)

// ReadFile reads one file at a commit, a link as its target. Errors: fs.ErrNotExist when there is no such file, ErrTooLarge
// when it is larger than limit bytes, ErrMalformedTree for a path that is not canonical.
func (r *Repository) ReadFile(ctx context.Context, commit, path string, limit int) ([]byte, error) {
	infos, err := r.stat(ctx, commit, []string{path})
	if err != nil {
		return nil, err
	}
	if !infos[0].blob {
		return nil, fmt.Errorf("read %q at %s: %w", path, commit, fs.ErrNotExist)
	}
	if infos[0].size > int64(limit) {
		return nil, fmt.Errorf("read %q at %s: %d bytes: %w", path, commit, infos[0].size, ErrTooLarge)
	}
	texts, err := r.blobs(ctx, []string{infos[0].oid}, infos[0].size)
	if err != nil {
		return nil, err
	}
	return texts[0], nil
}

// ReadFiles reads many files at a commit with few processes. Files that are not there, are no blobs or are larger than
// limit bytes are left out of the map. The texts are slices of shared memory and must not be changed.
func (r *Repository) ReadFiles(ctx context.Context, commit string, paths []string, limit int) (map[string][]byte, error) {
	infos, err := r.stat(ctx, commit, paths)
	if err != nil {
		return nil, err
	}
	got := make(map[string][]byte, len(paths))
	var names, oids []string
	var total int64
	flush := func() error {
		texts, err := r.blobs(ctx, oids, total)
		if err != nil {
			return err
		}
		for i, text := range texts {
			got[names[i]] = text
		}
		names, oids, total = names[:0], oids[:0], 0
		return nil
	}
	for i, in := range infos {
		if !in.blob || in.size > int64(limit) {
			continue
		}
		if total+in.size > readBatch {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		names, oids, total = append(names, paths[i]), append(oids, in.oid), total+in.size
	}
	return got, flush()
}

// info is what cat-file says about one object.
type info struct {
	oid  string
	size int64
	blob bool // false for what is missing, too
}

// stat asks for the blobs of paths at a commit, in order.
func (r *Repository) stat(ctx context.Context, commit string, paths []string) ([]info, error) {
	if !IsOID(commit) {
		return nil, fmt.Errorf("read files at %q: %w", commit, ErrName)
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		if err := checkPath(p); err != nil {
			return nil, fmt.Errorf("read files at %s: %w", commit, err)
		}
		names[i] = commit + ":" + p
	}
	var infos []info
	if known := r.knownFiles(ctx, commit, len(paths)); known != nil {
		for _, p := range paths {
			infos = append(infos, known[p])
		}
	} else {
		var err error
		if infos, err = r.check(ctx, names); err != nil {
			return nil, fmt.Errorf("read files at %s: %w", commit, err)
		}
	}
	for i, p := range paths {
		if r.hides(p) {
			infos[i] = info{}
		}
	}
	return infos, nil
}

// knownFiles is what the files of a commit are, by path, for whoever has asked about many of them: git looks for each name by going through all of its
// folder. Of a commit with few files it is known at the first question. Else it is nil while few were asked about, and where the tree cannot be listed or is too large to be kept:
// then git is asked about each.
func (r *Repository) knownFiles(ctx context.Context, commit string, more int) map[string]info {
	r.asked.mu.Lock()
	r.asked.names[commit] += more
	many := r.asked.names[commit] > fewNames
	files, known := r.asked.trees[commit]
	r.asked.mu.Unlock()
	if known {
		return files
	}
	few := r.fewListed(ctx, commit)
	if few == nil && !many {
		return nil
	}
	entries, err := few, error(nil)
	if few == nil {
		entries, err = r.List(ctx, commit, "")
	}
	if err == nil && len(entries) <= mostListed {
		files = make(map[string]info, len(entries))
		for _, e := range entries {
			files[e.Path] = info{oid: e.OID, size: e.Size, blob: e.Mode != modeSubmodule}
		}
	}
	r.asked.mu.Lock()
	defer r.asked.mu.Unlock()
	r.asked.trees[commit] = files
	return files
}

// check asks for the type and size of objects. Names go in with NUL, because paths may hold line feeds; the answer to a
// missing name repeats it, so answers are matched against the names in order.
func (r *Repository) check(ctx context.Context, names []string) ([]info, error) {
	if len(names) == 0 {
		return nil, nil
	}
	c := r.checking(names)
	question := c.question()
	answer, known := r.kept.get(question)
	if !known {
		out, err := r.git.run(ctx, c)
		if err != nil {
			return nil, err
		}
		answer = string(out)
	}
	infos, complete, err := checked(answer, names)
	if complete && !known {
		r.kept.put(question, answer)
	}
	return infos, err
}

// checking is the command that asks for the types and sizes of objects.
func (r *Repository) checking(names []string) command {
	return command{name: "cat-file", at: r.place(), limit: listLimit, args: []string{"-z", "--batch-check"}, stdin: []byte(strings.Join(names, "\x00") + "\x00")}
}

// checked reads its answer; complete tells that no object is missing.
func checked(answer string, names []string) (infos []info, complete bool, err error) {
	infos, complete = make([]info, len(names)), true
	rest := answer
	for i, name := range names {
		if after, ok := strings.CutPrefix(rest, name+" missing\n"); ok {
			rest, complete = after, false
			continue
		}
		var in info
		var err error
		if in, rest, err = cutInfo(rest); err != nil {
			return nil, false, err
		}
		infos[i] = in
	}
	if rest != "" {
		return nil, false, errAnswerShape
	}
	return infos, complete, nil
}

var errAnswerShape = errors.New("git cat-file: its answer is not readable")

// cutInfo reads "oid type size\n".
func cutInfo(s string) (info, string, error) {
	line, rest, ok := strings.Cut(s, "\n")
	if oid, is := strings.CutSuffix(line, " submodule"); ok && is && IsOID(oid) { // git 2.51 and later say so of a commit that is not here
		return info{oid: oid}, rest, nil
	}
	f := strings.Split(line, " ")
	if !ok || len(f) != 3 || !IsOID(f[0]) {
		return info{}, "", errAnswerShape
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return info{}, "", errAnswerShape
	}
	return info{oid: f[0], size: size, blob: f[1] == "blob"}, rest, nil
}

// blobs reads objects known to be blobs of total bytes together, in order.
func (r *Repository) blobs(ctx context.Context, oids []string, total int64) ([][]byte, error) {
	texts := make([][]byte, len(oids))
	var ask []string
	var of []int
	for i, oid := range oids {
		if text, known := r.kept.get("blob " + oid); known {
			texts[i] = []byte(text)
		} else {
			ask, of = append(ask, oid), append(of, i)
		}
	}
	if len(ask) == 0 {
		return texts, nil
	}
	out, err := r.git.run(ctx, command{name: "cat-file", at: r.place(), args: []string{"--batch"},
		limit: total + int64(len(ask))*128, stdin: []byte(strings.Join(ask, "\n") + "\n")})
	if err != nil {
		return nil, err
	}
	for i, oid := range ask {
		head := min(len(out), 128)
		in, rest, err := cutInfo(string(out[:head]))
		if err != nil || in.oid != oid {
			return nil, errAnswerShape
		}
		start := head - len(rest)
		end := start + int(in.size)
		if end >= len(out) || out[end] != '\n' {
			return nil, errAnswerShape
		}
		texts[of[i]] = out[start:end:end]
		r.kept.put("blob "+oid, string(out[start:end]))
		out = out[end+1:]
	}
	return texts, nil
}
