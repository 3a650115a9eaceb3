package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// hidden are the files of a commit that are withheld.
func (r *Repository) hidden(ctx context.Context, commit string) (names []string, err error) {
	if r.withheld == nil {
		return nil, nil
	}
	entries, err := r.List(ctx, commit, "")
	for _, e := range entries {
		if r.hides(e.Path) {
			names = append(names, e.Path)
		}
	}
	return names, err
}

// promised has git take the objects that are not there for those of a partial clone. Nobody is asked for them: there is no address.
var promised = []setting{
	{"core.repositoryFormatVersion", "1"},
	{"extensions.partialClone", "withheld"},
	{"remote.withheld.promisor", "true"},
}

// copyVisible gives a clone one commit, its folders, and those of its files that are not withheld. A file that is withheld under one
// name and not under another is there under the other.
func (r *Repository) copyVisible(ctx context.Context, at place, commit, ref string) error {
	list, err := r.visible(ctx, commit)
	if err != nil {
		return err
	}
	packs := filepath.Join(at.dir, "objects", "pack")
	if err := os.MkdirAll(packs, 0o700); err != nil {
		return err
	}
	name, err := r.git.run(ctx, command{name: "pack-objects", at: r.place(), stdin: list, args: []string{"-q", filepath.Join(packs, "pack")}})
	if err != nil {
		return err
	}
	pack := "pack-" + strings.TrimSpace(string(name))
	if err := os.WriteFile(filepath.Join(packs, pack+".promisor"), nil, 0o400); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(at.dir, "shallow"), []byte(commit+"\n"), 0o600); err != nil {
		return err
	}
	for _, s := range promised {
		if _, err := r.git.run(ctx, command{name: "config", at: at, args: []string{s.key, s.value}}); err != nil {
			return err
		}
	}
	_, err = r.git.run(ctx, command{name: "update-ref", at: at, args: []string{"--end-of-options", ref, commit}})
	return err
}
