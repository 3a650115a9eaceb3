package builtin

import (
	"context"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/static"
	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

// toolbox hands the tools to the builtin reviewer.
type toolbox struct{ *tools.Box }

// Specs are the tools' own, in the reviewer's words.
func (t toolbox) Specs() []modelagent.ToolSpec {
	var all []modelagent.ToolSpec
	for _, s := range t.Box.Specs() {
		all = append(all, modelagent.ToolSpec(s))
	}
	return all
}

// Call is the box's.
func (t toolbox) Call(ctx context.Context, name string, args []byte) (string, error) {
	return t.Box.Call(ctx, name, args)
}

// acpToolbox hands the tools that read a tree to an ACP agent.
type acpToolbox struct{ *tools.Box }

// Specs are the tools' own, in the words of package acp.
func (t acpToolbox) Specs() []acp.ToolSpec {
	var all []acp.ToolSpec
	for _, s := range t.Box.Specs() {
		all = append(all, acp.ToolSpec(s))
	}
	return all
}

// Tools opens the tools that read a tree and the folders beside it, for an ACP agent: those of the names for a command, those of a reviewer where names is nil.
func Tools(tree string, names []string, folders map[string]string) (acp.Toolbox, error) {
	if names != nil {
		o := readOnly(tree)
		o.Folders = folders
		c, err := tools.OpenCommand(tools.CommandOptions{Options: o, Names: names})
		if err != nil {
			return nil, err
		}
		return acpToolbox{c.Box}, nil
	}
	b, err := tools.Open(readOnly(tree))
	return acpToolbox{b}, err
}

// readOnly are the tools that need nothing but a tree.
func readOnly(tree string) tools.Options {
	return tools.Options{
		Tree: tree, Language: lang.Of,
		Functions: func(path string, text []byte, line int, named string) (tools.Function, bool) {
			f, ok := repocontext.FunctionAt(path, text, line)
			if named != "" {
				f, ok = repocontext.FunctionNamed(path, text, named)
			}
			return tools.Function(f), ok
		},
	}
}

// openTools opens the workspace of a task for its reviewer.
func openTools(task review.Task, p Agent) func(review.Workspace, string) (modelagent.Toolbox, error) {
	return func(w review.Workspace, head string) (modelagent.Toolbox, error) {
		o := readOnly(w.Tree)
		o.Exclude, o.Unmasked, o.Masked = w.Exclude, w.Unmasked, w.Masked
		if w.GitDir != "" {
			o.GitDir, o.Head, o.Base = w.GitDir, head, task.BaseSHA
		}
		if len(w.FetchHosts) > 0 {
			o.Fetch, o.FetchHosts = p.fetch, w.FetchHosts
		}
		if w.Search {
			o.Search = p.search
		}
		if w.Lint {
			o.Lint = func(ctx context.Context, files []string) ([]tools.Remark, error) {
				return lint(ctx, w.Tree, task, files)
			}
		}
		b, err := tools.Open(o)
		if err != nil {
			return nil, err
		}
		return toolbox{b}, nil
	}
}

// lintTimeout is longer than what a person waits for: a confined linter has no cache and compiles everything first.
const lintTimeout = time.Minute

// lint runs the linters of the static reviewer over changed files. It says what they remark about added lines.
func lint(ctx context.Context, tree string, task review.Task, files []string) ([]tools.Remark, error) {
	asked := map[string]bool{}
	for _, f := range files {
		asked[spelling.Name(f)] = true
	}
	// A task without a pull request is one whose linters may run; the caller has made sure of it.
	local := review.Task{Agent: task.Agent, HeadSHA: task.HeadSHA, BaseSHA: task.BaseSHA}
	for _, f := range task.Brief.Files {
		if asked[f.Path] {
			local.Brief.Files = append(local.Brief.Files, f)
		}
	}
	got, err := static.Review(ctx, local, static.Options{CheckoutDir: tree, Exact: true, LinterTimeout: lintTimeout}, nil)
	if err != nil {
		return nil, err
	}
	var all []tools.Remark
	for _, f := range got.Findings {
		if !strings.HasPrefix(f.ID, "STATIC-LINT-") || f.Line == nil {
			continue
		}
		all = append(all, tools.Remark{File: f.File, Line: *f.Line, Rule: f.Title, Message: f.Description})
	}
	return all, nil
}
