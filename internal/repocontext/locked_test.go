package repocontext

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/diff"
)

// A file is a lock file where all that stands at its top is what package managers write, in each of its documents (threats.md T887).
func TestLocked(t *testing.T) {
	const pnpm = "lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n\nimporters:\n\n  .:\n    dependencies:\n      a:\n        specifier: ^1.0.0\n        version: 1.0.0\n\npackages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-x}\n\nsnapshots:\n\n  a@1.0.0: {}\n"
	for text, want := range map[string]bool{
		pnpm: true, strings.ReplaceAll(pnpm, "\n", "\r\n"): true, "# written by pnpm\n---\n" + pnpm + "---\n" + pnpm: true,
		pnpm + "packageExtensionsChecksum: sha256-0123456789abcdefghijklm=\n": true, "lockfileVersion: {script: [id]}\n": false, pnpm + "overrides:\n  script: id\n": false, pnpm + "time: \"{{ x }}\"\n": false, pnpm + "packages: evil\n": false,
		"": false, "---\n": false, pnpm + "on: push\n": false, pnpm + "\"on\": push\n": false, pnpm + "? on\n: push\n": false, pnpm + "---\napiVersion: v1\n": false,
		pnpm + "--- {apiVersion: v1}\n": false, pnpm + "---\n  apiVersion: v1\n": false, "  apiVersion: v1\n  kind: Pod\n": false, pnpm + "\tapiVersion: v1\n": false, "{on: push}\n": false,
		pnpm + "? x\n": false, strings.Replace(pnpm, "\n  .:", "\n    a:\n      script: [id]\n  .:", 1): false, strings.Replace(pnpm, "\n  .:", "\n a:\n  script: [id]\n  .:", 1): false, pnpm + "time:\n  &a script: [id]\n": false, pnpm + "time:\n  ? script\n": false,
		pnpm + "time:\n  \"scr\\u0069pt\": [id]\n": false, pnpm + "time:\n  {script: [id]}\n": false, pnpm + "time:\n  <<: {script: [id]}\n": false, pnpm + "time:\n  script : [id]\n": false, pnpm + "time:\n  a: {% x %}\n": false,
		pnpm + "...\n%YAML 1.2\n": false, pnpm + "time:\rapiVersion: v1\n": false, pnpm + "time:\u2028apiVersion: v1\n": false, pnpm + "time:\u0085apiVersion: v1\n": false, "- a\n": false,
	} {
		if got := locked("web/pnpm-lock.yaml", []byte(text), true); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]bool{
		`{"name":"a","version":"1","lockfileVersion":3,"requires":true,"packages":{}}`: true, "{}": true,
		`{"lockfileVersion":3,"kind":"Pod"}`: false, `{"packages":"{{ lookup('pipe', 'id') }}"}`: false, `{"packages":"x"}`: false,
		`{"packages":{"":{"name":"{{ lookup('pipe', 'id') }}","name":"shop"}}}`: false, `{"name":"{% id %}"}`: false,
		`{"packages":{"":{"name":"\u007b{ lookup('pipe', 'id') }}"}}}`: false, `{"name":"<% id %>"}`: false, `{"packages":{"a":{"x":"$\u007bid}"}}}`: false, `{"lockfileVersion":3}{"kind":"Pod"}`: false, "null": false, "[]": false, "kind: Pod": false, "": false,
	} {
		if got := locked("package-lock.json", []byte(text), true); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if said := []byte(`{"lockfileVersion":3,"packages":{"node_modules/a":{"deprecated":"write {{ a }}"}}}`); locked("package-lock.json", said, true) || !locked("package-lock.json", said, false) {
		t.Error("what a package says of itself counts where the file is new alone")
	}
}

// A lock file with NUL bytes is unread; one that git did not compare for its size is asked for them, and excused as any (threats.md T905).
func TestLockFilesThatGitShowsNothingOf(t *testing.T) {
	const name = "web/yarn.lock"
	for _, row := range []struct {
		text, git, want string
		excused         bool
	}{
		{text: "# {{ x }}\n\x00", want: OmittedNUL},
		{text: "a@^1:\n", git: omittedLarge, want: OmittedLockFile, excused: true},
		{text: "a@^1:\n\x00", git: omittedLarge, want: omittedLarge},
		{text: "a@^1: {{ x }}\n", git: omittedLarge, want: omittedLarge},
	} {
		at := map[string]string{"web/package.json": "{}", name: row.text}
		d := &diff.Diff{Files: []diff.File{{Path: name, Change: diff.Modified, Binary: true, Omitted: row.git}}}
		brief, err := Build(t.Context(), &memory{files: map[string]map[string]string{baseID: at, headID: at}}, Options{Diff: d, Base: baseID, Head: headID})
		if err != nil {
			t.Fatal(err)
		}
		if f := brief.Files[0]; f.Omitted != row.want || f.Excused != row.excused {
			t.Errorf("%q, which git calls %q: omitted %q, excused %v", row.text, row.git, f.Omitted, f.Excused)
		}
	}
}

// What templates and shells run makes a lock file one that is read; what packages and people write in lock files does not (threats.md T905).
func TestWhatTemplatesRun(t *testing.T) {
	for text, want := range map[string]bool{
		"$(touch ran)": true, "`touch ran`": true, "`a`\n`touch ran`": true, "\\`a` touch ran \\`b`": true, "`a``touch ran`": true, "`a": true, "${x}": true, "#set($x=1)": true, "$x.getClass()": true, "$!x": true,
		"<#assign x=1>": true, "<?php x": true, "<?= x ?>": true, "a #{x}": true, "  % import os": true, "a\n% import os": true, "{% x %}": true, "<% x %>": true, "{{ x }}": true, "{{`x`}}": true,
		"  - React-Core (from `../node_modules/react-native/`)": false, "  - A (from `https://example.org/a.git`, tag `v1.0`)": false, `"deprecated": "Use graphql-ws, or ` + "`ws`, `.on`" + ` and Array#sort()"`: false,
		`"query": "SELECT ` + "`u`.`id`" + ` FROM users WHERE id = $1 AND x < ?"`: false, `"typescript@patch:typescript@^5#~builtin<compat/typescript>"`: false, "golang.org/x/text v0.3.0 h1:g61tztE5qeGQ89tm6NTjjM9VPIm088od1l6aSorWRWg=": false,
		"a 100% b": false, "^1.0.0 <3 >=2 || ~> 1 (os=linux | os=darwin) & !x": false,
	} {
		if got := holdsTemplate([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
