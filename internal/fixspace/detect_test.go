package fixspace

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/git"
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
			[]Detected{{"ruff check .", "pyproject.toml: tool.ruff"}, {"python3 -m pytest -q", "pyproject.toml: tool.pytest"}},
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
