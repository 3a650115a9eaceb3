package repocontext

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
)

// lockedBy are the manifests that stand beside a lock file; of a pattern any. A lock file that is not here may stand anywhere.
var lockedBy = map[string][]string{
	"package-lock.json": {"package.json"}, "npm-shrinkwrap.json": {"package.json"}, "yarn.lock": {"package.json"}, "pnpm-lock.yaml": {"package.json", "pnpm-workspace.yaml"},
	"bun.lock": {"package.json"}, "bun.lockb": {"package.json"}, "deno.lock": {"deno.json", "deno.jsonc", "package.json"},
	"go.sum": {"go.mod"}, "go.work.sum": {"go.work"}, "Cargo.lock": {"Cargo.toml"}, "Gemfile.lock": {"Gemfile"},
	"poetry.lock": {"pyproject.toml"}, "Pipfile.lock": {"Pipfile"}, "uv.lock": {"pyproject.toml"}, "pdm.lock": {"pyproject.toml"}, "pixi.lock": {"pixi.toml", "pyproject.toml"},
	"composer.lock": {"composer.json"}, "flake.lock": {"flake.nix"}, "pubspec.lock": {"pubspec.yaml"}, "Podfile.lock": {"Podfile"}, "Cartfile.resolved": {"Cartfile"},
	"packages.lock.json": {"*.csproj", "*.fsproj", "*.vbproj"}, "gradle.lockfile": {"build.gradle", "build.gradle.kts"}, "conan.lock": {"conanfile.txt", "conanfile.py"},
	".terraform.lock.hcl": {"*.tf", "*.tofu", "*.tf.json"}, "esy.lock": {"esy.json", "package.json"}, "Gopkg.lock": {"Gopkg.toml"}, "glide.lock": {"glide.yaml"},
}

// lockKeys are the keys at the top of what package managers write as JSON or YAML, which other tools take from any file of a folder, whatever its name.
var lockKeys = map[string][]string{
	"package-lock.json":   {"name", "version", "lockfileVersion", "requires", "packages", "dependencies", "preserveSymlinks", "packageIntegrity"},
	"npm-shrinkwrap.json": {"name", "version", "lockfileVersion", "requires", "packages", "dependencies", "preserveSymlinks", "packageIntegrity"},
	"packages.lock.json":  {"version", "dependencies"},
	"pnpm-lock.yaml": {"lockfileVersion", "settings", "catalogs", "overrides", "importers", "packages", "snapshots", "time", "specifiers", "dependencies", "devDependencies", "optionalDependencies",
		"configDependencies", "packageManagerDependencies", "ignoredOptionalDependencies", "patchedDependencies", "neverBuiltDependencies", "onlyBuiltDependencies", "dependenciesMeta", "publishDirectory",
		"packageExtensionsChecksum", "pnpmfileChecksum"},
	sqlxQuery: {"db_name", "query", "describe", "hash"},
}

// sqlxQuery stands for the queries that sqlx keeps.
const sqlxQuery = "query-*.json"

// lockLimit is how much of a lock file is read, in bytes.
const lockLimit = 32 << 20

// astray takes back new lock files without their manifest, and those in JSON or YAML that hold something else than what a package manager writes: servers, CIs and clusters
// are told what to run by each such file of a folder (threats.md T887).
func (b *builder) astray(ctx context.Context, locks []int, back func(int)) error {
	for batch := range slices.Chunk(locks, diffBatch) {
		var ask []int
		for _, i := range batch {
			f := &b.o.Diff.Files[i]
			if f.Change != diff.Modified {
				dir, base := path.Split(f.Path)
				standing, err := b.src.Files(ctx, b.o.Head, strings.TrimSuffix(dir, "/"))
				if err != nil {
					return err
				}
				want, known := lockedBy[base]
				if known && !slices.ContainsFunc(standing, func(name string) bool { return path.Dir(name) == path.Dir(f.Path) && matchesAny(want, path.Base(name)) }) {
					back(i)
					continue
				}
			}
			if _, ok := lockKeys[lockKind(f.Path)]; ok {
				ask = append(ask, i)
			}
		}
		names := b.paths(ask)
		texts, err := b.src.ReadFiles(ctx, b.o.Head, names, lockLimit)
		if err != nil {
			return err
		}
		for n, i := range ask {
			if !locked(names[n], texts[names[n]]) {
				back(i)
			}
		}
	}
	return nil
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
}

// lockKind is the key of a file in lockKeys, if it has one.
func lockKind(name string) string {
	dir, base := path.Split(name)
	if ok, err := path.Match(sqlxQuery, base); ok && err == nil && path.Base(dir) == ".sqlx" {
		return sqlxQuery
	}
	return base
}

// locked reports whether a text has no other keys at its top than those of its kind.
func locked(name string, text []byte) bool {
	keys := lockKeys[lockKind(name)]
	if strings.HasSuffix(name, ".json") {
		var top map[string]json.RawMessage
		if json.Unmarshal(text, &top) != nil || top == nil {
			return false
		}
		for key := range top {
			if !slices.Contains(keys, key) {
				return false
			}
		}
		return true
	}
	if otherBreak.Match(text) {
		return false
	}
	begun := false // else a document may begin with blanks, and what follows stands at its top
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimRight(line, "\r ")
		m := topKey.FindStringSubmatch(line)
		switch {
		case line == "" || line[0] == '#':
		case line == "---":
			begun = false
		case m != nil && slices.Contains(keys, m[1]):
			begun = true
		case !begun || line[0] != ' ':
			return false
		}
	}
	return begun
}

var (
	// otherBreak is what else ends a line of YAML.
	otherBreak = lazyregexp.New("\r[^\n]|\u0085|\u2028|\u2029")
	// topKey is a line with a key at the top of YAML.
	topKey = lazyregexp.New(`^([A-Za-z]+):(?: .*)?$`)
)
