package troubleshoot

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/backup"
	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/eval/running"
	"github.com/prloop/prloop/internal/evalcli"
	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/postgres"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/starter"
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

// unreadable is the next step where git prints a change that prloop cannot read.
const unreadable = "a person has to review the change; please report this, with the names of its files"

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

// moreRoom is the next step where the disk has too little left.
const moreRoom = "free some space, or set PRLOOP_STATE to a folder on another disk; " + operator.EnvLimits + "=free=100MB asks for less"

// NoConfinement is the way out on a machine that cannot confine agents.
const NoConfinement = "allow user namespaces, or install bubblewrap; to take what this machine has, and say so in every report: " + operator.EnvSandbox + "=best"

// table is searched from top to bottom; the first row that matches counts.
var table = []row{
	// Other processes of prloop.
	{as(func(e *broker.DownError) string {
		return "start prloop broker with --socket " + e.Path + ", as a user whose group this process is in; or unset " + operator.EnvGitHubBroker + " or " + operator.EnvModelBroker
	}), advice.Failed},

	// What a run is ordered for.
	{as(func(e *app.ClosedError) string { return afterClosing(e.State) }), advice.Usage},
	{as(func(*app.MovedOnError) string {
		return "wait for the job of the newer commit, or ask by comment: !prloop review"
	}), review.Superseded.ExitStatus()},
	{as(func(*app.DraftError) string { return "mark it ready for review, or use --draft" }), advice.Usage},
	{as(func(e *app.NoFindingError) string {
		if e.Several > 0 {
			return "give more of the identity"
		}
		return "prloop show " + e.Run + " names each finding's identity"
	}), advice.Usage},
	{as(func(*app.ElsewhereError) string { return "go to a checkout of it, or name another run: --run RUN" }), advice.Usage},
	{as(func(*dismissals.AlreadyError) string { return "edit that line" }), advice.Usage},
	{as(func(*dismissals.LineError) string { return "prloop dismiss --help shows what a dismissal says" }), advice.Usage},
	{is(app.ErrNoReason, `say why: --reason "the pool closes it"`), advice.Usage},
	{is(app.ErrNoResult, "wait for it to end, or resume it"), advice.Usage},
	{is(app.ErrNotNamed, "name one: prloop run 123"), advice.Usage},
	{as(nameRepository), advice.Usage},
	{as(obtain), advice.Usage},
	{as(restore), advice.Usage},
	{as(func(*app.CalibrationError) string {
		return "write it again: prloop stats --calibration --out FILE, or take the setting calibration out"
	}), advice.Usage},
	{as(func(e *app.UnheededError) string {
		return "set OPENAI_API_KEY (prloop doctor checks it), or leave out " + e.Flag
	}), advice.Usage},
	{is(app.ErrNoModel, "set OPENAI_API_KEY, or use --reviewers static"), advice.Usage},

	// Policies.
	{as(func(*policy.Error) string { return "nothing was saved; prloop policy set --help lists the columns" }), advice.Usage},
	{as(func(*policy.ConflictError) string {
		return "nothing was saved; look at it, and say again what is still meant: prloop policy get"
	}), advice.Failed},

	// What is evaluated.
	{is(running.ErrBudget, "raise --max-cost, and give the same command again"), review.Budget.ExitStatus()},
	{is(evalcli.ErrWorse, "look at what it misses: prloop eval report"), review.ChangesRequested.ExitStatus()},

	// Backups.
	{is(store.ErrServer, "pg_dump --format=custom DATABASE > FILE; pg_restore puts it back"), advice.Usage},
	{is(backup.ErrNotOurs, "give a file that prloop backup wrote, to a prloop that is as new"), advice.Usage},
	{is(backup.ErrInUse, "set PRLOOP_STATE to an empty folder"), advice.Usage},
	{is(fs.ErrExist, "name another file: what is there is not replaced"), advice.Usage},

	// GitHub.
	{is(github.ErrNoGH, "install the GitHub CLI from https://cli.github.com, or name it: PRLOOP_GH=/path/to/gh"), advice.Failed},
	{as(func(e *github.Error) string {
		if e.Unnamed != "" {
			return "if it is your GitHub: GH_HOST=" + e.Unnamed + ", or gh auth login --hostname " + e.Unnamed
		}
		return "gh auth login, or set GH_TOKEN"
	}, github.ErrNotLoggedIn), advice.Failed},
	{as(func(e *appfile.Error) string { return e.Next }), advice.Usage},
	{is(github.ErrAppKey, "make a new private key in the settings of the GitHub App, or set the clock of this machine"), advice.Usage},
	{is(github.ErrSuspended, "its owner ends the suspension in the settings of the account, Applications"), advice.Usage},
	{is(github.ErrNotInstalled, "install the GitHub App on the repository; prloop doctor lists where it is"), advice.Usage},
	{is(github.ErrNotFound, "check the number and the repository (-R OWNER/REPO), and whether the token may see it: gh auth status"), advice.Usage},
	{as(func(e *github.Error) string {
		if e.Needs != "" {
			return "give the token " + e.Needs
		}
		return "give the token read access to the repository and \"pull-requests: write\""
	}, github.ErrForbidden), advice.Failed},
	{as(func(e *github.Error) string { return afterClosing(e.Detail) }, github.ErrClosed), advice.Usage},
	{is(github.ErrLocked, "unlock the conversation, or use --dry-run"), advice.Failed},
	{is(github.ErrStatusesSpent, "push a new commit"), advice.Failed},
	{is(github.ErrTooLong, "raise problem_score_threshold, so that fewer findings are listed"), advice.Failed},
	{as(func(e *github.Error) string {
		if e.Until.IsZero() {
			return "wait a few minutes"
		}
		return "wait until " + e.Until.Add(time.Minute-time.Nanosecond).Local().Format(time.Kitchen) // a whole minute, and none too early
	}, github.ErrRateLimited), advice.Failed},
	{as(func(e *github.Error) string { return "use the new name " + e.Needs }, github.ErrMoved), advice.Usage},
	{is(github.ErrUnavailable, "look at https://www.githubstatus.com and at your network, and try again"), advice.Failed},
	{is(github.ErrBadAnswer, "a proxy is altering GitHub's responses; check HTTPS_PROXY"), advice.Failed},
	{is(github.ErrNoPullRequest, "open one with: gh pr create, or name one: prloop run 123"), advice.Usage},
	{is(github.ErrAmbiguous, "name one: prloop run 123"), advice.Usage},
	{is(github.ErrTarget, "give a number, a URL or owner/repo#number"), advice.Usage},
	{is(github.ErrRepository, "give it as OWNER/REPO or HOST/OWNER/REPO: with -R, or in GH_REPO"), advice.Usage},
	{is(github.ErrHost, "name the host without scheme and port: github.com"), advice.Usage},

	{as(func(*starter.ExistsError) string { return "look at it, or replace it with --force" }), advice.Usage},

	// One run at a time.
	{as(func(*store.HeldError) string { return "wait for it to end; prloop runs lists what is under way" }), advice.Failed},
	{is(store.ErrStale, "another process has taken the pull request over; see: prloop runs"), advice.Failed},

	// git.
	{is(git.ErrNothingStaged, "git add what the next commit is to have, or review all changes: prloop run --base HEAD"), advice.Usage},
	{is(git.ErrEmptyPatch, "give a patch, such as: git diff | prloop run -"), advice.Usage},
	{as(func(e *git.PatchError) string {
		switch {
		case errors.Is(e, git.ErrTooLarge):
			return "leave large files out of it, or commit and review that: prloop run --commit HEAD"
		case errors.Is(e, git.ErrBuildsOnWithheld):
			return "leave out what moves or copies files of context.never_read"
		case errors.Is(e, git.ErrTwoReadings):
			return "apply it on a branch (git am), go back, and review what came: git diff HEAD...BRANCH | prloop run -"
		}
		return "make it against HEAD, or check out the commit it was made against"
	}), advice.Usage},
	{as(func(*git.IndexError) string {
		return "unset GIT_INDEX_FILE, or review the commit once it is made: prloop run --commit HEAD"
	}), advice.Usage},
	{as(func(*git.UnmergedError) string { return "resolve the conflict and git add the file" }), advice.Usage},
	{is(git.ErrNoGit, "install git "+git.MinVersion+" or newer"), advice.Failed},
	{is(git.ErrOldGit, "install git "+git.MinVersion+" or newer"), advice.Failed},
	{is(git.ErrNotRepository, "go to a checkout, or review a pull request: prloop run OWNER/REPO#123"), advice.Usage},
	{is(git.ErrNoCommits, "commit something: a review compares with a commit"), advice.Usage},
	{is(git.ErrPartial, "fetch what the clone left at the server: git fetch --refetch --no-filter"), advice.Usage},
	{as(otherRevision), advice.Usage},
	{as(oneOfRefs), advice.Usage},
	{is(git.ErrUnknownRevision, "check the revision with: git rev-parse REVISION; a shallow clone may need: git fetch --unshallow"), advice.Usage},
	{is(git.ErrShallow, "git fetch --unshallow"), advice.Usage},
	{is(git.ErrNoMergeBase, "choose a base that shares history with this branch"), advice.Usage},
	{is(git.ErrMergeBases, "merge the base branch into this branch: then there is one merge base"), advice.Failed},
	{is(git.ErrAuth, "gh auth status tells whether the login may read the repository"), advice.Failed},
	{is(git.ErrFetchTimeout, "check the network, and try again"), advice.Failed},
	{is(git.ErrNoRoom, moreRoom), advice.Failed},
	{is(git.ErrMalformedTree, "a person has to look: the commits hold names git must not hold"), advice.Failed},
	{is(diff.ErrMalformed, unreadable), advice.Failed},
	{is(diff.ErrTruncated, unreadable), advice.Failed},
	{is(diff.ErrIncomplete, unreadable), advice.Failed},
	{is(git.ErrProtocol, "prloop fetches over https only"), advice.Failed},

	// Models.
	{misconfigured, advice.Usage},
	{as((*gateway.EndpointError).Next), advice.Failed},
	{as(func(*gateway.UnreachableError) string {
		return "check OPENAI_BASE_URL and the network, or add --reviewers static to review without a model"
	}), advice.Failed},

	// What was to be posted.
	{is(sanitize.ErrKnownSecret, "rotate the credential, and find out how it came into what was to be posted"), advice.Failed},

	// Configuration.
	{as(func(e *config.UnknownCommandError) string {
		return "use one of its commands, or add it to the .reviewerc of the base branch"
	}), advice.Usage},
	{as(func(e *config.UnknownJobError) string {
		return "use one of these, or add the job to schedule.runs of the default branch"
	}), advice.Usage},
	{as(func(e *folders.Error) string {
		switch e.Rule {
		case folders.Missing:
			return "have the workflow check it out there before prloop runs, or leave it out of folders"
		case folders.InTree:
			return "check it out under a name that the repository has not, and give that name to --folders"
		}
		return "check it out as a folder of its own, without links that leave it"
	}), advice.Usage},
	{as(func(e *config.UnknownAgentError) string {
		return "one of: " + strings.Join(e.Known, ", ") + ", exec:PATH"
	}), advice.Usage},
	{as(func(e *config.RepoCommandError) string {
		if e.Relative {
			return "use an absolute path, or install the program"
		}
		return "set allow_repo_commands: true in your own configuration if you trust this repository's maintainers"
	}), advice.Usage},
	{as(func(e *config.Error) string {
		if len(e.Faults) > 0 && e.Faults[0].Next != "" {
			return e.Faults[0].Next
		}
		if len(e.Faults) > 0 && strings.HasPrefix(e.Faults[0].File, "--") {
			return "see: prloop run --help"
		}
		if len(e.Faults) > 0 {
			return "see " + e.Faults[0].Docs()
		}
		return ""
	}), advice.Usage},

	// Isolation.
	{as(func(*sandbox.TierError) string { return NoConfinement }), advice.Failed},
	{as(func(*agentrun.LowDiskError) string { return moreRoom }), advice.Failed},

	// Our own state.
	{is(engine.ErrBusy, "wait for it: prloop runs shows when it is finished"), advice.Failed},
	{is(engine.ErrVersion, "start a new run"), advice.Failed},
	{is(engine.ErrNotFound, "prloop runs lists them"), advice.Usage},
	{is(store.ErrFull, "free some space"), advice.Failed},
	{is(store.ErrReadOnly, "set PRLOOP_STATE to a folder you can write, or "+operator.EnvDatabase+" to a database you may change"), advice.Failed},
	{is(store.ErrGone, "check "+operator.EnvDatabase+", and whether the server runs"), advice.Failed},
	{is(postgres.ErrLost, "prloop resume goes on with the run, unless another machine does"), advice.Failed},
	{is(store.ErrBusy, "another prloop holds it: try again"), advice.Failed},
	{is(store.ErrNewer, "use the newer prloop, or set PRLOOP_STATE to another folder"), advice.Failed},
	{as(func(e *store.CorruptError) string {
		if strings.HasPrefix(e.Path, database.Postgres+":") {
			return "restore it from a backup, or set " + operator.EnvDatabase + " to another"
		}
		return "mv " + e.Path + " " + e.Path + ".damaged"
	}), advice.Failed},
}
