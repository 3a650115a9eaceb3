package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/evalcli"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// row of the table of errors: what an error means for the person and for the exit status.
type row struct {
	// match gives the next step; ok is false when the row is about other errors.
	match  func(error) (next string, ok bool)
	status int
}

// is matches a sentinel.
func is(target error, next string) func(error) (string, bool) {
	return func(err error) (string, bool) { return next, errors.Is(err, target) }
}

// as matches a type of error, from which the next step is made; with sentinels, only errors that are one of them too.
func as[E error](next func(E) string, sentinels ...error) func(error) (string, bool) {
	return func(err error) (string, bool) {
		var e E
		if !errors.As(err, &e) {
			return "", false
		}
		fits := func(s error) bool { return errors.Is(err, s) }
		if len(sentinels) > 0 && !slices.ContainsFunc(sentinels, fits) {
			return "", false
		}
		return next(e), true
	}
}

// noWalls is the way out on a machine that cannot confine agents.
const noWalls = "allow user namespaces, or install bubblewrap; to take what this machine has, and say so in every report: " + envSandbox + "=best"

// table is searched from top to bottom; the first row that matches counts.
var table = []row{
	// What a run is ordered for.
	{as(func(e *app.ClosedError) string { return afterClosing(e.State) }), exitUsage},
	{as(func(*app.DraftError) string { return "mark it ready for review, or use --draft" }), exitUsage},
	{is(app.ErrNotNamed, "name one: prloop run 123"), exitUsage},
	{as(func(*app.NoRemoteError) string {
		return "use -R OWNER/REPO, give the pull request's URL, or go to a checkout"
	}), exitUsage},
	{as(obtain), exitUsage},
	{as(restore), exitUsage},
	{is(app.ErrNoModel, "set OPENAI_API_KEY, or use --reviewers static"), exitUsage},

	// What is evaluated.
	{as(func(e *evalcli.UsageError) string { return e.Next }), exitUsage},
	{is(evalcli.ErrWorse, "look at what it misses: prloop eval report"), review.ChangesRequested.ExitStatus()},

	// GitHub.
	{is(github.ErrNoGH, "install the GitHub CLI from https://cli.github.com, or name it: PRLOOP_GH=/path/to/gh"), exitFailed},
	{is(github.ErrNotLoggedIn, "gh auth login, or set GH_TOKEN"), exitFailed},
	{is(github.ErrNotFound, "check the number and the repository (-R OWNER/REPO), and whether the token may see it: gh auth status"), exitUsage},
	{as(func(e *github.Error) string {
		if e.Needs != "" {
			return "give the token " + e.Needs
		}
		return "give the token read access to the repository and \"pull-requests: write\""
	}, github.ErrForbidden), exitFailed},
	{as(func(e *github.Error) string { return afterClosing(e.Detail) }, github.ErrClosed), exitUsage},
	{is(github.ErrLocked, "unlock the conversation, or use --dry-run"), exitFailed},
	{is(github.ErrTooLong, "raise problem_score_threshold, so that fewer findings are listed"), exitFailed},
	{as(func(e *github.Error) string {
		if e.Until.IsZero() {
			return "wait a few minutes"
		}
		return "wait until " + e.Until.Add(time.Minute-time.Nanosecond).Local().Format(time.Kitchen) // a whole minute, and none too early
	}, github.ErrRateLimited), exitFailed},
	{as(func(e *github.Error) string { return "use the new name " + e.Needs }, github.ErrMoved), exitUsage},
	{is(github.ErrUnavailable, "look at https://www.githubstatus.com and at your network, and try again"), exitFailed},
	{is(github.ErrBadAnswer, "a proxy is altering GitHub's responses; check HTTPS_PROXY"), exitFailed},
	{is(github.ErrNoPullRequest, "open one with: gh pr create, or name one: prloop run 123"), exitUsage},
	{is(github.ErrAmbiguous, "name one: prloop run 123"), exitUsage},
	{is(github.ErrTarget, "give a number, a URL or owner/repo#number"), exitUsage},
	{is(github.ErrHost, "name the host without scheme and port: github.com"), exitUsage},

	// One run at a time.
	{as(func(e *store.HeldError) string { return "wait for it to end, or look at it: prloop show " + e.Run }), exitFailed},
	{is(store.ErrStale, "another process has taken the pull request over; see: prloop runs"), exitFailed},

	// git.
	{is(git.ErrNoGit, "install git "+git.MinVersion+" or newer"), exitFailed},
	{is(git.ErrOldGit, "install git "+git.MinVersion+" or newer"), exitFailed},
	{is(git.ErrNotRepository, "go to a checkout, or review a pull request: prloop run OWNER/REPO#123"), exitUsage},
	{is(git.ErrUnknownRevision, "check the revision with: git rev-parse REVISION; a shallow clone may need: git fetch --unshallow"), exitUsage},
	{is(git.ErrShallow, "git fetch --unshallow"), exitUsage},
	{is(git.ErrNoMergeBase, "choose a base that shares history with this branch"), exitUsage},
	{is(git.ErrMergeBases, "merge the base branch into this branch: then there is one merge base"), exitFailed},
	{is(git.ErrAuth, "gh auth status tells whether the login may read the repository"), exitFailed},
	{is(git.ErrFetchTimeout, "check the network, and try again"), exitFailed},
	{is(git.ErrMalformedTree, "a person has to look: the commits hold names git must not hold"), exitFailed},
	{is(git.ErrProtocol, "prloop fetches over https only"), exitFailed},

	// Models.
	{as(func(*gateway.KeyError) string {
		return "check OPENAI_API_KEY and OPENAI_BASE_URL, or use --reviewers static"
	}), exitUsage},
	{as(func(*gateway.UnreachableError) string {
		return "check OPENAI_BASE_URL and the network, or use --reviewers static"
	}), exitFailed},

	// What was to be posted.
	{is(sanitize.ErrKnownSecret, "rotate the credential, and find out how it came into what was to be posted"), exitFailed},

	// Configuration.
	{as(func(e *config.UnknownAgentError) string {
		return "one of: " + strings.Join(e.Known, ", ") + ", exec:PATH"
	}), exitUsage},
	{as(func(e *config.RepoCommandError) string {
		if e.Relative {
			return "use an absolute path, or install the program"
		}
		return "set allow_repo_commands: true in your own configuration if you trust this repository's maintainers"
	}), exitUsage},
	{as(func(e *config.Error) string {
		if len(e.Faults) > 0 && e.Faults[0].Next != "" {
			return e.Faults[0].Next
		}
		if len(e.Faults) > 0 && strings.HasPrefix(e.Faults[0].File, "--") {
			return "see: prloop run --help"
		}
		return "docs/config.md lists every key; prloop config validate FILE checks a file"
	}), exitUsage},

	// Isolation.
	{as(func(*sandbox.TierError) string { return noWalls }), exitFailed},
	{as(func(e *agentrun.LowDiskError) string {
		return "free some space, or set PRLOOP_STATE to a folder on another disk; " + envLimits + "=free=100MB asks for less"
	}), exitFailed},

	// Our own state.
	{is(engine.ErrBusy, "wait for it: prloop runs shows when it is finished"), exitFailed},
	{is(engine.ErrVersion, "start a new run"), exitFailed},
	{is(engine.ErrNotFound, "prloop runs lists them"), exitUsage},
	{is(store.ErrFull, "free some space"), exitFailed},
	{is(store.ErrReadOnly, "set PRLOOP_STATE to a folder you can write"), exitFailed},
	{is(store.ErrBusy, "another prloop holds it: try again"), exitFailed},
	{is(store.ErrNewer, "use the newer prloop, or set PRLOOP_STATE to another folder"), exitFailed},
	{as(func(e *store.CorruptError) string { return "mv " + e.Path + " " + e.Path + ".damaged" }), exitFailed},
}
