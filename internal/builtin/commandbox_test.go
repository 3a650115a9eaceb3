package builtin

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/gittest"
	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
)

// A builtin agent of a command has the tools its task names and no others; what it wished for is in its answer.
func TestCommandTools(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	base := gittest.Commit(t, dir, map[string]string{"a.go": "package a\n"})
	head := gittest.Commit(t, dir, map[string]string{"a.go": "package a\n\nfunc F() {}\n"})
	task := review.Task{PRNumber: 7, BaseSHA: base, HeadSHA: head, Title: "Add F", Discussion: &review.Discussion{}}
	w := review.Workspace{Tree: dir, GitDir: filepath.Join(dir, ".git"), Lint: true, FetchHosts: []string{"docs.example.com"}, Search: true}
	for _, at := range []review.Place{review.PlaceReview, review.PlaceComment, review.PlaceLocal} {
		task.Command = &review.CommandTask{ID: "a", Tools: toolset.Names(at)}
		c, err := openCommand(task, w, head)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range c.Specs() {
			got = append(got, s.Name)
		}
		if d := cmp.Diff(task.Command.Tools, got); d != "" {
			t.Errorf("%s: %s", at, d)
		}
		if _, err := c.Call(t.Context(), toolset.GetDiff, []byte(`{}`)); err != nil {
			t.Error(err)
		}
		if slices.Contains(got, toolset.WishComment) {
			if _, err := c.Call(t.Context(), toolset.WishComment, []byte(`{"body":"Here.","file":"a.go","line":3}`)); err != nil {
				t.Fatal(err)
			}
			line := 3
			want := []review.Wish{{Kind: review.WishComment, Body: "Here.", Location: &review.Location{File: "a.go", Line: &line}}}
			if d := cmp.Diff(want, wishes(c)); d != "" {
				t.Error(d)
			}
		}
		_ = c.Close()
	}
	task.Command = nil
	c, err := openCommand(task, w, head)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n := len(c.Specs()); n != 0 {
		t.Errorf("a task that names no tools has %d", n)
	}
}

// An ACP agent is lent those of a command's tools that read the tree.
func TestCommandToolsOverMCP(t *testing.T) {
	rules := t.TempDir()
	gittest.Write(t, rules, "api-rules.md", "Name every field.\n")
	box, err := Tools(t.TempDir(), []string{toolset.Read, toolset.Ls}, map[string]string{"company-rules": rules})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := box.Call(t.Context(), toolset.Read, []byte(`{"path":"company-rules/api-rules.md"}`)); err != nil || !strings.Contains(text, "Name every field.") {
		t.Errorf("%s %v", text, err)
	}
	var got []string
	for _, s := range box.Specs() {
		got = append(got, s.Name)
	}
	if d := cmp.Diff([]string{toolset.Read, toolset.Ls}, got); d != "" {
		t.Error(d)
	}
}
