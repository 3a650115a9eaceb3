package sandbox

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// roomy and tight are ways to write into the scratch space that stay within 16 MB and 500 files, and that do not. Each hangs
// where a tool would go on.
var roomy, tight = map[string]string{
	"little":                `head -c 1000000 /dev/zero >x; echo done`,
	"a file with holes":     `truncate -s 400M x; echo done`,
	"links to one file":     `: >x; for i in $(seq 400); do ln x x$i; done 2>/dev/null; echo done`,
	"what it removes again": `for i in $(seq 20); do head -c 4000000 /dev/zero >x; rm x; done; echo done`,
}, map[string][2]string{
	"one file":               {RuleDisk, `head -c 100M /dev/zero >x; sleep 60`},
	"many files":             {RuleDisk, `for i in $(seq 100); do head -c 1M /dev/zero >x$i; done; sleep 60`},
	"a removed, open file":   {RuleDisk, `exec 3>x; rm x; head -c 100M /dev/zero >&3; sleep 60`},
	"another folder":         {RuleDisk, `head -c 100M /dev/zero >/var/tmp/x; sleep 60`},
	"memory files":           {RuleDisk, `head -c 100M /dev/zero >/dev/shm/x; sleep 60`},
	"empty files":            {RuleFiles, `i=0; while [ $i -lt 100000 ]; do : >x$i || sleep 60; i=$((i+1)); done; sleep 60`},
	"folders in one another": {RuleFiles, `for i in $(seq 100000); do mkdir d || sleep 60; cd d; done; sleep 60`},
	"links to many files":    {RuleFiles, `for i in $(seq 100000); do ln -s to x$i || sleep 60; done; sleep 60`},
}

// starters start an agent in each kind of sandbox that has a file system in memory. The one of bubblewrap skips a test on a machine without it.
func starters() map[string]func(t *testing.T, part string, args ...string) *trial {
	out := map[string]func(t *testing.T, part string, args ...string) *trial{
		"bubblewrap": func(t *testing.T, part string, args ...string) *trial {
			bwrap := cmp.Or(os.Getenv("PRLOOP_TEST_BWRAP"), findBubblewrap())
			if bwrap == "" {
				t.Skip("this machine cannot: " + thisMachine.Probe(t.Context()).Part(PartBubblewrap).Detail)
			}
			r := newTrial(t, nobody, part, args...)
			r.order.Bwrap, r.order.Missing = bwrap, map[string]string{PartNamespaces: "masked"}
			return r
		},
	}
	for name, user := range users() {
		out[name] = func(t *testing.T, part string, args ...string) *trial { return newTrial(t, user, part, args...) }
	}
	return out
}

// A child that uses up its scratch space is ended by name, whatever it fills it with; what it may use it may use.
func TestScratchBounds(t *testing.T) {
	t.Parallel()
	for name, start := range starters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scratchBounds(t, func() *trial { return start(t, "") })
		})
	}
}

// Who is watched cannot stop who watches, not by one of its threads, and also where Landlock keeps no signals back, as before Linux 6.12.
func TestTheWatcherIsNotStopped(t *testing.T) {
	t.Parallel()
	for name, start := range starters() {
		for _, landlock := range []string{"with Landlock", "without Landlock"} {
			t.Run(name+" "+landlock, func(t *testing.T) {
				t.Parallel()
				r := start(t, "stop")
				r.order.Policy.Limits = Limits{ScratchFiles: 500}
				if abi, _ := landlockABI(); landlock == "without Landlock" {
					missing := map[string]string{PartLandlock: "masked"}
					maps.Copy(missing, r.order.Missing)
					r.order.Missing, r.order.Policy.MinTier = missing, Tier3
				} else if abi >= landlockScopes {
					r.order.Command.Args = append(r.order.Command.Args, "apart")
				}
				out, errs, code := r.run()
				if rule, _ := Exceeded(code, []byte(errs)); rule != RuleFiles || out != "" {
					t.Errorf("status %d, rule %q, %q\n%s", code, rule, out, errs)
				}
			})
		}
	}
}

func scratchBounds(t *testing.T, start func() *trial) {
	t.Helper()
	shell := func(script string) (stdout, stderr string, code int) {
		r := start()
		r.order.Policy.Limits.ScratchBytes, r.order.Policy.Limits.ScratchFiles = 16<<20, 500
		r.order.Command.Path, r.order.Command.Args = "/bin/sh", []string{"-c", script}
		stdout, stderr, code = r.run()
		if left, err := os.ReadDir(r.home); err != nil || len(left) > 0 {
			t.Errorf("%s: the disk holds %v, %v", script, left, err)
		}
		return stdout, stderr, code
	}
	for name, script := range roomy {
		if out, errs, code := shell(script); out != "done\n" || code != 0 {
			t.Errorf("%s: status %d, %q %s", name, code, out, errs)
		}
	}
	for name, row := range tight {
		_, errs, code := shell(row[1])
		if rule, what := Exceeded(code, []byte(errs)); rule != row[0] || what == "" {
			t.Errorf("%s: status %d, rule %q (%s), want %s\n%s", name, code, rule, what, row[0], errs)
		}
	}
}

// Shared memory that no process maps counts with the scratch space: nobody sees it on any process.
func TestSharedMemoryIsBounded(t *testing.T) {
	t.Parallel()
	forUsers(t, func(t *testing.T, user int) {
		for megabytes, want := range map[string]string{"4": "", "64": RuleDisk} {
			r := newTrial(t, user, "shm", megabytes)
			r.order.Policy.Limits.ScratchBytes = 32 << 20
			out, errs, code := r.run()
			if rule, _ := Exceeded(code, []byte(errs)); rule != want || want == "" && (code != 0 || out != "done\n") {
				t.Errorf("%s MB: status %d, rule %q, %q\n%s", megabytes, code, rule, out, errs)
			}
		}
	})
}

// No file system in memory takes an attribute, which no bound would count, and tools that would give some do without.
func TestAttributesAreRefused(t *testing.T) {
	t.Parallel()
	for name, start := range starters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, "attributes")
			r.file("export/file.go", "package shown")
			hidden := r.dir("export/hidden")
			r.order.Policy.ReadOnly, r.order.Policy.Hide = []string{r.root + "/export"}, []string{hidden}
			out := r.good()
			for _, path := range []string{"/", "/dev", "/tmp", "/dev/shm", r.home, hidden} {
				if !strings.Contains(out, path+" ENOTSUP\n") {
					t.Errorf("%s is not refused", path)
				}
			}
			if strings.Count(out, " ENOTSUP\n") != strings.Count(out, "\n") {
				t.Error(out)
			}
			r = start(t, "")
			r.order.Command.Path, r.order.Command.Args = "/bin/sh", []string{"-ec", "cd; echo x >a; chmod 640 a; cp -a a b; cp -p a /dev/shm/c; mv b /tmp/d; install -m 640 a e\n" +
				"sed -i s/x/y/ e; tar cf - a | tar xf - -C /var/tmp; stat -c %a /dev/shm/c /tmp/d e /var/tmp/a"}
			if out, errs, code := r.run(); out != strings.Repeat("640\n", 4) || errs != "" || code != 0 {
				t.Errorf("status %d: %q, %q", code, out, errs)
			}
		})
	}
}

// The home begins as the folder prloop prepared, with the sockets themselves, and is gone with the child; as one of the writable
// folders it is the folder.
func TestHome(t *testing.T) {
	t.Parallel()
	forUsers(t, func(t *testing.T, user int) {
		for name, keep := range map[string]bool{"in memory": false, "writable": true} {
			t.Run(name, func(t *testing.T) {
				r := newTrial(t, user, "gateway")
				r.file("state/scratch/home/agent/config.json", "prepared")
				socket := filepath.Join(r.home, "submit.sock")
				gatewayAt(t, socket)
				if err := os.Chmod(socket, 0o666); err != nil {
					t.Fatal(err)
				}
				r.order.Command.Args = []string{"test-agent", "gateway", "unix!" + socket}
				if keep {
					r.order.Policy.Writable = []string{r.home}
				}
				if out := r.good(); out != "unix answer unix <nil>\n" {
					t.Error(out)
				}
				r.order.Command.Path = "/bin/sh"
				r.order.Command.Args = []string{"-c", `cat agent/config.json && echo changed >agent/config.json && : >new && stat -c %a . && echo $PWD`}
				if out := r.good(); !strings.HasPrefix(out, "prepared") || !strings.HasSuffix(out, r.home+"\n") {
					t.Errorf("%q", out)
				}
				text, err := os.ReadFile(filepath.Join(r.home, "agent/config.json"))
				if err != nil || (string(text) == "changed\n") != keep {
					t.Errorf("the folder holds %q, %v", text, err)
				}
				if _, err := os.Stat(filepath.Join(r.home, "new")); (err == nil) != keep {
					t.Errorf("the new file: %v", err)
				}
			})
		}
	})
}

func TestExceeded(t *testing.T) {
	t.Parallel()
	const line = "\nprloop: ended sandbox: disk-limit: used more than 16 MB\n"
	for _, row := range []struct {
		code         int
		stderr, rule string
	}{
		{ExitBounds, "words" + line, RuleDisk},
		{ExitBounds, line + "its last words", RuleDisk},
		{ExitBounds, "", ""},
		{1, line, ""},
		{ExitBounds, "\nprloop: ended sandbox: some-rule: words\n", ""},
	} {
		if rule, _ := Exceeded(row.code, []byte(row.stderr)); rule != row.rule {
			t.Errorf("status %d, %q: %q, want %q", row.code, row.stderr, rule, row.rule)
		}
	}
}
