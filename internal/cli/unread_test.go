package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
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
)

// oddity is a repository with a change that git can hold and text cannot: names and contents are bytes.
type oddity struct {
	t     *testing.T
	dir   string
	forge *forge.Forge
	env   []string
	home  string
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
		write(o.t, at, []byte(text))
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
	return forgetest.Open(o.t, o.forge, forge.PullSpec{Owner: "acme", Repo: "odd", Number: n, BaseRef: base, HeadRef: head, HeadBundle: bundle})
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

// TestUnreadIsNeverApproved: ways to an approval that nobody earned, each closed, on a local range and on a pull request.
func TestUnreadIsNeverApproved(t *testing.T) {
	sees := func(line string) playbook {
		return playbook{Sees: []sight{{Line: line, ID: "X-1", Priority: review.P0, Title: "It runs what it is given", Text: "It does.", Quote: true}}}
	}
	plain := map[string]string{"README.md": "# Odd\n"}
	with := func(name, text string) map[string]string {
		return map[string]string{"ok.py": "print(1)\n", name: text}
	}
	for _, c := range []struct {
		what      string
		book      playbook
		reviewers string
		args      []string
		base      map[string]string
		head      map[string]string
		status    int
		outcome   review.Outcome
		says      string // in the first ten lines of the report
	}{
		{"a name that is not UTF-8 hides no secret from the rules", playbook{}, andStatic, nil, plain, with("caf\xe9.py", "k = \""+oddToken+"\"\n"), 3, review.ChangesRequested, "needs major work"},
		{"nor a line from an honest reviewer", sees("os.system"), oneObserver, nil, plain, with("caf\xe9.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "needs major work"},
		{"a line feed in a name makes nobody's answer invalid", sees("os.system"), andStatic, nil, plain, with("new\nline.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "needs major work"},
		{"nor does a backslash", sees("os.system"), andStatic, nil, plain, with("a\\b.py", "os.system(cmd)\n"), 3, review.ChangesRequested, "needs major work"},
		{"two invalid bytes on the quoted line", sees("system("), oneObserver, nil, plain, with("a.php", "<?php\nsystem(\"convert \xff\xfe\" . $_GET[\"f\"]);\n"), 3, review.ChangesRequested, "needs major work"},
		{"a masked secret within the quoted line", playbook{Sees: []sight{{Line: "run(", ID: "X-1", Priority: review.P0, Title: "It runs what it is given", Text: "It does.", Evidence: "run(user, \"[REDACTED]\", sys.argv[1])"}}},
			oneObserver, nil, plain, with("a.py", "run(user, \""+oddToken+"\", sys.argv[1])\n"), 3, review.ChangesRequested, "needs major work"},
		{"source code that is too large to be read", playbook{}, oneObserver, nil, plain, with("big.py", "os.system(cmd)\n"+strings.Repeat("x = 1\n", 200_000)), 6, review.Partial, "Not reviewed"},
		{"source code with a NUL byte", playbook{}, oneObserver, nil, plain, with("a.php", "<?php system($_GET['c']);\x00\n"), 6, review.Partial, "Not reviewed"},
		{"UTF-16", playbook{}, oneObserver, nil, plain, with("u16.py", "\xff\xfe"+utf16le("import os\n")), 6, review.Partial, "Not reviewed"},
		{"rules alone", playbook{}, "reviewers: [{name: static, use: static}]", nil, plain, with("a.py", "x = 1\n"), 8, review.StaticOnly, "no static findings"},
		{"rules alone, with findings", playbook{}, "reviewers: [{name: static, use: static}]", nil, plain, with("a.py", "k = \""+oddToken+"\"\n"), 3, review.StaticOnly, "static findings"},
		{"more needed reviewers than there are", playbook{}, oneObserver, []string{"--min-reviewers", "3"}, plain, with("a.py", "x = 1\n"), 2, "", ""},
		{"a P0 whose evidence is not there", playbook{Sees: []sight{{Line: "x = 1", ID: "X-1", Priority: review.P0, Title: "Made up", Text: "It is.", Evidence: "os.system(everything)"}}},
			oneObserver, nil, plain, with("a.py", "x = 1\n"), 4, review.SetAside, "a person is needed"},
		{"what a rule leaves out may go unread, and is named", playbook{}, oneObserver, nil, plain, with("go.sum", "a v1 h1:x\n"), 0, review.Converged, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			o := newOddity(t, c.book, c.reviewers)
			o.commit("main", c.base)
			o.commit("topic", c.head)
			p := o.open(7, "main", "topic")
			for _, args := range [][]string{{"--base", "main"}, {"7", "-R", "acme/odd"}} {
				r, got := o.run(append(args, c.args...)...)
				if got.status != c.status || r.Outcome != c.outcome {
					t.Fatalf("%q: exit %d, %s (%s), want %d, %s\n%s", args, got.status, r.Outcome, r.Reason, c.status, c.outcome, got.stderr)
				}
			}
			if c.status == 2 {
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
	for _, c := range []struct {
		what, answer string
		outcome      review.Outcome
	}{
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
	lines := []string{"x := 1", "return nil", "system(\"convert \xff\xfe\");", "cut(\"\xed\xa0\x80\")", "\tif err != nil {", "a\rb", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "\u202eevil", "caf\xe9"}
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
			if old := "\n" + before[name] + "\n"; !given[string([]rune(l))] && !strings.Contains(old, "\n"+l+"\n") {
				t.Errorf("%d: converged without the line %q of %q in the request", run, l, name)
			}
		}
	}
}
