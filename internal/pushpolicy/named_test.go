package pushpolicy

import (
	"fmt"
	"strings"
	"testing"
)

// named reads what acts by itself in a tree of files with their texts.
func named(t *testing.T, tree, links map[string]string) *Included {
	t.Helper()
	sizes, in := map[string]int64{}, &Included{}
	for name, text := range tree {
		sizes[name] = int64(len(text))
	}
	in.Links.Add(links)
	if err := in.Named.Add(&in.Links, sizes, reading(tree)); err != nil {
		t.Fatal(err)
	}
	return in
}

// What hooks, settings of agents, install scripts, backends and tasks that run as a folder is opened name is protected as they are, and what they only mention is not (threats.md T828).
func TestWhatActsByItselfNames(t *testing.T) {
	in := named(t, map[string]string{
		"package.json": `{"name": "x", "main": "src/index.js", "bin": "bin/x.js", "files": ["src/files.js"], "scripts": {"postinstall": "node scripts/post && npm run setup", "setup": "tsup src/entry.ts; node -r x tools/setup.js",
			"test": "node test/all.js", "start": "node src/start.js", "presetup": "sh ./tools/pre.sh"}, "lint-staged": {"*.js": "node tools/staged.js", "*.ts": "eslint src/"}}`,
		"packages/a/package.json":           `{"scripts": {"prepare": "node ./prepare.mjs && node ../../shared/run.js && tsup src/lib.ts && bun build src/bun.ts && node pack.mjs src/packed.ts && npm publish dist/x.js", "postinstall": "bin/post.sh"}}`,
		"packages/b/package.json":           "{// not JSON\n\"scripts\": {\"install\": \"node odd.js\"}}",
		"vendor/v/package.json":             `{"scripts": {"install": "node vendored.js"}}`,
		"composer.json":                     `{"scripts": {"post-install-cmd": ["@php tools/post.php", "@more"], "more": "php tools/more.php", "test": "php tests/run.php"}, "autoload": {"files": ["src/functions.php"]}}`,
		"pyproject.toml":                    "[build-system]\nrequires = []\nbuild-backend = \"own.backend\"\nbackend-path = [\"_build\"]\n[project]\nreadme = \"README.md\"\n[project.scripts]\nx = \"app.cli:main\"\n[tool.hatch.build.hooks.custom]\npath = \"tools/hatch.py\"\n",
		"Cargo.toml":                        "[package]\nbuild = \"tools/build.rs\"\n[lib]\npath = \"src/library.rs\"\n",
		".claude/settings.json":             `{"hooks":{"SessionStart":[{"hooks":[{"command":"python3 \"$CLAUDE_PROJECT_DIR\"/tools/session.py"}]}]}, "about": "src/mentioned.py"}`,
		"app/.mcp.json":                     `{"mcpServers": {"a": {"command": "node", "args": ["tools/server.js"]}}}`,
		"p/hooks/hooks.json":                `{"hooks": {"Stop": [{"command": "${CLAUDE_PLUGIN_ROOT}/bin/stop.py"}]}}`,
		"opencode.json":                     `{"instructions": ["docs/guidelines.md"]}`,
		".agents/skills/x/evals/evals.json": `{"evals": [{"prompt": "Look at src/public.ts and say what is wrong."}]}`,
		"CLAUDE.md":                         "See src/loop.go and docs/prose.md.\n",
		".cursorrules":                      "Look at src/rules.go.\n",
		".vscode/tasks.json":                "{ // jsonc\n\t\"tasks\": [{\"command\": \"node ${workspaceFolder}/tools/watch.js\", \"runOptions\": {\"runOn\": \"folderOpen\"}}]}",
		"web/.vscode/tasks.json":            `{"tasks": [{"command": "node tools/asked.js"}]}`,
		".vscode/launch.json":               `{"program": "${workspaceFolder}/src/launched.js"}`,
		".husky/pre-commit":                 "npx lint-staged\nnode tools/precommit.js README.md\npython -m tools.check\nsh tools/more.sh\nmypy src/shop\nnpx eslint ./web\n",
		"tools/more.sh":                     "ruby tools/deep.rb\n",
		".pre-commit-config.yaml":           "repos: [{repo: local, hooks: [{entry: python tools/entry.py, files: ^src/only.py$, exclude: src/legacy.py}]}]\n",
		"lefthook.yml":                      "pre-commit:\n  jobs:\n    - root: web/\n      run: node tools/lefthook.js\n    - run: pnpm run -s staged && npm test\n    - run: ./scripts/lint\n    - run: cd sub && python check.py\n",
		"scripts/lint":                      "#!/bin/sh\nsh scripts/second.sh\n",
		"scripts/second.sh":                 "node scripts/third.js\n",
		"web/package.json":                  `{"scripts": {"staged": "node check/staged.js", "other": "node check/other.js"}}`,
		".envrc":                            "source_env tools/env.sh\n",
		"Makefile":                          "all:\n\tcc src/main.c\n",
		".github/workflows/a.yml":           "jobs: {a: {steps: [{run: node tools/ci.js}]}}\n",
		"linked/pre-push":                   "node tools/pushed.js\n",
	}, map[string]string{".git-hooks": "linked"})
	for name, want := range map[string]string{
		"scripts/post.js": "package.json", "tools/setup.js": "package.json", "tools/pre.sh": "package.json", "tools/staged.js": "package.json", "packages/a/prepare.mjs": "packages/a/package.json", "shared/run.js": "packages/a/package.json",
		"packages/b/odd.js": "packages/b/package.json", "tools/post.php": "composer.json", "tools/more.php": "composer.json", "_build/own/backend.py": "pyproject.toml", "_build/own/backend/__init__.py": "pyproject.toml", "tools/hatch.py": "pyproject.toml",
		"tools/build.rs": "Cargo.toml", "tools/session.py": ".claude/settings.json", "app/tools/server.js": "app/.mcp.json", "p/bin/stop.py": "p/hooks/hooks.json", "docs/guidelines.md": "opencode.json",
		"tools/watch.js": ".vscode/tasks.json", "tools/precommit.js": ".husky/pre-commit", "tools/check.py": ".husky/pre-commit", "Tools/Check/__main__.py": ".husky/pre-commit", "tools/more.sh": ".husky/pre-commit", "tools/deep.rb": "tools/more.sh",
		"tools/entry.py": ".pre-commit-config.yaml", "tools/env.sh": ".envrc", "tools/pushed.js": ".git-hooks/pre-push",
		"web/tools/lefthook.js": "lefthook.yml", "web/check/staged.js": "web/package.json", "scripts/lint": "lefthook.yml", "scripts/third.js": "scripts/second.sh", "sub/check.py": "lefthook.yml", "web/check/other.js": "", "tools/__init__.py": ".husky/pre-commit",
		"packages/a/bin/post.sh": "packages/a/package.json", "packages/a/pack.mjs": "packages/a/package.json", "src/lib.ts": "", "packages/a/src/lib.ts": "", "packages/a/src/bun.ts": "", "packages/a/src/packed.ts": "", "packages/a/dist/x.js": "",
		"src/shop/__init__.py": "", "web/index.ts": "", "src/index.ts": "",
		"src/index.js": "", "bin/x.js": "", "src/files.js": "", "src/entry.ts": "", "test/all.js": "", "src/start.js": "", "vendor/v/vendored.js": "", "tests/run.php": "", "src/functions.php": "", "README.md": "", "app/cli.py": "",
		"src/library.rs": "", "src/public.ts": "", "src/mentioned.py": "", "src/loop.go": "", "docs/prose.md": "", "src/rules.go": "", "web/tools/asked.js": "", "src/launched.js": "", "src/only.py": "", "src/legacy.py": "", "src/main.c": "", "tools/ci.js": "",
	} {
		refused := in.Check([]Change{{Path: name, Status: 'M'}}, nil)
		if len(refused) > 0 != (want != "") || want != "" && !strings.HasPrefix(refused[0].Detail, want+" names it") {
			t.Errorf("%s: %v, want %q", name, refused, want)
		}
		if refused := in.Check([]Change{{Path: name, Status: 'A'}}, []string{"**"}); len(refused) > 0 {
			t.Errorf("%s, and the operator opens it: %v", name, refused)
		}
	}
	in.Named.Changed = map[string]bool{"tools/session.py": true}
	if refused := in.Check([]Change{edit("tools/session.py")}, nil); len(refused) > 0 {
		t.Errorf("the pull request changes it: %v", refused)
	}
}

// Where there is more that acts by itself than is read, a fix keeps to prose and to the files of the pull request.
func TestMoreActsThanIsRead(t *testing.T) {
	in := named(t, map[string]string{".husky/pre-commit": strings.Repeat("x", NamedBytes+1)}, nil)
	in.Named.Changed = map[string]bool{"src/own.go": true}
	for name, want := range map[string]bool{"src/a.go": true, "src/own.go": false, "docs/a.md": false} {
		if refused := in.Check([]Change{edit(name)}, nil); len(refused) > 0 != want {
			t.Errorf("%s: %v", name, refused)
		}
	}
}

// The prose of what a marketplace names as a plugin instructs agents, with and without a description of the plugin (threats.md T829).
func TestPluginsOfMarketplaces(t *testing.T) {
	in := named(t, map[string]string{
		".claude-plugin/marketplace.json": `{"metadata": {"pluginRoot": "./more"}, "plugins": [{"name": "ship", "source": "./plugins/ship"}, {"source": "deploy"}, {"source": "./"}, {"source": {"source": "git-subdir", "path": "tools/sub"}}]}`,
	}, nil)
	for name, want := range map[string]bool{
		"plugins/ship/commands/deploy.md": true, "Plugins/Ship/README.md": true, "more/deploy/agents/a.md": true, "tools/sub/a.md": true, "plugins/ship/src/a.go": false, "plugins/other/a.md": false, "README.md": false, "docs/a.md": false,
	} {
		if refused := in.Check([]Change{edit(name)}, nil); len(refused) > 0 != want {
			t.Errorf("%s: %v", name, refused)
		}
	}
}

// What an author writes into a hook costs no more than there are words in it: many other folders, a deep one, many roots of plugins.
func TestWhatNamesWithoutEnd(t *testing.T) {
	deep := strings.Repeat("d/", 1000)
	var hook, words, market strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&hook, "cd f%d && node a%d/x.js\n", i, i)
		fmt.Fprintf(&words, "node w%d/x.js\n", i)
		fmt.Fprintf(&market, `{"pluginRoot": "r%d", "source": "s%d"},`, i, i)
	}
	for what, tree := range map[string]map[string]string{
		"other folders": {".husky/pre-commit": hook.String()}, "deep": {deep + ".husky/pre-commit": words.String()},
		"roots": {".claude-plugin/marketplace.json": `{"plugins": [` + strings.TrimSuffix(market.String(), ",") + "]}"},
	} {
		in := named(t, tree, nil)
		if !in.Named.beyond || len(in.Named.by) > mostNamed {
			t.Errorf("%s: beyond %v, %d paths", what, in.Named.beyond, len(in.Named.by))
		}
		if refused := in.Check([]Change{edit("src/any.go")}, nil); len(refused) == 0 {
			t.Errorf("%s: a fix changes what may be named", what)
		}
	}
}
