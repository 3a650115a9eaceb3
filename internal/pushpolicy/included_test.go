package pushpolicy

import (
	"fmt"
	"strings"
	"testing"
)

// included reads a tree of files with their texts.
func included(t *testing.T, tree map[string]string) *Included {
	t.Helper()
	sizes := map[string]int64{}
	for name, text := range tree {
		sizes[name] = int64(len(text))
	}
	in := &Included{}
	if err := in.Add(sizes, reading(tree)); err != nil {
		t.Fatal(err)
	}
	return in
}

// What a pipeline is made of is protected, wherever it stands; what CI runs is not (threats.md T711).
func TestWhatCIIncludesIsProtected(t *testing.T) {
	in := included(t, map[string]string{
		".gitlab-ci.yml":           "include:\n  - local: ci/test.yml\n  - /parts/*.yml\n  - local: 'all/**.yaml'\ntest: {script: [make, sh ci/run.sh, 'jq . data.json']}\nrules: {changes: ['docs/*.yml']}\n",
		"ci/test.yml":              "include: {local: /ci/deep/more.yml}\n",
		"ci/deep/more.yml":         "include: {local: /ci/deep/deeper.yml}\n",
		"ci/deep/deeper.yml":       "include: {local: /ci/deep/deepest.yml}\n",
		"azure-pipelines.yml":      "jobs:\n- template: templates/build.yml\n- template: templates/other.yml@self\n",
		"templates/build.yml":      "steps:\n- template: steps.yml\n- template: ../shared/steps.yml\n",
		"Jenkinsfile.release":      "load 'jenkins/steps.groovy'\nsh 'python3 tools/build.py'\n",
		".github/workflows/ci.yml": "on: {push: {paths: [k8s/app.yml]}}\njobs: {a: {steps: [{uses: ./, with: {file: api/openapi.yaml, run: api/run.yml}}, {run: yq . config/app.yml}]}}\n",
		"tools/setup/action.yml":   "runs: {using: node20, main: index.js}\n",
		"second/action.yaml":       "runs: {using: composite}\n",
		"action.yml":               "runs: {using: node20, main: dist/index.js}\n",
		"api/openapi.yaml":         "paths: {}\n",
		".circleci/config.yml":     "jobs: {a: {steps: [{run: setup ci/circle.yml}]}}\n",
		"vendor/x/.travis.yml":     "script: config/vendored.yml\n",
		"package-lock.json":        "config/packages.yml\n",
	})
	const file, folder = "a CI configuration includes it", "it is in the folder of an action"
	for name, want := range map[string]string{
		"ci/test.yml": file, "ci/deep/more.yml": file, "ci/deep/deeper.yml": file, "parts/new.yml": file, "all/a/b.yaml": file, "templates/build.yml": file, "templates/other.yml": file,
		"templates/steps.yml": file, "shared/steps.yml": file, "jenkins/steps.groovy": file, "data.json": file, "api/openapi.yaml": file, "api/run.yml": file, "ci/circle.yml": file,
		"tools/setup/index.js": folder, "tools/setup/new/a.sh": folder, "second/run.sh": folder,
		"ci/run.sh": "", "tools/build.py": "", "dist/index.js": "", "parts/sub/a.yml": "", "docs/a.yml": "", "ci/other.yml": "", "config/vendored.yml": "", "config/packages.yml": "", "tools/a.go": "",
		"config/app.yml": "", "k8s/app.yml": "",
		"ci/deep/deepest.yml": "",
	} {
		got := ""
		if refused := in.Check([]Change{{Path: name, Status: 'M'}}, []string{"nothing"}); len(refused) > 0 {
			got = refused[0].Detail
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for what, c := range map[string]Change{
		"renamed": {OldPath: "ci/test.yml", Path: "ci/gone.txt", Status: 'R'},
		"deleted": {Path: "tools/setup/index.js", Status: 'D'},
		"added":   {Path: "templates/other.yml", Status: 'A'},
	} {
		if refused := in.Check([]Change{c}, nil); len(refused) != 1 || refused[0].Rule != RuleProtectedPath {
			t.Errorf("%s: %v", what, refused)
		}
		if refused := in.Check([]Change{c}, []string{"**"}); len(refused) != 0 {
			t.Errorf("%s, and the operator opens it: %v", what, refused)
		}
	}
}

// The ways of writing YAML, and those in which systems write paths, make no difference (threats.md T711).
func TestHowIncludesAreWritten(t *testing.T) {
	for _, c := range []struct{ ci, text, want string }{
		{".gitlab-ci.yml", "include:\n  # all\n\n  - 'ci/*.yml'\n", "ci/a.yml"},
		{".gitlab-ci.yml", "include: [\n  'ci/*.yml'\n]\n", "ci/a.yml"},
		{".gitlab-ci.yml", "\"include\" : ['ci/*.yml']\n", "ci/a.yml"},
		{".gitlab-ci.yml", "include:\n  - template: X\n    rules: []\n  - \"\\x63i/*.yml\"\n", "ci/a.yml"},
		{".gitlab-ci.yml", "include:\n  - template: X\n  - {rules: [], 'local': ci jobs/*.yml}\n", "ci jobs/a.yml"},
		{".gitlab-ci.yml", ".parts: &parts ['ci/*.yml']\ninclude: *parts\n", "ci/a.yml"},
		{".gitlab-ci.yml", "spec: {inputs: {}}\n---\ninclude: ci/*.yml\n", "ci/a.yml"},
		{".gitlab-ci.yml", "a: b: c\nparts:\n- ci/*.yml\n", "ci/a.yml"},
		{".gitlab-ci.yml", "include: part.yml", "part.yml"},
		{"azure-pipelines.yml", "jobs:\n- template: build jobs/a.yml\n", "build jobs/a.yml"},
		{"azure-pipelines.yml", "jobs:\n- template: templates\\a.yml@self\n", "templates/a.yml"},
		{"Jenkinsfile", "load 'ci jobs/a.groovy'\n", "ci jobs/a.groovy"},
	} {
		in := included(t, map[string]string{c.ci: c.text})
		if len(in.Check([]Change{{Path: c.want, Status: 'M'}}, nil)) == 0 {
			t.Errorf("%q: %s may be changed", c.text, c.want)
		}
		if len(in.Check([]Change{{Path: "config/a.yml", Status: 'M'}}, nil)) > 0 {
			t.Errorf("%q: everything is refused", c.text)
		}
	}
}

// Where CI, or what it includes, says more than is read, any configuration may be a part of it.
func TestMoreCIThanIsRead(t *testing.T) {
	many := map[string]string{".travis.yml": "script: make\n"}
	for i := range includedFiles {
		many[fmt.Sprintf(".github/workflows/%d.yml", i)] = "on: push\n"
	}
	large := map[string]string{".gitlab-ci.yml": strings.Repeat("#", IncludedBytes+1)}
	patterns := map[string]string{".gitlab-ci.yml": "include:\n"}
	for i := range includedPatterns + 1 {
		patterns[".gitlab-ci.yml"] += fmt.Sprintf("  - %d/*.yml\n", i)
	}
	for what, tree := range map[string]map[string]string{"files": many, "bytes": large, "patterns": patterns} {
		in := included(t, tree)
		for name, want := range map[string]bool{"deploy/k8s/app.yaml": true, "a.json": true, "src/a.go": false, "run.sh": false} {
			refused := in.Check([]Change{{Path: name, Status: 'M'}}, nil)
			if len(refused) > 0 != want || want && !strings.Contains(refused[0].Detail, "more CI configurations than are read") {
				t.Errorf("%s: %s: %v", what, name, refused)
			}
		}
	}
	parts := map[string]string{".gitlab-ci.yml": "include: ci/*.yml\n", "b.yml": ""}
	for i := range includedFiles {
		parts[fmt.Sprintf("ci/%03d.yml", i)] = ""
	}
	for what, tree := range map[string]map[string]string{
		"bytes": {".gitlab-ci.yml": "include: {local: a.yml}\n", "a.yml": "include: {local: b.yml}\n" + strings.Repeat("#", IncludedBytes), "b.yml": ""},
		"files": parts,
	} {
		in := included(t, tree)
		for name, want := range map[string]bool{"b.yml": true, "b.sh": false} {
			if got := len(in.Check([]Change{{Path: name, Status: 'M'}}, nil)) > 0; got != want {
				t.Errorf("what is included is more than is read, %s: %s is refused: %v", what, name, got)
			}
		}
	}
}

// Where no file is a CI's, nothing is read.
func TestNothingIsReadWithoutCI(t *testing.T) {
	err := (&Included{}).Add(map[string]int64{"config/app.yml": 1, "a.go": 1, "package.json": 1}, func(names []string) (map[string][]byte, error) {
		t.Errorf("%q are read", names)
		return nil, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// reading gives the texts of some files of a tree.
func reading(tree map[string]string) func(names []string) (map[string][]byte, error) {
	return func(names []string) (map[string][]byte, error) {
		texts := map[string][]byte{}
		for _, name := range names {
			texts[name] = []byte(tree[name])
		}
		return texts, nil
	}
}
