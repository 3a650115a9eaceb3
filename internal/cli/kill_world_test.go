package cli_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/contract"
)

// killSetting is what surrounds a run that is to be killed. The zero value is two command reviewers and a command fixer who
// converge in two rounds: two reviews, a fix and its report, one push.
type killSetting struct {
	// long makes the first report so long that it is posted in parts.
	long bool
	// builtin puts a builtin reviewer with tools beside the others.
	builtin bool
	// confined runs agents and verify commands in the sandbox.
	confined bool
	// scheduled is a scheduled job instead of a review; updates has its pull request open already.
	scheduled, updates bool
	// asked is a command that a comment asks for instead of a review; with long its answer is so long that it is posted in parts.
	asked bool
	// quick has a scan come first, which is escalated to a full review.
	quick bool
	// finds has a finder look for context before the review.
	finds bool
}

// killWorld is one pull request on a forge of its own, with the programs around it and prloop's state.
type killWorld struct {
	killSetting
	program string
	forge   *forge.Forge
	model   *fakemodel.Server
	repo    *forge.Repo
	pull    *forge.PullRequest
	// reviewed is the head the first round is about.
	reviewed string
	home     string
	env      []string
	// said is what prloop wrote to standard error so far, each process under a line that names it.
	said bytes.Buffer
}

// killPrograms are reviewers and a fixer that read their question from standard input and write nowhere but where they may.
// Each waits as long as a file of its name with .hold stands beside it, after it made one with .here.
var killPrograms = map[string]string{
	"strict.sh": `case $in in
*'len(shelves) == 0'*) cat "$here/fine.json" ;;
*) cat "$here/picky.json" ;;
esac`,
	"clean.sh": `cat "$here/fine.json"`,
	"mend.sh": `sed -i 's/^\treturn Count(shelves) \/ len/\tif len(shelves) == 0 {\n\t\treturn 0\n\t}\n&/' stock.go
cat "$here/fix.json"`,
	"scout.sh": `echo '{"complexity":"complex","verdict":"flag","observations":[],"reasons":["It divides."]}'`,
	"find.sh":  `echo '{"wanted":[{"file":"README.md","line":1,"lineEnd":1,"reason":"what it is for"}]}'`,
	"check.sh": `grep -q 'len(shelves) == 0' stock.go`,
}

const (
	killHold = `#!/bin/sh
here=$(dirname "$0")
in=$(cat)
if [ -e "$0.hold" ]; then
	echo here >"$0.here"
	while [ -e "$0.hold" ]; do sleep 0.05; done
fi
`
	killFix = `{"agent":"pr-fix","prNumber":7,"summary":{"fixed":1,"rejected":0,"deferred":0},
 "fixedIssues":[{"findingId":"LOG-001","commitSha":"","description":"Mean answers 0 for an empty list."}],"rejectedIssues":[],"commits":[]}`
)

var killContract = sync.OnceValues(contract.New)

// openKill makes a world below dir. program is prloop's path, gh that of the real gh.
func openKill(dir, program, gh string, s killSetting) (*killWorld, error) {
	w := &killWorld{killSetting: s, program: program}
	home, err := os.MkdirTemp(dir, "world-*-") // no name begins another
	if err != nil {
		return nil, err
	}
	w.home = home
	checker, err := killContract()
	if err != nil {
		return nil, err
	}
	if w.forge, err = forge.Start(forge.Options{Contract: checker}); err != nil {
		return nil, err
	}
	spec := forge.PullSpec{
		Owner: "acme", Repo: "widgets", Number: 7, Title: "Count the stock", Body: "Because.", Author: "contributor",
		Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head"),
	}
	if s.asked {
		if spec.Base, err = w.withCommand("testdata/share/base"); err == nil {
			spec.Head, err = w.withCommand("testdata/share/head")
		}
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	if w.pull, err = w.forge.Open(spec); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if w.repo, err = w.forge.AddRepo("acme", "widgets"); err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.repo.SetPermission("octocat", forge.Write)
	w.repo.SetPermission("contributor", forge.Write)
	w.reviewed = w.pull.HeadSHA()
	token := "ghp_" + rand.Text() + rand.Text()[:10]
	w.forge.AddToken(token, forge.Token{Login: "octocat"})
	box := "off"
	if s.confined {
		box = "required"
	}
	w.env = append(w.forge.EnvWithToken("", token), "HOME="+home, "PRLOOP_STATE="+filepath.Join(home, "state"), "GH_REPO=acme/widgets",
		"PRLOOP_CONFIG="+w.path("operator.yml"), "PRLOOP_SANDBOX="+box, "PRLOOP_SANDBOX_READ="+w.path(""), "PRLOOP_LOG=warn", "TMPDIR="+filepath.Join(home, "tmp"),
		"PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(gh))
	if err := w.furnish(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	switch {
	case s.scheduled:
		err = w.openJob()
	case s.asked:
		err = w.openAsked()
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// furnish writes the programs, what they answer, and the operator's configuration.
func (w *killWorld) furnish() error {
	fine, err := os.ReadFile("testdata/share/fine.json")
	if err != nil {
		return err
	}
	picky, err := os.ReadFile("testdata/share/picky.json")
	if err != nil {
		return err
	}
	if w.long {
		if picky, err = longer(picky); err != nil {
			return err
		}
	}
	if w.builtin {
		script := fmt.Sprintf(`{"default": {"json": %s}}`, fine)
		if w.model, err = fakemodel.Start(fakemodel.Script{}); err != nil {
			return err
		}
		file := filepath.Join(w.home, "model.json")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			return err
		}
		loaded, err := fakemodel.LoadScript(file)
		if err != nil {
			return err
		}
		if err := w.model.Close(); err != nil {
			return err
		}
		if w.model, err = fakemodel.Start(loaded); err != nil {
			return err
		}
		w.env = append(w.env, "OPENAI_BASE_URL="+w.model.URL(), "OPENAI_API_KEY=sk-"+rand.Text())
	}
	files := map[string]string{"fine.json": string(fine), "picky.json": string(picky), "fix.json": killFix}
	for name, body := range killPrograms {
		files[name] = killHold + body + "\n"
	}
	// stdin is not the question there, and the folder is another.
	files["check.sh"] = strings.Replace(files["check.sh"], "in=$(cat)\n", "", 1)
	operator := "reviewers:\n"
	for _, name := range []string{"strict", "clean"} {
		operator += fmt.Sprintf("  - {name: %s, use: command, path: %s}\n", name, w.path(name+".sh"))
	}
	if w.builtin {
		operator += "  - {name: inner, use: builtin}\n"
	}
	if w.long { // the report is to need several comments
		operator += "publish: {inline: off}\n"
	}
	if w.quick {
		operator += fmt.Sprintf("tier: auto\nscout: {use: command, path: %s}\n", w.path("scout.sh"))
	}
	if w.finds {
		operator += fmt.Sprintf("discovery: {full: true}\nfinder: {use: command, path: %s}\n", w.path("find.sh"))
	}
	files["operator.yml"] = operator + fmt.Sprintf("fixer: {use: command, path: %s}\nverify: [%q]\ngate: verdict\n",
		w.path("mend.sh"), w.path("check.sh"))
	if err := errors.Join(os.Mkdir(w.path(""), 0o755), os.Mkdir(filepath.Join(w.home, "tmp"), 0o700)); err != nil {
		return err
	}
	for name, body := range files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(w.path(name), []byte(body), mode); err != nil {
			return err
		}
	}
	return os.Chmod(w.home, 0o755)
}

// path is a file of the operator's, beside prloop's state: agents may read there, and never in the state.
func (w *killWorld) path(name string) string { return filepath.Join(w.home, "programs", name) }

// longer adds so many findings to an envelope that the report needs several comments.
func longer(envelope []byte) ([]byte, error) {
	var e map[string]any
	if err := json.Unmarshal(envelope, &e); err != nil {
		return nil, err
	}
	findings := e["findings"].([]any)
	for i := range 24 {
		findings = append(findings, map[string]any{
			"id": fmt.Sprintf("LONG-%02d", i), "priority": "P2", "category": "maintainability", "file": "stock.go", "line": 5 + i%6,
			"title": fmt.Sprintf("Passage %d is hard to follow", i), "suggestion": "Say it plainly.",
			"description": strings.Repeat(fmt.Sprintf("Number %d of the loops counts what the others have counted. ", i), 50),
			"source":      map[string]any{"type": "agent", "name": "picky", "reviewId": nil, "timestamp": "2026-01-02T03:04:05Z"},
		})
	}
	e["findings"] = findings
	e["issues"].(map[string]any)["p2_important"] = 24
	return json.Marshal(e)
}

// close ends the servers of a world and removes its folder.
func (w *killWorld) close() error { return errors.Join(w.stop(), os.RemoveAll(w.home)) }

// keep ends the servers of a world and keeps its folder, with a log of what went wrong, what prloop said and what GitHub was
// asked. It gives the place.
func (w *killWorld) keep(wrong error) (dir string, err error) {
	var log bytes.Buffer
	fmt.Fprintf(&log, "%v\n\n%s\nrequests:\n", wrong, &w.said)
	for _, e := range w.forge.Log() {
		fmt.Fprintf(&log, "%+v\n", e)
	}
	err = errors.Join(w.stop(), os.WriteFile(filepath.Join(w.home, "log"), log.Bytes(), 0o600))
	if *killDir == "" {
		return w.home, err
	}
	dir = filepath.Join(*killDir, filepath.Base(w.home))
	if moved := errors.Join(os.MkdirAll(*killDir, 0o700), os.Rename(w.home, dir)); moved != nil {
		return w.home, errors.Join(err, moved)
	}
	return dir, err
}

// stop ends the servers of a world.
func (w *killWorld) stop() error {
	if w.model == nil {
		return w.forge.Close()
	}
	return errors.Join(w.model.Close(), w.forge.Close())
}

// command is prloop with the operator's arguments; armed is PRLOOP_FAILPOINT's order, empty for none.
func (w *killWorld) command(ctx context.Context, armed string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, w.program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(w.env[:len(w.env):len(w.env)], "PRLOOP_FAILPOINT="+armed), w.home, &stdout, &stderr
	cmd.WaitDelay = killPatience // who holds the streams longer is found by the census
	return cmd, &stdout, &stderr
}

// killPatience is how long a process of a world may take for what it does at once on a quiet machine.
const killPatience = 30 * time.Second

// prloop runs a command to its end; the status is -1 when a signal ended it.
func (w *killWorld) prloop(ctx context.Context, armed string, args ...string) (ended, error) {
	cmd, stdout, stderr := w.command(ctx, armed, args...)
	err := cmd.Run()
	return w.ended(cmd, stdout, stderr, err)
}

func (w *killWorld) ended(cmd *exec.Cmd, stdout, stderr *bytes.Buffer, err error) (ended, error) {
	if errors.As(err, new(*exec.ExitError)) {
		err = nil
	}
	fmt.Fprintf(&w.said, "$ prloop %s (%s, at %s)\n%s", strings.Join(cmd.Args[1:], " "), cmd.ProcessState, time.Now().UTC().Format(time.RFC3339Nano), stderr)
	return ended{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}, err
}

// goOn is what a person does who finds things as they are: resume the run that has not ended, else start one. The event of a comment is
// delivered again.
func (w *killWorld) goOn(ctx context.Context) ([]string, error) {
	if w.asked {
		return w.begin(), nil
	}
	if _, err := os.Stat(filepath.Join(w.home, "state")); errors.Is(err, os.ErrNotExist) {
		return w.begin(), nil // and prloop itself makes the store
	}
	got, err := w.prloop(ctx, "", "runs", "--json", "run,state")
	if err != nil {
		return nil, err
	}
	var runs []struct{ Run, State string }
	if err := json.Unmarshal(got.stdout, &runs); err != nil {
		return nil, fmt.Errorf("prloop runs: %w\n%s", err, got.stderr)
	}
	for _, r := range runs {
		if r.State != "finished" {
			return []string{"resume", r.Run}, nil
		}
	}
	if len(runs) > 0 {
		return []string{"resume", runs[0].Run}, nil // it prints its result again
	}
	return w.begin(), nil
}

// begin is what starts the run of a world.
func (w *killWorld) begin() []string {
	switch {
	case w.scheduled:
		return []string{"schedule", "nightly"}
	case w.asked:
		return []string{"action"}
	}
	return []string{"run", "7"}
}

// settle goes on until the run has ended, which the first try has to do.
func (w *killWorld) settle(ctx context.Context) error {
	args, err := w.goOn(ctx)
	if err != nil {
		return err
	}
	got, err := w.prloop(ctx, "", args...)
	if err == nil && got.status != 0 {
		err = fmt.Errorf("prloop %s exits with %d", strings.Join(args, " "), got.status)
	}
	return err
}

var killProgram struct {
	sync.Mutex
	dir, path string
}

// builtProgram is prloop as it is built for use, made once.
func builtProgram(ctx context.Context) (string, error) {
	killProgram.Lock()
	defer killProgram.Unlock()
	if killProgram.path != "" {
		return killProgram.path, nil
	}
	dir, err := os.MkdirTemp("", "prloop-built-")
	if err != nil {
		return "", err
	}
	killProgram.dir = dir
	path := filepath.Join(dir, "prloop")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/prloop/prloop/cmd/prloop").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build prloop: %w\n%s", err, out)
	}
	killProgram.path = path
	return path, nil
}

func leaveBuilt() {
	killProgram.Lock()
	defer killProgram.Unlock()
	if killProgram.dir != "" {
		_ = os.RemoveAll(killProgram.dir)
	}
}
