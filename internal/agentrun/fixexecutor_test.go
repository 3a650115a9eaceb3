package agentrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/testkit/gittest"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// branch is a executor with a fix, and a server with the branch it is made for.
type branch struct {
	*testing.T
	executor *FixExecutor
	server   string
	pr       review.PullRequest
	// reviewed is the head, fix a commit of ours on it, theirs a person's on top of that.
	reviewed, fix, theirs string
	// why is what MayPush says.
	why string
}

const topic = "refs/heads/topic"

func newBranch(t *testing.T) *branch {
	b := &branch{T: t, server: filepath.Join(t.TempDir(), "server.git"), pr: review.PullRequest{Number: 7, HeadRef: "topic"}}
	gittest.Run(t, t.TempDir(), "init", "-q", "--bare", b.server)
	b.git("update-ref", topic, b.git("commit-tree", "-m", "reviewed", b.git("mktree")))
	b.reviewed = b.git("rev-parse", topic)
	g, err := git.Find(t.Context(), git.Options{Protocols: []string{"file"}})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "own.git"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Fetch(t.Context(), git.FetchOptions{URL: "file://" + b.server, Refs: []string{topic}}); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "a"), []byte("fixed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.executor = &FixExecutor{
		Launcher: &Launcher{Repo: repo, Scratch: t.TempDir(), Confinement: Unconfined("a test")},
		Server:   func(review.Repo) git.Server { return git.Server{URL: "file://" + b.server} },
		MayPush:  func(context.Context, review.PullRequest) (string, error) { return b.why, nil },
	}
	b.fix = b.commit(work)
	b.git("fetch", "-q", repo.Dir(), "+refs/prloop/*:refs/seen/*") // the server may hold it; no branch does
	b.theirs = b.git("commit-tree", "-p", b.fix, "-m", "theirs", b.fix+"^{tree}")
	return b
}

// commit makes a commit of ours with the files of a folder, on the reviewed head.
func (b *branch) commit(dir string) string {
	b.Helper()
	repo := b.executor.Launcher.Repo
	tree, err := repo.TakeTree(b.Context(), dir, b.reviewed)
	if err != nil {
		b.Fatal(err)
	}
	made, err := repo.Rewrite(b.Context(), b.reviewed, []git.Taken{{Tree: tree, Message: "fix: it"}},
		git.Signature{Name: "prloop", Email: "prloop@localhost", At: time.Unix(1_700_000_000, 0), Keep: git.FixRef("run", 1)})
	if err != nil {
		b.Fatal(err)
	}
	return made[0].New
}

func (b *branch) git(args ...string) string {
	b.Helper()
	return gittest.Run(b, b.server, args...)
}

// at puts the branch, and what is kept of the pull request, at commits; an empty one is gone.
func (b *branch) at(branch, pull string) {
	b.Helper()
	for ref, commit := range map[string]string{topic: branch, "refs/pull/7/head": pull} {
		if commit == "" {
			b.git("update-ref", "-d", ref)
		} else {
			b.git("update-ref", ref, commit)
		}
	}
}

// A push that arrived is never denied: not when somebody built on it, the right was taken away, or the pull request was merged
// and its branch deleted, before the answer was known (threats.md K22).
func TestPushThatArrived(t *testing.T) {
	b := newBranch(t)
	other := b.git("commit-tree", "-p", b.reviewed, "-m", "other", b.reviewed+"^{tree}")
	const gone, merged = "the branch does not exist any more", "the pull request is merged"
	for _, c := range []struct {
		name              string
		why, branch, pull string
		want              orchestrator.Pushed
	}{
		{"it is there", "", b.fix, b.fix, orchestrator.Pushed{Done: true}},
		{"somebody built on it", "", b.theirs, b.fix, orchestrator.Pushed{Done: true}},
		{"somebody else was quicker", "", other, other, orchestrator.Pushed{Head: other}},
		{"the branch is gone with it", "", "", b.fix, orchestrator.Pushed{Done: true}},
		{"the branch is gone with more", "", "", b.theirs, orchestrator.Pushed{Done: true}},
		{"the branch is gone without it", "", "", b.reviewed, orchestrator.Pushed{Refused: gone}},
		{"the branch is gone, and nothing is kept", "", "", "", orchestrator.Pushed{Refused: gone}},
		{"merged with it", merged, b.fix, b.fix, orchestrator.Pushed{Done: true}},
		{"merged with more", merged, b.theirs, b.reviewed, orchestrator.Pushed{Done: true}},
		{"merged with it, and the branch deleted", merged, "", b.theirs, orchestrator.Pushed{Done: true}},
		{"merged without it", merged, b.reviewed, b.reviewed, orchestrator.Pushed{Refused: merged}},
		{"merged with another, and the branch deleted", merged, "", other, orchestrator.Pushed{Refused: merged}},
	} {
		b.at(c.branch, c.pull)
		b.why = c.why
		if got, err := b.executor.Push(t.Context(), b.pr, b.reviewed, b.fix); err != nil || got != c.want {
			t.Errorf("%s: %+v %v, want %+v", c.name, got, err, c.want)
		}
	}
	// Where nobody can be asked, nothing is known.
	b.why, b.server = merged, b.server+"-away"
	if got, err := b.executor.Push(t.Context(), b.pr, b.reviewed, b.fix); err == nil {
		t.Errorf("nobody was asked: %+v", got)
	}
}

// A run that may have lost its pull request by the time git begins pushes nothing.
func TestPushAsksLast(t *testing.T) {
	b, lost := newBranch(t), errors.New("the lease is lost")
	b.at(b.reviewed, b.reviewed)
	b.executor.Sure = func() error { return lost }
	if got, err := b.executor.Push(t.Context(), b.pr, b.reviewed, b.fix); !errors.Is(err, lost) || b.git("rev-parse", topic) != b.reviewed {
		t.Errorf("%+v, %v; the branch is at %s", got, err, b.git("rev-parse", topic))
	}
}

// A fixer that writes a credential of prloop's into a commit message saw what it must never see: that ends the run, and nothing
// of the work is kept (threats.md T30).
func TestFixWithAKnownSecret(t *testing.T) {
	b := newBranch(t)
	const secret = "q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po"
	script := filepath.Join(t.TempDir(), "fixer")
	text := `#!/bin/sh
set -e
cat >/dev/null
echo mended >a
git add a
git commit -qm "fix: a" -m "$(cat "$0.body")"
echo '{"agent":"fixer","prNumber":7,"summary":{"fixed":1,"rejected":0,"deferred":0},"fixedIssues":[{"findingId":"F1","commitSha":"","description":"done"}],"rejectedIssues":[],"commits":[]}'
`
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	plan := orchestrator.AgentPlan{Name: "fixer", Role: review.RoleFixer, Kind: review.KindCommand, Path: script}
	task := taskOf(plan)
	task.BaseSHA, task.HeadSHA = b.reviewed, b.reviewed
	task.Brief.Files = []review.BriefFile{{Path: "a"}, {Path: "c"}}
	task.Fix = &review.FixPayload{PRNumber: 7, Round: 1, IssuesToFix: []review.Finding{{ID: "F1", Priority: review.P1, Category: review.CategoryBug, Title: "F1"}}}
	order := review.FixOrder{
		Run: "20261121T000000Z_0123456789abcdef", Task: task, Round: 1, Try: 1, Reviewed: b.reviewed, From: b.reviewed,
		PRFiles: 1, PRLines: 10, At: time.Unix(1_700_000_000, 0),
	}
	b.executor.Launcher.State, b.executor.Launcher.Secrets = t.TempDir(), []string{secret}
	for body, want := range map[string]error{"nothing": nil, "it is " + secret: sanitize.ErrKnownSecret} {
		if err := os.WriteFile(script+".body", []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		work, err := b.executor.Fix(t.Context(), plan, order, func(review.Event) {})
		if !errors.Is(err, want) || (work.Tip == "") != (want != nil) {
			t.Errorf("%q: %+v %v", body, work, err)
		}
	}
}

// A fixer that is a program finds nothing of what agents may not read: neither the files in its clone, nor their text in git's objects. What
// it never saw stays as it was, and builds have it (threats.md T334).
func TestFixersCloneHasNothingExcluded(t *testing.T) {
	const canary = "CANARY-of-the-plan"
	b := newBranch(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"secret/deep/plan.txt": canary + "\n", "a": "broken\n", "key.pem": canary + "\n"} {
		gittest.Write(t, dir, name, text)
	}
	b.reviewed = b.commit(dir)
	script := filepath.Join(t.TempDir(), "fixer")
	text := `#!/bin/sh
set -e
cat >/dev/null
if grep -rq CANARY . || git cat-file --batch-all-objects --batch | grep -aq CANARY; then exit 1; fi
test -z "$(git status --porcelain)"
echo mended >a
git commit -qam "fix: a"
echo new >c
echo '{"agent":"fixer","prNumber":7,"summary":{"fixed":1,"rejected":0,"deferred":0},"fixedIssues":[{"findingId":"F1","commitSha":"","description":"done"}],"rejectedIssues":[],"commits":[]}'
`
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	plan := orchestrator.AgentPlan{Name: "fixer", Role: review.RoleFixer, Kind: review.KindCommand, Path: script}
	task := taskOf(plan)
	task.BaseSHA, task.HeadSHA = b.reviewed, b.reviewed
	task.Brief.Files = []review.BriefFile{{Path: "a"}, {Path: "c"}}
	task.Fix = &review.FixPayload{PRNumber: 7, Round: 1, IssuesToFix: []review.Finding{{ID: "F1", Priority: review.P1, Category: review.CategoryBug, Title: "F1"}}}
	order := review.FixOrder{
		Run: "20261121T000000Z_0123456789abcdef", Task: task, Round: 1, Try: 1, Reviewed: b.reviewed, From: b.reviewed,
		PRFiles: 1, PRLines: 10, At: time.Unix(1_700_000_000, 0),
	}
	b.executor.Launcher.State, b.executor.Launcher.Exclude = t.TempDir(), []string{"secret", "**/*.pem"}
	work, err := b.executor.Fix(t.Context(), plan, order, func(review.Event) {})
	if err != nil || work.Tip == "" {
		t.Fatalf("%+v %v", work, err)
	}
	changes, err := b.executor.Launcher.Repo.Changes(t.Context(), b.reviewed, work.Tip)
	if err != nil || len(changes) != 2 || changes[0].Path != "a" || changes[1].Path != "c" {
		t.Errorf("%+v %v", changes, err)
	}
	checks, err := b.executor.Verify(t.Context(), work.Tip, false, []string{"grep -q CANARY secret/deep/plan.txt"}, func(review.Check) {})
	if err != nil || len(checks) != 1 || !checks[0].Good() {
		t.Errorf("a build does not have it: %+v %v", checks, err)
	}
}
