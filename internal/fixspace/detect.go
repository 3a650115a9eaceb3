package fixspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// Detected is a verify command that a repository does not configure and its files suggest.
type Detected struct {
	// Command is a line of POSIX shell.
	Command string
	// From says what suggests it, such as "Makefile: target lint".
	From string
}

// maxDetected bounds what is run without anybody having asked for it.
const maxDetected = 6

// purpose orders commands: what is quick and tells most comes first.
type purpose int

const (
	lint purpose = iota
	build
	test
	purposes
)

func (p purpose) String() string { return [...]string{"lint", "build", "test"}[p] }

// guess is a command before the choice.
type guess struct {
	Detected
	purpose purpose
	// whole marks commands of a task runner, which speak for all languages of the repository.
	whole bool
}

// Detect proposes verify commands for a repository that configures none, by the files at its root: targets of a Makefile,
// go.mod, scripts of package.json, Cargo.toml, pyproject.toml. files reads one at the base commit, which a pull request
// cannot change, and says fs.ErrNotExist for one that is not there; one that is too large to read is passed over. The same
// files give the same commands: lints first, then builds, then tests, six at most.
func Detect(files func(name string) ([]byte, error)) ([]Detected, error) {
	var all []guess
	for _, look := range []func(reader) []guess{makeTargets, goModule, npmScripts, cargo, python} {
		r := reader{files: files, failed: new(error)}
		found := look(r)
		if *r.failed != nil {
			return nil, fmt.Errorf("detect verify commands: %w", *r.failed)
		}
		all = append(all, found...)
	}
	var chosen []Detected
	for p := range purposes {
		whole := slices.ContainsFunc(all, func(g guess) bool { return g.whole && g.purpose == p })
		for _, g := range all {
			if g.purpose == p && (g.whole || !whole) && len(chosen) < maxDetected {
				chosen = append(chosen, g.Detected)
			}
		}
	}
	return chosen, nil
}

// reader reads files for one detector and remembers the first error that is not about the file itself.
type reader struct {
	files  func(name string) ([]byte, error)
	failed *error
}

// read gives the text of a file; ok is false when there is none to read.
func (r reader) read(name string) (text string, ok bool) {
	data, err := r.files(name)
	r.note(err)
	return string(data), err == nil
}

// has reports whether there is such a file, of whatever size.
func (r reader) has(name string) bool {
	_, err := r.files(name)
	r.note(err)
	return err == nil || errors.Is(err, git.ErrTooLarge)
}

func (r reader) note(err error) {
	if err != nil && *r.failed == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, git.ErrTooLarge) {
		*r.failed = err
	}
}

// makeTargets are the targets lint, build and test of the makefile that make would read.
func makeTargets(r reader) (found []guess) {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		text, ok := r.read(name)
		if !ok {
			continue
		}
		has, _ := pushpolicy.MakeTargets(text)
		for p := range purposes {
			if t := p.String(); has[t] {
				found = append(found, guess{Detected{"make " + t, name + ": target " + t}, p, true})
			}
		}
		return found
	}
	return nil
}

func goModule(r reader) []guess {
	if !r.has("go.mod") {
		return nil
	}
	return []guess{
		{Detected{"go vet ./...", "go.mod"}, lint, false},
		{Detected{"go build ./...", "go.mod"}, build, false},
		{Detected{"go test ./...", "go.mod"}, test, false},
	}
}

// noTest is what npm init writes where there is no test.
const noTest = "no test specified"

// npmScripts are the scripts lint, build and test of package.json, run by the package manager the repository locks.
func npmScripts(r reader) (found []guess) {
	text, ok := r.read("package.json")
	if !ok {
		return nil
	}
	var manifest struct {
		PackageManager string            `json:"packageManager"`
		Scripts        map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &manifest) != nil {
		return nil
	}
	run := packageManager(r, manifest.PackageManager) + " run "
	for p := range purposes {
		if script := manifest.Scripts[p.String()]; script != "" && !strings.Contains(script, noTest) {
			found = append(found, guess{Detected{run + p.String(), "package.json: script " + p.String()}, p, false})
		}
	}
	return found
}

func packageManager(r reader, wanted string) string {
	wanted, _, _ = strings.Cut(wanted, "@")
	for _, m := range []struct{ name, lock string }{{"pnpm", "pnpm-lock.yaml"}, {"yarn", "yarn.lock"}} {
		if wanted == m.name {
			return m.name
		}
		if wanted == "" && r.has(m.lock) {
			return m.name
		}
	}
	return "npm"
}

// cargo never asks the network, which it would not get.
func cargo(r reader) []guess {
	if !r.has("Cargo.toml") {
		return nil
	}
	return []guess{
		{Detected{"cargo build --offline --all-targets", "Cargo.toml"}, build, false},
		{Detected{"cargo test --offline", "Cargo.toml"}, test, false},
	}
}

// pytest runs the pytest that is installed. python3 -m looks first in the folder it is called in, where a pytest.py of the change, or an
// argparse.py, would be taken for it (threats.md T321). This looks there for nothing until pytest is loaded, on every version of Python, and what
// tests start looks where it always does, as it would not with -P or PYTHONSAFEPATH.
const pytest = "python3 -c 'import sys; sys.path = [p for p in sys.path if p]; import pytest; sys.exit(pytest.main())'"

var pythonPath = lazyregexp.New(`(?m)^[ \t]*pythonpath[ \t]*=`)

// rootFirst has pytest look for the repository's modules at its root, as python3 -m does, unless its manifest says where they are.
func rootFirst(manifest string) string {
	if pythonPath.MatchString(manifest) {
		return ""
	}
	return " -o pythonpath=."
}

// python runs the tools that pyproject.toml configures.
func python(r reader) (found []guess) {
	text, ok := r.read("pyproject.toml")
	if !ok {
		return nil
	}
	for _, tool := range []struct {
		name, command string
		purpose       purpose
	}{{"ruff", "ruff check .", lint}, {"mypy", "mypy .", lint}, {"pytest", pytest + " -q" + rootFirst(text), test}} {
		for line := range strings.Lines(text) {
			if table := strings.TrimSpace(line); table == "[tool."+tool.name+"]" || strings.HasPrefix(table, "[tool."+tool.name+".") {
				found = append(found, guess{Detected{tool.command, "pyproject.toml: tool." + tool.name}, tool.purpose, false})
				break
			}
		}
	}
	return found
}
