package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// Outcome is what became of a push.
type Outcome string

// The outcomes.
const (
	// Pushed: the ref went from Old to New.
	Pushed Outcome = "pushed"
	// Already: an earlier push of New arrived and its answer was lost (threats.md K22). The ref is at New, or at what others
	// built on it since.
	Already Outcome = "already"
	// Moved: the ref is at another commit, which does not descend from New and stays (threats.md T94).
	Moved Outcome = "moved"
	// Refused: the server said no, and asking again would not help.
	Refused Outcome = "refused"
)

// PushResult is the known outcome of a push.
type PushResult struct {
	Outcome Outcome
	// Head is where the ref is; empty when Moved found it deleted, and for Refused.
	Head string
	// Rule is why the server refused, in a stable word, and Reason the server's own line. That line is data: control
	// characters are out of it, and whoever shows it sanitizes it.
	Rule, Reason string
}

// Why a server refuses a push.
const (
	RefusedProtected  = "protected-branch"    // GH006
	RefusedRule       = "repository-rule"     // GH013
	RefusedSecret     = "push-protection"     // GH013 and GH009, secrets in the push
	RefusedWorkflow   = "workflow-permission" // workflow files need a permission of their own
	RefusedLarge      = "too-large"           // GH001
	RefusedEmail      = "email-privacy"       // GH007
	RefusedPermission = "no-permission"       // 403
	RefusedAuth       = "not-authenticated"   // 401
	RefusedNotFound   = "not-found"           // 404, which GitHub says to those who may not know, too
	RefusedHook       = "hook"                // a hook of the server
	RefusedOther      = "refused"
)

// ErrNotDescendant: what is to be pushed does not descend from what is there.
var ErrNotDescendant = errors.New("not a descendant")

// ErrHeldBack: PushOptions.Sure kept a push from beginning.
var ErrHeldBack = errors.New("the push was held back")

// Server is a remote and how to be let in.
type Server struct {
	// URL is the remote. It must not carry a credential, and its transport must be one of Options.Protocols.
	URL string
	// Helper is a git credential helper ("!gh auth git-credential"); empty means none. It is only set for this command.
	Helper string
	// Env are environment entries for this command alone ("GH_TOKEN=..."): where a credential may stand. GIT_ variables
	// are refused here.
	Env []string
	// Credential gives further entries when the command begins; nil gives none.
	Credential func(context.Context) ([]string, error)
	// Timeout bounds the whole command; 0 means 5 minutes.
	Timeout time.Duration
}

// PushOptions say what to push where.
type PushOptions struct {
	Server
	// Ref is the branch, fully qualified: refs/heads/... alone.
	Ref string
	// Old is the commit the ref must be at, New the commit it is to go to: full object ids.
	Old, New string
	// Anew lets New leave Old behind, for a branch that is prloop's own: it is made there when Old is all zeros, else replaced.
	Anew bool
	// Sure is asked right before git begins, after all else: an error keeps it from beginning. nil is always sure.
	Sure func() error
}

// NoCommit is Old of a branch that must not be there.
const NoCommit = "0000000000000000000000000000000000000000"

// Push moves a branch of a server from Old to New by compare-and-swap: a commit somebody else pushed in the meantime always
// stays. New has to descend from Old (ErrNotDescendant), so nothing is ever taken out of a branch, but for one that is made Anew. The error is nil when the
// outcome is known; any error after the checks of the arguments (ErrName, ErrProtocol) but ErrHeldBack means that the ref may be at Old or at
// New, and calling again with the same arguments finds out.
func (r *Repository) Push(ctx context.Context, o PushOptions) (PushResult, error) {
	c, err := r.pushCommand(ctx, o)
	if err != nil {
		return PushResult{}, fmt.Errorf("push %s to %s: %w", o.Ref, o.URL, err)
	}
	if ok, err := r.follows(ctx, o); err != nil || !ok || o.Old == o.New {
		if err == nil {
			err = fmt.Errorf("%s of %s: %w", o.New, o.Old, ErrNotDescendant)
		}
		return PushResult{}, fmt.Errorf("push %s to %s: %w", o.Ref, o.URL, err)
	}
	if o.Sure != nil {
		if err := o.Sure(); err != nil {
			return PushResult{}, fmt.Errorf("push %s to %s: %w: %w", o.Ref, o.URL, ErrHeldBack, err)
		}
	}
	out, err := r.git.run(ctx, c)
	res, err := r.settle(ctx, o, string(out), err)
	if err != nil {
		return PushResult{}, fmt.Errorf("push %s to %s: %w", o.Ref, o.URL, err)
	}
	return res, nil
}

// follows reports whether a branch may go to New.
func (r *Repository) follows(ctx context.Context, o PushOptions) (bool, error) {
	if o.Anew {
		return true, nil
	}
	return r.IsAncestor(ctx, o.Old, o.New)
}

func (r *Repository) pushCommand(ctx context.Context, o PushOptions) (command, error) {
	c, err := r.serverCommand(ctx, "push", o.Server)
	if err != nil {
		return c, err
	}
	if err := checkRef(o.Ref); err != nil {
		return c, err
	}
	if !strings.HasPrefix(o.Ref, "refs/heads/") {
		return c, fmt.Errorf("ref %q: %w: not a branch", o.Ref, ErrName)
	}
	if !IsOID(o.Old) || !IsOID(o.New) {
		return c, fmt.Errorf("%q to %q: %w: not object ids", o.Old, o.New, ErrName)
	}
	absent := strings.Trim(o.Old, "0") == ""
	if absent && !o.Anew || strings.Trim(o.New, "0") == "" {
		return c, fmt.Errorf("ref %q: %w: a branch is neither made nor deleted", o.Ref, ErrName)
	}
	lease := o.Old
	if absent {
		lease = ""
	}
	c.args = []string{"--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease=" + o.Ref + ":" + lease, "--end-of-options", o.URL, o.New + ":" + o.Ref}
	return c, nil
}

// serverCommand is a command that talks to a server with the credential in its own environment and nowhere else.
func (r *Repository) serverCommand(ctx context.Context, name string, s Server) (command, error) {
	c := command{name: name, at: r.place(), timeout: s.Timeout}
	if c.timeout == 0 {
		c.timeout = 5 * time.Minute
	}
	if err := r.git.checkURL(s.URL); err != nil {
		return c, err
	}
	var err error
	if c.extra, err = letIn(ctx, s.Env, s.Credential); err != nil {
		return c, err
	}
	if s.Helper != "" {
		c.settings = []setting{{"credential.helper", s.Helper}}
	}
	return c, nil
}

// letIn are the environment entries by which a server lets a command in.
func letIn(ctx context.Context, env []string, credential func(context.Context) ([]string, error)) ([]string, error) {
	if credential != nil {
		more, err := credential(ctx)
		if err != nil {
			return nil, err
		}
		env = append(env[:len(env):len(env)], more...)
	}
	return env, checkEnv(env)
}

// checkEnv keeps git's own switches out of what a caller hands in.
func checkEnv(env []string) error {
	for _, e := range env {
		if strings.HasPrefix(strings.ToUpper(e), "GIT_") {
			return fmt.Errorf("%w: GIT_ variables are prloop's own", ErrName)
		}
	}
	return nil
}

// askAgain bounds the question that follows a push without a clear answer, in time of its own: the push may have used up
// the caller's.
const askAgain = 30 * time.Second

// settle finds out what became of a push.
func (r *Repository) settle(ctx context.Context, o PushOptions, out string, failed error) (PushResult, error) {
	flag, summary := answerFor(out, o.Ref)
	switch {
	case failed == nil && flag == "=":
		return PushResult{Outcome: Already, Head: o.New}, nil
	case failed == nil && (flag == " " || flag == "+" || flag == "*"):
		return PushResult{Outcome: Pushed, Head: o.New}, nil
	}
	said := ""
	if e := (*CommandError)(nil); errors.As(failed, &e) {
		said = e.Stderr
	}
	if rule, reason := refusal(flag, summary, said); rule != "" {
		return PushResult{Outcome: Refused, Rule: rule, Reason: reason}, nil
	}
	ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), askAgain)
	defer cancel()
	head, inWay, err := r.RemotePlace(ask, o.Server, o.Ref)
	switch {
	case err != nil:
		return PushResult{}, errors.Join(failed, err)
	case inWay != "" && head == "": // it is said in many words, some of which are those of a lost race
		return PushResult{Outcome: Refused, Rule: RefusedOther, Reason: strings.TrimPrefix(inWay, "refs/heads/") + " is in its way"}, nil
	case head == "" && strings.Trim(o.Old, "0") == "" && failed != nil:
		return PushResult{}, failed
	case head == "":
		return PushResult{Outcome: Moved}, nil
	case head == o.Old && failed == nil:
		return PushResult{}, errAnswerShape
	case head == o.Old:
		return PushResult{}, failed
	}
	switch ok, err := r.within(context.WithoutCancel(ctx), o.Server, o.New, head); {
	case err != nil:
		return PushResult{}, errors.Join(failed, err)
	case ok:
		return PushResult{Outcome: Already, Head: head}, nil
	}
	return PushResult{Outcome: Moved, Head: head}, nil
}

// Contains asks a server where a ref is and whether a commit of r is in its history: a push that arrived is found so, even
// when somebody built on it since. ErrUnknownRevision when the server has no ref of that name; further errors are Fetch's,
// and with them nothing is known.
func (r *Repository) Contains(ctx context.Context, s Server, ref, commit string) (head string, ok bool, err error) {
	if head, err = r.RemoteHead(ctx, s, ref); err != nil {
		return "", false, err
	}
	if ok, err = r.within(ctx, s, commit, head); err != nil {
		return "", false, fmt.Errorf("look for %s in %s of %s: %w", commit, ref, s.URL, err)
	}
	return head, ok, nil
}

// withinTime bounds the download of a head that somebody else pushed.
const withinTime = 2 * time.Minute

// within reports whether a commit is in the history of a head of the server, which is downloaded when r does not have it.
func (r *Repository) within(ctx context.Context, s Server, commit, head string) (bool, error) {
	if commit == head {
		return true, nil
	}
	if _, err := r.Resolve(ctx, head); errors.Is(err, ErrUnknownRevision) {
		o := FetchOptions{URL: s.URL, Refs: []string{head}, Helper: s.Helper, Env: s.Env, Timeout: withinTime}
		if _, err := r.Fetch(ctx, o); err != nil {
			return false, err
		}
	} else if err != nil {
		return false, err
	}
	return r.IsAncestor(ctx, commit, head)
}

// RemoteHead asks a server where a ref is: ErrUnknownRevision when it has none of that name. Further errors are Fetch's.
func (r *Repository) RemoteHead(ctx context.Context, s Server, ref string) (head string, err error) {
	err = r.remoteRefs(ctx, s, ref, nil, func(oid, name string) {
		if name == ref {
			head = oid
		}
	})
	if err == nil && head == "" {
		err = fmt.Errorf("ask %s for %s: %w", s.URL, ref, ErrUnknownRevision)
	}
	return head, err
}

// RemotePlace asks a server where a ref is, and where it is not there, which other one keeps it from being made: refs are files in folders,
// and none can be above or below another one. Both are empty when the name is free. Errors are Fetch's.
func (r *Repository) RemotePlace(ctx context.Context, s Server, ref string) (head, inWay string, err error) {
	patterns := []string{ref + "/*"}
	for above := path.Dir(ref); above != "." && above != "refs"; above = path.Dir(above) {
		patterns = append(patterns, above)
	}
	err = r.remoteRefs(ctx, s, ref, patterns, func(oid, name string) {
		switch {
		case name == ref:
			head = oid
		case inWay == "" && (strings.HasPrefix(name, ref+"/") || strings.HasPrefix(ref, name+"/")):
			inWay = name
		}
	})
	return head, inWay, err
}

// remoteRefs calls found for the refs of a server that git finds by the end of a name, or by one of more patterns.
func (r *Repository) remoteRefs(ctx context.Context, s Server, ref string, more []string, found func(oid, name string)) error {
	c, err := r.serverCommand(ctx, "ls-remote", s)
	if err == nil {
		err = checkRef(ref)
	}
	if err != nil {
		return fmt.Errorf("ask %s for %s: %w", s.URL, ref, err)
	}
	c.args = append([]string{"--refs", "--end-of-options", s.URL, ref}, more...)
	out, err := r.git.run(ctx, c)
	if err != nil {
		return fmt.Errorf("ask %s for %s: %w", s.URL, ref, err)
	}
	for line := range strings.Lines(string(out)) {
		if oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); IsOID(oid) {
			found(oid, name)
		}
	}
	return nil
}
