package cli_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/cli"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

// TestMain puts prloop itself into the test binary: scripts start it by name as a process of its own, and it starts its
// builtin agents through os.Executable as it does when installed.
func TestMain(m *testing.M) {
	testscript.Main(leaving{m}, map[string]func(){"prloop": prloop, "streamer": streamer, "observer": observer, "mender": mender})
}

// leaving removes what tests shared once all have run.
type leaving struct{ *testing.M }

// Run runs the tests. Most wait for other processes and for times to be over, so twice as many as there are processors go on at once, unless -parallel says
// how many.
func (l leaving) Run() int {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	defer postgres.Stop()
	defer leaveArena()
	defer leaveBuilt()
	return l.M.Run()
}

// prloop is the program; where Linux tells, it leaves the most memory it held in the file PRLOOP_TEST_MEMORY names.
func prloop() {
	status := cli.Program("prloop")
	if file := os.Getenv("PRLOOP_TEST_MEMORY"); file != "" {
		// Not getrusage: its maximum survives exec, so it would count the memory of whoever started us.
		data, err := os.ReadFile("/proc/self/status")
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	os.Exit(status)
}

// TestScripts runs the scripts of what prloop does. Each says in its first line which requirement it proves, has a HOME, a state folder and a
// forge of its own, and reaches no network.
func TestScripts(t *testing.T) { runScripts(t, "script") }

// TestAttacks runs the scripts of what attacks and faults have found: each holds a row of docs/threats.md through whole runs, most of which
// tests of packages hold too. They take longer than all other tests, so that they run without -short alone.
func TestAttacks(t *testing.T) {
	ofAnAttack(t)
	runScripts(t, "attack")
}

// ofAnAttack leaves a test out with -short that holds what an attack or a fault has found.
func ofAnAttack(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what attacks have found; make test runs it")
	}
}

// runScripts runs the scripts of every folder of one below testdata.
func runScripts(t *testing.T, root string) {
	gh := forgetest.GH(t)
	folders, err := os.ReadDir(filepath.Join("testdata", root))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir: filepath.Join("testdata", root, folder.Name()), Setup: func(e *testscript.Env) error { return setUp(e, gh) },
				Cmds: commands, Condition: condition, RequireExplicitExec: true, RequireUniqueNames: true,
			})
		})
	}
}

// thisMachine is looked at once.
var thisMachine = new(sandbox.Machine)

// contained skips a test where this machine cannot contain what it starts: prloop starts no fixer there.
func contained(t *testing.T) {
	t.Helper()
	if r := thisMachine.Probe(t.Context()); r.Tier > sandbox.Tier1b {
		t.Skip("this machine cannot contain a child: " + r.String())
	}
}

// condition knows [confine]: this machine can give agents full containment; and [cargo]: it has a cargo that confined commands see,
// with its compiler and a linker, and that can ask a sparse registry, as from 1.68 on.
func condition(word string) (bool, error) {
	switch word {
	case "confine":
		return thisMachine.Probe(context.Background()).Tier <= sandbox.Tier1b, nil
	case "cargo":
		out, err := exec.Command("/usr/bin/cargo", "--version").Output()
		var minor int
		if _, scan := fmt.Sscanf(string(out), "cargo 1.%d.", &minor); err != nil || scan != nil || minor < 68 {
			return false, nil
		}
		for _, program := range []string{"/usr/bin/rustc", "/usr/bin/cc"} {
			if _, err := os.Stat(program); err != nil {
				return false, nil
			}
		}
		return true, nil
	}
	return false, fmt.Errorf("unknown condition %q", word)
}
