package pushpolicy

import (
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/spelling"
)

var update = flag.Bool("update", false, "rewrite docs/protected-paths.md")

// examples are names that patterns with a wildcard stand for; the others are their own examples.
func examples(pattern string) []string {
	var all []string
	for _, name := range alternatives(pattern) {
		name = strings.ReplaceAll(name, "*", "x")
		if strings.HasSuffix(name, "/") {
			name += "y"
		}
		all = append(all, name)
	}
	return all
}

// Every row is well formed, says where its name was found, and protects what it stands for: in any case, in nested packages too
// unless it counts at the root alone.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.pattern] {
			t.Errorf("%s stands in the table twice", r.pattern)
		}
		seen[r.pattern] = true
		if !doublestar.ValidatePattern(r.pattern) || strings.ContainsAny(r.pattern, "[]?\\") || strings.HasPrefix(r.pattern, "/") {
			t.Errorf("%s is no pattern of the table", r.pattern)
		}
		if _, err := os.Stat("../../" + r.source); err != nil && !strings.HasPrefix(r.source, "https://") {
			t.Errorf("%s has no source", r.pattern)
		}
		for _, name := range examples(r.pattern) {
			nested := "packages/x/" + name
			why, listed := lookUp(spelling.Fold(name))
			deep, below := lookUp(spelling.Fold(nested))
			switch {
			case !listed || (why == harmless) != (r.reason == harmless):
				t.Errorf("%s: %s is not protected by it", r.pattern, name)
			case r.depth == anyDepth && (!below || (deep == harmless) != (r.reason == harmless)):
				t.Errorf("%s: %s is not protected by it", r.pattern, nested)
			case Protected(strings.ToUpper(name)) != Protected(name):
				t.Errorf("%s: %s is %q and %s is %q", r.pattern, name, Protected(name), strings.ToUpper(name), Protected(strings.ToUpper(name)))
			}
			if r.reason != harmless {
				changes := []Change{edit(name)}
				if r.reason == replacesRunners {
					if got := Check(changes, Limits{}, nil, nil); len(got) > 0 {
						t.Errorf("%s: a change of %s, which is there, is refused: %v", r.pattern, name, got)
					}
					changes = []Change{add(name, "x")}
				}
				if got := rules(Check(changes, Limits{}, nil, nil)); len(got) == 0 {
					t.Errorf("%s: a change of %s may be pushed", r.pattern, name)
				}
			}
		}
	}
}

// Candidates somebody would try, and what is written beside code. The empty reason is for what a fixer must be able to change: it is
// run when the project is, and reviewed as its source.
func TestProtected(t *testing.T) {
	const dotFolder, dotFile = reason("it is in a dot folder"), reason("it is a dot file")
	for why, names := range map[reason][]string{
		dotFolder: {".github/workflows/ci.yml", ".circleci/config.yml", ".buildkite/pipeline.yml", ".woodpecker/a.yml", ".devcontainer/devcontainer.json",
			".vscode/tasks.json", ".husky/pre-commit", ".cargo/config.toml", ".mvn/extensions.xml", ".unheard-of/x", "x/.hg/hgrc", "docs/.unheard-of/x", "a/.jj/repo/config.toml", "a/.b/.gitignore"},
		dotFile: {".toolrc", ".env", ".bashrc", ".unheard-of.yml", "docker/.env", "x/.env.production", "x/.flaskenv", "db/.sequelizerc", "docs/.toolrc", "x/.gvimrc"},
		runsCI: {"config/ci.rb", ".woodpecker.yml", ".zuul.yaml", ".drone.star", ".drone.jsonnet", ".readthedocs.yaml", "readthedocs.yml", "action.yml", "tools/setup/action.yaml", ".gitlab-ci.yml",
			"ci/build.gitlab-ci.yml", "azure-pipelines-release.yml", "Jenkinsfile", "Jenkinsfile.nightly", "bitbucket-pipelines.yml", ".travis.yml", "appveyor.yml", "cloudbuild.yaml",
			"buildspec-test.yml", ".cirrus.star", "wercker.yml", "codemagic.yaml", "bitrise.yml", "dagger.json", "screwdriver.yaml", "sub/.github/workflows/x.yml", ".taskcluster.yml", "buddy.yml", "appcenter-post-clone.sh", "plans/smoke.fmf", "jitpack.yml", "ci/_service", "vars/deploy.groovy", "azure-pipelines/templates/jobs/build.yml", "codefresh.yml", "buildkite/pipeline.yml", "ci/buildkite/pipeline.json", "taskcluster/kinds/build/kind.yml", "taskcluster/app_taskgraph/transforms.py"},
		deploys: {"public/.user.ini", ".htaccess", "site/.htaccess", "ci/build.garden.yml", "playbooks/callback_plugins/a.py", "gunicorn.conf.py", "netlify.toml", "apps/web/vercel.json", "fly.toml", "render.yaml", "Procfile", "app.json", "heroku.yml", "Dockerfile", ".gitpod.Dockerfile", "docker-compose.override.yml", "compose.yaml",
			"serverless.yml", "wrangler.toml", "skaffold.yaml", "Tiltfile", "atlantis.yaml", "infra/env0.yml", "env0.workflow.yaml", "appspec.yml", "firebase.json", "config/deploy.rb", "ansible.cfg", "CNAME",
			"deploy/k8s/kustomization.yaml", "live/prod/terragrunt.hcl", "infra/terraform.tfstate", "images/base.pkr.hcl", "web/.dockerignore", "api.Dockerfile.dockerignore", "site/web.config", "waypoint.hcl", "postBuild", "binder/postBuild", "binder/start", "supabase/config.toml", "spin.toml", "k8s/Kustomization", "jobs/web.nomad", "dfx.json", "helmfile.yaml.gotmpl", "deploy/helmfile.yml.gotmpl", "Envoy.blade.php", "Scotty.blade.php", "live/root.hcl", "Dockerrun.aws.json", "copilot/api/manifest.yml", "copilot/api/overrides/stack.ts", "copilot/environments/prod/overrides/bin/override.ts", "clouddeploy.yaml", "manifest.yml", "docs/_redirects", "public/_headers", "docs/_routes.json", "site/_worker.js", "dist/_worker.js/index.js", "functions/_middleware.ts", "docs/functions/users/_middleware.js", "docs/netlify/edge-functions/a.js", "customHttp.yml", "website/static/CNAME", "process-compose.yml", "process-compose.override.yaml", "pm2.json", "ecosystem.json", "ecosystem.config.json"},
		steersBots: {"danger_plugins/a.rb", ".mergify.yml", "renovate.json", "renovate.json5", ".renovaterc", "dependabot.yml", "codecov.yml", ".coderabbit.yaml", ".sourcery.yaml", "sonar-project.properties",
			"bors.toml", "Dangerfile", "release.config.js", "FUNDING.yml", ".gitleaks.toml", "trivy-secret.yaml", "cliff.toml", "release.toml", "lychee.toml", "PULL_REQUEST_TEMPLATE.md", "docs/pull_request_template.md", "issue_template.md", "docs/PULL_REQUEST_TEMPLATE/fix.md"},
		loadsItself: {"wallaby.js", "Assets/Editor/Boot.cs", "game/Assets/Shop/Editor/UI/Boot.cs", ".envrc", "sub/.envrc", ".gitpod.yml", "mise.toml", ".mise.toml", ".tool-versions", "x.code-workspace", ".dir-locals.el", ".exrc", ".nvim.lua",
			"devenv.nix", "Vagrantfile", "sub/.vscode/settings.json", "sitecustomize.py", "lib/evil.pth", ".nvmrc", "sub/.idea/x.xml",
			"sub/.bsp/sbt.json", "buildServer.json", "hie.yaml", "rust-analyzer.toml", "sub/.lazy.lua", "omnisharp.json", "app/Properties/launchSettings.json", "mise-tasks/lint", "fnox.toml", "lib/libfoo-gdb.py", "docs/Desktop.ini", "docs/x.url", "a/b.library-ms", "irb.rc", "_vimrc", "notebooks/jupyter_server_config.py", "game/project.godot", "addons/x/plugin.cfg", "dev/user.clj", "src/main/clojure/user.clj", "resources/data_readers.cljc", "manifest.scm", "startup.m", "finish.m", "Content/Python/init_unreal.py"},
		instructsAgents: {"CODEBUDDY.md", "openspec/project.md", "openspec/config.yaml", "openspec/schemas/lean/schema.yaml", "app/IFLOW.md", "AGENTS.local.md", "memory-bank/context.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "docs/AGENTS.md", ".cursorrules", ".windsurfrules", ".clinerules", ".mcp.json", "opencode.json", ".aider.conf.yml",
			"x/.claude/settings.json", "x/.codex/config.toml", "x/.continue/config.yaml", "review.prompt.md", "copilot-instructions.md", "REVIEW.md", "pkg/REVIEW.md", "skills/x/agents/openai.yaml", "hooks/hooks.json", "plugins/x/hooks/hooks.json", "best_practices.md", "knowledge.md", "api/auth.knowledge.md"},
		gitHooks: {"lefthook.yml", ".pre-commit-config.yaml", ".lintstagedrc.json", "lint-staged.config.mjs", "tools/hooks/pre-push", "githooks/x", "commitlint.config.js", "cog.toml", "common/git-hooks/pre-commit", "web/.nano-staged.json"},
		declaresPackages: {"package.json", "packages/x/.npmrc", ".yarnrc.yml", ".pnp.cjs", ".pnpmfile.cjs", "bunfig.toml", "setup.py", "gradlew", "gradle/wrapper/gradle-wrapper.jar", "mvnw",
			"Directory.Build.props", "Directory.Build.targets", "nuget.config", "WORKSPACE", "MODULE.bazel", "flake.nix", "shell.nix", "default.nix", "go.mod", "crates/a/Cargo.toml",
			"build.gradle.kts", "App.xcodeproj/project.pbxproj", "requirements/dev.txt",
			"infra/providers.tf", "modules/net/versions.tf", "infra/backend.tf.json", "infra/providers_override.tf", "infra/override.tofu.json", "Directory.Build.rsp", "app/App.esproj", "libs/cart/project.json", "common/config/rush/pnpmfile.cjs", "dev-requirements.txt", "MANIFEST.in", "charts/shop/Chart.yaml", "buf.yaml", "nix/sources.json", "requirements.lock", "deps/x.lock", "gemfiles/rails7.rb", "REPO.bazel", "web/bsconfig.json", "rescript.json", "alire.toml", "collects/x/info.rkt", "ios/Tuist/ProjectDescriptionHelpers/Project+Templates.swift", "tests/run.gpr", "project.janet", "packages.dhall",
			"meta.yaml", "conda.recipe/meta.yaml", "game/Packages/manifest.json", "Packages/packages-lock.json", "game/Shop.uproject", "Plugins/x/x.uplugin", "subprojects/zlib.wrap", "lib/conandata.yml", "Manifest-v1.11.toml", "JuliaManifest-v1.toml"},
		runsBuilds: {"third_party/a/BUCK.v2", "x/default.do", "docs/en/conf.py", "zensical.toml", "docs/properdocs.yml", "mkdocs-base.yml", "mkdocs.insiders.yml", "antora-playbook.yml", "docs/local-antora-playbook.yml", "docs/antora.yml", "docs/myst.yml", "_quarto-production.yml", "docs/_extensions/a/a.lua", "_bookdown.yml", "book/_output.yml", "_site.yml", "pkgdown/_pkgdown.yml", "docs/jsdoc.json", "jsdoc.conf.json", "docs/theme.config.tsx", "site/config/_default/params.toml", "conf.py", "documentation/src/conf.py", "pelicanconf.py", "tools/mach_commands.py", "brunch-config.js", "phinx.php", "build.lua", "package-scripts.js", "Makefile", "GNUmakefile", "sub/Makefile", "rules.mk", "Justfile", "Taskfile.yml", "build.rs", "crates/a/build.rs", ".bazelrc", "CMakeLists.txt", "Earthfile", "Rakefile",
			"tox.ini", "toxfile.py", "site_scons/site_init.py", "noxfile.py", "gulpfile.js", "webpack.config.js", "vite.config.ts", "meson.build", "configure.ac", ".goreleaser.yml", "BUILD.bazel", "defs.bzl",
			"buf.gen.yaml", "docs/source/conf.py", "book.toml", "Doxyfile", "docs/.vitepress/config.ts", "src-tauri/tauri.conf.json", "Trunk.toml", "xmake.lua", "rebar.config.script", "hook/build.dart", "deps/build.jl", "debian/postinst", "platformio.ini", "PKGBUILD", "electron-builder.yml", "codegen.ts", "ext/x/extconf.rb", "config/config.exs", "src/Makevars", "pkg/src/install.libs.R", "jest.preset.js", "vitest.setup.ts", "app.config.js", "src/app/app.config.ts", "app/graphql.config.ts", "knexfile.js", "ormconfig.js", "x/.unheard-ofrc.ts", "api/ormconfig.yml", "rakefile.rb", "lib/tasks/db.rake", "tasks/x.thor", "app/App.csproj.user", "sconstruct.py", "src/wscript_build", "src/main.nims", "libs/package.mill", "build-logic/src/main/kotlin/x.kt", "pdm_build.py", "hugo.toml", "doc/conf.py", "drivers/Kconfig", "src/common.pri", "config-overrides.js", "{{x}}/hooks/post_gen_project.py", "lib/PACKAGE", "build.fsx", "tools/psakeFile.ps1", "src/BUILD.plz", "rules/go.build_defs", "patches/eslint+8.0.0.patch", "web/patches/a@1.patch", "Source/Shop.Target.cs", "Plugins/a/Source/b/b.Build.cs", "build.mill.scala", "site/_plugins/a.rb", "src/main/resources/META-INF/services/javax.annotation.processing.Processor", "gulpfile.js/tasks/a.js", "src/shop.app.src.script", "doc/latexmkrc", "nextflow.config", "plopfile.mjs", "fabfile/__init__.py", "jakelib/a.js", "maskfile.md", "buildfile.m"},
		configuresChecks: {".golangci.yml", ".eslintrc.js", "eslint.config.mjs", "jest.config.ts", ".prettierrc.cjs", "pytest.ini", "behave.ini", ".behaverc", "intern.json", "web/chromatic.config.json", "redocly.yaml", ".redocly.yml", "infra/bicepconfig.json", "mypy.ini", "tsconfig.json", ".rubocop.yml", "phpunit.xml",
			"web/.eslintignore", "lighthouserc.js", "web/lighthouserc.yml", "web/.oxlintrc.json", "phpcs.xml.dist", "nextest.toml", "web/.markdownlint.json", "src/test/resources/junit-platform.properties", "app.runsettings", "test/lit.cfg", "test/lit.cfg.py", "llvm/test/CodeGen/lit.local.cfg", "test/flutter_test_config.dart", "src/test/resources/kotest.properties", "unittest.cfg", "nose2.cfg", "Steepfile", "lib/.luacheckrc", "pytest.toml", "test/mocha.opts", "api/test/mocha.opts", "web/.puppeteerrc.cjs", "web/.puppeteerrc.yaml", "phpspec.yml", "phpspec.yml.dist", "phpstan-baseline.php", "app/lint-baseline.xml", "detekt-baseline.xml", "eslint-local-rules.ts", "web/eslint-local-rules/index.js", "eslint.local.cjs", "tests/security/pyvenv.cfg", "tests/security/conda-meta/history", "src/test/resources/cucumber.properties", "SpockConfig.groovy", "Shop.Specs/reqnroll.json", "specflow.json", "policy/conftest.toml"},
		gitSettings:      {".gitattributes", "sub/.gitattributes", ".gitmodules", ".lfsconfig", ".gitconfig"},
		namesOwners:      {"CODEOWNERS", "docs/CODEOWNERS", "pkg/OWNERS"},
		configuresReview: {".reviewerc", ".prloop-ignore", ".reviewerc.yml"},
		harmless: {"openspec/specs/cart/spec.md", "data/ecosystem.json", "apt.txt", "backend/app.yaml", "src/functions/middleware.ts", "src/worker.js", "src/headers", "docs/CNAME.md", "netlify/functions/a.js", "shop/conf.py", "src/Editor/Boot.cs", "Assets/Scripts/Boot.cs", "lib/context.go", "app/plugins/a.swift", "README.md", "src/main.go", "conftest.py", "src/lit.py", "src/split.cfg", "tests/conftest.py", "scripts/release.sh", "config/runtime.exs", "src/project/Model.scala", "Sources/App/Project.swift",
			"src/org/gradle/Api.java", "lib/hooks/useUser.ts", "src/hooks/update.ts", "deploy/k8s/app.yaml", "main.tf", "prod.auto.tfvars", "src/binder/start", "infra/modules/net/variables.tf", "composer.py",
			"src/compiler/codegen.ts", "src/config.ts", "src/setup.js", "tasks.py", "source/config.py", "src/environments/environment.prod.ts", "test/cart.spec.ts", "src/web/config.go", "review.md.tmpl", "scripts/task.bb", "sweep.yaml", "src/CODEOWNERS", "src/solve.pro", "datasets/a/meta.yaml", "recipes/numpy/meta.yaml", "web/manifest.json", "cfg/plugin.cfg", "api/serverless-handler.ts", "docs/replit.md",
			"docs/best_practices.md", "src/taskcluster/client.py", "src/buildkite/client.go", "src/copilot/overrides.go", "web/manifest.yml", "template.yaml", "firestore.rules", "storage.rules",
			".gitignore", ".mailmap", ".editorconfig", ".env.example", "web/.gitignore", "web/.env.example", "a/.gitkeep", "src/shop/user.clj", "patches/chromium/a.patch", "src/Order.Build.cs", "config/ci_helper.rb", "src/plugins/a.rb", "docs/gunicorn.md", "src/startup.m", "agents/a.md", "commands/deploy.md", "src/pull_request_template.md", "project/src/Model.scala"},
	} {
		for _, name := range names {
			if got := reason(Protected(name)); got != why {
				t.Errorf("%s: %q, want %q", name, got, why)
			}
		}
	}
}

// What the documentation lists is what the policy holds.
func TestGeneratedPage(t *testing.T) {
	const page = "../../docs/protected-paths.md"
	if *update {
		if err := os.WriteFile(page, []byte(protectedPaths()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(got), protectedPaths()); d != "" {
		t.Errorf("run make generate (-page +table):\n%s", d)
	}
}

func protectedPaths() string {
	titles := []struct {
		reason reason
		title  string
	}{
		{configuresReview, "Review"}, {namesOwners, "Owners"}, {instructsAgents, "Agents"}, {gitHooks, "Git hooks"}, {gitSettings, "Git"}, {runsCI, "CI"},
		{steersBots, "Bots, scanners and releases"}, {deploys, "Deployment"}, {loadsItself, "Editors, shells and interpreters"}, {declaresPackages, "Packages"},
		{runsBuilds, "Builds"}, {configuresChecks, "Linters and tests"}, {replacesRunners, "Names that a fix may change, but not add: test runners, installers and what they load"}, {harmless, "Dot files that a fix may change, but not add"},
	}
	var b strings.Builder
	b.WriteString(`# Protected paths

Generated by ` + "`make generate`" + ` from ` + "`internal/pushpolicy/protectedtable.go`" + `. A fix that touches one of these is not pushed ([fixing.md](fixing.md#what-is-never-pushed)).
Neither is one that touches any other file whose name, or the name of a folder above it, begins with a dot.

A pattern is a file's name at any depth, unless it is marked *root*; with a slash at its end it is a folder and all below it. ` + "`*`" + ` stands for any part of a name, ` + "`**`" + ` for any part of a path,
` + "`{a,b}`" + ` for either. Case and Unicode composition make no difference.
`)
	for _, t := range titles {
		fmt.Fprintf(&b, "\n## %s\n\n", t.title)
		if t.reason != harmless {
			fmt.Fprintf(&b, "Refused because %s.\n\n", t.reason)
		}
		b.WriteString("| pattern | source |\n| --- | --- |\n")
		for _, r := range rows {
			if r.reason != t.reason {
				continue
			}
			at, source := "", r.source
			if r.depth == atRoot {
				at = " *root*"
			}
			label, ok := strings.CutPrefix(source, "https://")
			host, repository, _ := strings.Cut(label, "/")
			switch {
			case !ok:
				source = path.Base(source)
				label = source
			case host != "github.com":
				label = host
			default:
				label = strings.Join(strings.SplitN(repository, "/", 3)[:2], "/")
			}
			fmt.Fprintf(&b, "| `%s`%s | [%s](%s) |\n", r.pattern, at, label, source)
		}
	}
	b.WriteString("\n## Names that count only beside others\n\nRefused in folders that have one of the files.\n\n| pattern | beside | source |\n| --- | --- | --- |\n")
	for _, c := range companions {
		label, _, _ := strings.Cut(strings.TrimPrefix(c.source, "https://"), "/")
		fmt.Fprintf(&b, "| `%s` | `%s` | [%s](%s) |\n", c.pattern, strings.Join(c.beside, "`, `"), label, c.source)
	}
	if slices.ContainsFunc(rows, func(r row) bool { return !strings.Contains(b.String(), "`"+r.pattern+"`") }) {
		panic("a reason has no title")
	}
	return b.String()
}

func TestActs(t *testing.T) {
	for name, want := range map[string]struct {
		why      reason
		manifest bool
	}{
		"vendor/x/action.yml": {runsCI, false}, "a/.husky/pre-commit": {gitHooks, false}, "web/.idea/misc.xml": {loadsItself, false},
		"go.sum": {declaresPackages, true}, "CODEOWNERS": {}, ".gitignore": {}, ".unheard/of": {}, "src/a.go": {},
	} {
		if why, manifest := Acts(name); why != string(want.why) || manifest != want.manifest {
			t.Errorf("%s: %q, %v", name, why, manifest)
		}
	}
}
