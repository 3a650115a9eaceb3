package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
)

// tree writes an exported tree with everything a hostile one could hold.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go":             "package a\n\nimport \"fmt\"\n\nfunc F() {\n\tfmt.Println(1)\n}\n",
		"pkg/b.py":         "import os\ndef g():\n    return os.name\n",
		"pkg/long.txt":     strings.Repeat("needle line\n", 500),
		"secrets/key.txt":  "needle hidden\n",
		"pkg/.GIT/config":  "needle hidden\n",
		"bin.dat":          "needle\x00\x01",
		"wide.txt":         strings.Repeat("x ", 495) + "q7Rz2Lm9Xc4Vb8Nt1Wk6" + strings.Repeat(" x", 2000) + "\n",
		"docs/private.pem": "needle hidden\n",
	} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside.txt")
	if err := os.WriteFile(outside, []byte("needle hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"out": outside, "up": "../..", "inside": "secrets/key.txt", "folder": "secrets", "proc": "/proc/self"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	big, err := os.Create(filepath.Join(dir, "big.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer big.Close()
	if err := big.Truncate(fileLimit + 1); err != nil {
		t.Fatal(err)
	}
	return dir
}

func functions(path string, text []byte, line int, named string) (Function, bool) {
	f, ok := repocontext.FunctionAt(path, text, line)
	if named != "" {
		f, ok = repocontext.FunctionNamed(path, text, named)
	}
	return Function(f), ok
}

func open(t *testing.T, change ...func(*Options)) *Box {
	t.Helper()
	o := Options{Tree: tree(t), Exclude: []string{"secrets", "**/*.pem"}, Functions: functions, Language: lang.Of}
	for _, c := range change {
		c(&o)
	}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// long is a piece of pkg/long.txt as it is shown.
func long(from, to int) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, "%6d  needle line\n", n)
	}
	return b.String()
}

func TestResults(t *testing.T) {
	b := open(t)
	for _, c := range []struct{ rule, tool, args, want string }{
		{"a range of lines is given with numbers, the file's length and language", "read_file", `{"path":"a.go","start":3,"end":5}`,
			"a.go, lines 3-5 of 7, go\n     3  import \"fmt\"\n     4  \n     5  func F() {\n"},
		{"what was asked for and not given is counted", "read_file", `{"path":"pkg/long.txt","start":2}`,
			"pkg/long.txt, lines 2-201 of 500, text\n" + long(2, 201) + "(299 lines are missing here, from line 202)\n"},
		{"a search gives lines under their file, in order", "search_code", `{"query":"import"}`,
			"2 lines in 2 files, of 4 read\na.go\n     3  import \"fmt\"\npkg/b.py\n     1  import os\n"},
		{"a search can be narrowed to a language", "search_code", `{"query":"i.port","regexp":true,"language":"python"}`,
			"1 line in 1 file, of 1 read\npkg/b.py\n     1  import os\n"},
		{"a fixed string is not a pattern", "search_code", `{"query":"i.port"}`, "0 lines in 0 files, of 4 read\n"},
		{"a search shows as many lines as are asked for, and counts the rest", "search_code", `{"query":"i.port|needle","regexp":true,"limit":2}`,
			"502 lines in 3 files, of 4 read\na.go\n     3  import \"fmt\"\npkg/b.py\n     1  import os\n(500 more lines not shown: narrow the search, or count)\n"},
		{"a search can only count", "search_code", `{"query":"needle","count":true}`, "500 lines in 1 file, of 4 read\npkg/long.txt: 500\n"},
		{"a search in one file shows more of it", "search_code", `{"query":"needle","under":"pkg/long.txt","limit":20}`,
			"500 lines in 1 file, of 1 read\npkg/long.txt\n" + long(1, 20) + "(480 more lines not shown: narrow the search, or count)\n"},
		{"a folder is listed without links, git's folder and excluded paths", "list", `{}`,
			"., entries: 6\na.go\nbig.txt\nbin.dat\ndocs/\npkg/\nwide.txt\n"},
		{"an excluded file is not listed in its folder either", "list", `{"path":"docs"}`, "docs, entries: 0\n"},
		{"a function comes whole, with the file's imports", "get_function_context", `{"path":"a.go","line":6}`,
			"a.go, lines 5-7, F\nimports:\nimport \"fmt\"\ndefinition:\n     5  func F() {\n     6  \tfmt.Println(1)\n     7  }\n"},
		{"a function is found by its name", "get_function_context", `{"path":"a.go","name":"F"}`,
			"a.go, lines 5-7, F\nimports:\nimport \"fmt\"\ndefinition:\n     5  func F() {\n     6  \tfmt.Println(1)\n     7  }\n"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := b.Call(t.Context(), c.tool, []byte(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			again, err := b.Call(t.Context(), c.tool, []byte(c.args))
			if err != nil || again != got {
				t.Errorf("the second answer differs: %s %v", again, err)
			}
		})
	}
}

// A name that would lead elsewhere in another system is one like any other, as it is spelled.
func TestNamesLikePathsElsewhere(t *testing.T) {
	b := open(t)
	for _, name := range []string{`lib\..\pay.py`, `:\pay.py`, `a:b.py`} {
		if err := os.WriteFile(filepath.Join(b.o.Tree, name), []byte("pay()\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args, err := json.Marshal(map[string]string{"path": spelling.Name(name)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Call(t.Context(), "read_file", args); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	b := open(t)
	for _, c := range []struct {
		rule, tool, args string
		want             Code
	}{
		{"threats.md T25: .. leaves the tree", "read_file", `{"path":"../x"}`, BadPath},
		{"threats.md T25: .. inside a path", "read_file", `{"path":"pkg/../../x"}`, BadPath},
		{"threats.md T25: absolute", "read_file", `{"path":"/etc/passwd"}`, BadPath},
		{"threats.md T25: NUL", "read_file", `{"path":"a.go\u0000.txt"}`, BadPath},
		{"threats.md T25: backslash", "read_file", `{"path":"..\\x"}`, BadPath},
		{"threats.md T25: a drive", "read_file", `{"path":"C:x"}`, BadPath},
		{"threats.md T25: an escape is a plain name", "read_file", `{"path":"%2e%2e/x"}`, NotFound},
		{"threats.md T24: a link to the outside", "read_file", `{"path":"out"}`, NotAFile},
		{"threats.md T24: a link to an excluded file", "read_file", `{"path":"inside"}`, NotAFile},
		{"threats.md T24: below a link to an excluded folder", "read_file", `{"path":"folder/key.txt"}`, NotFound},
		{"threats.md T24: below a link to /proc", "read_file", `{"path":"proc/environ"}`, NotFound},
		{"threats.md T24: a link is no folder", "list", `{"path":"up"}`, NotAFile},
		{"excluded looks like missing", "read_file", `{"path":"secrets/key.txt"}`, NotFound},
		{"excluded by a pattern", "read_file", `{"path":"docs/private.pem"}`, NotFound},
		{"git's own folder in any case", "read_file", `{"path":"pkg/.git/config"}`, NotFound},
		{"an excluded folder is not searched when named", "search_code", `{"query":"needle","under":"secrets"}`, NotFound},
		{"an excluded file is not searched when named", "search_code", `{"query":"needle","under":"docs/private.pem"}`, NotFound},
		{"a link is not searched when named", "search_code", `{"query":"needle","under":"inside"}`, NotAFile},
		{"a binary file is not searched when named", "search_code", `{"query":"needle","under":"bin.dat"}`, Binary},
		{"more lines than a search shows", "search_code", `{"query":"needle","limit":61}`, BadArguments},
		{"binary", "read_file", `{"path":"bin.dat"}`, Binary},
		{"too large", "read_file", `{"path":"big.txt"}`, TooLarge},
		{"a folder is no file", "read_file", `{"path":"pkg"}`, NotAFile},
		{"beyond the end", "read_file", `{"path":"a.go","start":99}`, BadArguments},
		{"arguments that are no JSON", "read_file", `{"path":`, BadArguments},
		{"arguments of another type", "read_file", `{"path":7}`, BadArguments},
		{"unknown arguments", "read_file", `{"path":"a.go","ref":"HEAD"}`, BadArguments},
		{"something behind the arguments", "read_file", `{"path":"a.go"} {}`, BadArguments},
		{"endless arguments", "read_file", `{"path":"` + strings.Repeat("x", argsLimit) + `"}`, BadArguments},
		{"a pattern RE2 does not know", "search_code", `{"query":"(?<=a)b","regexp":true}`, BadArguments},
		{"no function there", "get_function_context", `{"path":"a.go","line":99}`, NotFound},
		{"no function of that name", "get_function_context", `{"path":"a.go","name":"G"}`, NotFound},
		{"neither a line nor a name", "get_function_context", `{"path":"a.go"}`, BadArguments},
		{"a line and a name", "get_function_context", `{"path":"a.go","line":6,"name":"F"}`, BadArguments},
		{"linters are off unless allowed (threats.md T01)", "run_linter", `{"files":["a.go"]}`, BadArguments},
		{"no history without a repository", "git_log", `{}`, BadArguments},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := b.Call(t.Context(), c.tool, []byte(c.args))
			var typed *Error
			if !errors.As(err, &typed) || typed.Code != c.want {
				t.Errorf("%s %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestNothingHiddenIsFound(t *testing.T) {
	b := open(t)
	got, err := b.Call(t.Context(), "search_code", []byte(`{"query":"needle"}`))
	if err != nil || strings.Contains(got, "hidden") {
		t.Errorf("%s %v", got, err)
	}
	if want := "500 lines in 1 file, of 4 read\npkg/long.txt\n" + long(1, matchesPerFile) + "(492 more lines not shown: narrow the search, or count)\n"; got != want {
		t.Error(cmp.Diff(want, got))
	}
	got, err = b.Call(t.Context(), "read_file", []byte(`{"path":"wide.txt"}`))
	if err != nil || len(got) > lineLimit+200 || strings.Contains(got, "q7Rz") || !strings.HasSuffix(got, "x x…\n") { // no value that is cut (threats.md T793)
		t.Errorf("a line of 5000 bytes gives %d bytes, and %q: %v", len(got), got[len(got)-20:], err)
	}
}

// Expansion caps: up to 2 extra files, 200 lines of each (spec.md R8).
func TestExpansionCaps(t *testing.T) {
	b := open(t)
	b.Expand([]string{"a.go"}, 2, 200)
	read := func(args string) (string, error) { return b.Call(t.Context(), "read_file", []byte(args)) }
	if f, err := read(`{"path":"pkg/long.txt","start":1,"end":150}`); err != nil || !strings.HasPrefix(f, "pkg/long.txt, lines 1-150 of 500, text\n") || strings.Contains(f, "missing") {
		t.Errorf("%s %v", f, err)
	}
	if f, err := read(`{"path":"pkg/long.txt","start":300}`); err != nil || !strings.HasPrefix(f, "pkg/long.txt, lines 300-349 of 500, text\n") || !strings.Contains(f, "(151 lines") {
		t.Errorf("the 200 lines: %s %v", f, err)
	}
	var typed *Error
	if _, err := read(`{"path":"pkg/long.txt","start":1,"end":1}`); !errors.As(err, &typed) || typed.Code != Limit {
		t.Errorf("line 201: %v", err)
	}
	if _, err := read(`{"path":"pkg/b.py"}`); err != nil {
		t.Errorf("second file: %v", err)
	}
	if _, err := read(`{"path":"wide.txt"}`); !errors.As(err, &typed) || typed.Code != Limit {
		t.Errorf("third file: %v", err)
	}
	if _, err := read(`{"path":"a.go"}`); err != nil {
		t.Errorf("a changed file is no extra file: %v", err)
	}
}

func TestHistory(t *testing.T) {
	git := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", git}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-01-02T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-02T00:00:00Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	for i, name := range []string{"a.go", "b.go"} {
		if err := os.WriteFile(filepath.Join(git, name), []byte(fmt.Sprint(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		run("add", name)
		run("-c", "user.name=ann", "-c", "user.email=a@example.com", "commit", "-qm", "add "+name)
	}
	head := run("rev-parse", "HEAD")
	b := open(t, func(o *Options) { o.GitDir, o.Head = filepath.Join(git, ".git"), head })
	got, err := b.Call(t.Context(), "git_log", []byte(`{"path":"a.go"}`))
	if err != nil || !strings.Contains(got, " 2026-01-02 ann: add a.go\n") || strings.Contains(got, "b.go") {
		t.Errorf("%s %v", got, err)
	}
	if got, err := b.Call(t.Context(), "git_log", []byte(`{"count":1}`)); err != nil || !strings.Contains(got, head) {
		t.Errorf("%s %v", got, err)
	}
	for _, args := range []string{`{"path":"--output=/tmp/x"}`, `{"path":":(top)a.go"}`} {
		if got, err := b.Call(t.Context(), "git_log", []byte(args)); err != nil || got != "no commits\n" {
			t.Errorf("%s is not taken as a plain path: %s %v", args, got, err)
		}
	}
}

// Linters run only when the caller allows it; what they say about paths that are not shown is dropped.
func TestLint(t *testing.T) {
	var asked []string
	b := open(t, func(o *Options) {
		o.Lint = func(_ context.Context, files []string) ([]Remark, error) {
			asked = files
			return []Remark{{"a.go", 6, "R1", "says"}, {"secrets/key.txt", 1, "R2", "needle hidden"}, {"/etc/passwd", 1, "R3", "x"}}, nil
		}
	})
	got, err := b.Call(t.Context(), "run_linter", []byte(`{"files":["./a.go"]}`))
	if err != nil || got != "a.go:6: R1: says\n" || len(asked) != 1 || asked[0] != "a.go" {
		t.Errorf("%s %v, asked for %q", got, err, asked)
	}
	for _, args := range []string{`{"files":["out"]}`, `{"files":["../x"]}`, `{"files":[]}`, `{"files":["a.go","secrets/key.txt"]}`} {
		if got, err := b.Call(t.Context(), "run_linter", []byte(args)); err == nil {
			t.Errorf("%s: %s", args, got)
		}
	}
}
