package cli_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// arena is where misbehaving agents are let loose: prloop as a process of its own, the forge for GitHub, the real gh, and
// fakeagent as a program. Each run has a repository, a home and a state folder of its own.
type arena struct {
	t     *testing.T
	dir   string // every user may enter it
	forge *forge.Forge
	// agent, prloop and gh are programs every user may start.
	agent, prloop, gh string
	runs              atomic.Int64
	opening           sync.Mutex
}

// ring is what all arenas of this process share: programs in a folder every user may enter.
var ring = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("/var/tmp", "prloop-arena-")
	if err != nil {
		return "", err
	}
	err = os.Chmod(dir, 0o755)
	// Not the test binary: what is measured is the program as it is shipped, without the race detector.
	build := exec.Command("go", "build", "-o", dir, "github.com/prloop/prloop/cmd/prloop", "github.com/prloop/prloop/internal/testkit/fakeagent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, buildErr := build.CombinedOutput(); buildErr != nil {
		err = errors.Join(err, fmt.Errorf("build prloop and fakeagent: %w\n%s", buildErr, out))
	}
	return dir, err
})

// entered is true once there are programs to remove.
var entered atomic.Bool

// leaveArena removes the programs after all tests.
func leaveArena() {
	if !entered.Load() {
		return
	}
	if dir, _ := ring(); dir != "" {
		os.RemoveAll(dir)
	}
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func newArena(t *testing.T) *arena {
	t.Helper()
	entered.Store(true)
	programs, err := ring()
	if err != nil {
		t.Fatal(err)
	}
	a := &arena{t: t, agent: filepath.Join(programs, "fakeagent"), prloop: filepath.Join(programs, "prloop"), gh: filepath.Join(programs, "gh"), dir: publicFolder(t)}
	if err := copyProgram(forgetest.GH(t), a.gh); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	if a.forge, err = forge.Start(forge.Options{Dir: filepath.Join(a.dir, "forge")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.forge.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(os.Chmod(filepath.Join(a.dir, "forge"), 0o711), os.Chmod(a.forge.Socket(), 0o777)); err != nil {
		t.Fatal(err)
	}
	return a
}

// publicFolder is a folder that every user may enter, unlike those of the testing package.
func publicFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "prloop-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fighter is one agent of a run.
type fighter struct {
	name, mode string
	// args are further arguments; {home} in them is the bout's folder.
	args    []string
	timeout time.Duration
}

// bout is one run.
type bout struct {
	reviewers []fighter
	// analyzer is the comments analyzer; the zero value answers well.
	analyzer fighter
	// also are further reviewers, as lines of the configuration.
	also []string
	// config are further lines of the configuration.
	config []string
	// fixer is the fixer; the zero value is none.
	fixer fighter
	// env are entries for prloop beside the usual ones, which they replace.
	env []string
	// uid starts prloop as another user when this test is root; 0 is the same user.
	uid int
	// token is GitHub's; empty is one of the bout's own. The forge's usual one is all zeros, of which no part
	// counts as a known secret.
	token string

	*arena
	home, repo, marker string
	pull               *forge.PullRequest
}

// enter prepares a run: its pull request, its home, its configuration.
func (a *arena) enter(b bout) *bout {
	a.t.Helper()
	n := a.runs.Add(1)
	b.arena, b.repo, b.marker = a, fmt.Sprintf("acme/w%d", n), "mark-"+rand.Text()
	b.home = filepath.Join(a.dir, fmt.Sprintf("run-%d", n))
	a.opening.Lock()
	p, err := a.forge.Open(forge.PullSpec{Owner: "acme", Repo: b.repo[len("acme/"):], Number: 7, Title: "Count the stock", Body: "Because.",
		Author: "contributor", Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head")})
	a.opening.Unlock()
	if err != nil {
		a.t.Fatal(err)
	}
	b.pull = p
	r, err := a.forge.AddRepo("acme", b.repo[len("acme/"):])
	if err != nil {
		a.t.Fatal(err)
	}
	r.SetPermission("octocat", forge.Write)
	if b.token == "" {
		b.token = "ghp_" + rand.Text() + rand.Text()[:10]
	}
	a.forge.AddToken(b.token, forge.Token{Login: "octocat"})
	if err := errors.Join(os.MkdirAll(filepath.Join(b.home, "gh"), 0o755), os.MkdirAll(filepath.Join(b.home, "work"), 0o777)); err != nil {
		a.t.Fatal(err)
	}
	b.configure()
	return &b
}

// configure writes prloop's and gh's configuration, and gives all of it to the user prloop runs as.
func (b *bout) configure() {
	b.t.Helper()
	var config strings.Builder
	config.WriteString("min_reviewers: 1\nreviewers:\n")
	for _, f := range b.reviewers {
		fmt.Fprintf(&config, "  - %s\n", b.line(f))
	}
	for _, line := range b.also {
		fmt.Fprintf(&config, "  - %s\n", line)
	}
	if b.analyzer.mode == "" {
		b.analyzer = fighter{mode: "ok-empty"}
	}
	fmt.Fprintf(&config, "comments_analyzer: %s\n", b.line(b.analyzer))
	if b.fixer.mode != "" {
		fmt.Fprintf(&config, "fixer: %s\n", b.line(b.fixer))
	}
	for _, line := range b.config {
		config.WriteString(line + "\n")
	}
	write(b.t, filepath.Join(b.home, "config.yml"), []byte(config.String()))
	write(b.t, filepath.Join(b.home, "gh", "config.yml"), fmt.Appendf(nil, "version: \"1\"\nhttp_unix_socket: %s\nprompt: disabled\n", b.forge.Socket()))
	b.own(b.home)
}

// own gives a folder to the user prloop runs as.
func (b *bout) own(dir string) {
	b.t.Helper()
	if b.uid == 0 {
		return
	}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, b.uid, b.uid))
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// line configures one agent. Every process of an agent carries the run's marker in its arguments.
func (b *bout) line(f fighter) string {
	fields := map[string]any{"use": "command", "path": b.agent, "args": append(append([]string{"-mode", f.mode}, f.args...), b.marker), "timeout": "30s"}
	if f.name != "" {
		fields["name"] = f.name
	}
	if f.timeout > 0 {
		fields["timeout"] = f.timeout.String()
	}
	data, err := json.Marshal(fields) // a flow mapping of YAML
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "{home}", b.home)
}

func (b *bout) state() string { return filepath.Join(b.home, "state") }

// command is prloop on the bout's pull request.
func (b *bout) command(args ...string) *exec.Cmd {
	if len(args) == 0 {
		args = []string{"run", "7", "-R", b.repo, "--json"}
	}
	cmd := exec.CommandContext(b.t.Context(), b.prloop, args...)
	cmd.Dir = b.home
	cmd.Env = append(b.forge.EnvWithToken("", b.token), "HOME="+b.home, "GH_CONFIG_DIR="+filepath.Join(b.home, "gh"), "PRLOOP_STATE="+b.state(),
		"PRLOOP_CONFIG="+filepath.Join(b.home, "config.yml"), "PRLOOP_GH="+b.gh, "TMPDIR="+filepath.Join(b.home, "work"), "PATH=/usr/local/bin:/usr/bin:/bin",
		"XDG_CONFIG_HOME="+filepath.Join(b.home, "config"), "XDG_STATE_HOME="+filepath.Join(b.home, "xdg"), "GORACE=atexit_sleep_ms=0", "LANG=C")
	cmd.Env = append(cmd.Env, b.env...)
	if b.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(b.uid), Gid: uint32(b.uid)}}
	}
	return cmd
}

// finished is what a run left.
type finished struct {
	*bout
	ended
	result review.RunResult
	// took is the time from the end of the snapshot to the stored end of the run.
	took time.Duration
	// busy is the processor time of prloop and all it waited for.
	busy time.Duration
	// bodies are the comments that were posted.
	bodies []string
}

// fight runs a bout to its end.
func (b *bout) fight() *finished {
	b.t.Helper()
	return b.fightWith(func(int) {})
}

// fightWith does so and tells the process's number once it runs.
func (b *bout) fightWith(started func(pid int)) *finished {
	b.t.Helper()
	return b.follow(b.command(), started)
}

// follow runs a bout's command to its end.
func (b *bout) follow(cmd *exec.Cmd, started func(pid int)) *finished {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	started(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		b.t.Fatal(err)
	}
	f := &finished{bout: b, ended: ended{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}}
	f.busy = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if entries, err := os.ReadDir(filepath.Join(b.state(), "scratch")); err != nil || len(entries) > 0 {
		b.t.Errorf("%s: scratch holds %v (%v)", b, entries, err)
	}
	for _, c := range b.pull.Comments() {
		f.bodies = append(f.bodies, c.Body)
	}
	if err := json.Unmarshal(f.stdout, &f.result); err != nil {
		b.t.Errorf("%s: exit %d, standard output is not a result: %v\n%s", b, f.status, err, f.stderr)
		return f
	}
	at := func(name string) time.Time {
		info, err := os.Stat(filepath.Join(f.result.Artifacts, name))
		if err != nil {
			b.t.Errorf("%s: %v", b, err)
			return time.Time{}
		}
		return info.ModTime()
	}
	f.took = at("review.json").Sub(at("round-1/snapshot.json"))
	return f
}

// String names the modes of a bout.
func (b *bout) String() string {
	var names []string
	for _, f := range b.reviewers {
		names = append(names, f.mode)
	}
	return strings.Join(names, ",") + " and analyzer " + b.analyzer.mode
}

// agent is one agent's line of the receipt.
func (f *finished) agent(name string) review.AgentReceipt {
	for _, a := range f.result.Receipt.Agents {
		if a.Name == name {
			return a
		}
	}
	f.t.Errorf("%s: the receipt does not name %s", f, name)
	return review.AgentReceipt{}
}

var seconds = regexp.MustCompile(`"seconds": [0-9.e+-]+`)

// answer is what was stored of an agent, without its running time.
func (f *finished) answer(name string) string {
	data, err := os.ReadFile(filepath.Join(f.result.Artifacts, "round-1", name+".answer.json"))
	if err != nil {
		f.t.Errorf("%s: %v", f, err)
	}
	return string(seconds.ReplaceAll(data, []byte(`"seconds": 0`)))
}

// checkPosted holds every posted comment against the sanitizer: its oracle takes the bytes as they are, sanitizing again
// changes nothing, and no marker stands in it but ours (threats.md P5, I8).
func (f *finished) checkPosted() {
	f.t.Helper()
	if len(f.bodies) == 0 {
		f.t.Errorf("%s: nothing was posted\n%s", f, f.stderr)
	}
	policy := sanitize.Policy{Repo: f.result.Target.Repo}
	for _, body := range f.bodies {
		if _, err := sanitize.Restore(body, policy); err != nil {
			f.t.Errorf("%s: the oracle refuses what was posted: %v\n%s", f, err, body)
		}
		lines := strings.SplitN(body, "\n", 4)
		if len(lines) < 4 || lines[0] != sanitize.PlainMarker || !strings.HasPrefix(lines[1], "<!-- code-review-agent:") || !strings.HasPrefix(lines[2], "<!-- prloop v1 ") {
			f.t.Errorf("%s: a comment does not start with our three lines:\n%s", f, body)
			continue
		}
		if _, forged := sanitize.ParseMarker(lines[3]); forged || strings.Contains(lines[3], sanitize.PlainMarker) {
			f.t.Errorf("%s: there is a marker in the comment that is not ours:\n%s", f, body)
		}
		again, err := sanitize.Comment(lines[3], sanitize.Marker{}, policy)
		if err != nil || len(again) != 1 || strings.TrimPrefix(again[0].String(), sanitize.PlainMarker+"\n") != lines[3] {
			f.t.Errorf("%s: sanitizing what was posted changes it: %v", f, err)
		}
	}
}

// checkNamed holds the report against an agent that is not complete: the posted receipt says so in its line.
func (f *finished) checkNamed(a review.AgentReceipt) {
	f.t.Helper()
	// A long report has several parts, and the second may begin behind the heading.
	_, receipt, _ := strings.Cut(strings.Join(f.bodies, "\n"), "<summary>Receipt: ")
	for line := range strings.Lines(receipt) {
		if strings.Contains(line, a.Name) && strings.Contains(line, string(a.State)) {
			return
		}
	}
	f.t.Errorf("%s: the posted receipt does not say that %s is %s", f, a.Name, a.State)
}

// census lists the processes of a bout's agents: by the marker in their arguments, and by their program.
func (b *bout) census() (alive []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		if _, rest, _ := bytes.Cut(stat, []byte(") ")); bytes.HasPrefix(rest, []byte("Z")) {
			continue // has ended, nobody has asked yet
		}
		args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && bytes.Contains(args, []byte(b.marker)) {
			alive = append(alive, filepath.Base(dir)+" "+string(bytes.ReplaceAll(args[:min(len(args), 300)], []byte{0}, []byte(" "))))
		}
	}
	return alive
}

// checkGone waits until nothing of a bout is left, or says what is.
func (b *bout) checkGone(limit time.Duration) {
	b.t.Helper()
	left := b.census()
	for deadline := time.Now().Add(limit); len(left) > 0 && time.Now().Before(deadline); left = b.census() {
		time.Sleep(10 * time.Millisecond)
	}
	if len(left) > 0 {
		b.t.Errorf("%s: %d processes are left after %v: %q", b, len(left), limit, left)
	}
}
