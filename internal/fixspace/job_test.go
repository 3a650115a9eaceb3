package fixspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/schedule"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// jobOrder is a command of the job nightly on the world's only commit.
func (w *world) jobOrder(t review.JobTerms) review.JobOrder {
	return review.JobOrder{Run: "20260101T000000.000Z_0123456789abcdef", Job: "nightly", Command: "docs", Number: 1, Head: w.base, From: w.base, Terms: t,
		Task: review.Task{Command: &review.CommandTask{ID: "docs", Tools: []string{"write", "edit", "commit_changes", "push_pr"}}}, At: time.Unix(1_760_000_000, 0)}
}

// agent does something in the clone and wishes for something.
func (w *world) agent(do func(clone string), wishes ...review.Wish) {
	w.workspace.Ask = func(_ context.Context, _ review.Task, clone string, _ func(review.Event)) review.Answer {
		do(clone)
		return review.Answer{Command: &review.CommandAnswer{Wishes: wishes}, Receipt: review.AgentReceipt{State: review.AgentComplete}}
	}
}

// What is wished for is committed, commit by commit, and the same each time; the rest stays behind.
func TestJobCommitsWhatIsWished(t *testing.T) {
	w := newWorld(t, map[string]string{"README.md": "one\n", "docs/a.md": "a\n", "gone.md": "x\n"})
	w.agent(func(clone string) {
		for name, text := range map[string]string{"README.md": "two\n", "docs/a.md": "b\n", "docs/new.md": "n\n", "left.md": "l\n"} {
			if err := os.WriteFile(filepath.Join(clone, name), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
		if err := os.Remove(filepath.Join(clone, "gone.md")); err != nil {
			t.Error(err)
		}
	}, review.Wish{Kind: review.WishCommit, Body: "docs: fixes #12\n\n@mona asked", Paths: []string{"docs", "gone.md"}},
		review.Wish{Kind: review.WishCommit, Body: "readme", Paths: []string{"README.md", "no such", "../out"}},
		review.Wish{Kind: review.WishPush, Title: "Words", Body: "Text.", Branch: " x "})
	var first review.JobWork
	for try := range 2 {
		got, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), nil)
		if err != nil || len(got.Refusals) != 0 || len(got.Commits) != 2 || got.Files != 4 || got.Uncommitted != 1 || got.Pull == nil || got.Pull.Branch != "x" {
			t.Fatalf("%+v, %v", got, err)
		}
		if try == 0 {
			first = got
		} else if got.Tip != first.Tip {
			t.Error("another commit the second time")
		}
	}
	show := func(args ...string) string { return w.git(w.workspace.Repo.Dir(), args...) }
	if names := show("diff", "--name-status", w.base, first.Commits[0].SHA); names != "M\tdocs/a.md\nA\tdocs/new.md\nD\tgone.md" {
		t.Errorf("the first commit is about %q", names)
	}
	message := show("log", "-1", "--format=%an <%ae>%n%B", first.Commits[0].SHA)
	if !strings.HasPrefix(message, "prloop <prloop@users.noreply.github.com>\n") || strings.Contains(message, "#12") || strings.Contains(message, "@mona") || !strings.HasSuffix(message, "prloop-job: nightly") {
		t.Errorf("it says %q", message)
	}
	w.left("")
}

// The push policy and the write scope hold for each commit and for the whole; whatever is refused has no tip.
func TestJobIsHeldToItsRules(t *testing.T) {
	w := newWorld(t, map[string]string{"README.md": "one\n", "main.go": "package main\n", ".reviewerc": "version: 1\n"})
	all := review.Wish{Kind: review.WishCommit, Body: "all"}
	write := func(name, text string) func(string) {
		return func(clone string) {
			file := filepath.Join(clone, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
				t.Error(err)
			}
		}
	}
	for what, c := range map[string]struct {
		do     func(string)
		terms  review.JobTerms
		wishes []review.Wish
		want   string
	}{
		"in scope":        {write("README.md", "two\n"), review.JobTerms{Include: []string{"*.md"}}, []review.Wish{all}, ""},
		"out of scope":    {write("main.go", "x\n"), review.JobTerms{Include: []string{"*.md"}}, []review.Wish{all}, schedule.RuleWriteScope},
		"workflow":        {write(".github/workflows/x.yml", "on: push\n"), review.JobTerms{Include: []string{"**"}}, []review.Wish{all}, pushpolicy.RuleProtectedPath},
		"rules":           {write(".reviewerc", "version: 2\n"), review.JobTerms{}, []review.Wish{all}, pushpolicy.RuleProtectedPath},
		"too many lines":  {write("README.md", strings.Repeat("x\n", 5)), review.JobTerms{MaxDiffLines: 5}, []review.Wish{all}, schedule.RuleMaxDiffLines},
		"nothing changed": {func(string) {}, review.JobTerms{}, []review.Wish{all}, ""},
		"not committed":   {write("main.go", "x\n"), review.JobTerms{Include: []string{"*.md"}}, nil, ""},
	} {
		w := w.in(t)
		w.agent(c.do, c.wishes...)
		got, err := w.workspace.Job(t.Context(), w.jobOrder(c.terms), nil)
		refused := slices.ContainsFunc(got.Refusals, func(r review.Refusal) bool { return r.Rule == c.want })
		if err != nil || refused != (c.want != "") || c.want == "" && len(got.Refusals) > 0 || (got.Tip != "") != (what == "in scope") {
			t.Errorf("%s: %+v, %v; want %q", what, got, err, c.want)
		}
	}
}

// A tool that the command does not have is not there for its answer either: an agent can write any wish, and change its clone by hand.
func TestJobHasNoToolThatIsNotAllowed(t *testing.T) {
	w := newWorld(t, map[string]string{"README.md": "one\n"})
	for what, c := range map[string]struct {
		tools   []string
		tip     bool
		pull    bool
		carried string
	}{
		"all":             {[]string{"write", "commit_changes", "push_pr"}, true, true, ""},
		"nothing":         {nil, false, false, "commit_changes is not carried out: the command has no such tool"},
		"reading":         {[]string{"read", "git_log"}, false, false, "push_pr is not carried out: the command has no such tool"},
		"no repo.write":   {[]string{"read", "commit_changes", "push_pr"}, false, true, "what was changed was not looked at: the command has no tool to change files, or none to commit them"},
		"only repo.write": {[]string{"write"}, false, false, "push_pr is not carried out: the command has no such tool"},
	} {
		w := w.in(t)
		w.agent(func(clone string) {
			if err := os.WriteFile(filepath.Join(clone, "README.md"), []byte("two\n"), 0o600); err != nil {
				t.Error(err)
			}
			w.git(clone, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qam", "by hand")
		}, review.Wish{Kind: review.WishCommit, Body: "all"}, review.Wish{Kind: review.WishPush, Title: "All"}, review.Wish{Kind: review.WishComment, Body: "hello"})
		order := w.jobOrder(review.JobTerms{})
		order.Task.Command.Tools = c.tools
		got, err := w.workspace.Job(t.Context(), order, nil)
		if err != nil || (got.Tip != "") != c.tip || (got.Pull != nil) != c.pull || c.carried != "" && !slices.Contains(got.Notes, c.carried) || !c.tip && len(got.Commits) > 0 {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// A part of a secret this process holds ends the job, wherever it is said; so does no answer, in another way.
func TestJobWithoutAnAnswer(t *testing.T) {
	w := newWorld(t, map[string]string{"README.md": "one\n"})
	const secret = "correct-horse-battery-staple-93"
	w.workspace.Secrets = []string{secret}
	for _, wish := range []review.Wish{{Kind: review.WishCommit, Body: secret}, {Kind: review.WishPush, Title: secret}, {Kind: review.WishPush, Branch: secret}} {
		w.agent(func(string) {}, wish)
		if _, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), nil); !errors.Is(err, sanitize.ErrKnownSecret) {
			t.Errorf("%+v: %v", wish, err)
		}
	}
	w.workspace.Ask = func(_ context.Context, _ review.Task, clone string, _ func(review.Event)) review.Answer {
		return review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed}}
	}
	if got, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), nil); err != nil || got.Tip != "" || len(got.Notes) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
