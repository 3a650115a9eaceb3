package fixspace

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/testkit/fakeagent/modes"
	"github.com/prloop/prloop/review"
)

// one runs one command and returns its check.
func (w *world) one(command string) review.Check {
	w.Helper()
	checks, err := w.workspace.Verify(w.Context(), VerifyOrder{Commit: w.base, Commands: []string{command}})
	if err != nil {
		w.Fatal(err)
	}
	if len(checks) != 1 || checks[0].Command != w.workspace.Learned.Redact(command) {
		w.Fatalf("%+v", checks)
	}
	return checks[0]
}

func TestVerify(t *testing.T) {
	w := newWorld(t, map[string]string{"check.sh": "#!/bin/sh\ngrep -q good value\n", "value": "good\n", "notes.txt": "x\n"})
	w.git(w.origin, "update-index", "--chmod=+x", "check.sh")
	w.git(w.origin, "commit", "-q", "-m", "c")
	w.base = w.git(w.origin, "rev-parse", "HEAD")
	w.fetch()
	for name, row := range map[string]struct {
		command string
		state   review.CheckState
		exit    int
		// log must stand in the log, or be all of it when it is empty.
		log string
	}{
		"passes":                           {"./check.sh", review.CheckPassed, 0, ""},
		"fails with its log":               {"echo broken; echo worse >&2; exit 3", review.CheckFailed, 3, "broken\nworse\n"},
		"keeps the first lines' order":     {"for i in 1 2 3; do echo $i; echo e$i >&2; done; false", review.CheckFailed, 1, "1\ne1\n2\ne2\n3\ne3\n"},
		"does not exist":                   {"dx lint", review.CheckMissing, 127, "prloop: exit status 127"},
		"cannot be run":                    {"./notes.txt", review.CheckMissing, 126, "prloop: exit status 126"},
		"is no shell":                      {"if", review.CheckFailed, 2, "yntax error"},
		"is killed":                        {"kill -KILL $$", review.CheckFailed, 137, ""},
		"has a home and a TMPDIR":          {`touch ~/a "$TMPDIR/b" c && test "$CI" = 1`, review.CheckPassed, 0, ""},
		"has no git repository around it":  {"git rev-parse", review.CheckFailed, 128, "not a git repository"},
		"writes outside":                   {"touch /usr/bin/prloop-was-here", review.CheckFailed, 1, "ead-only"},
		"reads what is none of its":        {"cat /etc/shadow", review.CheckFailed, 1, "No such file"},
		"prints a secret":                  {"echo token=" + modes.Secret() + "; false", review.CheckFailed, 1, "[REDACTED]"},
		"prints a terminal's commands":     {`printf '\033[2Jx'; false`, review.CheckFailed, 1, `\x1b[2Jx`},
		"prints no UTF-8":                  {`printf '\377'; false`, review.CheckFailed, 1, "\ufffd"},
		"says on its own that 125 is fine": {`echo "prloop: set up sandbox: no" >&2; exit 125`, review.CheckFailed, 125, "prloop: set up sandbox: no"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			got := w.one(row.command)
			if got.State != row.state || got.ExitCode != row.exit || !strings.Contains(got.Log, row.log) || row.log == "" && got.Log != "" {
				t.Errorf("%+v", got)
			}
			if strings.Contains(got.Log, modes.Secret()) {
				t.Error("the secret stands in the log")
			}
		})
	}
	w.left("")
}

// Each command runs, whatever became of the one before; they share a tree.
func TestVerifyRunsAll(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	var news []string
	checks, err := w.workspace.Verify(t.Context(), VerifyOrder{Commit: w.base, Commands: []string{"touch made; false", "nothing-like-it", "test -f made"},
		News: func(c review.Check) { news = append(news, c.Command+": "+string(c.State)) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := "touch made; false: , touch made; false: failed, nothing-like-it: , nothing-like-it: missing, test -f made: , test -f made: passed"; strings.Join(news, ", ") != want {
		t.Errorf("news: %q", news)
	}
	var states []string
	for _, c := range checks {
		states = append(states, string(c.State))
	}
	if got := strings.Join(states, " "); got != "failed missing passed" {
		t.Error(got)
	}
	if again := w.one("test -f made"); again.State != review.CheckFailed {
		t.Errorf("a call sees what another one wrote: %+v", again)
	}
}

// No credential, no network, and nothing of this process's environment (threats.md P4).
func TestVerifyHoldsNothing(t *testing.T) {
	t.Setenv("GH_TOKEN", "canary-"+rand.Text())
	canary := os.Getenv("GH_TOKEN")
	w := newWorld(t, map[string]string{"a": "a\n"})
	if err := os.WriteFile(filepath.Join(w.workspace.Scratch, "key"), []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	reach := strings.ReplaceAll(`perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr=>"127.0.0.1:PORT",Timeout=>5) or die "no way: $@"'`, "PORT", strconv.Itoa(port))
	for _, command := range []string{"env; cat " + w.workspace.Scratch + "/key; cat /proc/*/environ | tr '\\0' '\\n'; false", reach} {
		got := w.one(command)
		if got.State != review.CheckFailed || strings.Contains(got.Log, canary) {
			t.Errorf("%+v", got)
		}
	}
	w.workspace.Confine = unconfined
	if got := w.one(reach); got.State != review.CheckPassed {
		t.Errorf("without a sandbox it cannot reach the listener either: the test would not notice: %+v", got)
	}
}

// A test suite may talk to itself.
func TestVerifyHasALoopbackOfItsOwn(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	got := w.one(`perl -MIO::Socket::INET -e '$l=IO::Socket::INET->new(Listen=>1,LocalAddr=>"127.0.0.1") or die; IO::Socket::INET->new(PeerAddr=>"127.0.0.1:".$l->sockport) or die $@'`)
	if got.State != review.CheckPassed {
		t.Errorf("%+v", got)
	}
}

// A command that hangs is ended with all it started, in groups of their own too; the next one still runs (threats.md T80, T82).
func TestVerifyEndsWhatHangs(t *testing.T) {
	for name, confine := range map[string]func(sandbox.Policy, sandbox.Command) (sandbox.Command, error){"in the sandbox": thisMachine.Wrap, "without a sandbox": unconfined} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a": "a\n"})
			w.workspace.Confine = confine
			w.workspace.Verifying.Timeout = 4 * time.Second
			word := "sleeper" + rand.Text()
			hang := "trap '' TERM; setsid sh -c 'sleep 300 # " + word + "' & sh -c 'sleep 300 # " + word + "' & echo started; wait"
			checks, err := w.workspace.Verify(t.Context(), VerifyOrder{Commit: w.base, Commands: []string{hang, "true"}})
			if err != nil {
				t.Fatal(err)
			}
			if got := checks[0]; got.State != review.CheckTimeout || got.Log != "started\nprloop: ended after 4s: out of time\n" || got.Seconds > 60 {
				t.Errorf("%+v", got)
			}
			if checks[1].State != review.CheckPassed {
				t.Errorf("%+v", checks[1])
			}
			w.left(word)
		})
	}
}

// What a command leaves running when it ends does not outlive it (threats.md T82).
func TestVerifyEndsDaemons(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	w.workspace.Confine = unconfined // in the sandbox the pid namespace ends them
	word := "daemon" + rand.Text()
	got := w.one("setsid sh -c 'sleep 300 # " + word + "' & true")
	if got.State != review.CheckPassed || !strings.Contains(got.Log, "processes behind") {
		t.Errorf("%+v", got)
	}
	w.left(word)
}

// The commands of one call share a wall time. One that was not started is not as good as passed.
func TestVerifyWall(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	w.workspace.Verifying.Wall = 500 * time.Millisecond
	checks, err := w.workspace.Verify(t.Context(), VerifyOrder{Commit: w.base, Commands: []string{"sleep 300", "true"}})
	if err != nil {
		t.Fatal(err)
	}
	if checks[0].State != review.CheckTimeout || checks[1].State != review.CheckTimeout || !strings.Contains(checks[1].Log, "not started") {
		t.Errorf("%+v", checks)
	}
}

// What is kept of the end of an output begins with a whole line or word: nobody knows the rest of a token for one (threats.md T794).
func TestLogsBeginWhole(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	const token = "ghp_16C1xD7e42F292c6912E7710c838347Ae178"
	for name, script := range map[string]string{
		"values in one line":       `i=0; while [ $i -lt 1700 ]; do printf '` + token + `,,,,'; i=$((i+1)); done; false`,
		"values, and a line end":   `i=0; while [ $i -lt 1700 ]; do printf '` + token + `,,,,'; i=$((i+1)); done; echo; false`,
		"values that are too long": `printf 'GH='; head -c 40000 /dev/zero | tr '\0' 1; echo " 1xD7e42F292c6912E7710c838347Ae178 it failed"; false`,
	} {
		got := w.one(script)
		if !strings.HasPrefix(got.Log, "[…]\n") || strings.Contains(got.Log, "12E7710c838347Ae178,") || strings.Contains(got.Log, "11111") {
			t.Errorf("%s: %d bytes: %.90q", name, len(got.Log), got.Log)
		}
		if name == "values that are too long" && !strings.HasSuffix(got.Log, "it failed\n") {
			t.Errorf("%s: %q", name, got.Log)
		}
	}
	out := &proc.Tail{Limit: 2 * LogBytes}
	_, _ = out.Write([]byte(strings.Repeat("word ", 3*LogBytes)))
	if log := w.workspace.logText(out, "out of time"); len(log) > LogBytes || len(log) < LogBytes-100 || !strings.HasSuffix(log, "word \nprloop: out of time\n") {
		t.Errorf("%d bytes: %.40q", len(log), log)
	}
}

// A flood costs what is kept of it, and whole lines are kept (threats.md T84).
func TestVerifyFlood(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	got := w.one("seq 1 400000; echo the end; false")
	lines := strings.Split(got.Log, "\n")
	if len(got.Log) > LogBytes || !strings.HasSuffix(got.Log, "400000\nthe end\n") || lines[0] != "[…]" || len(lines[1]) != 6 {
		t.Errorf("%d bytes: %.40q … %+v", len(got.Log), got.Log, got.State)
	}
	got = w.one("yes")
	if got.State != review.CheckFailed || !strings.Contains(got.Log, "printed more than 256 MB") || len(got.Log) > LogBytes {
		t.Errorf("%+v", got)
	}
	w.left("")
}

// A program that a sanitizer is built into ends well: the search for leaks needs ptrace, which is refused, and the operator may ask for it.
func TestVerifySanitizers(t *testing.T) {
	w := newWorld(t, map[string]string{"c.c": "int main(void) { return 0; }\n"})
	for _, kind := range []string{"address", "leak"} {
		switch got := w.one(`gcc -fsanitize=` + kind + ` c.c -o "$TMPDIR/c" || exit 9; "$TMPDIR/c"`); {
		case got.ExitCode == 9:
			t.Skip("no gcc with sanitizers: " + got.Log)
		case got.State != review.CheckPassed:
			t.Errorf("%s: %+v", kind, got)
		}
	}
	w.workspace.Verifying.Env = []string{"LSAN_OPTIONS=verbosity=1"}
	if got := w.one(`test "$LSAN_OPTIONS" = verbosity=1`); got.State != review.CheckPassed {
		t.Errorf("%+v", got)
	}
}

// Operators lend caches by path and environment; nobody can write there.
func TestVerifyLends(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	cache := t.TempDir()
	if err := os.WriteFile(filepath.Join(cache, "tool"), []byte("#!/bin/sh\necho lent\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.workspace.Verifying = VerifyOptions{Read: []string{cache}, Env: []string{"LENT=" + cache, "GOPATH=" + cache}, Path: cache + ":/usr/bin:/bin"}
	if got := w.one(`tool && test "$GOPATH" = "$LENT"`); got.State != review.CheckPassed || got.Log != "lent\n" {
		t.Errorf("%+v", got)
	}
	if got := w.one(`touch "$LENT/x"`); got.State != review.CheckFailed {
		t.Errorf("%+v", got)
	}
}

// What is not a command's fault is an error, and leaves nothing behind.
func TestVerifyErrors(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	order := VerifyOrder{Commit: w.base, Commands: []string{"true"}}
	if _, err := w.workspace.Verify(t.Context(), VerifyOrder{Commit: strings.Repeat("0", 40), Commands: []string{"true"}}); err == nil {
		t.Error("a commit that is not there")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("superseded")
	time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
	word := "cancelled" + rand.Text()
	if _, err := w.workspace.Verify(ctx, VerifyOrder{Commit: w.base, Commands: []string{"sleep 300 # " + word}}); !errors.Is(err, why) {
		t.Errorf("a run that ends: %v", err)
	}
	w.left(word)
	w.workspace.Verifying.Read = []string{"/nowhere/at/all"}
	if _, err := w.workspace.Verify(t.Context(), order); err == nil {
		t.Error("a sandbox that cannot be set up")
	}
	w.workspace.Confine = nil
	if _, err := w.workspace.Verify(t.Context(), order); !errors.Is(err, errNoSandbox) {
		t.Errorf("no sandbox: %v", err)
	}
	w.left("")
}

// A child may take itself the right to its own folders; they go all the same.
func TestVerifyRemovesWhatIsClosed(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	if got := w.one("mkdir -p d/e && touch d/e/f && chmod 0 d/e d"); got.State != review.CheckPassed {
		t.Errorf("%+v", got)
	}
	w.left("")
}

// A command that takes too much of the machine is ended by a named rule, and the next one still runs (threats.md T88).
func TestVerifyBounds(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	w.workspace.Bounds = proc.Bounds{MemoryBytes: 256 << 20, FolderBytes: 16 << 20, FolderFiles: 500}
	checks, err := w.workspace.Verify(t.Context(), VerifyOrder{Commit: w.base, Commands: []string{
		"head -c 50M /dev/zero >x; sleep 60", "rm x; cd $HOME; for i in $(seq 1000); do : >$i; done; sleep 60", "exec perl -e '$x = q(x) x 1_000_000_000; sleep 60'", "true",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"it wrote more than 16 MB to disk (disk-limit)", "it made more than 500 files (inode-limit)", "it used more than 256 MB of memory (memory-limit)"} {
		if got := checks[i]; got.State != review.CheckFailed || got.Log != "prloop: ended: "+want+"\n" {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	if checks[3].State != review.CheckPassed {
		t.Errorf("%+v", checks[3])
	}
	w.left("")
}

// A command that holds a secret runs with it, and is named without it wherever it is told of: in checks, in their news and to the fixer, who asks for it by that name (threats.md T699).
func TestCommandsAreNamedWithoutSecrets(t *testing.T) {
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	command := "GH=" + token + "; test ${#GH} = 40"
	var told []review.Check
	checks, err := w.workspace.Verify(t.Context(), VerifyOrder{Commit: w.base, Commands: []string{command}, News: func(c review.Check) { told = append(told, c) }})
	if err != nil || len(checks) != 1 || checks[0].State != review.CheckPassed {
		t.Fatalf("%+v, %v", checks, err)
	}
	o := w.order()
	o.Verify = []string{"true", command}
	w.workspace.Ask = func(ctx context.Context, task review.Task, clone string, _ func(review.Event)) review.Answer {
		again, err := w.workspace.CheckClone(ctx, o, clone, task.Terms.Verify[1])
		if err != nil || len(again) != 1 || again[0].State != review.CheckPassed {
			t.Errorf("%+v, %v", again, err)
		}
		told = append(told, append(again, review.Check{Command: task.Terms.Verify[1]})...)
		return review.Answer{}
	}
	w.fix(o)
	for _, c := range append(told, checks...) {
		if !strings.Contains(c.Command, "GH=") || strings.Contains(c.Command, token) {
			t.Errorf("it is called %q", c.Command)
		}
	}
	if len(told) != 4 {
		t.Errorf("%d checks are told of", len(told))
	}
}
