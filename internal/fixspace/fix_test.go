package fixspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/testkit/fakeagent/modes"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ask makes a workspace's Ask of a program: confined as cli does it, with the clone as the one folder to write beside its home.
func (w *world) ask(path string, args func(clone string) []string) func(context.Context, review.Task, string, func(review.Event)) review.Answer {
	return func(ctx context.Context, task review.Task, clone string, emit func(review.Event)) review.Answer {
		home := w.TempDir()
		c, err := w.workspace.Confine(sandbox.Policy{Home: home, Writable: []string{clone}}, sandbox.Command{
			Path: path, Args: args(clone), Env: proc.BaseEnv("HOME="+home, "TMPDIR="+home), Dir: clone})
		if err != nil {
			w.Fatal(err)
		}
		return agents.Ask(ctx, agents.Spec{Name: "fixer", Role: review.RoleFixer, Kind: "command", Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir,
			Timeout: time.Minute, Grace: 200 * time.Millisecond}, task, emit)
	}
}

// fake is a fixer in a mode of fakeagent.
func (w *world) fake(mode string) {
	self, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	w.workspace.Ask = w.ask(self, func(clone string) []string { return []string{modes.Name, "-mode", mode, "-tree", clone} })
}

// script is a fixer in POSIX shell. It says that it fixed F1 in $fixed, and rejects F2.
func (w *world) script(text string) {
	const answer = `
cat <<END
{"agent":"fixer","prNumber":7,"summary":{"fixed":1,"rejected":1,"deferred":0},"fixedIssues":[{"findingId":"F1","commitSha":"$fixed","description":"done"}],
"rejectedIssues":[{"findingId":"F2","reason":"by design"}],"commits":[{"sha":"${fixed:-none}","message":"fix: what the answer says"}]}
END`
	w.workspace.Ask = w.ask("/bin/sh", func(string) []string { return []string{"-c", "set -eu\nfixed=\n" + text + answer} })
}

// changed are the files, none of them source, that the pull request changes.
var changed = []string{".gitignore", "a.txt", "b.txt", "c.txt", "ci/base.yml", "ci/head.yml", "ci/run.sh", "d/e/f", "found.txt", "kept/a.txt", "kept/other", "lib/known.txt", "lib/more.txt", "lib/runner",
	"lib/runner/more", "lib/runner/run.sh", "link", "link/x", "lint", "lint/a.txt", "made/x", "notes", "pwned", "second.txt", "test", "tools/env.sh", "tools/husk/new"}

func (w *world) order(more ...string) review.FixOrder {
	var brief review.Brief
	for _, name := range slices.Concat(changed, more) {
		brief.Files = append(brief.Files, review.BriefFile{Path: name})
	}
	finding := func(id string) review.Finding {
		return review.Finding{ID: id, Priority: review.P1, Category: review.CategoryBug, Title: id}
	}
	return review.FixOrder{
		Run: "20261121T000000Z_0123456789abcdef", Round: 1, Try: 1, Reviewed: w.base, From: w.base, PRFiles: 1, PRLines: 10,
		At: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		Task: review.Task{Version: review.TaskVersion, Role: review.RoleFixer, PRNumber: 7, Run: "r", Round: 1, HeadSHA: w.base, Brief: brief,
			Fix: &review.FixPayload{PRNumber: 7, Round: 1, IssuesToFix: []review.Finding{finding("F1"), finding("F2")}}},
	}
}

func (w *world) fix(o review.FixOrder) review.FixWork {
	w.Helper()
	work, err := w.workspace.Fix(w.Context(), o, nil)
	if err != nil {
		w.Fatal(err)
	}
	return work
}

// content are the files of a commit that differ from base, with their text; a deleted one is "-".
func (w *world) content(base, commit string) map[string]string {
	w.Helper()
	changes, err := w.workspace.Repo.Changes(w.Context(), base, commit)
	if err != nil {
		w.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range changes {
		if c.Status == 'D' {
			got[c.Path] = "-"
			continue
		}
		text, err := w.workspace.Repo.ReadFile(w.Context(), commit, c.Path, 1<<20)
		if err != nil {
			w.Fatal(err)
		}
		got[c.Path] = string(text)
	}
	return got
}

func messages(commits []review.FixCommit) (list []string) {
	for _, c := range commits {
		list = append(list, c.Message)
	}
	return list
}

var plainFiles = map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", ".gitignore": "*.o\n", "go.mod": "module x\n",
	"sub/test_b.py": "def test_b():\n    assert 1\n"}

// A good fixer, with commits, without, and with both: the right commits, the same ids each time, the answer's ids mapped.
func TestGoodFixers(t *testing.T) {
	shared := newWorld(t, plainFiles)
	for name, row := range map[string]struct {
		script   string
		messages []string
		want     map[string]string
	}{
		"without commits": {"echo three >>a.txt; touch junk.o", []string{"fix: what the answer says"}, map[string]string{"a.txt": "one\ntwo\nthree\n"}},
		"with commits": {
			`echo 1 >a.txt; git commit -qam "fix: a"; fixed=$(git rev-parse --short HEAD); echo 2 >b.txt; git add -A; git commit -qm "fix: b, closes #3 [skip ci]

Thanks @octocat"`, []string{"fix: b, closes no. 3 (skip ci)"}, map[string]string{"a.txt": "1\n", "b.txt": "2\n"}},
		"with both": {`echo 1 >a.txt; git commit -qam "fix: a"; fixed=$(git rev-parse HEAD); echo new >c.txt; rm b.txt`,
			[]string{"fix: a"}, map[string]string{"a.txt": "1\n", "b.txt": "-", "c.txt": "new\n"}},
		"that names a commit that never was": {`echo 1 >a.txt; git commit -qam "fix: a"; echo 2 >>a.txt; git commit -qam "fix: more"; fixed=0000000000000000000000000000000000000000`,
			[]string{"fix: more"}, map[string]string{"a.txt": "1\n2\n"}},
		"that names an empty commit": {`echo 1 >a.txt; git commit -qam "fix: a"; git commit -q --allow-empty -m nothing; fixed=$(git rev-parse HEAD)`,
			[]string{"fix: a"}, map[string]string{"a.txt": "1\n"}},
		"that amended the reviewed commit": {`echo 1 >a.txt; git commit -qa --amend -m "fix: a"; fixed=$(git rev-parse HEAD)`,
			[]string{"fix: what the answer says"}, map[string]string{"a.txt": "1\n"}},
		"that merged a branch of its own": {`git checkout -q -b side; echo 1 >a.txt; git commit -qam a; git checkout -q -; echo 2 >b.txt; git commit -qam b; git merge -q -m m side`,
			[]string{"fix: what the answer says"}, map[string]string{"a.txt": "1\n", "b.txt": "2\n"}},
		"that destroyed its clone's git": {`echo 1 >a.txt; rm -rf .git`, []string{"fix: what the answer says"}, map[string]string{"a.txt": "1\n"}},
		"that is on no branch":           {`git checkout -q --detach; echo 1 >a.txt; git commit -qam "fix: a"`, []string{"fix: a"}, map[string]string{"a.txt": "1\n"}},
		"that hides changes from git": {`git update-index --assume-unchanged a.txt; echo 1 >a.txt; echo '*' >.git/info-exclude; git config core.excludesFile .git/info-exclude; echo c >c.txt`,
			[]string{"fix: what the answer says"}, map[string]string{"a.txt": "1\n", "c.txt": "c\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			w.script(row.script)
			work := w.fix(w.order())
			if work.Tip == "" || len(work.Refusals) > 0 {
				t.Fatalf("%+v", work)
			}
			if d := cmp.Diff(row.want, w.content(w.base, work.Tip)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(row.messages, messages(work.Commits)); d != "" {
				t.Errorf("messages: %s\n%v", d, work.Notes)
			}
			if got := work.Commits[len(work.Commits)-1].SHA; got != work.Tip {
				t.Errorf("the last commit is %s, the tip %s", got, work.Tip)
			}
			if got := work.Answer.Fix.FixedIssues[0].CommitSHA; got != work.Tip {
				t.Errorf("fixed in %s of %v", got, work.Commits)
			}
			if d := cmp.Diff(work.Commits, work.Answer.Fix.Commits); d != "" {
				t.Errorf("the answer's commits: %s", d)
			}
			if work.Files != len(row.want) || work.Lines == 0 {
				t.Errorf("%d files, %d lines", work.Files, work.Lines)
			}
			order := w.order()
			order.Try = 2
			if again := w.fix(order); again.Tip != work.Tip {
				t.Errorf("the same work again is %s, was %s", again.Tip, work.Tip)
			}
			w.left("")
		})
	}
}

// Object ids depend on nothing but the work and the order: not on the repository, the day, or who is logged in.
func TestObjectIDs(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.script(`echo two >>a.txt`)
	work := w.fix(w.order())
	if want := "e67fbddb65efd53fc7d73de5ad94ce3ddc26f96f"; work.Tip != want {
		t.Errorf("tip %s, want %s", work.Tip, want)
	}
	commits, err := w.workspace.Repo.Commits(t.Context(), w.base, work.Tip)
	if err != nil || len(commits) != 1 {
		t.Fatal(commits, err)
	}
	const want = "fix: what the answer says\n\nprloop-run: 20261121T000000Z_0123456789abcdef\nprloop-round: 1"
	if got := strings.TrimSpace(commits[0].Message); got != want {
		t.Errorf("%q", got)
	}
}

// What this process holds stands in no commit message, however it is written or cut up, and that it was there is told.
func TestKnownSecretInMessages(t *testing.T) {
	const secret = "q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po"
	shared := newWorld(t, plainFiles)
	for name, row := range map[string]struct {
		script string
		want   []string // nil when a secret is told
	}{
		"as it is":          {`echo 1 >a.txt; git commit -qam "fix: ` + secret + `"`, nil},
		"in a body":         {`echo 1 >a.txt; git commit -qam "fix: a" -m "it is ` + secret[:14] + ` and more"`, nil},
		"as base64":         {`echo 1 >a.txt; git commit -qam "fix: $(printf ` + secret + ` | base64)"`, nil},
		"in two":            {`echo 1 >a.txt; git commit -qam "` + secret[:8] + `"; echo 2 >a.txt; git commit -qam "` + secret[8:16] + `"`, nil},
		"in none":           {`echo 1 >a.txt; git commit -qam "fix: ` + secret[:8] + `"`, []string{"fix: " + secret[:8]}},
		"of nothing at all": {`echo 1 >a.txt`, []string{"fix: what the answer says"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			w.workspace.Secrets = []string{secret}
			w.script(row.script)
			if row.want == nil {
				w.leaks()
				return
			}
			work := w.fix(w.order())
			if d := cmp.Diff(row.want, messages(work.Commits)); d != "" {
				t.Error(d)
			}
		})
	}
	// A fixer that does not commit says in its answer what it would have written.
	w := shared.in(t)
	w.workspace.Secrets = []string{"what the answer says"}
	w.script("echo 1 >a.txt")
	w.leaks()
	// One that does may still say it there.
	w.script(`echo 1 >a.txt; git commit -qam "fix: a"`)
	w.leaks()
}

// leaks sees that nothing is kept of a fixer whose messages tell a secret, but its answer.
func (w *world) leaks() {
	w.Helper()
	work, err := w.workspace.Fix(w.Context(), w.order(), nil)
	if !errors.Is(err, sanitize.ErrKnownSecret) || work.Answer.Receipt.State != review.AgentComplete {
		w.Errorf("%v: %+v", err, work)
	}
	if work.Answer = (review.Answer{}); !cmp.Equal(work, review.FixWork{}) {
		w.Errorf("it keeps %+v", work)
	}
}

// A second try goes on from the first one's tip; its commit takes the place of the first.
func TestFixGoesOn(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.script(`echo 1 >a.txt; git commit -qam "fix: a"`)
	first := w.fix(w.order())
	order := w.order()
	order.Try, order.From = 2, first.Tip
	w.script(`fixed=$(git rev-parse --short HEAD); grep -q 1 a.txt; echo 2 >b.txt; git commit -qam "fix: b"`)
	second := w.fix(order)
	if d := cmp.Diff([]string{"fix: b"}, messages(second.Commits)); d != "" {
		t.Fatalf("%s%+v", d, second)
	}
	if got := second.Answer.Fix.FixedIssues[0].CommitSHA; got != second.Tip || second.Files != 2 {
		t.Errorf("%+v after %+v", second, first)
	}
	w.script(`:`)
	if third := w.fix(order); third.Tip != "" || third.Answer.Fix.FixedIssues[0].CommitSHA != "" {
		t.Errorf("nothing was changed: %+v", third)
	}
	w.script(`git checkout -q HEAD~1 -- a.txt`)
	if undone := w.fix(order); undone.Tip != "" || undone.Files != 0 {
		t.Errorf("all was undone: %+v", undone)
	}
}

// Everything a fixer of fakeagent does to its clone is inert: no tip, the rule named, nothing left (issue of edit modes,
// threats.md T08, T20-T24).
func TestEditModes(t *testing.T) {
	shared := newWorld(t, plainFiles)
	for mode, want := range map[string]struct {
		rule, note string
	}{
		"edit-protected":      {rule: "protected-path"},
		"edit-gitconfig":      {note: "changed the configuration"},
		"plant-hook":          {note: "put hooks into its clone"},
		"add-symlink":         {rule: "link"},
		"symlink-escape":      {rule: "link"},
		"add-gitlink":         {rule: "embedded-repository"},
		"exec-bit":            {rule: "mode-change"},
		"huge-file":           {rule: "too-large"},
		"delete-all":          {rule: "protected-path"},
		"write-outside":       {},
		"claim-fixed-nothing": {},
		"counts-lie":          {},
		"fix-forgets":         {},
		"hang-silent":         {note: "gave no valid answer"},
		"unknown-ids":         {},
		"exit-1":              {note: "gave no valid answer"},
		"daemon":              {},
	} {
		for box, confine := range map[string]func(sandbox.Policy, sandbox.Command) (sandbox.Command, error){"in the sandbox": thisMachine.Wrap, "without a sandbox": unconfined} {
			if want.rule == "" && box == "without a sandbox" && mode != "write-outside" && want.note == "" {
				continue // nothing is done that box could matter for
			}
			t.Run(mode+" "+box, func(t *testing.T) {
				w := shared.in(t)
				w.workspace.Confine = confine
				w.fake(mode)
				order := w.order()
				if mode == "hang-silent" {
					ask := w.workspace.Ask
					w.workspace.Ask = func(ctx context.Context, task review.Task, clone string, emit func(review.Event)) review.Answer {
						ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
						defer cancel()
						return ask(ctx, task, clone, emit)
					}
				}
				work := w.fix(order)
				if work.Tip != "" || len(work.Commits) > 0 {
					t.Errorf("something may be pushed: %+v", work)
				}
				if want.rule != "" && !slices.ContainsFunc(work.Refusals, func(r review.Refusal) bool { return r.Rule == want.rule }) {
					t.Errorf("no refusal by %s: %+v", want.rule, work.Refusals)
				}
				if want.rule == "" && len(work.Refusals) > 0 {
					t.Errorf("refused: %+v", work.Refusals)
				}
				if !strings.Contains(strings.Join(work.Notes, "\n"), want.note) {
					t.Errorf("no note %q: %q", want.note, work.Notes)
				}
				if fix := work.Answer.Fix; fix != nil {
					for _, f := range fix.FixedIssues {
						if f.CommitSHA != "" {
							t.Errorf("fixed in %q, and nothing was made", f.CommitSHA)
						}
					}
				}
				w.left(w.workspace.Scratch)
			})
		}
	}
}

// What git says of commits that it cannot read names folders of this machine: it is for the operator, and a note says that they were not taken
// (threats.md T681).
func TestGitsWordsAreTheOperators(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.script("echo 1 >a.txt; git commit -qam x; printf '[core' >.git/config")
	var told []string
	emit := func(e review.Event) { told = append(told, e.Message) }
	fix, err := w.workspace.Fix(t.Context(), w.order(), emit)
	if err != nil {
		t.Fatal(err)
	}
	w.agent(func(clone string) {
		if err := os.WriteFile(filepath.Join(clone, ".git", "config"), []byte("[core"), 0o600); err != nil {
			t.Error(err)
		}
	}, review.Wish{Kind: review.WishCommit, Body: "all"})
	job, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), emit)
	if err != nil {
		t.Fatal(err)
	}
	for _, notes := range [][]string{fix.Notes, job.Notes} {
		if all := strings.Join(notes, "\n"); !strings.Contains(all, "git could not read them") || strings.Contains(all, "bad config") || strings.Contains(all, w.workspace.Scratch) {
			t.Errorf("notes %q", notes)
		}
	}
	if n := strings.Count(strings.Join(told, "\n"), "bad config"); n != 2 {
		t.Errorf("the operator hears %d times of 2 what git says: %q", n, told)
	}
}

// What else a fixer can do to get something out or past (threats.md "Git attack set"): inert, by its rule.
func TestAttacks(t *testing.T) {
	shared := newWorld(t, plainFiles)
	for name, row := range map[string]struct{ script, rule string }{
		"a link to a file outside":       {"ln -s /etc/passwd c.txt", "link"},
		"a committed link":               {"ln -s /etc/passwd c.txt; git -c core.symlinks=true add -A; git commit -qm c", "link"},
		"a link in a folder's place":     {"rm -r sub; ln -s /etc sub", "link"},
		"a pipe":                         {"mkfifo c.txt", "special-file"},
		"a repository inside":            {"git init -q inner; cd inner; git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; cd ..", "embedded-repository"},
		"a committed submodule":          {"git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),mod; git commit -qm m; mkdir mod", "submodule"},
		"a bare repository inside":       {"git init -q --bare inner", "embedded-repository"},
		"an executable bit in a commit":  {"git update-index --chmod=+x a.txt; git commit -qm x; git checkout -q -f", "mode-change"},
		"a deleted test":                 {"rm sub/test_b.py", "deleted-test"},
		"every file, deleted":            {"rm -r a.txt b.txt .gitignore go.mod sub", "empty-tree"},
		"a manifest":                     {"echo 'module y' >go.mod", "protected-path"},
		"a file nobody asked for":        {"mkdir -p conf; echo x >conf/app.py", "unasked-file"},
		"another folder's attributes":    {"echo '* filter=x' >sub/.gitattributes", "gitattributes"},
		"two names for one file":         {"echo x >A.TXT", "case-collision"},
		"more than its pull request":     {"for i in $(seq 60); do mkdir -p d; seq 20 >d/$i.txt; done", "scope-brake"},
		"a history of crafted objects":   {`t=$(perl -e 'print "100644 .git\0", pack("H*", shift)' $(git hash-object a.txt) | git hash-object -w -t tree --literally --stdin); git update-ref HEAD $(git commit-tree -p HEAD -m x $t)`, "malformed-object"},
		"a bundle of its own making":     {`echo 1 >a.txt; mkdir -p ../out 2>/dev/null && echo x >../out/fix.bundle; exit 1`, ""},
		"the clone's git as a link":      {`mv .git /tmp/git; ln -s /tmp/git .git`, ""},
		"a clone whose git is a pipe":    {`rm -rf .git; mkfifo .git`, ""},
		"a HEAD that is a pipe":          {`rm .git/HEAD; mkfifo .git/HEAD`, ""},
		"a tree deeper than any path":    {`t=$(git hash-object -w a.txt | xargs printf '100644 blob %s\tf\n' | git mktree); for i in $(seq 20); do t=$(printf '040000 tree %s\t%0250d\n' $t $i | git mktree); done; git update-ref HEAD $(git commit-tree -p HEAD -m x $t); rm -r a.txt b.txt sub`, "bad-name"},
		"an alternate object store":      {`echo /root/.git/objects >.git/objects/info/alternates`, ""},
		"a configuration that runs much": {`for k in core.fsmonitor core.pager core.editor core.sshCommand uploadpack.packObjectsHook filter.x.clean diff.x.textconv gpg.program core.alternateRefsCommand; do git config $k "touch $PWD/pwned"; done; mkdir -p .git/hooks; for h in post-index-change reference-transaction pre-commit post-commit; do printf '#!/bin/sh\ntouch %s/pwned\n' "$PWD" >.git/hooks/$h; chmod +x .git/hooks/$h; done; rm -f pwned`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			w.script(row.script)
			work := w.fix(w.order())
			if work.Tip != "" {
				t.Errorf("something may be pushed: %+v %v", work, w.content(w.base, work.Tip))
			}
			if row.rule != "" && !slices.ContainsFunc(work.Refusals, func(r review.Refusal) bool { return r.Rule == row.rule }) {
				t.Errorf("no refusal by %s: %+v, notes %q", row.rule, work.Refusals, work.Notes)
			}
			if row.rule == "" && len(work.Refusals) > 0 {
				t.Errorf("refused: %+v", work.Refusals)
			}
			w.left(w.workspace.Scratch)
		})
	}
}

// What CI configurations of the base or of the reviewed head include is protected, unless the operator opens it; of a scheduled job's
// head as well (threats.md T711).
func TestIncludesAreProtected(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", ".gitlab-ci.yml": "include: {local: ci/base.yml}\n", "ci/base.yml": "x\n", "ci/run.sh": "make\n"})
	base := w.base
	w.base = w.commit(map[string]string{".gitlab-ci.yml": "include: {local: ci/head.yml}\n", "ci/head.yml": "x\n", "tools/setup/action.yml": "runs: {}\n",
		"tools/setup/index.js": "1\n"})
	w.fetch()
	for what, c := range map[string]struct {
		script  string
		allow   []string
		refused string
	}{
		"of the base":    {"echo 1 >ci/base.yml", nil, "ci/base.yml"},
		"of the head":    {"echo 1 >ci/head.yml", nil, "ci/head.yml"},
		"of an action":   {"echo 2 >tools/setup/index.js", nil, "tools/setup/index.js"},
		"what CI runs":   {"echo 1 >ci/run.sh", nil, ""},
		"what is opened": {"echo 1 >ci/head.yml", []string{"ci/*"}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			w := w.in(t)
			w.script(c.script)
			o := w.order("ci/base.yml", "ci/head.yml", "ci/run.sh", "tools/setup/index.js")
			o.Allow, o.Task.BaseSHA = c.allow, base
			work := w.fix(o)
			if c.refused == "" && work.Tip == "" || c.refused != "" && (len(work.Refusals) != 1 || work.Refusals[0].Rule != "protected-path" || work.Refusals[0].Path != c.refused) {
				t.Errorf("%q, refused: %+v", work.Tip, work.Refusals)
			}
		})
	}
	w.agent(func(clone string) {
		if err := os.WriteFile(filepath.Join(clone, "ci", "head.yml"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}, review.Wish{Kind: review.WishCommit, Body: "all"})
	work, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), nil)
	if err != nil || work.Tip != "" || len(work.Refusals) != 1 || work.Refusals[0].Rule != "protected-path" {
		t.Errorf("a command: %+v, %v", work, err)
	}
}

// A new file or folder that make would take for a target is refused, of the base's makefile and of the head's (threats.md T729).
func TestTargetsAreProtected(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "Makefile": "test:\n\tfalse\n"})
	base := w.base
	w.base = w.commit(map[string]string{"Makefile": ".PHONY: test\ntest:\n\tfalse\nlint:\n\tfalse\n"})
	w.fetch()
	for what, c := range map[string]struct{ base, script, refused string }{
		"of the base":       {base, "echo 1 >test", "test"},
		"of the head":       {base, "echo 1 >lint", "lint"},
		"a folder":          {base, "mkdir lint; echo 1 >lint/a.txt", "lint/a.txt"},
		"phony":             {w.base, "mkdir test; echo 1 >test/a.md", ""},
		"no target":         {base, "echo 1 >notes", ""},
		"no base is stated": {"", "echo 1 >test", ""},
	} {
		t.Run(what, func(t *testing.T) {
			w := w.in(t)
			w.script(c.script)
			o := w.order("test", "lint", "notes", "lint/a.txt", "test/a.md")
			o.Task.BaseSHA = c.base
			work := w.fix(o)
			if c.refused == "" && work.Tip == "" || c.refused != "" && (len(work.Refusals) != 1 || work.Refusals[0].Rule != "protected-path" || work.Refusals[0].Path != c.refused) {
				t.Errorf("%q, refused: %+v", work.Tip, work.Refusals)
			}
		})
	}
	w.agent(func(clone string) {
		if err := os.WriteFile(filepath.Join(clone, "lint"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}, review.Wish{Kind: review.WishCommit, Body: "all"})
	work, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), nil)
	if err != nil || work.Tip != "" || len(work.Refusals) != 1 || work.Refusals[0].Rule != "protected-path" {
		t.Errorf("a command: %+v, %v", work, err)
	}
}

// What the links of the base or of the head lead to is protected as their names are, or named as tests, then and in later reports (threats.md T732).
func TestWhatLinksLeadToIsProtected(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "tools/husk/pre-commit": "make\n", "tools/env.sh": "x\n", "checks/a.py": "assert f() == 1\n"})
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(w.origin, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("tools/husk", ".husky")
	link("checks", "tests")
	base := w.commit(nil)
	w.git(w.origin, "rm", "-q", ".husky")
	link("tools/env.sh", ".envrc")
	w.base = w.commit(nil)
	w.fetch()
	for what, c := range map[string]struct{ script, refused string }{
		"of the base": {"echo 1 >tools/husk/new", "tools/husk/new"},
		"of the head": {"echo 1 >tools/env.sh", "tools/env.sh"},
	} {
		t.Run(what, func(t *testing.T) {
			w := w.in(t)
			w.script(c.script)
			o := w.order("tools/husk/new", "tools/env.sh")
			o.Task.BaseSHA = base
			if work := w.fix(o); len(work.Refusals) != 1 || work.Refusals[0].Rule != "protected-path" || work.Refusals[0].Path != c.refused {
				t.Errorf("%q, refused: %+v", work.Tip, work.Refusals)
			}
		})
	}
	w.script("echo 'assert 1' >checks/a.py")
	work := w.fix(w.order("checks/a.py"))
	if work.Tip == "" || len(work.Tests) != 1 || !strings.Contains(work.Tests[0], "`checks/a.py`: existing tests changed, to which a symbolic link leads from `tests/a.py`") {
		t.Errorf("%q, %q, refused: %+v", work.Tip, work.Tests, work.Refusals)
	}
	changed, added, err := Tests(t.Context(), w.workspace.Repo, w.base, work.Tip)
	if err != nil || !slices.Equal(changed, []string{"checks/a.py"}) || len(added) > 0 {
		t.Errorf("later: %q, %q, %v", changed, added, err)
	}
}

// A fixer's or a command's own patterns, and folders for which git takes for ever to match them, are a refusal of that try (threats.md T582).
func TestPatternsWithoutEndAreRefused(t *testing.T) {
	w := newWorld(t, plainFiles)
	g, err := git.Find(t.Context(), git.Options{Protocols: []string{"file"}, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if w.workspace.Repo, err = g.Open(t.Context(), w.workspace.Repo.Dir()); err != nil {
		t.Fatal(err)
	}
	pattern, deep := strings.Repeat("**/a/", 9)+"b", strings.Repeat("a/", 99)
	w.script(fmt.Sprintf("echo '%s' >.gitignore; git commit -qam one; mkdir -p %s; echo 1 >%[2]sc", pattern, deep))
	if work := w.fix(w.order()); work.Tip != "" || len(work.Refusals) != 1 || work.Refusals[0].Rule != "too-large" {
		t.Errorf("a fixer: %+v", work)
	}
	w.agent(func(clone string) {
		if err := errors.Join(os.WriteFile(filepath.Join(clone, ".gitignore"), []byte(pattern), 0o600), os.MkdirAll(filepath.Join(clone, deep), 0o700),
			os.WriteFile(filepath.Join(clone, deep, "c"), nil, 0o600)); err != nil {
			t.Error(err)
		}
		w.git(clone, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qam", "one")
	}, review.Wish{Kind: review.WishCommit, Body: "all"})
	work, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), nil)
	if err != nil || work.Tip != "" || len(work.Refusals) != 1 || work.Refusals[0].Rule != "too-large" {
		t.Errorf("a command: %+v, %v", work, err)
	}
}

// Nothing that a fixer configures in its clone has git leave out of its commits what they have to bring: an object that its clone does not
// have comes onto no branch, and its commits of other things are taken (threats.md T333).
func TestTheClonesConfigurationTakesNothingOut(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "secret/plan.txt": "the plan\n"})
	w.workspace.Repo = w.workspace.Repo.Without(func(path string) bool { return path == "secret/plan.txt" })
	for name, row := range map[string]struct {
		script  string
		commits int
	}{
		"an object of another's": {`
oid=$(git ls-tree -r HEAD secret/plan.txt | cut -d' ' -f3 | cut -f1)
git update-index --add --cacheinfo 100644,$oid,notes.txt
c=$(git commit-tree $(git write-tree --missing-ok) -p HEAD -m notes)
git reset -q --soft $c; git config pack.useSparse false; echo 1 >a.txt`, 1},
		"its own objects": {`echo 1 >a.txt; git commit -qam one; echo 2 >>a.txt; git commit -qam two; git config pack.useSparse false; git config pack.packSizeLimit 1m`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			w.script(row.script)
			work := w.fix(w.order())
			if len(work.Refusals) > 0 || len(work.Commits) != row.commits {
				t.Fatalf("%+v %s", work, work.Answer.Log)
			}
			before := w.base
			for _, c := range work.Commits {
				if got := w.content(before, c.SHA); len(got) != 1 || got["a.txt"] == "" {
					t.Errorf("%s: %v", c.Message, got)
				}
				before = c.SHA
			}
		})
	}
}

// Without a sandbox a fixer can put another folder in the place of its clone.
func TestCloneReplaced(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.workspace.Confine = unconfined
	w.script(`other=$(mktemp -d); cp -r . $other; echo 1 >$other/a.txt; cd ..; mv tree gone; ln -s $other tree`)
	work := w.fix(w.order())
	if work.Tip != "" || len(work.Refusals) != 1 || work.Refusals[0].Rule != "link" {
		t.Errorf("%+v", work)
	}
	w.left("")
}

// A link in the clone's git leads prloop to nothing outside of it: what it says tells the fixer nothing of what is there (threats.md T710).
func TestLinksOfTheClonesGitAreNotFollowed(t *testing.T) {
	full, empty := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "config"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	shared := newWorld(t, plainFiles)
	for name, script := range map[string]string{"its hooks": "rm -rf .git/hooks; ln -s %s .git/hooks", "all of it": "mv .git gone; ln -s %s .git"} {
		var said [][]string
		for _, folder := range []string{full, empty, filepath.Join(empty, "none")} {
			w := shared.in(t)
			w.script(fmt.Sprintf(script, folder))
			said = append(said, w.fix(w.order()).Notes)
		}
		if !slices.Equal(said[0], said[1]) || !slices.Equal(said[0], said[2]) {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// What a killed process left under the name of a try does not stand in its way.
func TestFixAfterAKill(t *testing.T) {
	w := newWorld(t, plainFiles)
	if err := os.MkdirAll(filepath.Join(w.workspace.Scratch, "fix-1-1", "tree", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.script("echo 1 >a.txt")
	if work := w.fix(w.order()); work.Tip == "" {
		t.Errorf("%+v", work)
	}
	w.left("")
}

// The control of the attack by configuration: once git obeys it, its mark is seen.
func TestConfigurationWouldLeaveAMark(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.script(`git config core.fsmonitor "touch $PWD/pwned; false"; git status >/dev/null`)
	work := w.fix(w.order())
	if _, ok := w.content(w.base, work.Tip)["pwned"]; !ok {
		t.Errorf("no mark: %+v", work)
	}
}

// A folder that its owner may not enter is no refuge: root reads it, for others it is refused; it is removed either way.
func TestUnreadable(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.script(`mkdir -p d/e; echo x >d/e/f; chmod 0 d/e d`)
	work := w.fix(w.order())
	if root := os.Geteuid() == 0; root != (work.Tip != "") || !root && len(work.Refusals) == 0 {
		t.Errorf("%+v", work)
	}
	w.left("")
}

// The same of the clone itself.
func TestUnreadableClone(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.script(`echo 1 >a.txt; chmod 0 .`)
	work := w.fix(w.order())
	if root := os.Geteuid() == 0; root != (work.Tip != "") || !root && (len(work.Refusals) != 1 || work.Refusals[0].Rule != "unreadable-file") {
		t.Errorf("%+v", work)
	}
	w.left("")
}

// Operators open protected paths by glob.
func TestAllow(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.script("echo 'module y' >go.mod")
	order := w.order()
	order.Allow = []string{"go.mod"}
	if work := w.fix(order); work.Tip == "" {
		t.Errorf("%+v", work)
	}
}

// What an agent would take its configuration from is out of its way while it works, and where it was afterwards, even when
// the fixer commits all it sees (threats.md T03).
func TestAside(t *testing.T) {
	files := map[string]string{"a.txt": "a\n", "CLAUDE.md": "rules\n", "sub/.claude/settings.json": "{}\n", "sub/.claude/hooks/x": "x\n", "sub/claude.md": "nested\n"}
	shared := newWorld(t, files)
	look := `test ! -e CLAUDE.md; test ! -e sub/.claude; grep -q rules moved-aside-CLAUDE.md; test -e sub/moved-aside-.claude/hooks/x; test -z "$(git status --porcelain)"; `
	for name, row := range map[string]struct {
		script string
		rule   string
	}{
		"it commits everything":     {"echo 1 >a.txt; git add -A; git commit -qam x", ""},
		"it commits nothing":        {"echo 1 >a.txt", ""},
		"it edits what was moved":   {"echo 1 >a.txt; echo more >>moved-aside-CLAUDE.md", "protected-path"},
		"it deletes what was moved": {"echo 1 >a.txt; rm moved-aside-CLAUDE.md", "protected-path"},
		"it writes its own":         {"echo 1 >a.txt; echo mine >CLAUDE.md", "protected-path"},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			w.script(look + row.script)
			order := w.order()
			w.workspace.Aside = []string{".claude", "CLAUDE.md"}
			work := w.fix(order)
			if row.rule != "" {
				if work.Tip != "" || len(work.Refusals) == 0 || work.Refusals[0].Rule != row.rule {
					t.Errorf("%+v", work)
				}
				return
			}
			if work.Tip == "" {
				t.Fatalf("%+v %s", work, work.Answer.Log)
			}
			if d := cmp.Diff(map[string]string{"a.txt": "1\n"}, w.content(w.base, work.Tip)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Whatever a fixer makes of the folders that something was moved aside in, its work is refused and the run goes on.
func TestAsideInTheWay(t *testing.T) {
	shared := newWorld(t, map[string]string{"a.txt": "a\n", "CLAUDE.md": "rules\n", "sub/claude.md": "nested\n", "sub/b.txt": "b\n"})
	root := os.Geteuid() == 0
	for name, row := range map[string]struct {
		script string
		rules  []string
		// access is true for what root does not care about.
		access bool
	}{
		"its folder is a file":                 {"rm -r sub; echo x >sub", []string{"unreadable-file"}, false},
		"its folder is gone":                   {"rm -r sub", []string{"protected-path"}, false},
		"its folder is a link outside":         {"rm -r sub; ln -s /etc sub", []string{"link"}, false},
		"its folder is a link inside":          {"mv sub other; ln -s other sub", []string{"link"}, false},
		"its folder is a link to itself":       {"rm -r sub; ln -s sub sub", []string{"link"}, false},
		"its folder is a pipe":                 {"rm -r sub; mkfifo sub", []string{"unreadable-file"}, false},
		"its folder may not be written":        {"chmod 500 sub", []string{"unreadable-file"}, true},
		"its folder may not be entered":        {"chmod 000 sub", []string{"unreadable-file"}, true},
		"the clone may not be written":         {"chmod 500 .", []string{"unreadable-file"}, true},
		"the clone may not be entered":         {"chmod 000 .", []string{"unreadable-file"}, true},
		"it is a folder that is full and shut": {"rm moved-aside-CLAUDE.md; mkdir -p moved-aside-CLAUDE.md/x/y; echo x >CLAUDE.md; chmod 500 moved-aside-CLAUDE.md", []string{"unreadable-file", "protected-path"}, true},
		"it is a link outside":                 {"rm moved-aside-CLAUDE.md; ln -s /etc/passwd moved-aside-CLAUDE.md", []string{"link"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			w.script("echo 1 >a.txt; " + row.script)
			order := w.order()
			w.workspace.Aside = []string{"CLAUDE.md"}
			work := w.fix(order)
			if root && row.access && len(work.Refusals) == 0 && work.Tip != "" {
				return
			}
			if work.Tip != "" || len(work.Refusals) == 0 || !slices.Contains(row.rules, work.Refusals[0].Rule) {
				t.Errorf("%+v", work)
			}
			w.left(w.workspace.Scratch)
		})
	}
}

// A name that something moved aside would get may stand in the pull request already: neither takes the other's place.
func TestAsideCollides(t *testing.T) {
	for name, row := range map[string]struct {
		files map[string]string
		look  string
	}{
		"a file": {map[string]string{"CLAUDE.md": "rules\n", "moved-aside-CLAUDE.md": "theirs\n", "sub-b/CLAUDE.md": "b\n"},
			"grep -q rules moved-aside-2-CLAUDE.md && grep -q b sub-b/moved-aside-2-CLAUDE.md && grep -q theirs moved-aside-CLAUDE.md"},
		"a folder": {map[string]string{"sub/.claude/s.json": "rules\n", "sub/moved-aside-.claude/s.json": "theirs\n", "Moved-Aside-2-x": "x\n"},
			"grep -q rules sub/moved-aside-3-.claude/s.json && grep -q theirs sub/moved-aside-.claude/s.json"},
	} {
		t.Run(name, func(t *testing.T) {
			row.files["a.txt"] = "a\n"
			w := newWorld(t, row.files)
			w.script(row.look + ` || { echo not there >b.txt; }; test -z "$(git status --porcelain)" || echo seen >c.txt; echo 1 >a.txt; git add -A; git commit -qm x`)
			order := w.order()
			w.workspace.Aside = []string{".claude", "CLAUDE.md"}
			work := w.fix(order)
			if work.Tip == "" {
				t.Fatalf("%+v %s", work, work.Answer.Log)
			}
			if d := cmp.Diff(map[string]string{"a.txt": "1\n"}, w.content(w.base, work.Tip)); d != "" {
				t.Error(d)
			}
			w.left("")
		})
	}
}

// A submodule of such a name is an empty folder.
func TestAsideSubmodule(t *testing.T) {
	w := newWorld(t, plainFiles)
	w.git(w.origin, "update-index", "--add", "--cacheinfo", "160000,"+w.base+",.claude")
	w.git(w.origin, "commit", "-q", "-m", "c")
	w.base = w.git(w.origin, "rev-parse", "HEAD")
	w.fetch()
	w.script("test ! -e .claude; echo 1 >a.txt; git add -A; git commit -qm x")
	order := w.order()
	w.workspace.Aside = []string{".claude"}
	work := w.fix(order)
	if work.Tip == "" {
		t.Fatalf("%+v %s", work, work.Answer.Log)
	}
	if d := cmp.Diff(map[string]string{"a.txt": "1\n"}, w.content(w.base, work.Tip)); d != "" {
		t.Error(d)
	}
}

func TestFreePrefix(t *testing.T) {
	for want, rest := range map[string][]string{
		"moved-aside-":   nil,
		"moved-aside-2-": {"claude.md", "02-x", "20-x", "2x-y"},
		"moved-aside-3-": {"2"},
		"moved-aside-4-": {"3-claude.md", "2-x", "5-x"},
	} {
		if got := freePrefix(rest); got != want {
			t.Errorf("%q beside %q, want %q", got, rest, want)
		}
	}
}

// The fixer holds nothing: it sees its clone and its home, and finds neither network nor prloop's folders.
func TestFixerHoldsNothing(t *testing.T) {
	t.Setenv("GH_TOKEN", "canary-"+rand.Text())
	w := newWorld(t, plainFiles)
	if err := os.WriteFile(filepath.Join(w.workspace.Scratch, "key"), []byte(os.Getenv("GH_TOKEN")), 0o644); err != nil {
		t.Fatal(err)
	}
	w.script(fmt.Sprintf("{ env; cat %s/key %s/config ../* .git/config; ls -la .. %s; git remote -v; } >found.txt 2>&1 || true", w.workspace.Scratch, w.workspace.Repo.Dir(), w.workspace.Scratch))
	work := w.fix(w.order())
	found := w.content(w.base, work.Tip)["found.txt"]
	for _, canary := range []string{os.Getenv("GH_TOKEN"), w.workspace.Repo.Dir() + "\n", "insteadof", "remote"} {
		if strings.Contains(strings.ReplaceAll(found, w.workspace.Repo.Dir()+"/config", ""), canary) {
			t.Errorf("the fixer found %q:\n%s", canary, found)
		}
	}
	if !strings.Contains(found, "core") {
		t.Errorf("it did not look: %s", found)
	}
}

// A run that ends takes the fixer and its clone with it.
func TestFixEnds(t *testing.T) {
	w := newWorld(t, plainFiles)
	word := "fixing" + rand.Text()
	waits := "sh -c 'sleep 300; : " + word + "'"
	w.script("echo 1 >a.txt; setsid " + waits + " & " + waits)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("superseded")
	go func() {
		fixes := func(line string) bool { return !strings.HasPrefix(line, "sh\x00-c\x00sleep") }
		for len(slices.DeleteFunc(knowing(word), fixes)) < 2 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
		cancel(why)
	}()
	work, err := w.workspace.Fix(ctx, w.order(), nil)
	if !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if r := work.Answer.Receipt; r.State != review.AgentFailed || r.Seconds < 0.5 || work.Tip != "" {
		t.Errorf("of the fixer is known %+v, want what it took", work)
	}
	w.left(word)
	w.workspace.Ask = nil
	if _, err := w.workspace.Fix(t.Context(), w.order(), nil); !errors.Is(err, errNoFixer) {
		t.Errorf("%v", err)
	}
	w.left("")
}

// Two fixes of 150 lines each are 300 lines: that the pull request has grown by the first allows no more.
func TestTheScopeBrakeHoldsAllFixes(t *testing.T) {
	w := newWorld(t, plainFiles)
	second := w.commit(map[string]string{"first.txt": strings.Repeat("x\n", 150)})
	w.fetch()
	for _, first := range []string{"", w.base} {
		w.script(`seq 150 >second.txt`)
		o := w.order()
		o.Reviewed, o.From, o.First = second, second, first
		work := w.fix(o)
		refused := len(work.Refusals) == 1 && work.Refusals[0].Rule == "scope-brake" && work.Tip == ""
		if refused != (first != "") || work.Lines != 150 {
			t.Errorf("since %q: %d lines, refusals %+v", first, work.Lines, work.Refusals)
		}
	}
	w.left("")
}
