package tools

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/gittest"
	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
)

var update = flag.Bool("update", false, "rewrite the descriptions")

// history makes a repository of three commits and a tree of the last. base is the second, and stranger a commit of another history.
func history(t *testing.T) (o Options, stranger string) {
	t.Helper()
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Commit(t, dir, map[string]string{"a.go": "package a\n", "gone.txt": "old\n", "secrets/key": "1\n"})
	gittest.Commit(t, dir, map[string]string{"docs/a.md": "one\n"})
	o = Options{Exclude: []string{"secrets"}, GitDir: filepath.Join(dir, ".git"), Base: gittest.Run(t, dir, "rev-parse", "HEAD")}
	gittest.Run(t, dir, "checkout", "-q", "--orphan", "other")
	gittest.Commit(t, dir, map[string]string{"private": "x\n"})
	stranger = gittest.Run(t, dir, "rev-parse", "HEAD")
	gittest.Run(t, dir, "checkout", "-q", "main")
	gittest.Run(t, dir, "rm", "-q", "gone.txt")
	gittest.Commit(t, dir, map[string]string{"a.go": "package a\n\nconst token = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"\n", "docs/a.md": "one\ntwo\n", "secrets/key": "2\n", "b.go": "package b\n"})
	o.Head = gittest.Run(t, dir, "rev-parse", "HEAD")
	o.Tree = filepath.Join(t.TempDir(), "tree")
	gittest.Run(t, dir, "worktree", "add", "-q", "--detach", o.Tree)
	if err := os.Remove(filepath.Join(o.Tree, ".git")); err != nil {
		t.Fatal(err)
	}
	return o, stranger
}

// rules makes a folder that stands beside the tree, with links that leave it and one that stays.
func rules(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "docs", "api-rules.md"), []byte("Name every field.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"out": "/etc/passwd", "up": "..", "near": "docs/api-rules.md"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command opens everything that a command may be given.
func command(t *testing.T, at review.Place) *Command {
	t.Helper()
	o, _ := history(t)
	return commandIn(t, o, at)
}

// commandIn is command in a copy of the tree of a history.
func commandIn(t *testing.T, o Options, at review.Place, lists ...[]string) *Command {
	t.Helper()
	tree := t.TempDir()
	if err := os.CopyFS(tree, os.DirFS(o.Tree)); err != nil {
		t.Fatal(err)
	}
	o.Tree = tree
	o.Folders = map[string]string{"company-rules": rules(t)}
	line := 2
	c, err := OpenCommand(CommandOptions{
		Options: o, Names: toolset.Names(at, lists...),
		PullRequest: &PullRequest{Number: 7, Title: "Add b", Body: "It adds b.", BaseSHA: o.Base, HeadSHA: o.Head, Discussion: review.Discussion{
			Comments: []review.Comment{{Author: review.Person{Login: "ada"}, Body: "Why?", CreatedAt: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}},
			Reviews:  []review.Review{{Author: review.Person{Login: "bob"}, State: "CHANGES_REQUESTED", Body: "Not yet."}},
			Threads:  []review.Thread{{File: "a.go", Line: &line, Comments: []review.Comment{{Author: review.Person{Login: "bob"}, Body: "Here."}}}},
		}},
		Refuse: func(name string) string {
			if strings.HasPrefix(name, ".github/") {
				return "workflows"
			}
			return ""
		},
		Commit: func(_ context.Context, message string) (string, error) {
			if message == "refuse" {
				return "", errors.New("more than 50 files")
			}
			return "committed", nil
		},
		Push: func(_ context.Context, p Pull) (string, error) { return "opened " + p.Title, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// calls are arguments with which every tool works, in an order in which they do.
var calls = []struct{ tool, args string }{
	{toolset.Read, `{"path":"a.go"}`},
	{toolset.Grep, `{"query":"package"}`},
	{toolset.Find, `{"pattern":"*.md"}`},
	{toolset.Ls, `{}`},
	{toolset.GetDiff, `{}`},
	{toolset.GetChangedFiles, `{}`},
	{toolset.GitLog, `{"sinceHours":24}`},
	{toolset.GitDiffRange, `{"from":"HEAD~1"}`},
	{toolset.GetPRInfo, `{}`},
	{toolset.ListComments, `{}`},
	{toolset.ListThreads, `{}`},
	{toolset.WishComment, `{"body":"Look."}`},
	{toolset.Suggest, `{"body":"Rename it.","file":"a.go","line":1}`},
	{toolset.PostSummary, `{"body":"All is well."}`},
	{toolset.Edit, `{"path":"docs/a.md","old":"two","new":"three"}`},
	{toolset.Write, `{"path":"docs/b.md","content":"new\n"}`},
	{toolset.Delete, `{"path":"b.go"}`},
	{toolset.CommitChanges, `{"message":"Docs"}`},
	{toolset.PushPR, `{"title":"Docs","body":"Why."}`},
	{toolset.TodoWrite, `{"todos":[{"content":"look","status":"pending"}]}`},
	{toolset.TodoRead, `{}`},
}

// threats.md T135: whoever calls every tool there is gets answers from exactly those that the place and the allowlists leave; the
// others do not exist.
func TestEveryToolIsTried(t *testing.T) {
	lists := [][]string{nil, {}}
	for _, s := range toolset.Spellings() {
		lists = append(lists, []string{s})
	}
	o, _ := history(t)
	for _, at := range toolset.Places() {
		for _, list := range lists {
			t.Run(fmt.Sprint(at, list), func(t *testing.T) {
				c := commandIn(t, o, at, list)
				names := toolset.Names(at, list)
				var offered, worked []string
				for _, s := range c.Specs() {
					offered = append(offered, s.Name)
				}
				for _, call := range calls {
					got, err := c.Call(t.Context(), call.tool, []byte(call.args))
					if err == nil {
						worked = append(worked, call.tool)
						continue
					}
					if want := fmt.Sprintf("bad_arguments: there is no tool %q", call.tool); err.Error() != want {
						t.Errorf("%s: %s %v", call.tool, got, err)
					}
				}
				slices.Sort(worked)
				slices.Sort(names)
				slices.Sort(offered)
				if d := cmp.Diff(names, worked) + cmp.Diff(names, offered); d != "" {
					t.Error(d)
				}
				for _, other := range []string{"read_file", "search_code", "write_file", "run_linter", "web_fetch", "diff", "bash", ""} {
					if _, err := c.Call(t.Context(), other, []byte(`{}`)); err == nil {
						t.Errorf("%q works", other)
					}
				}
			})
		}
	}
}

// What a model is told of the tools, read in review: every schema is one, and a tool's name is one that toolset knows.
func TestGoldenSpecs(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, at := range toolset.Places() {
		for _, s := range command(t, at).Specs() {
			if seen[s.Name] {
				continue
			}
			seen[s.Name] = true
			if !json.Valid(s.Parameters) {
				t.Errorf("%s: %s", s.Name, s.Parameters)
			}
			fmt.Fprintf(&b, "%s\n  %s\n  %s\n", s.Name, s.Description, s.Parameters)
		}
	}
	const golden = "testdata/commandtools.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

func TestAnswersOfCommandTools(t *testing.T) {
	c := command(t, review.PlaceComment)
	for _, r := range []struct{ rule, tool, args, want string }{
		{"changed files, without those that nothing reads", toolset.GetChangedFiles, `{}`, "modified a.go\nadded    b.go\nmodified docs/a.md\ndeleted  gone.txt\n"},
		{"a diff of one file, with its secret masked", toolset.GetDiff, `{"paths":["a.go"]}`, "--- a/a.go\n+++ b/a.go\n@@ -1 +1,3 @@\n package a\n+\n+const token = \"[REDACTED]\"\n"},
		{"a diff of a folder between commits", toolset.GitDiffRange, `{"from":"base","to":"HEAD","paths":["docs"]}`, "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1,2 @@\n one\n+two\n"},
		{"no differences", toolset.GitDiffRange, `{"from":"HEAD"}`, "no differences\n"},
		{"files by a glob on the path", toolset.Find, `{"pattern":"docs/*"}`, "docs/a.md\n"},
		{"files by name, beside the tree too", toolset.Find, `{"pattern":"*.md"}`, "company-rules/docs/api-rules.md\ndocs/a.md\n"},
		{"a folder beside the tree stands in it", toolset.Ls, `{}`, "., entries: 4\na.go\nb.go\ncompany-rules/\ndocs/\n"},
		{"and is listed without its links", toolset.Ls, `{"path":"company-rules"}`, "company-rules, entries: 1\ndocs/\n"},
		{"and read", toolset.Read, `{"path":"company-rules/docs/api-rules.md"}`, "company-rules/docs/api-rules.md, lines 1-1 of 1\n     1  Name every field.\n"},
		{"and searched", toolset.Grep, `{"query":"every field"}`, "1 line in 1 file, of 4 read\ncompany-rules/docs/api-rules.md\n     1  Name every field.\n"},
		{"what a pull request says of itself", toolset.GetPRInfo, `{}`, "pull request 7: Add b\nbase " + c.o.Base + "\nhead " + c.o.Head + "\nopen threads: 1, comments: 1\ndescription:\nIt adds b.\n"},
		{"comments and reviews", toolset.ListComments, `{}`, "comments: 2\n1. ada, 2026-11-22 09:00:\nWhy?\n2. review of bob, changes_requested:\nNot yet.\n"},
		{"threads", toolset.ListThreads, `{}`, "threads: 1\n1. a.go:2, open\nbob, 0001-01-01 00:00:\nHere.\n"},
		{"a window that nothing falls into", toolset.GitLog, `{"sinceHours":24,"paths":["nowhere"]}`, "no commits\n"},
	} {
		t.Run(r.rule, func(t *testing.T) {
			got, err := c.Call(t.Context(), r.tool, []byte(r.args))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(r.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// git_log gives the commits of a time window, by their own time.
func TestWindow(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	for i, hours := range []int{100, 20, 2} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, dir, "add", ".")
		c := exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", fmt.Sprint("commit ", hours))
		c.Dir, c.Env = dir, append(os.Environ(), "GIT_COMMITTER_DATE="+time.Now().Add(-time.Duration(hours)*time.Hour).Format(time.RFC3339))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	c, err := OpenCommand(CommandOptions{Options: Options{Tree: dir, GitDir: filepath.Join(dir, ".git"), Head: gittest.Run(t, dir, "rev-parse", "HEAD")}, Names: toolset.Names(review.PlaceSchedule, []string{toolset.GitHistory})})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for args, want := range map[string]int{`{}`: 3, `{"sinceHours":24}`: 2, `{"sinceHours":3}`: 1, `{"sinceHours":24,"paths":["f1"]}`: 1, `{"sinceHours":1}`: 0} {
		got, err := c.Call(t.Context(), toolset.GitLog, []byte(args))
		if n := strings.Count(got, ": commit "); err != nil || n != want {
			t.Errorf("%s: %d commits, want %d: %v", args, n, want, err)
		}
	}
}

func TestRefusalsOfCommandTools(t *testing.T) {
	o, stranger := history(t)
	o.Folders = map[string]string{"company-rules": rules(t)}
	c, err := OpenCommand(CommandOptions{Options: o, Names: append(toolset.Names(review.PlaceComment), toolset.Names(review.PlaceSchedule, []string{toolset.RepoWrite, toolset.GitHubPR})[:5]...),
		PullRequest: &PullRequest{}, Commit: func(context.Context, string) (string, error) { return "", errors.New("more than 50 files") },
		Push: func(context.Context, Pull) (string, error) { return "", nil }, Refuse: func(string) string { return "outside writeScope" }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, r := range []struct {
		rule, tool, args string
		want             Code
	}{
		{"threats.md T136: a commit of another history", toolset.GitDiffRange, `{"from":"` + stranger + `"}`, NotFound},
		{"threats.md T22: an option in place of a commit", toolset.GitDiffRange, `{"from":"--output=/tmp/x"}`, BadArguments},
		{"a branch in place of a commit", toolset.GitDiffRange, `{"from":"other"}`, BadArguments},
		{"a path in place of a commit", toolset.GitDiffRange, `{"from":"HEAD:secrets/key"}`, BadArguments},
		{"a range in place of a commit", toolset.GitDiffRange, `{"from":"HEAD~1..HEAD"}`, BadArguments},
		{"a commit that is not there", toolset.GitDiffRange, `{"from":"HEAD~9"}`, NotFound},
		{"the diff of what nothing reads", toolset.GetDiff, `{"paths":["secrets/key"]}`, NotFound},
		{"a path that leaves the tree", toolset.GitLog, `{"paths":["../x"]}`, BadPath},
		{"a glob that is none", toolset.Find, `{"pattern":"[a"}`, BadArguments},
		{"a glob that stands for too many", toolset.Find, `{"pattern":"` + strings.Repeat("{a,b}", 7) + `"}`, BadArguments},
		{"threats.md T137: a link out of a folder", toolset.Read, `{"path":"company-rules/out"}`, NotAFile},
		{"threats.md T137: a link inside a folder", toolset.Read, `{"path":"company-rules/near"}`, NotAFile},
		{"threats.md T137: a folder behind a link", toolset.Ls, `{"path":"company-rules/up"}`, NotAFile},
		{"threats.md T137: beyond a folder", toolset.Read, `{"path":"company-rules/../../x"}`, BadPath},
		{"a folder beside the tree is not written", toolset.Write, `{"path":"company-rules/x.md","content":"x"}`, Protected},
		{"nor changed", toolset.Edit, `{"path":"company-rules/docs/api-rules.md","old":"Name","new":"Hide"}`, Protected},
		{"nor deleted from", toolset.Delete, `{"path":"company-rules/docs/api-rules.md"}`, Protected},
		{"nor commented on", toolset.WishComment, `{"body":"x","file":"company-rules/docs/api-rules.md","line":1}`, NotAFile},
		{"a path the caller refuses", toolset.Write, `{"path":"x.go","content":"x"}`, Protected},
		{"a comment on nothing", toolset.WishComment, `{"body":"x","file":"nowhere.go"}`, NotAFile},
		{"a comment without text", toolset.WishComment, `{"body":""}`, BadArguments},
		{"a line of no file", toolset.WishComment, `{"body":"x","line":3}`, BadArguments},
		{"a suggestion without a place", toolset.Suggest, `{"body":"x","file":"a.go"}`, BadArguments},
		{"a suggestion backwards", toolset.Suggest, `{"body":"x","file":"a.go","line":3,"lineEnd":1}`, BadArguments},
		{"a long one", toolset.PostSummary, `{"body":"` + strings.Repeat("x", argsLimit+1) + `"}`, TooLarge},
		{"what prloop does not carry out", toolset.CommitChanges, `{"message":"x"}`, Protected},
		{"a commit without words", toolset.CommitChanges, `{"message":""}`, BadArguments},
		{"a status nobody knows", toolset.TodoWrite, `{"todos":[{"content":"x","status":"soon"}]}`, BadArguments},
	} {
		t.Run(r.rule, func(t *testing.T) {
			got, err := c.Call(t.Context(), r.tool, []byte(r.args))
			var typed *Error
			if !errors.As(err, &typed) || typed.Code != r.want {
				t.Errorf("%s %v, want %s", got, err, r.want)
			}
		})
	}
}

// Wishes are recorded as they were made; one summary counts, the last.
func TestWishes(t *testing.T) {
	c := command(t, review.PlaceReview)
	for _, call := range []struct{ tool, args string }{
		{toolset.PostSummary, `{"body":"first"}`},
		{toolset.WishComment, `{"body":"on a line","file":"./a.go","line":3}`},
		{toolset.Suggest, `{"body":"on lines","file":"docs/a.md","line":1,"lineEnd":2}`},
		{toolset.PostSummary, `{"body":"last"}`},
	} {
		if _, err := c.Call(t.Context(), call.tool, []byte(call.args)); err != nil {
			t.Fatal(err)
		}
	}
	want := []Wish{{toolset.WishComment, "on a line", "a.go", 3, 0}, {toolset.Suggest, "on lines", "docs/a.md", 1, 2}, {toolset.PostSummary, "last", "", 0, 0}}
	if d := cmp.Diff(want, c.Wishes()); d != "" {
		t.Error(d)
	}
	for i := range wishLimit {
		_, err := c.Call(t.Context(), toolset.WishComment, []byte(`{"body":"again"}`))
		if (err != nil) != (i >= wishLimit-len(want)) {
			t.Fatalf("wish %d: %v", i, err)
		}
	}
}

// No agent is promised a tool that cannot work.
func TestToolWithoutItsPart(t *testing.T) {
	for _, name := range []string{toolset.GitLog, toolset.GetDiff, toolset.GetPRInfo, toolset.CommitChanges, toolset.PushPR, "bash"} {
		if c, err := OpenCommand(CommandOptions{Options: Options{Tree: t.TempDir()}, Names: []string{name}}); err == nil {
			t.Errorf("%s is there: %v", name, c.Specs())
		}
	}
}

// threats.md T138: whose files are read under a folder's name does not depend on the tree.
func TestFolderOfTheTree(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"a folder": func(at string) error { return os.Mkdir(at, 0o755) },
		"a file":   func(at string) error { return os.WriteFile(at, nil, 0o600) },
		"a link":   func(at string) error { return os.Symlink("nowhere", at) },
	} {
		tree := t.TempDir()
		if err := make(filepath.Join(tree, "company-rules")); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Tree: tree, Folders: map[string]string{"company-rules": t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "of its own") {
			t.Errorf("%s in its place: %v", name, err)
		}
	}
}
