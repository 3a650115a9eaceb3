package fixspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// layerVersion rises when layers are made in another way.
const layerVersion = 1

// manifests are the files, at any depth, that say which packages a repository needs and how they are built. What a setup command names
// counts as well.
var manifests = []string{
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", ".yarnrc", ".yarnrc.yml", ".npmrc", "pnpm-lock.yaml", "pnpm-workspace.yaml",
	".pnpmfile.cjs", "bun.lock", "bun.lockb", "deno.json", "deno.lock", ".nvmrc", ".node-version", ".tool-versions", "mise.toml",
	"go.mod", "go.sum", "go.work", "go.work.sum",
	"Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml",
	"pyproject.toml", "uv.lock", "uv.toml", "poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "setup.py", "setup.cfg", ".python-version",
	"Gemfile", "Gemfile.lock", ".ruby-version", "composer.json", "composer.lock", "mix.exs", "mix.lock",
	"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle.lockfile", "libs.versions.toml",
	"packages.lock.json", "Directory.Packages.props", "global.json",
	"GNUmakefile", "makefile", "Makefile", "justfile", "Taskfile.yml",
}

// isManifest reports whether a file decides what is set up. Files of requirements have names of many forms.
func isManifest(name string) bool {
	base := path.Base(name)
	return slices.Contains(manifests, base) || strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".csproj")
}

// toolchains are programs for which packages may be built, beside those that the commands begin with.
var toolchains = []string{"go", "node", "python3", "cargo", "ruby", "java"}

// layerName is one name for all setups that come to the same: whose they are, what they run in which environment, what is withheld from
// them, the manifests, the operating system and the programs.
func (b *Workspace) layerName(ctx context.Context, o SetupOrder) (string, error) {
	opts := b.Verifying.withDefaults()
	named := map[string]bool{}
	tools := slices.Clone(toolchains)
	for _, c := range o.Commands {
		words := strings.Fields(c)
		tools = append(tools, words[:min(1, len(words))]...)
		for _, w := range words {
			named[path.Clean(strings.Trim(w, `"';&|()`))] = true
		}
	}
	entries, err := b.Repo.List(ctx, o.Commit, "")
	if err != nil {
		return "", err
	}
	var files [][2]string
	for _, e := range entries {
		if isManifest(e.Path) || named[e.Path] {
			files = append(files, [2]string{e.Path, e.OID})
		}
	}
	system, _ := os.ReadFile("/etc/os-release") // a system without it is told apart by its programs
	text, err := json.Marshal([]any{
		layerVersion, o.Whose, o.Commands, opts.environment(b.placed("")), opts.Env, opts.Read, opts.Lent, opts.unread(), files,
		runtime.GOOS, runtime.GOARCH, string(system), programs(tools, opts.Path),
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "setup-" + hex.EncodeToString(sum[:16]), nil
}

// unread are the globs of what commands do not read, in one order.
func (o VerifyOptions) unread() []string {
	if o.ReadAll {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(o.Withheld)))
}

// buildsName is the name of the build cache: another one for builds that read less.
func (o VerifyOptions) buildsName() string {
	unread := o.unread()
	if o.Builds == "" || len(unread) == 0 {
		return o.Builds
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", unread))
	return o.Builds + "-" + hex.EncodeToString(sum[:8])
}

// programs tells the programs of these names that a PATH leads to from others, and from other versions of them.
func programs(names []string, searched string) (known [][3]any) {
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		for _, dir := range filepath.SplitList(searched) {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				known = append(known, [3]any{file, info.Size(), info.ModTime().UnixNano()})
				break
			}
		}
	}
	return known
}
