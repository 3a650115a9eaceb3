package fixspace

import (
	"os"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/internal/buildlayers"
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
	// Setup is what the setup commands left, as SetUp gives it; nil when there is none.
	Setup *buildlayers.Layer
	// Builds names the build cache that a verification begins with a copy of, and that one of a commit on the branch leaves to the next
	// ones; empty keeps none.
	Builds string
	// Lent are the module caches of the operator.
	Lent []Lent
	// Withheld are the globs of what the workspace's repository withholds, in any order (git.Repository.Without). Setups and builds that
	// could read more are not used again. ReadAll lets commands read all the same.
	Withheld []string
	ReadAll  bool
}

// Lent is a module cache that commands may read.
type Lent struct {
	// Tool is whose it is: go, cargo or npm.
	Tool string
	// Folder is where it is on this machine.
	Folder string
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

// environment is the whole environment of a command, written out: proc's allowlist, all of which is set anew (threats.md T70). Package caches
// and build caches of the usual tools lie in the room: what one commit's code writes there reaches the verification of no other pull request.
func (o VerifyOptions) environment(in place) []string {
	home, cache, packages := in.at("home"), in.at("cache"), in.at("packages")
	env := []string{
		"PATH=" + o.Path + ":" + filepath.Join(home, ".local", "bin") + ":" + filepath.Join(home, "go", "bin"),
		"HOME=" + home, "TMPDIR=" + in.at("tmp"), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC", "CI=1", "NO_COLOR=1", "TERM=dumb",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"LSAN_OPTIONS=detect_leaks=0", // the search for leaks needs ptrace, and without it the program fails
		"XDG_CACHE_HOME=" + cache,
		"GOCACHE=" + filepath.Join(cache, "go-build"), "GOMODCACHE=" + filepath.Join(packages, "go"), "GOPATH=" + filepath.Join(home, "go"),
		"GOLANGCI_LINT_CACHE=" + filepath.Join(cache, "golangci-lint"),
		"npm_config_cache=" + filepath.Join(packages, "npm"), "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
		"YARN_CACHE_FOLDER=" + filepath.Join(packages, "yarn"),
		"PIP_CACHE_DIR=" + filepath.Join(cache, "pip"), "UV_LINK_MODE=copy", "PYTHONDONTWRITEBYTECODE=1", "RUFF_CACHE_DIR=" + filepath.Join(cache, "ruff"),
		"CARGO_HOME=" + filepath.Join(packages, "cargo"), "GRADLE_USER_HOME=" + filepath.Join(home, ".gradle"),
	}
	return env
}

// offline has package managers use what they have, instead of asking registries that are out of reach.
var offline = []string{"GOPROXY=off", "npm_config_offline=true", "CARGO_NET_OFFLINE=true", "UV_OFFLINE=1", "PIP_NO_INDEX=1"}

// lend shows the operator's module caches in a room, and says where.
func (o VerifyOptions) lend(in place, policy *sandbox.Policy) (env []string) {
	show := func(path string, at ...string) {
		policy.ReadOnly = append(policy.ReadOnly, path)
		policy.Shown = append(policy.Shown, sandbox.Shown{Path: path, At: in.at(append([]string{"lent"}, at...)...)})
	}
	for _, l := range o.Lent {
		switch l.Tool {
		case LendGo:
			show(l.Folder, "go")
			env = append(env, "GOMODCACHE="+in.at("lent", "go"), "GOPROXY=off")
		case LendCargo: // not what lies beside them: the operator's login to registries, and programs
			for _, name := range []string{"registry", "git"} {
				if isFolder(filepath.Join(l.Folder, name)) {
					show(filepath.Join(l.Folder, name), "cargo", name)
				}
			}
			env = append(env, "CARGO_HOME="+in.at("lent", "cargo"), "CARGO_NET_OFFLINE=true")
		case LendNPM:
			if isFolder(filepath.Join(l.Folder, "_cacache")) {
				show(filepath.Join(l.Folder, "_cacache"), "npm", "_cacache")
			}
			env = append(env, "npm_config_cache="+in.at("lent", "npm"), "npm_config_offline=true")
		}
	}
	return env
}

// The tools whose module caches can be lent.
const (
	LendGo    = "go"
	LendCargo = "cargo"
	LendNPM   = "npm"
)

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// VerifyOrder asks for commands to be run on a commit.
type VerifyOrder struct {
	// Commit is a full object id.
	Commit string
	// Commands are lines of POSIX shell, run in this order, each whatever became of the one before.
	Commands []string
	// OnBranch is true for a commit of the pull request's branch, such as its head. Only what builds of such a commit leave is kept for
	// later verifications: what a try wrote into a cache would be read after the code that wrote it is gone.
	OnBranch bool
	// News is called as each command begins, with an empty state, and as it ends; nil drops it.
	News func(review.Check)
}
