package fixspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

func TestDetect(t *testing.T) {
	for name, row := range map[string]struct {
		files map[string]string
		want  []Detected
	}{
		"nothing to go by": {},
		"a Makefile speaks for all languages": {
			map[string]string{"Makefile": ".PHONY: lint test\nlint test:: go.mod\n\tgo vet\nbuild := out\nbuild2: x\n", "go.mod": "module x\n"},
			[]Detected{{"make lint", "Makefile: target lint"}, {"go build ./...", "go.mod"}, {"make test", "Makefile: target test"}},
		},
		"the makefile that make would read": {
			map[string]string{"GNUmakefile": "build:\n", "Makefile": "lint:\n"},
			[]Detected{{"make build", "GNUmakefile: target build"}},
		},
		"a recipe's line is no target": {map[string]string{"Makefile": "all:\n\tlint: no\n"}, nil},
		"two languages, lints first": {
			map[string]string{"go.mod": "", "package.json": `{"scripts":{"test":"vitest","lint":"eslint ."}}`, "pnpm-lock.yaml": ""},
			[]Detected{{"go vet ./...", "go.mod"}, {"pnpm run lint", "package.json: script lint"}, {"go build ./...", "go.mod"},
				{"go test ./...", "go.mod"}, {"pnpm run test", "package.json: script test"}},
		},
		"what npm init writes is no test": {
			map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1","build":"tsc"},"packageManager":"yarn@4.1.0"}`},
			[]Detected{{"yarn run build", "package.json: script build"}},
		},
		"a manifest that is none": {map[string]string{"package.json": `{`}, nil},
		"Rust without the network": {
			map[string]string{"Cargo.toml": ""},
			[]Detected{{"cargo build --offline --all-targets", "Cargo.toml"}, {"cargo test --offline", "Cargo.toml"}},
		},
		"Python by its tools": {
			map[string]string{"pyproject.toml": "[tool.ruff.lint]\nselect = [\"E\"]\n[tool.pytest.ini_options]\n"},
			[]Detected{{"ruff check .", "pyproject.toml: tool.ruff"}, {pytest + " -q -o pythonpath=.", "pyproject.toml: tool.pytest"}},
		},
		"six at most": {
			map[string]string{"go.mod": "", "Cargo.toml": "", "package.json": `{"scripts":{"test":"a","lint":"b","build":"c"}}`},
			[]Detected{{"go vet ./...", "go.mod"}, {"npm run lint", "package.json: script lint"}, {"go build ./...", "go.mod"},
				{"npm run build", "package.json: script build"}, {"cargo build --offline --all-targets", "Cargo.toml"}, {"go test ./...", "go.mod"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Detect(func(name string) ([]byte, error) {
				text, ok := row.files[name]
				if !ok {
					return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
				}
				return []byte(text), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDetectPassesOverWhatIsTooLarge(t *testing.T) {
	got, err := Detect(func(name string) ([]byte, error) {
		switch name {
		case "package.json":
			return []byte(`{"scripts":{"lint":"eslint ."}}`), nil
		case "pnpm-lock.yaml", "pyproject.toml":
			return nil, fmt.Errorf("read %s: %w", name, git.ErrTooLarge)
		}
		return nil, fs.ErrNotExist
	})
	want := []Detected{{"pnpm run lint", "package.json: script lint"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	disk := errors.New("disk")
	if _, err := Detect(func(string) ([]byte, error) { return nil, disk }); !errors.Is(err, disk) {
		t.Errorf("an unreadable repository: %v", err)
	}
}

func TestDetectSetup(t *testing.T) {
	for want, names := range map[string][]string{
		"[]": {"go.mod", "package.json", "Cargo.toml"},
		"[{{npm ci --ignore-scripts package-lock.json} npm} {{go mod download go.sum} go}]":                          {"go.sum", "package-lock.json"},
		"[{{yarn install --immutable yarn.lock} }]":                                                                  {"yarn.lock", ".yarnrc.yml"},
		"[{{yarn install --frozen-lockfile --ignore-scripts yarn.lock} } {{cargo fetch --locked Cargo.lock} cargo}]": {"yarn.lock", "Cargo.lock"},
	} {
		got, err := DetectSetup(func(name string) ([]byte, error) {
			if !slices.Contains(names, name) {
				return nil, fs.ErrNotExist
			}
			return nil, git.ErrTooLarge
		})
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", names, got, err)
		}
	}
	if _, err := DetectSetup(func(string) ([]byte, error) { return nil, errors.New("a disk") }); err == nil {
		t.Error("a disk that fails suggests nothing")
	}
}

// What a change puts beside the tests takes the place neither of the runner nor of what the runner loads, on every version of Python; the
// repository's own modules are found all the same, and programs that tests start find theirs as ever (threats.md T321).
func TestDetectedPythonRunsTheInstalledRunner(t *testing.T) {
	if _, err := proc.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	installed := t.TempDir()
	// A stand-in for pytest, which goes by pythonpath once all of itself is loaded, as the real one does.
	runner := `import argparse, sys
def main():
    print("the installed runner:", *sys.argv[1:], flush=True)
    sys.path.insert(0, "." if "pythonpath=." in sys.argv else "src")
    import subprocess, shop
    print(shop.name, flush=True)
    return subprocess.call([sys.executable, "-m", "tool"])
`
	if err := os.WriteFile(filepath.Join(installed, "pytest.py"), []byte(runner), 0o644); err != nil {
		t.Fatal(err)
	}
	evil := "import os\nprint('replaced', flush=True)\nos._exit(0)\n"
	w := newWorld(t, map[string]string{"pytest.py": evil, "_pytest/__init__.py": evil, "argparse.py": evil, "__future__.py": evil, "tool.py": "print('tool')\n",
		"src/shop.py": "name = 'src'\n", "shop/__init__.py": "name = 'root'\n"})
	w.workspace.Confine = unconfined
	w.workspace.Verifying.Env = []string{"PYTHONPATH=" + installed}
	for manifest, want := range map[string]string{
		"[tool.pytest.ini_options]\n":                         "the installed runner: -q -o pythonpath=.\nroot\ntool\n",
		"[tool.pytest.ini_options]\npythonpath = [\"src\"]\n": "the installed runner: -q\nsrc\ntool\n",
	} {
		found, err := Detect(func(name string) ([]byte, error) {
			if name != "pyproject.toml" {
				return nil, fs.ErrNotExist
			}
			return []byte(manifest), nil
		})
		if err != nil || len(found) != 1 {
			t.Fatalf("%v %v", found, err)
		}
		if got := w.one(found[0].Command); got.State != review.CheckPassed || got.Log != want {
			t.Errorf("%s\n%s: %s", found[0].Command, got.State, got.Log)
		}
	}
}
