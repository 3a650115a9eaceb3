package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/proc"
)

// What a caller may branch on; wrapped by the errors of this package.
var (
	// ErrNoGit: there is no git binary.
	ErrNoGit = errors.New("git is not installed")
	// ErrOldGit: git is older than 2.39.
	ErrOldGit = errors.New("git is too old")
	// ErrNotRepository: the folder is not inside a git checkout.
	ErrNotRepository = errors.New("not a git repository")
	// ErrUnknownRevision: the revision, ref or object does not exist.
	ErrUnknownRevision = errors.New("unknown revision")
	// ErrNoCommits: nothing was committed to the repository yet, so every revision is unknown.
	ErrNoCommits error = noCommits{}
	// ErrPartial: an object is not here because the clone left it at the server, so it is unknown.
	ErrPartial error = partial{}
	// ErrDetached: HEAD is not on a branch.
	ErrDetached = errors.New("not on a branch")
	// ErrShallow: history was cut off where it is needed.
	ErrShallow = errors.New("history is shallow")
	// ErrNoMergeBase: the two commits share no history.
	ErrNoMergeBase = errors.New("no common ancestor")
	// ErrMergeBases: the two commits have several merge bases, which conflict with each other. No single diff is then what
	// merging would change.
	ErrMergeBases = errors.New("there are several merge bases, which do not merge cleanly")
	// ErrMalformedTree: a tree holds names or objects git must not hold (threats.md T26).
	ErrMalformedTree = errors.New("malformed tree")
	// ErrName: a name is no valid ref, object id or path.
	ErrName = errors.New("invalid name")
	// ErrProtocol: the URL's transport is not allowed, or the URL carries a credential.
	ErrProtocol = errors.New("URL not allowed")
	// ErrAuth: the server wants other credentials.
	ErrAuth = errors.New("authentication failed")
	// ErrFetchTimeout: the fetch did not end in time (threats.md T29).
	ErrFetchTimeout = errors.New("fetch timeout")
	// ErrNoRoom: the disk of the repository does not hold what was to be written and Options.FreeBytes beside it.
	ErrNoRoom = errors.New("it needs more of the disk than may be used")
	// ErrTooLarge: a cap on bytes, files or memory was passed.
	ErrTooLarge = errors.New("too large")
)

// UnknownRevisionError is an ErrUnknownRevision about what a person typed in a checkout.
type UnknownRevisionError struct {
	Revision string
	// Branches are names that exist there, the likeliest bases first; a few at most.
	Branches []string
	// Shallow says that the checkout has a part of the history alone.
	Shallow bool
}

func (e *UnknownRevisionError) Error() string {
	return fmt.Sprintf("revision %q: %v", e.Revision, ErrUnknownRevision)
}

// Is makes it an ErrUnknownRevision.
func (e *UnknownRevisionError) Is(target error) bool { return target == ErrUnknownRevision }

// AmbiguousError: a revision is the name of several refs of a checkout, which stand for different commits, or of a ref and, in short, of another commit.
type AmbiguousError struct {
	Revision string
	// Refs are the full names of all of them.
	Refs []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("revision %q means different commits: it is the name of %s", e.Revision, strings.Join(e.Refs, " and of "))
}

// CommandError is a git command that failed for a reason without a sentinel.
type CommandError struct {
	// Command is the subcommand, such as "fetch".
	Command string
	// Stderr is the end of standard error, raw: whoever prints it sanitizes it.
	Stderr string
	Err    error
}

func (e *CommandError) Error() string { return fmt.Sprintf("git %s: %v", e.Command, e.Err) }

// Unwrap gives the process's error.
func (e *CommandError) Unwrap() error { return e.Err }

// said maps what git prints (in the C locale) to sentinels. Order matters: the first match wins.
var said = []struct {
	text string
	err  error
}{
	{": No space left on device", ErrNoRoom},
	{"Out of diskspace", ErrNoRoom},
	{": Disk quota exceeded", ErrNoRoom},
	{"fsck error", ErrMalformedTree},
	{"hasDotgit", ErrMalformedTree},
	{"hasDotdot", ErrMalformedTree},
	{"malformed mode in tree", ErrMalformedTree},
	{"empty filename in tree", ErrMalformedTree},
	{"too-short tree", ErrMalformedTree},
	{"truncated tree", ErrMalformedTree},
	{"corrupt tree", ErrMalformedTree},
	{"' not allowed", ErrProtocol},
	{"could not read Username", ErrAuth},
	{"could not read Password", ErrAuth},
	{"Authentication failed", ErrAuth},
	{"The requested URL returned error: 401", ErrAuth},
	{"The requested URL returned error: 403", ErrAuth},
	{"Permission denied (publickey", ErrAuth},
	{"couldn't find remote ref", ErrUnknownRevision},
	{"not our ref", ErrUnknownRevision},
	{"unknown revision", ErrUnknownRevision},
	{"Needed a single revision", ErrUnknownRevision},
	{"Not a valid object name", ErrUnknownRevision},
	{"not a tree object", ErrUnknownRevision},
	{"bad object", ErrUnknownRevision},
	{"unable to read tree", ErrUnknownRevision},
	{"not a git repository", ErrNotRepository},
}

// noCommits is an ErrUnknownRevision with the reason.
type noCommits struct{}

func (noCommits) Error() string        { return "the repository has no commits yet" }
func (noCommits) Is(target error) bool { return target == ErrUnknownRevision }

// partial is an ErrUnknownRevision with the reason.
type partial struct{}

func (partial) Error() string        { return "the clone is partial and has not all that is compared" }
func (partial) Is(target error) bool { return target == ErrUnknownRevision }

// wrap gives a failed command its typed error.
func wrap(ctx context.Context, command string, res proc.Result, err error) error {
	if errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("git %s: %w", command, ErrNoGit)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", command, context.Cause(ctx))
	}
	stderr := string(res.StderrTail)
	failed := &CommandError{Command: command, Stderr: stderr, Err: err}
	switch {
	case command == "fetch" && (res.Reason == proc.ReasonTimeout || res.Reason == proc.ReasonIdle):
		return fmt.Errorf("%w: %w", ErrFetchTimeout, failed)
	case res.Reason == proc.ReasonHostDisk:
		return fmt.Errorf("%w: %w", ErrNoRoom, failed)
	case res.Reason == proc.ReasonOutputLimit, res.Reason == proc.ReasonMemory:
		return fmt.Errorf("%w: %w", ErrTooLarge, failed)
	}
	for _, s := range said {
		if strings.Contains(stderr, s.text) {
			return fmt.Errorf("%w: %w", s.err, failed)
		}
	}
	return failed
}
