package static

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/proc"
)

// In an empty home go vet would compile the standard library first. What it checks is read from source instead, by the sources of
// the real Go; the command go is one that must not be started.
func TestGoFromAnEmptyHome(t *testing.T) {
	program, err := proc.LookPath("go")
	if err != nil {
		t.Skip("there is no go here, whose sources the test reads")
	}
	t.Setenv("GOROOT", filepath.Dir(filepath.Dir(real(program))))
	if standardLibrary() == nil {
		t.Skipf("%s is not beside its sources", program)
	}
	mark := filepath.Join(t.TempDir(), "ran")
	programs(t, map[string]string{"go": "touch " + mark + "\n"})
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GOCACHE", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	dir, task := checkout(t, map[string]string{
		"go.mod": "module x\n",
		"a/a.go": "package a\nimport \"fmt\"\nfunc f() { fmt.Printf(\"%d\", \"x\") }\n",
		"b/b.go": "package b\nimport \"x/a\"\nfunc f() { a.Gone() }\n",
	})
	r := run(t, task, Options{CheckoutDir: dir})
	if got := brief(r); got != "P1 lint-go:3, P2 lint-go:3" {
		t.Fatalf("got %s\n%s", got, r.FullReport)
	}
	if f := r.Findings[0]; f.File != "b/b.go" || f.Score != 8 || f.Title != "Does not compile" || !strings.Contains(f.Description, "undefined: a.Gone") {
		t.Errorf("got %+v", f)
	}
	if f := r.Findings[1]; f.File != "a/a.go" || f.Score != 6 || f.Title != "go vet" || !strings.Contains(f.Description, "%d has arg") {
		t.Errorf("got %+v", f)
	}
	if !strings.Contains(r.FullReport, "go vet was left out") || !strings.Contains(r.FullReport, "from their source") || strings.Contains(r.FullReport, "Linters that ran") {
		t.Errorf("report:\n%s", r.FullReport)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("go was started with nothing compiled")
	}

	// Once there is a cache, it is go's to answer.
	t.Setenv("GOCACHE", filepath.Dir(mark))
	if err := os.WriteFile(filepath.Join(filepath.Dir(mark), "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r = run(t, task, Options{CheckoutDir: dir}); len(r.Findings) != 0 || !strings.Contains(r.FullReport, "Linters that ran: go vet") {
		t.Errorf("report:\n%s", r.FullReport)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("go was not started")
	}
}

// A go vet that fails, as with packages that were never downloaded, leaves what can be read without it.
func TestGoWhereVetFails(t *testing.T) {
	dir, task := checkout(t, map[string]string{
		"go.mod": "module x\n",
		"a.go":   "package a\nimport \"other.org/b\"\nfunc f() { b.F()) }\n",
	})
	t.Setenv("GOCACHE", dir)
	for name, script := range map[string]string{
		"a package is not here": "echo 'a.go:2:8: no required module provides package other.org/b; to add it:' >&2; exit 1\n",
		"no answer":             "echo 'go: updates to go.mod needed' >&2; exit 1\n",
	} {
		programs(t, map[string]string{"go": script})
		r := run(t, task, Options{CheckoutDir: dir})
		if len(r.Findings) != 1 || r.Findings[0].Title != "Does not compile" || !strings.Contains(r.FullReport, "from their source") {
			t.Errorf("%s: %s", name, r.FullReport)
		}
	}
}
