package fixspace

import (
	"os"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
)

// Defaults of VerifyOptions.
const (
	// DefaultTimeout bounds one command.
	DefaultTimeout = 10 * time.Minute
	// DefaultWall bounds all commands of one call together.
	DefaultWall = 30 * time.Minute
	// LogBytes is how much of the end of a command's output is kept.
	LogBytes = 16 << 10
)

// VerifyOptions say how verify commands are run.
type VerifyOptions struct {
	// Timeout bounds each command; 0 means DefaultTimeout.
	Timeout time.Duration
	// Wall bounds the commands of one call together; 0 means DefaultWall, or Timeout when that is longer.
	Wall time.Duration
	// Path is the PATH commands are looked up in; empty means prloop's own.
	Path string
	// Read are folders the operator lends: caches, toolchains. They are read-only, and code of the pull request reads
	// them, so nothing private may stand in them.
	Read []string
	// Env are further variables ("NAME=value") of the operator, which outrank those set here; they say where what is lent
	// is found, such as GOPROXY=file:///var/cache/go/cache/download. No secret belongs here.
	Env []string
	// Limits bound what a command may use up; zero fields are the defaults of a verify job.
	Limits sandbox.Limits
}

func (o VerifyOptions) withDefaults() VerifyOptions {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Wall <= 0 {
		o.Wall = max(DefaultWall, o.Timeout)
	}
	if o.Path == "" {
		o.Path = os.Getenv("PATH")
	}
	// Builds start more processes and write larger files than agents do.
	if o.Limits.Processes == 0 {
		o.Limits.Processes = 4096
	}
	if o.Limits.Files == 0 {
		o.Limits.Files = 16384
	}
	if o.Limits.FileBytes == 0 {
		o.Limits.FileBytes = 4 << 30
	}
	return o
}

// environment is the whole environment of a command, written out: proc's allowlist, all of which is set anew (threats.md T70). The caches of the usual tools lie in its
// own home: what one commit's code writes there must not reach the verification of another.
func (o VerifyOptions) environment(home, tmp string) []string {
	cache := filepath.Join(home, ".cache")
	env := []string{
		"PATH=" + o.Path, "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC", "CI=1", "NO_COLOR=1", "TERM=dumb",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"XDG_CACHE_HOME=" + cache,
		"GOCACHE=" + filepath.Join(cache, "go-build"), "GOMODCACHE=" + filepath.Join(cache, "go-mod"), "GOPATH=" + filepath.Join(home, "go"),
		"GOLANGCI_LINT_CACHE=" + filepath.Join(cache, "golangci-lint"),
		"npm_config_cache=" + filepath.Join(cache, "npm"), "npm_config_update_notifier=false", "YARN_CACHE_FOLDER=" + filepath.Join(cache, "yarn"),
		"PIP_CACHE_DIR=" + filepath.Join(cache, "pip"), "PYTHONDONTWRITEBYTECODE=1", "RUFF_CACHE_DIR=" + filepath.Join(cache, "ruff"),
		"CARGO_HOME=" + filepath.Join(cache, "cargo"), "GRADLE_USER_HOME=" + filepath.Join(cache, "gradle"),
	}
	return proc.BaseEnv(append(env, o.Env...)...)
}

// VerifyOrder asks for commands to be run on a commit.
type VerifyOrder struct {
	// Commit is a full object id.
	Commit string
	// Commands are lines of POSIX shell, run in this order, each whatever became of the one before.
	Commands []string
	// News is called as each command begins, with an empty state, and as it ends; nil drops it.
	News func(review.Check)
}
