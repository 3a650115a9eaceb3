package cli_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// oddity is a repository with a change that git can hold and text cannot: names and contents are bytes.
type oddity struct {
	t     *testing.T
	dir   string
	forge *forge.Forge
	env   []string
	home  string
	title string // of its pull requests
}

func newOddity(t *testing.T, book playbook, reviewers string) *oddity {
	t.Helper()
	o := &oddity{t: t, dir: t.TempDir(), home: t.TempDir(), forge: forgetest.Start(t)}
	data, err := json.Marshal(book)
	if err != nil {
		t.Fatal(err)
	}
	file, operator := filepath.Join(o.home, "playbook.json"), filepath.Join(o.home, "config.yml")
	write(t, file, data)
	write(t, operator, []byte(strings.ReplaceAll(reviewers, "BOOK", file)+"\nfixer: none\n"))
	o.env = append(o.forge.Env(""), "PRLOOP_SANDBOX=off", "HOME="+o.home, "PRLOOP_STATE="+filepath.Join(o.home, "state"), "PRLOOP_CONFIG="+operator,
		"PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(forgetest.GH(t)), "GIT_CONFIG_GLOBAL=/dev/null")
	o.git("init", "-q", "-b", "main")
	return o
}

const (
	oneObserver = "reviewers: [{name: observer, use: command, path: observer, args: [\"BOOK\"]}]"
	andStatic   = "reviewers: [{name: observer, use: command, path: observer, args: [\"BOOK\"]}, {name: static, use: static}]"
)

func (o *oddity) git(args ...string) {
	o.t.Helper()
	got := start(o.t, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"),
		o.dir, "git", args...)
	if got.status != 0 {
		o.t.Fatalf("git %q: %s", args, got.stderr)
	}
}

// Contents that begin with one of these are the target of a link, and the text of an executable file.
const (
	asLink    = "link to "
	asProgram = "program: "
)

// put writes files, by name; an empty content removes one.
func (o *oddity) put(files map[string]string) {
	o.t.Helper()
	for name, text := range files {
		at := filepath.Join(o.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			o.t.Fatal(err)
		}
		if text == "" {
			if err := os.Remove(at); err != nil {
				o.t.Fatal(err)
			}
			continue
		}
		if target, ok := strings.CutPrefix(text, asLink); ok {
			if err := os.Symlink(target, at); err != nil {
				o.t.Fatal(err)
			}
			continue
		}
		text, program := strings.CutPrefix(text, asProgram)
		write(o.t, at, []byte(text))
		if program {
			if err := os.Chmod(at, 0o755); err != nil {
				o.t.Fatal(err)
			}
		}
	}
}

// commit puts files on a branch.
func (o *oddity) commit(branch string, files map[string]string) {
	o.t.Helper()
	o.git("checkout", "-q", "-B", branch)
	o.put(files)
	o.git("add", "-A")
	o.git("commit", "-q", "--allow-empty", "-m", "a commit")
}

// open makes pull request n of two branches.
func (o *oddity) open(n int, base, head string) *forge.PullRequest {
	o.t.Helper()
	bundle := filepath.Join(o.t.TempDir(), "b.bundle")
	o.git("bundle", "create", "-q", bundle, base, head)
	return forgetest.Open(o.t, o.forge, forge.PullSpec{Owner: "acme", Repo: "odd", Number: n, Title: o.title, BaseRef: base, HeadRef: head, HeadBundle: bundle})
}

// run runs prloop in the checkout.
func (o *oddity) run(args ...string) (review.RunResult, ended) {
	o.t.Helper()
	got := start(o.t, o.env, o.dir, "prloop", append([]string{"run", "--json"}, args...)...)
	var r review.RunResult
	if err := json.Unmarshal(got.stdout, &r); err != nil && got.status != 2 {
		o.t.Fatalf("exit %d, standard output is not a result: %v\n%s", got.status, err, got.stderr)
	}
	return r, got
}

func utf16le(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

// oddToken is a secret that the rules find, and nobody's.
const oddToken = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

// oddRandom is a value that is too mixed for a name.
const oddRandom = "q7Rz2Lm9Xc4Vb8Nt1Wk6"

// alikeFolders are two names of folders that are masked alike.
func alikeFolders() (a, b string) {
	seen := map[string]string{}
	for i := 0; ; i++ {
		name := fmt.Sprintf("ghp_16C7e42F292c6912E7710c83834%05d9Kd", i)
		if other := seen[sanitize.MaskName(name)]; other != "" {
			return other, name
		}
		seen[sanitize.MaskName(name)] = name
	}
}

// TestUnreadIsNeverApproved: ways to an approval that nobody earned, each closed, on a local range and on a pull request;
// with -short only every fourth on a pull request.
func TestUnreadIsNeverApproved(t *testing.T) {
	sees := func(line string) playbook {
		return playbook{Sees: []sight{{Line: line, ID: "X-1", Priority: review.P0, Title: "It runs what it is given", Text: "It does.", Quote: true}}}
	}
	plain := map[string]string{"README.md": "# Odd\n"}
	vendored := map[string]string{"vendor/x/a.go": "package x\n"}
	live := map[string]string{"vendor/x/a.py": "import os\nos.system(cmd)\n", "logo.gif": "GIF89a;<?php system($_GET['c']); ?>\x00\n"}
	const mark = "# Code generated by x. DO NOT EDIT.\n"
	with := func(name, text string) map[string]string {
		return map[string]string{"ok.py": "print(1)\n", name: text}
	}
	one, two := alikeFolders()
	for i, c := range []struct {
		what      string
		book      playbook
		reviewers string
		args      []string
		base      map[string]string
		head      map[string]string
		status    int
		outcome   review.Outcome
		says      string // in the first ten lines of the report
		title     string
	}{
		{"a name that is not UTF-8 hides no secret from the rules", playbook{}, andStatic, nil, plain, with("caf\xe9.py", "k = \""+oddToken+"\"\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"nor a line from an honest reviewer", sees("os.system"), oneObserver, nil, plain, with("caf\xe9.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a line feed in a name makes nobody's answer invalid", sees("os.system"), andStatic, nil, plain, with("new\nline.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"nor does a backslash", sees("os.system"), andStatic, nil, plain, with("a\\b.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"two invalid bytes on the quoted line", sees("system("), oneObserver, nil, plain, with("a.php", "<?php\nsystem(\"convert \xff\xfe\" . $_GET[\"f\"]);\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a masked secret within the quoted line", playbook{Sees: []sight{{Line: "run(", ID: "X-1", Priority: review.P0, Title: "It runs what it is given", Text: "It does.", Evidence: "run(user, \"[REDACTED]\", sys.argv[1])"}}},
			oneObserver, nil, plain, with("a.py", "run(user, \""+oddToken+"\", sys.argv[1])\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"source code that is too large to be read", playbook{}, oneObserver, nil, plain, with("big.py", "os.system(cmd)\n"+strings.Repeat("x = 1\n", 200_000)), 6, review.Partial, "Not reviewed", ""},
		{"source code with a NUL byte", playbook{}, oneObserver, nil, plain, with("a.php", "<?php system($_GET['c']);\x00\n"), 6, review.Partial, "Not reviewed", ""},
		{"a name in GBK", playbook{}, oneObserver, nil, plain, with("g.py", "# -*- coding: gbk -*-\n\xa3\xe5\xa3\xf8\xa3\xe5\xa3\xe3(cmd)\n"), 6, review.Partial, "Not reviewed", ""},
		{"letters in Shift_JIS, whose bytes are UTF-8 too", playbook{}, oneObserver, nil, plain, with("s.py", "# encoding: Shift_JIS\nx = \"\xc3\x83\\\" ; system('echo') # \"\n"), 6, review.Partial, "Not reviewed", ""},
		{"a name in Johab, of which most letters are those of ASCII", playbook{}, oneObserver, nil, plain, with("j.py", "# -*- coding: johab -*-\nev\xdaql(cmd)\n"), 6, review.Partial, "Not reviewed", ""},
		{"UTF-16", playbook{}, oneObserver, nil, plain, with("u16.py", "\xff\xfe"+utf16le("import os\n")), 6, review.Partial, "Not reviewed", ""},
		{"rules alone", playbook{}, "reviewers: [{name: static, use: static}]", nil, plain, with("a.py", "x = 1\n"), 8, review.StaticOnly, "no static findings", ""},
		{"rules alone, with findings", playbook{}, "reviewers: [{name: static, use: static}]", nil, plain, with("a.py", "k = \""+oddToken+"\"\n"), 3, review.StaticOnly, "1 static finding (no model took part)", ""},
		{"more needed reviewers than there are", playbook{}, oneObserver, []string{"--min-reviewers", "3"}, plain, with("a.py", "x = 1\n"), 2, "", "", ""},
		{"a P0 whose evidence is not there", playbook{Sees: []sight{{Line: "x = 1", ID: "X-1", Priority: review.P0, Title: "Made up", Text: "It is.", Evidence: "os.system(everything)"}}},
			oneObserver, nil, plain, with("a.py", "x = 1\n"), 4, review.SetAside, "a person is needed", ""},
		{"what a rule leaves out may go unread, and is named", playbook{}, oneObserver, nil, plain, with("go.sum", "a v1 h1:x\n"), 0, review.Converged, "", ""},
		{"a check that goes behind a mask", playbook{}, oneObserver, nil, map[string]string{"a.py": "def f(password):\n    assert api_key == verifySignatureV2Strict\n    run()\n"},
			map[string]string{"a.py": "def f(password):\n    run()\n"}, 6, review.Partial, "Not reviewed", ""},
		{"a password that goes is an ordinary change", playbook{}, oneObserver, nil, map[string]string{"a.py": "password = \"Tr0ub4dor&3!\"\n", ".env": "DB_PASSWORD=Hunter2024\nTOKEN=" + oddToken + "\n"},
			map[string]string{"a.py": "password = load()\n", ".env": "PORT=1\n"}, 0, review.Converged, "", ""},
		{"a command that looks like a password", sees("reset_prod_db"), andStatic, nil, plain, with("run.sh", ". ./lib.sh\nPASSWORD=`reset_prod_db`\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"one behind a blank", sees("reset_prod_db"), andStatic, nil, plain, with("run.sh", ". ./lib.sh\nPASSWORD= \"reset_prod_db\"\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"one in a workflow", sees("deploy_prod1"), andStatic, nil, plain, with(".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: TOKEN_PASSWORD= 'deploy_prod1'\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a macro between two texts", sees("EVIL_MACRO_9"), andStatic, nil, plain, with("a.c", "void f(void) {\n\tputs(\"password=\"EVIL_MACRO_9\"\\n\");\n}\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a version behind a name", sees("1.27.0-b4d"), andStatic, nil, plain, with("package.json", "{\"dependencies\": {\n  \"generate-password\": \"1.27.0-b4d\"\n}}\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a name that gitleaks takes for a key", playbook{}, andStatic, nil, plain, with("a.py", "api_key = verifySignatureV2Strict\n"), 6, review.Partial, "Not reviewed", ""},
		{"names that a mask hides, in a rename", playbook{}, andStatic, nil, map[string]string{"docs/example.txt": "import os\nos.system('id')\n"},
			map[string]string{"docs/example.txt": "", "password=x9/conftest1.py": "import os\nos.system('id')\n"}, 6, review.Partial, "Not reviewed", ""},
		{"two folders that are masked alike", playbook{}, oneObserver, nil, plain, map[string]string{one + "/a.py": "print(1)\n", two + "/a.py": "print(2)\n"}, 6, review.Partial, "Not reviewed", ""},
		{"a finding in one of them", sees("os.system"), oneObserver, nil, plain, map[string]string{one + "/a.py": "os.system(cmd)\n", two + "/a.py": "print(1)\n"}, 3, review.ChangesRequested, "changes requested", ""},
		{"one of the rules", playbook{}, andStatic, nil, plain, map[string]string{one + "/a.py": "k = \"" + oddToken + "\"\n", two + "/a.py": "print(1)\n"}, 3, review.ChangesRequested, "changes requested", ""},
		{"a folder that is called as another one is masked", playbook{}, oneObserver, nil, map[string]string{sanitize.MaskName(one) + "/a.py": "x = 1\n"},
			map[string]string{one + "/a.py": "print(1)\n"}, 6, review.Partial, "Not reviewed", ""},
		{"a random value in quotes may name what is run", playbook{}, andStatic, nil, plain, with("a_test.py", "secret = \"q7Rz2Lm9Xc4Vb8Nt1Wk6\"\n"), 6, review.Partial, "Not reviewed", ""},
		{"so may a token", playbook{}, oneObserver, nil, plain, with("a_test.py", "secret = \""+oddToken+"\"\n"), 6, review.Partial, "Not reviewed", ""},
		{"a dependency that is named like a secret", playbook{}, andStatic, nil, plain, with("package.json", "{\"dependencies\": {\"jsonwebtoken\": \"9.0.0\", \"left\": \"x9Kq2/q7Rz2Lm9Xc4Vb8Nt1Wk6\"}}\n"), 6, review.Partial, "Not reviewed", ""},
		{"so is an image", playbook{}, andStatic, nil, plain, with("compose.yml", "services:\n  token: {image: \"x9Kq2/q7Rz2Lm9Xc4Vb8Nt1Wk6\"}\n"), 6, review.Partial, "Not reviewed", ""},
		{"one that a rule finds", playbook{}, andStatic, nil, plain, with("package.json", "{\"dependencies\": {\n  \"auth-token\": \"x9Kq2/q7Rz2Lm9Xc4Vb8Nt1Wk6\"\n}}\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"nor does a title make a pinned commit", sees("40f1582b2485089dde7"), andStatic, nil, plain, with("Cargo.toml", "[dependencies]\nfoo = { git = \"https://github.com/acme/foo\", rev = \"40f1582b2485089dde7abd97c1529aa768e1baff\" }\n"), 3, review.ChangesRequested,
			"changes requested", "Update token=40f1582b2485089dde7abd97c1529aa768e1baff"},
		{"what a change calls a secret in one file is unread in another", playbook{}, andStatic, nil, plain, map[string]string{"a_test.py": "k = [\"token\", \"" + oddRandom + "\"]\n", "b.py": "import_module(\"" + oddRandom + "\")\n"},
			6, review.Partial, "2 of 2", ""},
		{"a title makes no name in code unreadable", sees("skipSignatureV2Strict"), oneObserver, nil, plain, with("a.py", "skipSignatureV2Strict(cmd)\n"), 3, review.ChangesRequested,
			"changes requested", "token=skipSignatureV2Strict"},
		{"a file that lost its generator's mark", sees("os.system"), oneObserver, nil, map[string]string{"made.py": mark + "x = 1\n"}, map[string]string{"made.py": "os.system(cmd)\n"},
			3, review.ChangesRequested, "changes requested", ""},
		{"a generator, whose text holds the mark it writes", sees("os.system"), oneObserver, nil, map[string]string{"gen.py": "HEADER = \"\"\"\n" + mark + "\"\"\"\n"}, map[string]string{"gen.py": "HEADER = \"\"\"\n" + mark + "\"\"\"\nos.system(cmd)\n"},
			3, review.ChangesRequested, "changes requested", ""},
		{"a sentence that begins like a mark", sees("os.system"), oneObserver, nil, map[string]string{"run.py": "# Code generated by the model is run there.\nx = 1\n"}, map[string]string{"run.py": "# Code generated by the model is run there.\nos.system(cmd)\n"},
			3, review.ChangesRequested, "changes requested", ""},
		{"a generated file that becomes executable", sees("os.system"), oneObserver, nil, map[string]string{"made.py": mark + "x = 1\n"}, map[string]string{"made.py": asProgram + mark + "os.system(cmd)\n"},
			3, review.ChangesRequested, "changes requested", ""},
		{"a file that lost its attribute", sees("os.system"), oneObserver, nil, map[string]string{"made.py": "x = 1\n", ".gitattributes": "made.py linguist-generated\n"},
			map[string]string{"made.py": "os.system(cmd)\n", ".gitattributes": "* text\n"}, 3, review.ChangesRequested, "changes requested", ""},
		{"what an editor runs", sees("os.system"), oneObserver, nil, plain, with(".idea/watcherTasks.xml", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a new file in a folder for generated ones", sees("os.system"), oneObserver, nil, plain, with("src/__generated__/a.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"minified code that is new", sees("os.system"), oneObserver, nil, plain, with("web/app.min.js", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"minified code that is a link", sees("../run"), oneObserver, nil, plain, with("web/app.min.js", asLink+"../run"), 3, review.ChangesRequested, "changes requested", ""},
		{"a vendored action", sees("os.system"), oneObserver, nil, vendored, with("vendor/x/action.yml", "run: os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a vendored script", sees("os.system"), oneObserver, nil, vendored, with("vendor/x/setup", "#!/bin/sh\nos.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a vendored executable", sees("os.system"), oneObserver, nil, vendored, with("vendor/x/run.py", asProgram+"os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a vendored link", sees("../../run"), oneObserver, nil, vendored, with("vendor/x/run.go", asLink+"../../run"), 3, review.ChangesRequested, "changes requested", ""},
		{"vendored code where none was", sees("os.system"), oneObserver, nil, plain, with("src/vendor/a.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"a lock file that is a program", sees("os.system"), oneObserver, nil, plain, with("mix.lock", "%{os.system(cmd)}\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"vendored code that moves among the sources", sees("os.system"), oneObserver, nil, live, map[string]string{"vendor/x/a.py": "", "src/a.py": live["vendor/x/a.py"]},
			3, review.ChangesRequested, "changes requested", ""},
		{"vendored code that becomes executable", sees("os.system"), oneObserver, nil, live, map[string]string{"vendor/x/a.py": asProgram + live["vendor/x/a.py"]},
			3, review.ChangesRequested, "changes requested", ""},
		{"a link to vendored code by the name of a checkout", playbook{}, oneObserver, nil, live, with("conftest.py", asLink+"../odd/vendor/x/a.py"), 6, review.Partial, "Not reviewed", ""},
		{"a link to vendored code", playbook{}, oneObserver, nil, live, with("conftest.py", asLink+"vendor/x/a.py"), 6, review.Partial, "Not reviewed", ""},
		{"a picture that becomes a program", playbook{}, oneObserver, nil, live, map[string]string{"ok.py": "print(1)\n", "logo.gif": "", "public/a.php": live["logo.gif"]}, 6, review.Partial, "Not reviewed", ""},
		{"data that becomes a native module", playbook{}, oneObserver, nil, map[string]string{"blob.bin": "\x00\x01\x02\x7fELF\x00\x01\x03\x05\x06\x00"}, map[string]string{"ok.py": "print(1)\n", "blob.bin": "", "app/native.so": "\x00\x01\x02\x7fELF\x00\x01\x03\x05\x06\x00"}, 6, review.Partial, "Not reviewed", ""},
		{"a link to the root of the tree", playbook{}, oneObserver, nil, map[string]string{"made.py": mark + "x = 1\n", "src/a.py": "x = 1\n"}, map[string]string{"ok.py": "print(1)\n", "made.py": mark + "os.system(cmd)\n", "src/plugins": asLink + ".."}, 6, review.Partial, "Not reviewed", ""},
		{"a program that begins as a picture", playbook{}, oneObserver, nil, plain, with("logo.gif", live["logo.gif"]), 6, review.Partial, "Not reviewed", ""},
		{"a byte that is no UTF-8", sees("⟨0xE9⟩();"), oneObserver, nil, map[string]string{"a.php": "<?php\nfunction \xe8() {}\nfunction \xe9() { system(1); }\n\xe8();\n"},
			with("a.php", "<?php\nfunction \xe8() {}\nfunction \xe9() { system(1); }\n\xe9();\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"what is written like such a byte", playbook{}, oneObserver, nil, plain, with("a.php", "<?php\n⟨0xE9⟩();\n"), 6, review.Partial, "Not reviewed", ""},
		{"braces in an attribute of the base", sees("os.system"), oneObserver, nil, map[string]string{".gitattributes": "dist/*.{js,css} linguist-generated\n"}, with("dist/a.js", "os.system(cmd)\n"),
			3, review.ChangesRequested, "changes requested", ""},
		{"attributes in a folder that is named like a pattern", sees("os.system"), oneObserver, nil, map[string]string{"src/a.py": "x = 1\n", "{src,lib}/.gitattributes": "*.py linguist-generated\n"},
			with("src/a.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "changes requested", ""},
		{"attributes that speak where capitals are small letters", playbook{}, oneObserver, nil, plain, map[string]string{"ok.py": "print(1)\n", ".gitattributes": "*.PY working-tree-encoding=UTF-16BE\n", "a.py": "# \u6423\u2f21\n"},
			6, review.Partial, "Not reviewed", ""},
		{"an attribute that is taken from a file nobody changed", playbook{}, oneObserver, nil, map[string]string{".gitattributes": "v.py export-subst\n", "v.py": "v = \"$Format:%s$\"\n"}, with(".gitattributes", "* text\n"),
			6, review.Partial, "Not reviewed", ""},
		{"an update of vendored code may go unread, and is named", playbook{}, oneObserver, nil, vendored, with("vendor/x/b.go", "package x\n"), 0, review.Converged, "vendor/x/b.go", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			o := newOddity(t, c.book, c.reviewers)
			o.title = c.title
			o.commit("main", c.base)
			o.commit("topic", c.head)
			p := o.open(7, "main", "topic")
			orders := [][]string{{"--base", "main"}, {"7", "-R", "acme/odd"}}
			if testing.Short() && i%4 != 0 {
				orders = orders[:1]
			}
			for _, args := range orders {
				r, got := o.run(append(args, c.args...)...)
				if got.status != c.status || r.Outcome != c.outcome {
					t.Fatalf("%q: exit %d, %s (%s), want %d, %s\n%s", args, got.status, r.Outcome, r.Reason, c.status, c.outcome, got.stderr)
				}
			}
			if c.status == 2 || len(orders) == 1 {
				return
			}
			posted := p.Comments()
			if len(posted) != 1 {
				t.Fatalf("%d comments", len(posted))
			}
			lines := strings.Split(posted[0].Body, "\n")
			if top := strings.Join(lines[:min(len(lines), 12)], "\n"); !strings.Contains(top, c.says) {
				t.Errorf("the report does not begin with %q:\n%s", c.says, top)
			}
			for _, f := range c.head {
				if strings.Contains(posted[0].Body, oddToken) && strings.Contains(f, oddToken) {
					t.Error("the report repeats the token")
				}
			}
		})
	}
}

// TestACommentTakesNothingFromReviewers: whatever anybody calls a secret in a comment, reviewers are shown the same change, and are not
// asked again about it.
func TestACommentTakesNothingFromReviewers(t *testing.T) {
	t.Parallel()
	const commit = "40f1582b2485089dde7abd97c1529aa768e1baff"
	tape := filepath.Join(t.TempDir(), "tape")
	o := newOddity(t, playbook{Tape: tape}, andStatic)
	o.title = "Pin " + commit
	o.commit("main", map[string]string{"README.md": "# Odd\n"})
	o.commit("topic", map[string]string{".github/workflows/a.yml": "on: push\njobs:\n  a: {steps: [{uses: actions/checkout@" + commit + "}]}\n"})
	p := o.open(7, "main", "topic")
	p.Comment("stranger", "token="+commit)
	for i := range 2 {
		r, got := o.run("7", "-R", "acme/odd")
		if got.status != 0 || r.Outcome != review.Converged {
			t.Fatalf("run %d: exit %d, %s (%s)\n%s", i, got.status, r.Outcome, r.Reason, got.stderr)
		}
		if asked, err := os.ReadFile(tape); i == 0 && (err != nil || strings.Count(string(asked), commit) < 2) || i == 1 && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("run %d: the reviewer was given %q, %v", i, asked, err)
		}
		_ = os.Remove(tape)
		p.Comment("another", "secret: "+commit)
	}
}

// TestAFixThatAMergeTakesBack: base and head have both merged the same two commits, the head without the text of one of them. Since
// the other one that text never changed, and merging takes it back.
func TestAFixThatAMergeTakesBack(t *testing.T) {
	t.Parallel()
	o := newOddity(t, playbook{Sees: []sight{{Line: "return True", ID: "X-1", Priority: review.P0, Title: "It checks nothing", Text: "It does not.", Quote: true}}}, oneObserver)
	const unfixed, fixed = "def allowed(user):\n    return True\n", "def allowed(user):\n    return check(user)\n"
	o.commit("main", map[string]string{"auth.py": unfixed})
	o.commit("fix", map[string]string{"auth.py": fixed})
	o.git("checkout", "-q", "main")
	o.commit("main", map[string]string{"docs.md": "Docs.\n"})
	o.git("branch", "before")
	o.git("merge", "-q", "--no-ff", "-m", "Merge fix", "fix")
	o.git("checkout", "-q", "-b", "topic", "before")
	o.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "Merge fix", "fix")
	o.commit("topic", map[string]string{"hello.py": "print(1)\n"})
	o.open(7, "main", "topic")
	for _, args := range [][]string{{"--base", "main"}, {"7", "-R", "acme/odd"}} {
		if r, got := o.run(args...); r.Outcome != review.ChangesRequested {
			t.Errorf("%q: exit %d, %s (%s), %v\n%s", args, got.status, r.Outcome, r.Reason, r.Review.FilesReviewed, got.stderr)
		}
	}
}

// TestAFixerWritesWhereNobodyReads: what the next round leaves out is never pushed.
func TestAFixerWritesWhereNobodyReads(t *testing.T) {
	for where, text := range map[string]string{"vendor/x/a.go": "// HERE\n", "web/app.min.js": "var a = 1 // HERE\n", "gen/made.py": "# Code generated by x. DO NOT EDIT.\n# HERE\n"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			o := newOddity(t, playbook{
				Sees:  []sight{{Line: "BUG", ID: "B-1", Priority: review.P1, Title: "It is a bug", Text: "It is, and so is " + where + ".", Quote: true}},
				Edits: []edit{{File: "a.py", Old: "BUG", New: "fine"}, {File: where, Old: "HERE", New: "os.system(cmd)"}},
			}, oneObserver)
			book := filepath.Join(o.home, "playbook.json")
			write(t, filepath.Join(o.home, "config.yml"), []byte(strings.ReplaceAll(oneObserver, "BOOK", book)+
				"\nfixer: {use: command, path: mender, args: [\""+book+"\"]}\nfix: {untrusted_authors: true}\nverify: [\"true\"]\n"))
			o.commit("main", map[string]string{"README.md": "# Odd\n", where: text})
			o.commit("topic", map[string]string{"a.py": "x = 1 # BUG\n"})
			repo, err := o.forge.AddRepo("acme", "odd")
			if err != nil {
				t.Fatal(err)
			}
			p := o.open(7, "main", "topic")
			repo.SetPermission("octocat", forge.Write)
			before := p.HeadSHA()
			r, got := o.run("7", "-R", "acme/odd")
			if fix := r.Rounds[0].Fix; r.Outcome == review.Converged || p.HeadSHA() != before || fix == nil || fix.State != review.FixRefused || !strings.Contains(fix.Reason, "unread-file") {
				t.Errorf("exit %d, %s (%s), the branch moved: %v, %+v\n%s", got.status, r.Outcome, r.Reason, p.HeadSHA() != before, fix, got.stderr)
			}
		})
	}
}

// TestNoShapeOfAnAnswerLosesAP0: two reviewers approve, which is enough, and a third says a P0 in a shape that nobody can read. The run
// never converges; where the third plainly says nothing it does.
func TestNoShapeOfAnAnswerLosesAP0(t *testing.T) {
	t.Parallel()
	const finding = `{"id":"A","priority":"P0","category":"security","file":"a.py","title":"It runs what it is given","description":"d"}`
	envelope := func(rest string) string {
		return `{"agent":"third","prNumber":0,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},` + rest
	}
	o := newOddity(t, playbook{}, "")
	answer, operator := filepath.Join(o.home, "answer"), filepath.Join(o.home, "config.yml")
	script := filepath.Join(o.home, "third.sh")
	write(t, script, []byte("#!/bin/sh\ncat >/dev/null\ncat "+answer+"\n"))
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	book := filepath.Join(o.home, "playbook.json")
	write(t, operator, []byte(fmt.Sprintf("reviewers: [{name: one, use: command, path: observer, args: [%q]}, {name: two, use: command, path: observer, args: [%q]}, {name: third, use: command, path: %q}]\nfixer: none\n", book, book, script)))
	o.commit("main", map[string]string{"README.md": "# Odd\n"})
	o.commit("topic", map[string]string{"a.py": "x = 1\n"})
	minor := strings.Replace(finding, "P0", "P3", 1)
	marked := func(beside string) string {
		return beside + "\nBEGIN_JSON\n" + envelope(`"findings":[]}`) + "\nEND_JSON"
	}
	for i, c := range []struct {
		what, answer string
		outcome      review.Outcome
	}{
		{"an event beside it", `{"event":"log","findings":[` + finding + "]}\n" + envelope(`"findings":[]}`), review.ChangesRequested},
		{"a line beside it", marked("P0: a.py runs what it is given."), review.SetAside},
		{"a YAML list beside it", marked("```yaml\n- priority: P0\n  title: x\n```"), review.SetAside},
		{"an array beside it", marked("[" + finding + "]"), review.SetAside},
		{"a severity beside a P3", envelope(`"findings":[` + strings.Replace(minor, `"title"`, `"severity":"critical","title"`, 1) + `]}`), review.SetAside},
		{"a score beside a P3", envelope(`"findings":[` + strings.Replace(minor, `"title"`, `"score":10,"title"`, 1) + `]}`), review.ChangesRequested},
		{"a P0 within a P3", envelope(`"findings":[` + strings.Replace(minor, `"title"`, `"related":[`+finding+`],"title"`, 1) + `]}`), review.SetAside},
		{"claims of P2", strings.Replace(envelope(`"findings":[]}`), `"p2_important":0`, `"p2_important":3`, 1), review.SetAside},
		{"an unknown text", envelope(`"findings":[],"blockers":"P0: a.py runs what it is given"}`), review.SetAside},
		{"an unknown list of texts", envelope(`"findings":[],"blockers":["a.py runs what it is given"]}`), review.SetAside},
		{"an unknown list with numbers", envelope(`"findings":[],"more":[{"priority":0,"title":"x"}]}`), review.SetAside},
		{"an unknown list with levels", envelope(`"findings":[],"more":[{"level":"P0","title":"x"}]}`), review.SetAside},
		{"an unknown count", strings.Replace(envelope(`"findings":[]}`), `"p0_blocking":0`, `"p0_blocking":0,"critical":2`, 1), review.SetAside},
		{"unknown counts of nothing", strings.Replace(envelope(`"findings":[],"blockers":[]}`), `"p0_blocking":0`, `"p0_blocking":0,"critical":0`, 1), review.Converged},
		{"prose beside it that says what was looked for", marked("I looked for critical problems and found no P0 or P1 issues."), review.Converged},
		{"a report that says so", envelope(`"findings":[],"fullReport":"## P0 (critical)\n\nNone."}`), review.Converged},
		{"cut within the P0", envelope(`"findings":[` + finding[:40]), review.SetAside},
		{"findings is an object", envelope(`"findings":` + finding + `}`), review.SetAside},
		{"nested arrays", envelope(`"findings":[[` + finding + `]]}`), review.SetAside},
		{"a bare array", "[" + finding + "]", review.SetAside},
		{"keys in another case", strings.ToUpper(envelope(`"findings":[` + finding + `]}`)), review.SetAside},
		{"an unquoted key", envelope(`"findings":[` + strings.Replace(finding, `"priority"`, `priority`, 1) + `]}`), review.SetAside},
		{"single quotes", strings.ReplaceAll(envelope(`"findings":[`+finding+`]}`), `"`, `'`), review.SetAside},
		{"another key", envelope(`"problems":[` + finding + `]}`), review.SetAside},
		{"another key beside an empty list", envelope(`"findings":[],"problems":[` + finding + `]}`), review.SetAside},
		{"an event", `{"event":"log","findings":` + finding + `}`, review.SetAside},
		{"prose", "There is a critical problem in a.py.", review.SetAside},
		{"a claim", strings.Replace(envelope(`"findings":[]}`), `"p0_blocking":0`, `"p0_blocking":1`, 1), review.SetAside},
		{"a conclusion", strings.Replace(envelope(`"findings":[]}`), `"approve"`, `"needs_major_work"`, 1), review.SetAside},
		{"nothing", "", review.Converged},
		{"prose that says nothing", "It looks good to me.", review.Converged},
		{"an error", `{"error":{"message":"rate limit reached","code":429}}`, review.Converged},
		{"cut within a P3", envelope(`"findings":[` + strings.Replace(finding, "P0", "P3", 1)[:60]), review.Converged},
	} {
		if testing.Short() && i%3 != 0 {
			continue // tests of agents and answer read such shapes without a run
		}
		write(t, answer, []byte(c.answer))
		if r, got := o.run("--base", "main"); r.Outcome != c.outcome {
			t.Errorf("%s: exit %d, %s (%s), want %s\n%s", c.what, got.status, r.Outcome, r.Reason, c.outcome, got.stderr)
		}
	}
}

var lawRuns = flag.Int("law-runs", 100, "how many generated pull requests TestLawThroughRealParts runs; a tenth with -short")

// TestLawThroughRealParts is the law of coverage through git, gh and child processes: what a reviewer was given is what it wrote
// down, and what changed is what was committed.
func TestLawThroughRealParts(t *testing.T) {
	tape := filepath.Join(t.TempDir(), "request.json")
	o := newOddity(t, playbook{Tape: tape}, oneObserver)
	n := *lawRuns
	if testing.Short() {
		n /= 10
	}
	names := []string{"src/a.go", "caf\xe9.py", "new\nline.js", "back\\slash.c", "cr\rname.rb", "\xff\xfe.go", "q\"uote.go", " lead.py", "tab\tname.java", "rtl\u202egnp.js", "\ufffd.php", "ünï/日本.rs", "-rf.sh", "a`b|c.md"}
	lines := []string{"x := 1", "return nil", "system(\"convert \xff\");", "\tif err != nil {", "a\rb", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "\u202eevil", "caf\xe9"}
	converged := 0
	for i := range n {
		rnd := rand.New(rand.NewPCG(uint64(i), 11))
		text := func() string {
			var b strings.Builder
			for range 1 + rnd.IntN(20) {
				b.WriteString(lines[rnd.IntN(len(lines))] + "\n")
			}
			switch rnd.IntN(12) {
			case 0:
				return b.String() + "\x00\n"
			case 1:
				return "\xff\xfe" + utf16le("import os\n")
			case 2:
				return strings.Repeat(b.String(), 1+(2<<20)/b.Len())
			case 3:
				return strings.TrimSuffix(b.String(), "\n")
			case 4:
				return b.String() + otherLetters + "\n"
			}
			return b.String()
		}
		base, head := fmt.Sprintf("base-%d", i), fmt.Sprintf("head-%d", i)
		before, after := map[string]string{}, map[string]string{}
		for range 1 + rnd.IntN(3) {
			name := names[rnd.IntN(len(names))]
			if rnd.IntN(2) == 0 {
				before[name] = text()
			}
			after[name] = text()
		}
		o.git("checkout", "-q", "--orphan", base)
		o.git("rm", "-rfq", "--ignore-unmatch", ".")
		o.commit(base, map[string]string{"README.md": "# Odd\n"})
		o.commit(base, before)
		o.commit(head, after)
		o.open(i+1, base, head)
		r, got := o.run(fmt.Sprint(i+1), "-R", "acme/odd")
		switch {
		case r.Outcome == review.Converged && got.status == 0:
			converged++
			heard(t, tape, i, before, after)
		case r.Outcome != review.Partial && r.Outcome != review.NotReviewed || got.status != 6:
			t.Errorf("%d: exit %d, %s (%s)", i, got.status, r.Outcome, r.Reason)
		}
	}
	t.Logf("%d of %d runs converged", converged, n)
	if converged < n/5 {
		t.Errorf("only %d of %d runs converged: the law was hardly asked", converged, n)
	}
}

// otherLetters is a line of which nobody can read all: bytes in a row that are no UTF-8.
const otherLetters = "\xa3\xe5\xa3\xf8(\"\xed\xa0\x80\")"

// heard checks that every line that was added stood in the request of the reviewer, as JSON carries it.
func heard(t *testing.T, tape string, run int, before, after map[string]string) {
	t.Helper()
	data, err := os.ReadFile(tape)
	if err != nil {
		t.Fatal(err)
	}
	var task review.Task
	if err := json.Unmarshal(data, &task); err != nil {
		t.Fatal(err)
	}
	for name, text := range after {
		if before[name] == text {
			continue
		}
		i := slices.IndexFunc(task.Brief.Files, func(f review.BriefFile) bool { return spelling.Raw(f.Path) == name })
		if i < 0 {
			t.Errorf("%d: converged without %q in the request", run, name)
			continue
		}
		given := map[string]bool{}
		for l := range strings.SplitSeq(task.Brief.Files[i].Diff, "\n") {
			if l != "" {
				given[l[1:]] = true
			}
		}
		for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if l == otherLetters && !strings.Contains(before[name], l) {
				t.Errorf("%d: converged with letters that nobody could read in %q", run, name)
			}
			if old := "\n" + before[name] + "\n"; !given[strings.NewReplacer("\xe9", "⟨0xE9⟩", "\xff", "⟨0xFF⟩").Replace(l)] && !strings.Contains(old, "\n"+l+"\n") {
				t.Errorf("%d: converged without the line %q of %q in the request", run, l, name)
			}
		}
	}
}
