package tools

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/neverread"
	"github.com/prloop/prloop/internal/testkit/gittest"
	"github.com/prloop/prloop/internal/toolset"
)

// reaching is, for each tool, how a model would reach for what is withheld with it. One that reads nothing of the tree or its history has
// none, and says so by standing here.
var reaching = map[string][]string{
	"read_file": {`{"path":"customer_data/eu/list.csv"}`, `{"path":"link"}`, `{"path":"folder/list.csv"}`, `{"path":"./customer_data//eu/list.csv"}`,
		`{"path":"customer_data/eu/list.csv","version":"base"}`, `{"path":"link","version":"base"}`, `{"path":"folder/list.csv","version":"base"}`},
	"search_code":          {`{"query":"CANARY"}`, `{"query":"CANARY","under":"customer_data"}`, `{"query":"C.N.RY","regexp":true}`, `{"query":"CANARY","count":true}`},
	"list":                 {`{"path":"customer_data/eu"}`, `{"path":"folder"}`},
	"get_function_context": {`{"path":"customer_data/eu/code.go","line":4}`},
	"run_linter":           {`{"files":["customer_data/eu/code.go"]}`},
	"edit_file":            {`{"path":"customer_data/eu/list.csv","old":"CANARY-4711-of-a-customer","new":"x"}`},
	"write_file":           {`{"path":"customer_data/eu/list.csv","content":"x"}`},
	"delete_file":          {`{"path":"customer_data/eu/list.csv"}`},
	"diff":                 {`{}`},
	"web_fetch":            nil, "web_search": nil, "run_checks": nil,

	toolset.Read:            {`{"path":"customer_data/eu/list.csv"}`, `{"path":"link"}`},
	toolset.Grep:            {`{"query":"CANARY"}`, `{"query":"CANARY","under":"customer_data/eu"}`},
	toolset.Find:            {`{"pattern":"*.csv"}`, `{"pattern":"customer_data/**"}`},
	toolset.Ls:              {`{"path":"customer_data/eu"}`},
	toolset.GitLog:          {`{}`, `{"paths":["customer_data"]}`, `{"path":"customer_data/eu/list.csv"}`},
	toolset.GitDiffRange:    {`{"from":"base"}`, `{"from":"base","to":"HEAD","paths":["customer_data/eu/list.csv"]}`, `{"from":"HEAD","to":"base","paths":["customer_data"]}`},
	toolset.GetDiff:         {`{}`, `{"paths":["customer_data/eu/list.csv"]}`},
	toolset.GetChangedFiles: {`{}`},
	toolset.Edit:            {`{"path":"customer_data/eu/list.csv","old":"CANARY-4711-of-a-customer","new":"x"}`},
	toolset.Write:           {`{"path":"customer_data/eu/list.csv","content":"x"}`},
	toolset.Delete:          {`{"path":"customer_data/eu/list.csv"}`},
	toolset.TodoWrite:       nil, toolset.TodoRead: nil, toolset.GetPRInfo: nil, toolset.ListComments: nil, toolset.ListThreads: nil, toolset.WishComment: nil, toolset.Suggest: nil,
	toolset.PostSummary: nil, toolset.CommitChanges: nil, toolset.PushPR: nil,
}

// No tool shows a byte of what is withheld, even where its files stand in the tree, and a new tool has to stand above first.
func TestWithheldIsShownByNoTool(t *testing.T) {
	for _, hides := range []bool{true, false} {
		dir := t.TempDir()
		gittest.Run(t, dir, "init", "-q")
		const data = "customer_data/eu/list.csv"
		code := "package eu\n\n// CANARY-4711-of-a-customer\nfunc Canary() {\n\t_ = \"CANARY-4711-of-a-customer\"\n}\n"
		gittest.Commit(t, dir, map[string]string{data: "CANARY-4711-of-a-customer\n", "customer_data/eu/code.go": code, "a.go": "package a\n"})
		base := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
		gittest.Commit(t, dir, map[string]string{data: "CANARY-4712-of-a-customer\n", "a.go": "package a\n\nvar A int\n"})
		head := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
		gittest.Commit(t, dir, map[string]string{data: "CANARY-4711-of-a-customer\n"}) // what stands in the tree

		o := Options{
			Tree: dir, Functions: functions, Language: func(string) string { return "go" }, GitDir: filepath.Join(dir, ".git"), Head: head, Base: base,
			Fetch:  func(context.Context, string) (json.RawMessage, error) { return json.RawMessage(`{}`), nil },
			Search: func(context.Context, string) (json.RawMessage, error) { return json.RawMessage(`{}`), nil },
			Lint: func(_ context.Context, files []string) (out []Remark, err error) {
				for _, f := range files {
					out = append(out, Remark{File: f, Line: 1, Rule: "r", Message: "CANARY in " + f})
				}
				return out, nil
			},
		}
		if hides {
			o.Exclude = neverread.Paths{"customer_data/*"}.Globs()
		}
		box, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		editor, err := OpenEditor(EditorOptions{Tree: dir, Exclude: o.Exclude, Functions: functions, Language: o.Language,
			Checks: func(context.Context, string) (string, error) { return "", nil }, CheckRuns: 1})
		if err != nil {
			t.Fatal(err)
		}
		did := func(context.Context, string) (string, error) { return "", nil }
		c := &Command{Box: box, editor: editor, o: CommandOptions{Options: o, PullRequest: &PullRequest{}, Commit: did, Push: func(context.Context, Pull) (string, error) { return "", nil }}}
		found := map[string]bool{}
		for _, all := range [][]tool{box.list(), editor.tools, c.all()} {
			for _, one := range all {
				tries, known := reaching[one.Name]
				if !known {
					t.Errorf("the tool %s is new: how would a model reach for what is withheld with it?", one.Name)
				}
				for _, args := range tries {
					text := ""
					got, err := one.call(t.Context(), []byte(args))
					if err == nil {
						text = got.text()
					} else {
						text = err.Error()
					}
					shown := strings.Contains(text, "CANARY-47") || strings.Contains(text, "Canary") || strings.Contains(text, "CANARY in")
					found[one.Name] = found[one.Name] || shown
					if shown && hides {
						t.Errorf("%s %s shows what is withheld:\n%s", one.Name, args, text)
					}
				}
			}
		}
		if !hides { // these have to find it where nothing is withheld: a look that finds nothing proves nothing
			for _, name := range []string{"read_file", "search_code", "get_function_context", "run_linter", toolset.GetDiff, toolset.GitDiffRange, toolset.Grep} {
				if !found[name] {
					t.Errorf("%s does not find what is there", name)
				}
			}
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		if err := editor.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that takes the place of a folder has its name, and git takes that for all that was in the folder.
func TestAFileInPlaceOfAWithheldFolder(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q")
	gittest.Commit(t, dir, map[string]string{"customer_data/eu/list.csv": "CANARY-4711-of-a-customer\n", "a.go": "package a\n"})
	base := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
	gittest.Run(t, dir, "rm", "-qr", "customer_data")
	gittest.Commit(t, dir, map[string]string{"customer_data": "moved to the vault\n"})
	head := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
	c, err := OpenCommand(CommandOptions{
		Options: Options{Tree: dir, Exclude: neverread.Paths{"customer_data/*"}.Globs(), GitDir: filepath.Join(dir, ".git"), Head: head, Base: base},
		Names:   []string{toolset.GetDiff, toolset.GitDiffRange, toolset.GetChangedFiles},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, call := range [][2]string{
		{toolset.GetDiff, `{}`}, {toolset.GetDiff, `{"paths":["customer_data"]}`}, {toolset.GitDiffRange, `{"from":"base"}`}, {toolset.GitDiffRange, `{"from":"HEAD","to":"base"}`},
		{toolset.GetChangedFiles, `{}`},
	} {
		got, err := c.Call(t.Context(), call[0], []byte(call[1]))
		if err != nil || strings.Contains(got, "CANARY") || strings.Contains(got, "eu/") || !strings.Contains(got, "customer_data") {
			t.Errorf("%s %s: %v\n%s", call[0], call[1], err, got)
		}
	}
}
