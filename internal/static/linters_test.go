package static

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// checkout writes files and returns a task of a local range that adds line 3 of each.
func checkout(t *testing.T, files map[string]string) (string, review.Task) {
	t.Helper()
	dir := t.TempDir()
	var task review.Task
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(text, "\n")
		if len(lines) < 3 {
			continue
		}
		task.Brief.Files = append(task.Brief.Files, review.BriefFile{Path: name, Change: "modified",
			Diff: "@@ -1,2 +1,3 @@\n " + lines[0] + "\n " + lines[1] + "\n+" + lines[2] + "\n"})
	}
	return dir, task
}

// Go vet is on every machine that builds prloop: the real program, on a real module, offline.
func TestGoVet(t *testing.T) {
	dir, task := checkout(t, map[string]string{
		"go.mod": "module x\n",
		"a/a.go": "package a\nimport \"fmt\"\nfunc f() { fmt.Printf(\"%d\", \"x\") }\n",
	})
	r := run(t, task, Options{CheckoutDir: dir, LinterTimeout: 5 * time.Minute}) // nothing may be compiled yet
	if len(r.Findings) != 1 {
		t.Fatalf("got %d findings\n%s", len(r.Findings), r.FullReport)
	}
	f := r.Findings[0]
	if f.File != "a/a.go" || *f.Line != 3 || f.Score != 6 || !strings.Contains(f.Description, "wrong type") || !strings.Contains(f.Evidence, "Printf") {
		t.Errorf("got %+v", f)
	}
	if !strings.Contains(r.FullReport, "Linters that ran: go vet") || !strings.Contains(r.FullReport, "Not on this machine: ") {
		t.Errorf("report:\n%s", r.FullReport)
	}
}

// threats.md T01: a linter loads configuration of the checkout, so none may start for a pull request.
func TestNoLinterOnAPullRequest(t *testing.T) {
	dir, task := checkout(t, map[string]string{"a.sh": "#!/bin/sh\n\necho $1\n"})
	mark := filepath.Join(t.TempDir(), "ran")
	programs(t, map[string]string{"shellcheck": "touch " + mark + "\n"})
	task.PRNumber = 7
	run(t, task, Options{CheckoutDir: dir})
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("a linter ran on a pull request")
	}
	task.PRNumber = 0
	run(t, task, Options{})
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("a linter ran without a checkout")
	}
	run(t, task, Options{CheckoutDir: dir})
	if _, err := os.Stat(mark); err != nil {
		t.Fatal("the linter of this test never runs, so the test proves nothing")
	}
}

// Without the user's caches go vet compiles the standard library anew, for half a minute.
func TestLintersFindCaches(t *testing.T) {
	dir, task := checkout(t, map[string]string{"a.sh": "#!/bin/sh\n\necho $1\n"})
	seen := filepath.Join(t.TempDir(), "env")
	programs(t, map[string]string{"shellcheck": "env >" + seen + "\n"})
	t.Setenv("GOCACHE", "/warm")
	t.Setenv("XDG_CACHE_HOME", "/warmer")
	t.Setenv("GITHUB_TOKEN", "x")
	run(t, task, Options{CheckoutDir: dir})
	env, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(env), "GOCACHE=/warm\n") || !strings.Contains(string(env), "XDG_CACHE_HOME=/warmer\n") || strings.Contains(string(env), "GITHUB_TOKEN") {
		t.Errorf("%v\n%s", err, env)
	}
}

// Each linter waits for what the other one writes: one after the other they would not end. What they say comes in the one order.
func TestLintersRunAtOnce(t *testing.T) {
	dir, task := checkout(t, map[string]string{"a.sh": "#!/bin/sh\n\necho $1\n", "b.py": "a = 1\n\nprint(b)\n"})
	at := t.TempDir()
	meet := func(mine, other, says string) string {
		return "touch " + filepath.Join(at, mine) + "; until [ -e " + filepath.Join(at, other) + " ]; do sleep 0.01; done; echo '" + says + "'\n"
	}
	programs(t, map[string]string{
		"shellcheck": meet("sh", "py", "a.sh:3:6: warning: Double quote [SC2086]"),
		"ruff":       meet("py", "sh", "b.py:3:7: F821 Undefined name b"),
	})
	r := run(t, task, Options{CheckoutDir: dir, LinterTimeout: 20 * time.Second})
	if got := brief(r); !strings.Contains(got, "lint-shellcheck:3") || !strings.Contains(got, "lint-ruff:3") || !strings.Contains(r.FullReport, "Linters that ran: shellcheck, ruff") {
		t.Errorf("got %q, report:\n%s", got, r.FullReport)
	}
}

// A linter reads the checkout. What it says of a file that stands otherwise there is not said of what is reviewed.
func TestLintersReadWhatIsReviewed(t *testing.T) {
	dir, task := checkout(t, map[string]string{"a.sh": "#!/bin/sh\n\necho $1\n", "b.sh": "#!/bin/sh\n\necho $2\n"})
	programs(t, map[string]string{"shellcheck": "shift 3; for f; do echo \"$f:3:6: warning: Double quote [SC2086]\"; done\n"})
	var told []string
	opts := Options{CheckoutDir: dir}
	reviewed := func() string {
		told = nil
		r, err := Review(t.Context(), task, opts, func(e review.Event) {
			if e.Kind == review.EventLog && e.Level == "info" {
				told = append(told, e.Message)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, f := range r.Findings {
			files = append(files, f.File)
		}
		return strings.Join(files, " ")
	}
	if got := reviewed(); got != "a.sh b.sh" || !cmp.Equal(told, []string{"Linters that ran: shellcheck."}) {
		t.Errorf("%s, told %q", got, told)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.sh"), []byte("#!/bin/sh\n\necho \"$1\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := []string{"No linter read `a.sh`: the working tree has other text than is reviewed.", "Linters that ran: shellcheck."}
	if got := reviewed(); got != "b.sh" || !cmp.Equal(told, want) {
		t.Errorf("%s, told %q", got, told)
	}
	opts.Exact = true // an export, of which the task shows some values masked
	if got := reviewed(); got != "a.sh b.sh" {
		t.Error(got)
	}
}

func TestLinterAnswers(t *testing.T) {
	sh := map[string]string{"a.sh": "#!/bin/sh\n\necho $1\n"}
	for _, c := range []struct {
		name, script, findings, report string
	}{
		{"a remark on an added line counts although the status is 1", "echo 'a.sh:3:6: warning: Double quote [SC2086]'; exit 1", "P2 lint-shellcheck:3", "Linters that ran: shellcheck"},
		{"a remark on an old line does not", "echo 'a.sh:1:1: error: old [SC1000]'; exit 1", "", "Linters that ran: shellcheck"},
		{"absolute names are understood", "echo \"$PWD/a.sh:3:1: note: x [SC1]\"", "P3 lint-shellcheck:3", "Linters that ran: shellcheck"},
		{"a crash without remarks is a note", "echo 'cannot `parse` \033[31mconfig' >&2; exit 2", "", "shellcheck gave no answer: run shellcheck: exit status 2"},
		{"a linter that hangs is ended", "sleep 60", "", "shellcheck was ended after 2s."},
		{"garbage is no remark", "head -c 2000 /dev/urandom", "", "Linters that ran: shellcheck"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, task := checkout(t, sh)
			programs(t, map[string]string{"shellcheck": c.script + "\n"})
			r := run(t, task, Options{CheckoutDir: dir, LinterTimeout: 2 * time.Second})
			if got := brief(r); got != c.findings || !strings.Contains(r.FullReport, c.report) || strings.Contains(r.FullReport, "\033") {
				t.Errorf("got %q, report:\n%s", got, r.FullReport)
			}
		})
	}
}

func TestLinterFormats(t *testing.T) {
	tests := []struct {
		name string
		got  []remark
		want []remark
	}{
		{"go vet", lines([]byte("# x/a\na/a.go:3:12: fmt.Printf format\nvet: ./b.go:9:2: undefined: y\n")),
			[]remark{{"a/a.go", 3, "", "", "fmt.Printf format"}, {"./b.go", 9, "", "error", "undefined: y"}}},
		{"tsc", lines([]byte("src/a.ts(4,7): error TS2322: Type 'x' is not y.\n")), []remark{{"src/a.ts", 4, "TS2322", "error", "Type 'x' is not y."}}},
		{"ruff", lines([]byte("a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n")), []remark{{"a.py", 1, "F401", "", "`os` imported but unused"}}},
		{"shellcheck", lines([]byte("a.sh:3:6: note: Double quote. [SC2086]\n")), []remark{{"a.sh", 3, "SC2086", "note", "Double quote."}}},
		{"staticcheck", staticcheck([]byte(`{"code":"SA4006","severity":"error","location":{"file":"/x/a.go","line":5,"column":2},"message":"never used"}` + "\nnot json\n")),
			[]remark{{"/x/a.go", 5, "SA4006", "error", "never used"}}},
		{"eslint", eslint([]byte(`[{"filePath":"/x/a.js","messages":[{"ruleId":"no-undef","severity":2,"message":"'a' is not defined.","line":2}]}]`)),
			[]remark{{"/x/a.js", 2, "no-undef", "error", "'a' is not defined."}}},
		{"eslint, broken", eslint([]byte(`[{`)), nil},
	}
	for _, c := range tests {
		if d := cmp.Diff(c.want, c.got, cmp.AllowUnexported(remark{})); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
}
