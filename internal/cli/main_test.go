package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/cli"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

// TestMain puts prloop itself into the test binary: scripts start it by name as a process of its own, and it starts its
// builtin agents through os.Executable as it does when installed.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"prloop": prloop})
}

// prloop is the program; it leaves the most memory it held, in kilobytes, in the file PRLOOP_TEST_RSS names.
func prloop() {
	status := cli.Main(cli.Process("prloop"))
	if file := os.Getenv("PRLOOP_TEST_RSS"); file != "" {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		if err := os.WriteFile(file, fmt.Appendln(nil, u.Maxrss), 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(status)
}

// TestScripts runs every script of every folder below testdata/script. Each says in its first line which requirement it
// proves, has a HOME, a state folder and a forge of its own, and reaches no network.
func TestScripts(t *testing.T) {
	gh := forgetest.GH(t)
	folders, err := os.ReadDir(filepath.Join("testdata", "script"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir: filepath.Join("testdata", "script", folder.Name()), Setup: func(e *testscript.Env) error { return setUp(e, gh) },
				Cmds: commands, RequireExplicitExec: true, RequireUniqueNames: true,
			})
		})
	}
}
