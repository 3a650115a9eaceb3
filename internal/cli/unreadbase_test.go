package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// A success that was said for another base branch is taken back also where no run for the new one comes to a status, as the change cannot be read there. Nothing
// takes one back that is for this base, and nobody who sets no status touches one that others set (threats.md T578).
func TestUnreadForTheNewBase(t *testing.T) {
	t.Parallel()
	moved := func(t *testing.T, h *hall) {
		t.Helper()
		if err := os.Rename(filepath.Join(h.home, "state"), filepath.Join(h.home, "elsewhere")); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		before func(t *testing.T, h *hall, p *forge.PullRequest)
		armed  string
		args   []string
		want   string
	}{
		"two merge bases":                    {func(t *testing.T, _ *hall, p *forge.PullRequest) { retarget(t, p, "stable") }, "", nil, "error"},
		"two merge bases in another folder":  {func(t *testing.T, h *hall, p *forge.PullRequest) { moved(t, h); retarget(t, p, "stable") }, "", nil, "error"},
		"killed while fetching":              {func(t *testing.T, _ *hall, p *forge.PullRequest) { retarget(t, p, "main") }, "git: fetching=kill", nil, "error"},
		"no network in another folder":       {func(t *testing.T, h *hall, _ *forge.PullRequest) { moved(t, h) }, "git: fetching=error", nil, "error"},
		"no network for the same base":       {nil, "git: fetching=error", nil, "success"},
		"another folder that sets no status": {func(t *testing.T, h *hall, p *forge.PullRequest) { ungate(t, h); moved(t, h); retarget(t, p, "stable") }, "", nil, "success"},
		"an estimate":                        {func(t *testing.T, _ *hall, p *forge.PullRequest) { retarget(t, p, "stable") }, "", []string{"--estimate"}, "success"},
		"a dry run":                          {func(t *testing.T, _ *hall, p *forge.PullRequest) { retarget(t, p, "stable") }, "", []string{"--dry-run"}, "success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			head := crissCross(t, h, p)
			run := func(armed string, more ...string) string {
				return h.prloop(armed, append([]string{"run", "8", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}, more...)...)
			}
			out := run("")
			if all := h.repo.Statuses(); len(all) == 0 || all[len(all)-1].State != "success" {
				t.Fatal(all, out)
			}
			if c.before != nil {
				c.before(t, h, p)
			}
			out = run(c.armed, c.args...)
			all := h.repo.Statuses()
			if last := all[len(all)-1]; last.SHA != head || last.State != c.want {
				t.Errorf("%+v, want %s; %s", all, c.want, out)
			}
		})
	}
}

// ungate takes the gate out of the operator's file.
func ungate(t *testing.T, h *hall) {
	t.Helper()
	write(t, filepath.Join(h.home, "operator.yml"), []byte("fixer: none\n"))
}

// crissCross gives the pull request a head that shares two merge bases, which conflict, with a branch stable.
func crissCross(t *testing.T, h *hall, p *forge.PullRequest) (head string) {
	t.Helper()
	index := filepath.Join(t.TempDir(), "index")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "GIT_DIR="+h.repo.Bare, "GIT_INDEX_FILE="+index, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	with := func(commit, text string) string { // the tree of a commit with another clash.txt
		return run("sh", "-c", `git read-tree "$1" && git update-index --add --cacheinfo 100644,$(printf "$2" | git hash-object -w --stdin),clash.txt && git write-tree`, "sh", commit, text)
	}
	root, planted := run("git", "rev-parse", "refs/heads/main"), run("git", "rev-parse", "refs/heads/own")
	one := run("git", "commit-tree", with(root, "1"), "-p", root, "-m", "one")
	two := run("git", "commit-tree", with(root, "2"), "-p", root, "-m", "two")
	run("git", "update-ref", "refs/heads/stable", run("git", "commit-tree", with(root, "3"), "-p", one, "-p", two, "-m", "stable"))
	own := run("git", "commit-tree", with(planted, "3"), "-p", two, "-p", one, "-m", "own")
	run("git", "update-ref", "refs/heads/own", own)
	head = run("git", "commit-tree", with(p.HeadSHA(), "3"), "-p", own, "-m", "harmless")
	if err := h.repo.MoveBranch("shared", head); err != nil {
		t.Fatal(err)
	}
	return head
}
