package fixspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
)

// CheckFixer holds a fixer to its contract on real clones of a sample repository. What it leaves there is taken out and held
// against the push policy, as in a run.
func CheckFixer(ctx context.Context, spec agents.Spec) ([]agents.Problem, error) {
	dir, err := os.MkdirTemp("", "prloop-check-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the check: %w", err)
	}
	defer sandbox.Remove(dir) //nolint:errcheck // a temporary folder
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s, err := openFixSample(ctx, dir)
	if err != nil {
		return nil, err
	}
	return agents.CheckFixer(ctx, spec, s.trial), ctx.Err()
}

// fixSample is the sample repository and the workspace its clones are made in.
type fixSample struct {
	repo       *git.Repository
	scratch    string
	base, head string
	tries      int
}

func openFixSample(ctx context.Context, dir string) (*fixSample, error) {
	checkout := filepath.Join(dir, "sample")
	if err := os.MkdirAll(checkout, 0o700); err != nil {
		return nil, err
	}
	before, after := agents.SampleTree()
	home := filepath.Join(dir, "home")
	if err := errors.Join(
		os.Mkdir(home, 0o700), sampleGit(ctx, home, checkout, "init", "-q", "-b", "main"),
		sampleCommit(ctx, home, checkout, before), sampleGit(ctx, home, checkout, "tag", "base"), sampleCommit(ctx, home, checkout, after),
	); err != nil {
		return nil, fmt.Errorf("make the sample repository: %w", err)
	}
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return nil, err
	}
	s := &fixSample{scratch: filepath.Join(dir, "scratch")}
	if err := os.Mkdir(s.scratch, 0o700); err != nil {
		return nil, err
	}
	if s.repo, err = g.Open(ctx, filepath.Join(dir, "own.git")); err != nil {
		return nil, err
	}
	l, err := s.repo.Local(ctx, checkout, "base")
	s.base, s.head = l.MergeBase, l.Head
	return s, err
}

func sampleCommit(ctx context.Context, home, dir string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(sampleGit(ctx, home, dir, "add", "-A"),
		sampleGit(ctx, home, dir, "-c", "user.name=prloop", "-c", "user.email=check@prloop.invalid", "commit", "-q", "-m", "sample"))
}

// sampleGit runs git in the sample repository, which is prloop's own, with nothing of the person's configuration.
func sampleGit(ctx context.Context, home, dir string, args ...string) error {
	path, err := proc.LookPath("git")
	if err != nil {
		return err
	}
	_, err = proc.Run(ctx, proc.Spec{
		Path: path, Args: args, Dir: dir, Timeout: time.Minute, Direct: true,
		Env: proc.BaseEnv("HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_OPTIONAL_LOCKS=0"),
	})
	return err
}

// trial is one sample: a clone, the question, and a look at what came of it.
func (s *fixSample) trial(ctx context.Context, task review.Task, ask func(dir string) review.Answer) []agents.Problem {
	s.tries++
	task.BaseSHA, task.HeadSHA = s.base, s.head
	b := Workspace{
		Repo: s.repo, Scratch: s.scratch,
		Ask: func(_ context.Context, _ review.Task, clone string, _ func(review.Event)) review.Answer {
			return ask(clone)
		},
		// The person's own program is checked, on a sample: there is nothing to keep from it.
		Confine: func(_ sandbox.Policy, cmd sandbox.Command) (sandbox.Command, error) { return cmd, nil },
	}
	work, err := b.Fix(ctx, review.FixOrder{
		Run: "check", Round: 1, Try: s.tries, Reviewed: s.head, From: s.head, Task: task, PRFiles: 1, PRLines: 1,
		At: time.Date(2026, 1, 24, 0, 0, 0, 0, time.UTC),
	}, nil)
	if err != nil {
		return []agents.Problem{{Reason: err.Error()}}
	}
	return problemsOf(work)
}

// problemsOf says what is wrong with a fixer's work, beside its answer.
func problemsOf(w review.FixWork) (list []agents.Problem) {
	for _, r := range w.Refusals {
		reason := "the push policy refuses its changes: " + r.Rule
		if r.Path != "" {
			reason += " (" + r.Path + ")"
		}
		if r.Detail != "" {
			reason += ": " + r.Detail
		}
		list = append(list, agents.Problem{Reason: reason})
	}
	if w.Answer.Fix == nil {
		return list // what is wrong with the answer is said
	}
	switch fixed := len(w.Answer.Fix.FixedIssues); {
	case fixed > 0 && w.Tip == "" && len(w.Refusals) == 0:
		list = append(list, agents.Problem{Reason: fmt.Sprintf("says that it fixed %s, and changed nothing", findings(fixed))})
	case fixed == 0 && w.Tip != "":
		list = append(list, agents.Problem{Reason: "changed files, and says that it fixed nothing"})
	}
	for _, n := range w.Notes {
		list = append(list, agents.Problem{Reason: n, Warning: true})
	}
	return list
}

func findings(n int) string {
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}
