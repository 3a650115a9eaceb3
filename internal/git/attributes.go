package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// attributesLimit is the largest file of attributes that is read, in bytes.
	attributesLimit = 1 << 20
	// attributesBatch is how many paths git is asked about at once.
	attributesBatch = 10_000
	// attributesTime bounds how long git matches patterns for whoever opened a repository, all questions together: they may be made to take for ever.
	attributesTime = time.Minute
)

// Attributes says what the given .gitattributes files of a commit, and no others, say of some attributes of paths: the value of each by
// path and name, "set" and "unset" for those without; unspecified ones are left out. Files that are not there say nothing. git itself is
// asked, with an index that holds nothing else. ErrTooLarge when a file is larger than 1 MB, or all answers together take longer than a minute.
func (r *Repository) Attributes(ctx context.Context, commit string, files, paths, names []string) (map[string]map[string]string, error) {
	said, err := r.attributes(ctx, commit, files, paths, names)
	if err != nil {
		return nil, fmt.Errorf("attributes at %s: %w", commit, err)
	}
	return said, nil
}

func (r *Repository) attributes(ctx context.Context, commit string, files, paths, names []string) (map[string]map[string]string, error) {
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return nil, err
		}
	}
	infos, err := r.stat(ctx, commit, files)
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for i, in := range infos {
		switch {
		case !in.blob:
		case in.size > attributesLimit:
			return nil, fmt.Errorf("%s has %d bytes: %w", files[i], in.size, ErrTooLarge)
		default:
			fmt.Fprintf(&lines, "%o %s\t%s\x00", modeFile, in.oid, files[i])
		}
	}
	if lines.Len() == 0 {
		return nil, nil
	}
	tmp, err := os.MkdirTemp(r.dir, "index-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	at := place{dir: r.dir, index: filepath.Join(tmp, "index")}
	if _, err := r.git.run(ctx, command{name: "update-index", at: at, args: []string{"-z", "--index-info"}, stdin: []byte(lines.String())}); err != nil {
		return nil, err
	}
	said, began := map[string]map[string]string{}, time.Now()
	until := began.Add(min(attributesTime, r.git.timeout) - time.Duration(r.matching.Load()))
	defer func() { r.matching.Add(int64(time.Since(began))) }()
	for batch := range slices.Chunk(paths, attributesBatch) {
		left := time.Until(until)
		if left <= 0 {
			return nil, fmt.Errorf("no time is left to match patterns: %w", ErrTooLarge)
		}
		out, err := r.git.run(ctx, command{name: "check-attr", at: at, args: append([]string{"-z", "--stdin", "--cached"}, names...),
			settings: []setting{{"core.ignoreCase", "false"}}, stdin: []byte(strings.Join(batch, "\x00") + "\x00"), limit: listLimit, timeout: left})
		if err != nil {
			return nil, err
		}
		fields := strings.Split(string(out), "\x00")
		if len(fields) != 3*len(batch)*len(names)+1 {
			return nil, errAnswerShape
		}
		for ; len(fields) > 3; fields = fields[3:] {
			path, name, value := fields[0], fields[1], fields[2]
			if value == "unspecified" {
				continue
			}
			if said[path] == nil {
				said[path] = map[string]string{}
			}
			said[path][name] = value
		}
	}
	return said, nil
}
