// Package npmagent installs real agents from npm for tests, at pinned versions, into the user's cache folder: once a
// machine, whoever asks first. Their install scripts are not run.
package npmagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/proc"
)

// Agent is one agent as npm has it.
type Agent struct {
	// Name and Version name its folder in the cache; a change of Packages needs another version.
	Name, Version string
	// Packages are pinned to exact versions.
	Packages []string
	// Program is what is started, Path are folders of the programs it needs; all below node_modules.
	Program string
	Path    []string
}

// The agents tests drive. The programs are those of linux on amd64.
var (
	OpenCode = Agent{
		Name: "opencode", Version: "1.18.33", Packages: []string{"opencode-ai@1.18.33", "@vscode/ripgrep@1.18.0"},
		Program: "opencode-linux-x64/bin/opencode", Path: []string{"@vscode/ripgrep-linux-x64/bin"},
	}
	Claude = Agent{
		Name: "claude-agent-acp", Version: "0.49.0",
		Packages: []string{"@agentclientprotocol/claude-agent-acp@0.49.0", "@anthropic-ai/claude-agent-sdk@0.3.185"},
		Program:  "@agentclientprotocol/claude-agent-acp/dist/index.js",
	}
	Copilot = Agent{
		Name: "copilot", Version: "1.0.102", Packages: []string{"@github/copilot@1.0.102"}, Program: "@github/copilot-linux-x64/copilot",
	}
)

// Installed is where an agent lies.
type Installed struct {
	// Program is absolute; Path are absolute folders for the variable PATH. Bin is where npm links its commands.
	Program string
	Path    []string
	Bin     string
}

// ErrUnavailable is wrapped when this machine cannot have the agent: no npm, no network, another platform.
var ErrUnavailable = errors.New("it cannot be installed here")

// installTimeout bounds one installation; 360 MB take 10 to 20 s on a good line.
const installTimeout = 5 * time.Minute

// Need gives an installed agent, or skips the test with the reason why there is none.
func Need(t testing.TB, a Agent) Installed {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "prloop-test")
	if got, ok := a.in(filepath.Join(dir, a.folder())); ok {
		return got
	}
	started := time.Now()
	got, err := Install(t.Context(), a, dir)
	switch {
	case errors.Is(err, ErrUnavailable):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Logf("%s %s was installed from npm in %.1f s", a.Name, a.Version, time.Since(started).Seconds())
	return got
}

func (a Agent) folder() string { return a.Name + "-" + a.Version }

// in reports whether dir holds the agent.
func (a Agent) in(dir string) (Installed, bool) {
	modules := filepath.Join(dir, "node_modules")
	got := Installed{Program: filepath.Join(modules, filepath.FromSlash(a.Program)), Bin: filepath.Join(modules, ".bin")}
	for _, p := range a.Path {
		got.Path = append(got.Path, filepath.Join(modules, filepath.FromSlash(p)))
	}
	for _, path := range append([]string{got.Program}, got.Path...) {
		if _, err := os.Stat(path); err != nil {
			return Installed{}, false
		}
	}
	return got, true
}

// Install installs the agent below dir, unless it is there. A folder that has the agent's name is whole: it is made under
// another name and renamed. Where npm finds its registry is up to the environment of whoever runs the tests.
func Install(ctx context.Context, a Agent, dir string) (Installed, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return Installed{}, fmt.Errorf("install %s: %w: the programs named are those of linux on amd64", a.Name, ErrUnavailable)
	}
	npm, err := proc.LookPath("npm")
	if err != nil {
		return Installed{}, fmt.Errorf("install %s: %w: %w", a.Name, ErrUnavailable, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Installed{}, fmt.Errorf("install %s: %w", a.Name, err)
	}
	turn, err := filelock.File(ctx, filepath.Join(dir, a.folder()+".lock"))
	if err != nil {
		return Installed{}, fmt.Errorf("install %s: %w", a.Name, err)
	}
	defer turn.Close()
	home := filepath.Join(dir, a.folder())
	if got, ok := a.in(home); ok { // somebody else installed it while we waited
		return got, nil
	}
	fresh, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return Installed{}, fmt.Errorf("install %s: %w", a.Name, err)
	}
	defer os.RemoveAll(fresh)
	args := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", fresh}, a.Packages...)
	res, err := proc.Run(ctx, proc.Spec{Path: npm, Args: args, Dir: fresh, Env: os.Environ(), Timeout: installTimeout})
	if err != nil {
		return Installed{}, fmt.Errorf("install %s: %w", a.Name, judge(err, string(res.StderrTail)))
	}
	if _, ok := a.in(fresh); !ok {
		return Installed{}, fmt.Errorf("install %s: npm ended well, and %s is not there", a.Name, a.Program)
	}
	if err := errors.Join(os.Chmod(fresh, 0o755), os.RemoveAll(home), os.Rename(fresh, home)); err != nil {
		return Installed{}, fmt.Errorf("install %s: %w", a.Name, err)
	}
	got, _ := a.in(home)
	return got, nil
}

// unreachable are npm's words for a registry that cannot be asked. What it says about a package is a fault of the list above.
var unreachable = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E401|E403|E5\d\d)\b`)

func judge(err error, stderr string) error {
	line := unreachable.FindString(stderr)
	if line != "" {
		return fmt.Errorf("%w: npm reaches no registry (%s)", ErrUnavailable, line)
	}
	return fmt.Errorf("%w\n%s", err, strings.TrimSpace(stderr))
}
