package fixspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// outputLimit is how much a command may print before it is ended, in bytes (threats.md T84).
const outputLimit = 256 << 20

// Verify runs commands on a plain export of a commit, which holds no .git, one after the other in one tree, and returns
// one check for each, in order, which names its command without what is secret in it. They have a home of their own, no network and no credential; what the setup left stands beside the tree,
// and builds begin with a copy of what builds of this pull request's branch kept. What a command does to the machine or to the tree is its
// own affair: only its exit status counts. An error means that prloop could not do its part.
func (b *Workspace) Verify(ctx context.Context, o VerifyOrder) ([]review.Check, error) {
	if len(o.Commands) == 0 {
		return nil, nil
	}
	dir, err := b.room(verifyRoom+"*", jobFolders...) // any name: two calls may be about one commit
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", o.Commit, err)
	}
	checks, err := b.verify(ctx, dir, o)
	if left := sandbox.Remove(dir); err == nil {
		err = left
	}
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", o.Commit, err)
	}
	return checks, nil
}

// toRead is the repository as setup and verify commands see it.
func (b *Workspace) toRead() *git.Repository {
	if b.Verifying.ReadAll {
		return b.Repo.Whole()
	}
	return b.Repo
}

func (b *Workspace) verify(ctx context.Context, dir string, o VerifyOrder) ([]review.Check, error) {
	tree := filepath.Join(dir, "tree")
	if err := b.toRead().Export(ctx, o.Commit, tree); err != nil {
		return nil, err
	}
	opts := b.Verifying.withDefaults()
	if b.OwnFiles {
		if err := b.furnish(ctx, dir, opts); err != nil {
			return nil, err
		}
	}
	job := b.job(dir, opts)
	job.policy.Watch = true
	end := time.Now().Add(opts.Wall)
	checks := make([]review.Check, len(o.Commands))
	for i, c := range o.Commands {
		left := time.Until(end)
		if left <= 0 {
			// Not "skipped", which would be as good as passed.
			checks[i] = review.Check{Command: b.Learned.Redact(c), State: review.CheckTimeout, ExitCode: -1,
				Log: fmt.Sprintf("not started: the commands before it used up the %s that all may take together\n", opts.Wall)}
			continue
		}
		job.script, job.limit = c, min(opts.Timeout, left)
		o.news(review.Check{Command: b.Learned.Redact(c)})
		check, err := b.check(ctx, job)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", b.Learned.Redact(c), err)
		}
		o.news(check)
		checks[i] = check
	}
	if o.OnBranch {
		b.keepBuilds(dir, opts)
	}
	return checks, nil
}

func (o VerifyOrder) news(c review.Check) {
	if o.News != nil {
		o.News(c)
	}
}

// check runs one command.
func (b *Workspace) check(ctx context.Context, job child) (review.Check, error) {
	out := &proc.Tail{Limit: 2 * LogBytes} // more than is kept: what the rules take out leaves room
	job.out = out
	res, err := b.run(ctx, job)
	c := review.Check{Command: b.Learned.Redact(job.script), ExitCode: res.ExitCode, Seconds: res.Took.Seconds()}
	var exit *proc.ExitError
	said := ""
	switch {
	case err == nil:
		c.State = review.CheckPassed
	case !errors.As(err, &exit):
		return c, err
	case exit.Reason == proc.ReasonTimeout:
		c.State, said = review.CheckTimeout, "ended after "+proc.Seconds(job.limit)+": out of time"
	case exit.Reason == proc.ReasonOutputLimit:
		c.State, said = review.CheckFailed, fmt.Sprintf("ended: it printed more than %d MB", outputLimit>>20)
	case exit.Reason != proc.ReasonNone && exit.Cause != nil:
		c.State, said = review.CheckFailed, fmt.Sprintf("ended: it %v (%s)", exit.Cause, exit.Reason)
	case exit.Reason != proc.ReasonNone:
		c.State, said = review.CheckFailed, fmt.Sprintf("ended (%s)", exit.Reason)
	case exit.Code == 127:
		c.State, said = review.CheckMissing, "exit status 127: a program it needs is not installed here"
	case exit.Code == 126:
		c.State, said = review.CheckMissing, "exit status 126: a program it needs cannot be run here"
	default:
		c.State = review.CheckFailed
	}
	if res.Survivors > 0 {
		said = strings.TrimPrefix(said+fmt.Sprintf("; it left %d processes behind, which were ended", res.Survivors), "; ")
	}
	if sanitize.Leaks(string(out.Bytes()), sanitize.Policy{Known: b.Secrets}) { // only who saw it can have brought it there
		c.State, c.Log = review.CheckFailed, "prloop: the output held a credential, and is left out\n"
		return c, nil
	}
	c.Log = b.logText(out, said)
	return c, nil
}

// logText makes the end of a command's output fit to be stored and shown: secrets, what the run learned of the change and whole diffs are taken out, control
// bytes become visible. It begins as proc.Tail does. What prloop has to say stands last, under its name.
func (b *Workspace) logText(out *proc.Tail, said string) string {
	text := sanitize.Terminal(b.Learned.Redact(strings.ToValidUTF8(string(out.Bytes()), "\ufffd")))
	if said != "" {
		said = "prloop: " + said + "\n"
		if text != "" && !strings.HasSuffix(text, "\n") {
			said = "\n" + said
		}
	}
	if len(text)+len(said) <= LogBytes && !out.Cut() {
		return text + said
	}
	const mark = "[…]\n"
	return mark + proc.Ending(text, LogBytes-len(mark)-len(said)) + said
}
