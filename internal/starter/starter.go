// Package starter writes what a repository begins with: a commented .reviewerc, and, if wanted, a workflow and a pre-push hook.
package starter

import (
	"cmp"
	"context"
	_ "embed" // the workflow and the hook
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/lang"
)

//go:embed workflow.yml
var workflow string

//go:embed prepush.sh
var prePush string

// workflowName is where the workflow stands in a repository.
const workflowName = ".github/workflows/prloop.yml"

// Options say what is written beside .reviewerc.
type Options struct {
	Workflow, Hook bool
	// Force replaces files that are there.
	Force bool
}

// Written is what was written.
type Written struct {
	// Files are their names as a person would type them at the root of the checkout.
	Files []string
	// Base is the revision that local changes are usually reviewed against; empty before the first commit.
	Base string
}

// ExistsError: a file is there already. Nothing was written.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string { return e.Name + " is there already" }

// file is one that is to be written.
type file struct {
	// dir is the folder it is opened below, name its place there, shown what a person is told.
	dir, name, shown, text string
	mode                   fs.FileMode
}

// Write writes the files of a checkout that dir is in, all or none: *ExistsError. A .reviewerc that is there stays where a workflow or
// a hook is asked for.
func Write(ctx context.Context, dir string, o Options) (w Written, err error) {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return w, err
	}
	c, err := g.Checkout(dir)
	if errors.Is(err, git.ErrNotRepository) {
		return w, advice.Misuse("go to a checkout, or make this folder one: git init", "%w", err)
	}
	if err != nil {
		return w, err
	}
	text, err := reviewerc(c.Top)
	if err != nil {
		return w, err
	}
	var files []file
	_, missing := os.Lstat(filepath.Join(c.Top, config.RepositoryFile))
	if missing != nil || o.Force || !o.Workflow && !o.Hook {
		files = append(files, file{c.Top, config.RepositoryFile, config.RepositoryFile, text, 0o644})
	}
	if o.Workflow {
		files = append(files, file{c.Top, workflowName, workflowName, workflow, 0o644})
	}
	if o.Hook {
		hooks, err := c.Hooks(ctx)
		if err != nil {
			return w, err
		}
		if err := os.MkdirAll(hooks, 0o755); err != nil {
			return w, err
		}
		shown := filepath.Join(hooks, "pre-push")
		if rel, err := filepath.Rel(c.Top, shown); err == nil && filepath.IsLocal(rel) {
			shown = filepath.ToSlash(rel)
		}
		files = append(files, file{hooks, "pre-push", shown, prePush, 0o755})
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(f.dir, f.name)); err == nil && !o.Force {
			return w, &ExistsError{f.shown}
		}
	}
	for _, f := range files {
		if err := f.write(o.Force); err != nil {
			return w, fmt.Errorf("write %s: %w", f.shown, err)
		}
		w.Files = append(w.Files, f.shown)
	}
	w.Base = c.Base(ctx)
	return w, nil
}

// write makes the file anew. A link in its place, or in that of a folder on the way out of the checkout, is never followed.
func (f file) write(force bool) error {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if folder := filepath.Dir(f.name); folder != "." {
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if force {
		if err := root.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	out, err := root.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if err != nil {
		return err
	}
	_, err = out.WriteString(f.text)
	return errors.Join(err, out.Chmod(f.mode), out.Close())
}

// reviewerc is the file for what stands in a checkout. Lines that begin with # and no space are settings that are off.
func reviewerc(top string) (string, error) {
	languages := languages(top)
	checks, err := fixspace.Detect(func(name string) ([]byte, error) { return readSmall(top, name) })
	if err != nil {
		return "", err
	}
	setups, err := fixspace.DetectSetup(func(name string) ([]byte, error) { return readSmall(top, name) })
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# yaml-language-server: $schema=%s", config.RepositorySchema)
	line("# How prloop reviews the pull requests of this repository. A pull request is reviewed by the file at its base commit, local changes by")
	line("# the one here. Lines that begin with # and no space are settings: take the # out of those you want. All keys: docs/config.md of prloop.")
	if len(languages) > 0 {
		line("# Found here: %s.", strings.Join(languages, ", "))
	}
	line("version: 1")
	line("")
	line("# Who reviews. Without this key it is a model, if one is configured (OPENAI_API_KEY), else rules alone.")
	line("#reviewers:")
	line("#  - name: model")
	line("#    use: builtin")
	line("#  - name: rules")
	line("#    use: static")
	line("")
	line("# How often at most what is found is fixed and reviewed again, 1 to 3; 1 reviews only.")
	line("#rounds: 3")
	line("")
	line("# Commands that a fix has to pass before it is pushed, one a line, in POSIX shell and without network.")
	if len(checks) > 0 {
		line("# These were found here. As long as the key is missing, they are used as far as they pass on the reviewed commit.")
		line("#verify:")
		for _, c := range checks {
			line("#  - %s # %s", quoted(c.Command), c.From)
		}
	} else {
		line("#verify:")
		line("#  - make test")
	}
	if len(setups) > 0 {
		line("")
		line("# Commands that fetch and build what those need, at the base commit. They reach the package registries of verify_registries in the user config")
		line("# and nothing else. The user config can lend the module caches of its machine instead: lend_caches (see prloop doctor).")
		line("#verify_setup:")
		for _, s := range setups {
			line("#  - %s # %s", quoted(s.Command), s.From)
		}
	}
	line("")
	line("# Files that no agent reads. Lock files, vendored and generated files are left out anyway.")
	line("#context:")
	line("#  exclude: [%s]", strings.Join(excluded(languages), ", "))
	line("")
	line("# The lowest score, 1 to 10, that is posted.")
	line("#problem_score_threshold: 5")
	return b.String(), nil
}

// quoted writes a command as YAML that means it as it stands.
func quoted(command string) string { return "'" + strings.ReplaceAll(command, "'", "''") + "'" }

// excluded are patterns that fit the languages.
func excluded(languages []string) []string {
	out := []string{`"**/testdata/**"`}
	if slices.Contains(languages, "typescript") || slices.Contains(languages, "javascript") {
		out = append(out, `"**/__snapshots__/**"`)
	}
	if slices.Contains(languages, "python") {
		out = append(out, `"**/*.ipynb"`)
	}
	return out
}

const (
	// mostLooked bounds how many files are looked at, mostLanguages how many languages are named.
	mostLooked, mostLanguages = 5000, 5
	// smallBytes is the largest file that is read for verify commands.
	smallBytes = 1 << 20
)

func readSmall(top, name string) ([]byte, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fs.ErrNotExist
	case info.Size() > smallBytes:
		return nil, git.ErrTooLarge
	}
	return root.ReadFile(name)
}

// data are languages that say nothing of what a repository is written in.
var data = []string{"json", "json with comments", "json5", "yaml", "toml", "ini", "xml", "svg", "csv", "diff", "markdown", "restructuredtext", "asciidoc", "text", "ignore list", "makefile", "go module", "go workspace", "go checksums"}

// languages are those of the files of a checkout, the most frequent first.
func languages(top string) []string {
	count, seen := map[string]int{}, 0
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not counted
		case d.IsDir() && path != top && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor" || name == "testdata"):
			return fs.SkipDir
		case seen > mostLooked:
			return fs.SkipAll
		case d.Type().IsRegular():
			seen++
			if l := lang.Of(name); l != "" && !slices.Contains(data, l) {
				count[l]++
			}
		}
		return nil
	})
	var out []string
	for l := range count {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return out[:min(len(out), mostLanguages)]
}
