package builtin

import (
	"cmp"
	"context"
	"io/fs"
	"os"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

// workshop hands the tools that write to the builtin fixer.
type workshop struct {
	toolbox
	editor *tools.Editor
}

// Changed is the editor's.
func (w workshop) Changed() []string { return w.editor.Changed() }

// Diff is the editor's.
func (w workshop) Diff() string { return w.editor.Diff() }

// Revert is the editor's.
func (w workshop) Revert() error { return w.editor.Revert() }

// openEditor opens the clone of a task for its fixer. What the push policy protects is refused at once, so that a model does
// not spend a try on it; the policy itself is held when the work is taken out.
func openEditor(task review.Task, p Agent, emit func(review.Event)) func(review.Workspace) (modelagent.Editor, error) {
	allowed := task.Options.AllowPaths
	return func(w review.Workspace) (modelagent.Editor, error) {
		files, err := stood(w.Tree, task.Brief.Files)
		if err != nil {
			return nil, err
		}
		asked, read := pushpolicy.AskedOf(task, files), readOnly(w.Tree)
		o := tools.EditorOptions{
			Tree: w.Tree, Exclude: w.Exclude, Unmasked: w.Unmasked, Masked: w.Masked, Language: read.Language, Functions: read.Functions,
			Refuse: func(name string) string {
				if globs.Any(allowed, name) {
					return ""
				}
				return cmp.Or(pushpolicy.Protected(name), asked.Refuse(name))
			},
		}
		if t := task.Terms; t != nil && t.Checks > 0 {
			o.CheckRuns, o.Commands = t.Checks, t.Verify
			o.Checks = func(ctx context.Context, command string) (string, error) { return p.checks(ctx, command, emit) }
		}
		e, err := tools.OpenEditor(o)
		if err != nil {
			return nil, err
		}
		return workshop{toolbox{e.Box}, e}, nil
	}
}

// stood are the files of the merge base, by those of a clone and what the pull request changed: without those that no fixer is shown.
func stood(clone string, changed []review.BriefFile) (files []string, err error) {
	fresh := map[string]bool{}
	for _, f := range changed {
		switch name := spelling.Raw(f.Path); {
		case f.OldPath != "":
			fresh[name], files = true, append(files, spelling.Raw(f.OldPath))
		case f.Change == "added":
			fresh[name] = true
		case f.Change == "deleted":
			files = append(files, name)
		}
	}
	err = fs.WalkDir(os.DirFS(clone), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".git" && d.IsDir():
			return fs.SkipDir
		case !d.IsDir() && !fresh[name]:
			files = append(files, name)
		}
		return nil
	})
	return files, err
}
