package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CommitFiles makes a commit of files of a folder, their bytes as they are, and moves HEAD to it: the same files and parents give
// the same commit. names are slash-separated; the value says whether the file may be executed. Nothing else may write the folder
// meanwhile.
func (r *Repository) CommitFiles(ctx context.Context, dir string, names map[string]bool, message string, parents ...string) (string, error) {
	commit, err := r.commitFiles(ctx, dir, names, message, parents)
	if err != nil {
		return "", fmt.Errorf("commit %d files of %s: %w", len(names), dir, err)
	}
	return commit, nil
}

func (r *Repository) commitFiles(ctx context.Context, dir string, names map[string]bool, message string, parents []string) (string, error) {
	sorted := sortedKeys(names)
	for _, name := range sorted {
		if err := checkPath(name); err != nil {
			return "", err
		}
		if strings.ContainsAny(name, "\n\r\"") { // the list of names is read line by line
			return "", fmt.Errorf("path %q: %w", name, ErrName)
		}
	}
	tmp, err := os.MkdirTemp(r.dir, "index-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	at := place{dir: r.dir, index: filepath.Join(tmp, "index"), work: dir}
	out, err := r.git.run(ctx, command{name: "hash-object", packs: true, at: at, stdin: []byte(strings.Join(append(sorted, ""), "\n")), limit: listLimit,
		args: []string{"-w", "--no-filters", "--stdin-paths"}})
	if err != nil {
		return "", err
	}
	oids := strings.Fields(string(out))
	if len(oids) != len(sorted) {
		return "", errAnswerShape
	}
	var lines strings.Builder
	for i, name := range sorted {
		mode := uint32(modeFile)
		if names[name] {
			mode = modeExec
		}
		fmt.Fprintf(&lines, "%o %s\t%s\x00", mode, oids[i], name)
	}
	if _, err := r.git.run(ctx, command{name: "update-index", at: at, args: []string{"-z", "--index-info"}, stdin: []byte(lines.String())}); err != nil {
		return "", err
	}
	if out, err = r.git.run(ctx, command{name: "write-tree", at: at}); err != nil {
		return "", err
	}
	commit, err := r.keep(ctx, message, strings.TrimSpace(string(out)), parents...)
	if err != nil {
		return "", err
	}
	_, err = r.update(ctx, command{name: "update-ref", at: r.place(), args: []string{"--end-of-options", "HEAD", commit}})
	return commit, err
}
