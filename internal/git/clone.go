package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// cloneDepth is how much history a clone gets: enough to see how a file came about, cheap in any repository.
const cloneDepth = 50

// cloned is the configuration of a clone. Its owner may change it: no git of ours obeys it.
var cloned = []setting{
	{"user.name", "prloop fixer"},
	{"user.email", "fixer@prloop.invalid"},
	{"core.symlinks", "false"},
	{"core.autocrlf", "false"},
	{"core.hooksPath", os.DevNull},
	{"core.fsmonitor", "false"},
	{"commit.gpgSign", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"submodule.recurse", "false"},
}

// Clone makes a repository for a fixer in dir, which must be empty or not there yet: commit checked out on a branch
// (decision 6). It has objects of its own, the last 50 commits of history, no remote, no alternates, no credential and no
// path of ours in it. Files are written as Export does: links as text, which core.symlinks=false keeps links in git; no
// filter runs. Where something is withheld, neither its files nor its objects are there, and there is no history beyond the commit, whether or
// not the commit has such files; git in the clone takes them for unchanged. Errors: ErrName, ErrUnknownRevision, Export's.
func (r *Repository) Clone(ctx context.Context, commit, dir, branch string) error {
	if err := r.clone(ctx, commit, dir, "refs/heads/"+branch); err != nil {
		return fmt.Errorf("clone %s: %w", commit, err)
	}
	return nil
}

func (r *Repository) clone(ctx context.Context, commit, dir, ref string) error {
	if !IsOID(commit) {
		return ErrName
	}
	if err := checkRef(ref); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := r.Export(ctx, commit, dir); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	at := place{dir: filepath.Join(dir, ".git")}
	_, err = r.git.run(ctx, command{name: "init", at: place{dir: at.dir, work: dir},
		args: []string{"--quiet", "--template=", "--initial-branch=" + strings.TrimPrefix(ref, "refs/heads/")}})
	if err != nil {
		return err
	}
	if err := configure(at.dir); err != nil {
		return err
	}
	hidden, err := r.hidden(ctx, commit)
	if err != nil {
		return err
	}
	if r.withheld != nil { // an earlier commit may have what this one has no more
		err = r.copyVisible(ctx, at, commit, ref)
	} else {
		err = r.copyHistory(ctx, at, commit, ref)
	}
	if err != nil {
		return err
	}
	at.work, at.index = dir, filepath.Join(dir, ".git", "index")
	skip := command{name: "update-index", at: at, args: []string{"-z", "--skip-worktree", "--stdin"}, stdin: []byte(strings.Join(append(hidden, ""), "\x00"))}
	for _, c := range []command{
		{name: "read-tree", at: at, args: []string{"--end-of-options", commit}},
		skip,
		// The refresh records times and sizes, so that the first `git status` reads no file again. It answers 1 when
		// something differs, such as an empty folder in place of a submodule.
		{name: "update-index", at: at, args: []string{"-q", "--ignore-submodules", "--refresh"}, ok: 1},
	} {
		if _, err := r.git.run(ctx, c); err != nil && !errors.Is(err, errAnswer) {
			return err
		}
	}
	return nil
}

// configure adds the settings to a fresh repository's own.
func configure(gitDir string) error {
	f, err := os.OpenFile(filepath.Join(gitDir, "config"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	for _, s := range cloned {
		section, key, _ := strings.Cut(s.key, ".")
		if _, err := fmt.Fprintf(f, "[%s]\n\t%s = %s\n", section, key, s.value); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}

// copyHistory fetches from our own repository, over the transport that copies objects instead of linking them. A
// repository that borrows from a shallow checkout may not have that much history; then the commit alone is taken.
func (r *Repository) copyHistory(ctx context.Context, at place, commit, ref string) error {
	var err error
	for _, depth := range []int{cloneDepth, 1} {
		_, err = r.git.run(ctx, command{name: "fetch", at: at, packs: true,
			extra: []string{"GIT_ALLOW_PROTOCOL=file"},
			// The objects were checked when they came. A reflog would name our folder.
			settings: []setting{{"fetch.fsckObjects", "false"}, {"transfer.fsckObjects", "false"}, {"core.logAllRefUpdates", "false"}},
			args: []string{"--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--update-head-ok", fmt.Sprintf("--depth=%d", depth),
				"--end-of-options", r.dir, "+" + commit + ":" + ref}})
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrNoRoom) {
			return err
		}
	}
	return err
}
