package pushpolicy

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// protected refuses changes of what decides how the repository is built, judged or run (security 3, "deny-by-default
// paths"). A rename counts at both ends.
func protected(c Change) []review.Refusal {
	for _, name := range c.names() {
		if why := Protected(name); why != "" {
			return []review.Refusal{refuse(RuleProtectedPath, name, why)}
		}
	}
	return nil
}

// Protected says why a path is protected; empty means that it is not. Case makes no difference.
func Protected(name string) string {
	parts := strings.Split(fold(name), "/")
	base := parts[len(parts)-1]
	folders := parts[:len(parts)-1]
	switch {
	case len(folders) > 0 && strings.HasPrefix(parts[0], "."):
		return "it is in a top-level dot folder"
	case slices.Contains(reviewerFiles, base) && len(folders) == 0:
		return "it configures the review"
	case base == "codeowners" && (len(folders) == 0 || len(folders) == 1 && folders[0] == "docs"):
		return "it names the code owners"
	case slices.Contains(agentFiles, base) || agentFile.MatchString(base):
		return "agents take instructions from it"
	case slices.ContainsFunc(folders, func(f string) bool { return slices.Contains(agentFolders, f) }):
		return "agents take settings from its folder"
	case slices.ContainsFunc(folders, func(f string) bool { return slices.Contains(hookFolders, f) }), hookFile(parts), slices.Contains(hookConfigs, base):
		return "it belongs to git hooks"
	case slices.Contains(ciFiles, base):
		return "it tells a CI what to run"
	case slices.Contains(manifests, base) || manifest.MatchString(strings.Join(parts, "/")):
		return "it is a package manifest or a lock file"
	}
	return ""
}

var (
	reviewerFiles = []string{".reviewerc", ".reviewerc.yml", ".reviewerc.yaml", ".reviewerc.json"}

	agentFiles = []string{"agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "copilot.md", "codex.md",
		"crush.md", "warp.md", "skill.md", "copilot-instructions.md", ".cursorrules", ".cursorignore", ".windsurfrules", ".clinerules", ".roorules",
		".roomodes", ".goosehints", ".rules", ".mcp.json", "mcp.json", "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".aiderignore"}
	agentFile = lazyregexp.New(`^(.+\.instructions\.md|.+\.prompt\.md|.+\.chatmode\.md|.+\.agent\.md)$`)
	// Folders agents and editors read settings from, at any depth (claude-code-action 1270: root-only lists miss nested ones).
	agentFolders = []string{".claude", ".codex", ".cursor", ".gemini", ".opencode", ".copilot", ".windsurf", ".continue", ".roo", ".clinerules",
		".amazonq", ".kiro", ".junie", ".agents", ".qwen", ".github", ".gitlab", ".vscode", ".idea", ".devcontainer", ".circleci"}

	hookFolders = []string{".husky", ".githooks", "githooks", ".git-hooks", "git-hooks", ".hooks", ".lefthook"}
	hookConfigs = []string{".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml",
		".huskyrc", ".huskyrc.js", ".huskyrc.json", ".overcommit.yml"}
	hookNames = []string{"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
		"post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update",
		"reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change"}

	ciFiles = []string{".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml", ".drone.yml", ".appveyor.yml", "appveyor.yml", "azure-pipelines.yml",
		"azure-pipelines.yaml", "bitbucket-pipelines.yml", "jenkinsfile", "cloudbuild.yaml", "cloudbuild.yml", ".cirrus.yml", "wercker.yml", "buildspec.yml"}

	manifests = []string{
		"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "bun.lock",
		"bun.lockb", "bunfig.toml", "deno.json", "deno.jsonc", "deno.lock", "bower.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "lerna.json",
		"go.mod", "go.sum", "go.work", "go.work.sum", "gopkg.toml", "gopkg.lock",
		"cargo.toml", "cargo.lock", "rust-toolchain", "rust-toolchain.toml",
		"pyproject.toml", "setup.py", "setup.cfg", "pipfile", "pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock", "pixi.toml", "pixi.lock",
		"environment.yml", "environment.yaml", "conda-lock.yml", ".python-version",
		"gemfile", "gemfile.lock", "gems.rb", "gems.locked", "composer.json", "composer.lock",
		"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle.lockfile",
		"gradle-wrapper.properties", "gradle-wrapper.jar", "libs.versions.toml", "build.sbt", "ivy.xml",
		"packages.config", "packages.lock.json", "directory.packages.props", "directory.build.props", "directory.build.targets", "nuget.config",
		"global.json", "paket.dependencies", "paket.lock",
		"package.swift", "package.resolved", "podfile", "podfile.lock", "cartfile", "cartfile.resolved", "pubspec.yaml", "pubspec.lock",
		"mix.exs", "mix.lock", "rebar.config", "rebar.lock", "stack.yaml", "stack.yaml.lock", "cabal.project", "deps.edn", "project.clj",
		"conanfile.txt", "conanfile.py", "vcpkg.json", "flake.nix", "flake.lock", "module.bazel", "module.bazel.lock", "workspace.bazel",
	}
	manifest = lazyregexp.New(`(^|/)((requirements|constraints)[^/]*\.(txt|in)|requirements/[^/]+\.(txt|in)|[^/]+\.(gemspec|csproj|fsproj|vbproj|vcxproj|cabal|podspec|rockspec|opam)|` +
		`vendor/modules\.txt)$`)
)

// hookFile knows hooks by their own name in a folder called hooks; other folders of that name are common in user interfaces,
// so only what a shell could run counts.
func hookFile(parts []string) bool {
	if len(parts) < 2 || parts[len(parts)-2] != "hooks" {
		return false
	}
	stem, extension, _ := strings.Cut(parts[len(parts)-1], ".")
	return slices.Contains(hookNames, stem) && slices.Contains([]string{"", "sh", "bash", "zsh", "py", "rb", "pl", "ps1", "sample"}, extension)
}
