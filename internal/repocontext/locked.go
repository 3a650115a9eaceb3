package repocontext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
)

// lockedBy are the manifests that stand beside a lock file; of a pattern any.
var lockedBy = map[string][]string{
	"package-lock.json": {"package.json"}, "npm-shrinkwrap.json": {"package.json"}, "yarn.lock": {"package.json"}, pnpmLock: {"package.json", "pnpm-workspace.yaml"},
	"bun.lock": {"package.json"}, "bun.lockb": {"package.json"}, "deno.lock": {"deno.json", "deno.jsonc", "package.json"},
	"go.sum": {"go.mod"}, "go.work.sum": {"go.work"}, "Cargo.lock": {"Cargo.toml"}, "Gemfile.lock": {"Gemfile"},
	"poetry.lock": {"pyproject.toml"}, "Pipfile.lock": {"Pipfile"}, "uv.lock": {"pyproject.toml"}, "pdm.lock": {"pyproject.toml"}, "pixi.lock": {"pixi.toml", "pyproject.toml"},
	"composer.lock": {"composer.json"}, "flake.lock": {"flake.nix"}, "pubspec.lock": {"pubspec.yaml"}, "Podfile.lock": {"Podfile"}, "Cartfile.resolved": {"Cartfile"},
	"packages.lock.json": {"*.csproj", "*.fsproj", "*.vbproj"}, "gradle.lockfile": {"build.gradle", "build.gradle.kts"}, "conan.lock": {"conanfile.txt", "conanfile.py"},
	".terraform.lock.hcl": {"*.tf", "*.tofu", "*.tf.json"}, "esy.lock": {"esy.json", "package.json"}, "Gopkg.lock": {"Gopkg.toml"}, "glide.lock": {"glide.yaml"},
}

// lockKeys are the keys at the top of what package managers write as JSON, and pnpm as YAML. Other tools take JSON and YAML from any file of a folder, whatever its name.
var lockKeys = map[string][]string{
	"package-lock.json":   {"name", "version", "lockfileVersion", "requires", "packages", "dependencies", "preserveSymlinks", "packageIntegrity"},
	"npm-shrinkwrap.json": {"name", "version", "lockfileVersion", "requires", "packages", "dependencies", "preserveSymlinks", "packageIntegrity"},
	"packages.lock.json":  {"version", "dependencies"},
	pnpmLock: {"lockfileVersion", "settings", "catalogs", "overrides", "importers", "packages", "snapshots", "time", "specifiers", "dependencies", "devDependencies", "optionalDependencies",
		"configDependencies", "packageManagerDependencies", "ignoredOptionalDependencies", "patchedDependencies", "neverBuiltDependencies", "onlyBuiltDependencies", "dependenciesMeta", "publishDirectory",
		"packageExtensionsChecksum", "pnpmfileChecksum"},
	"Package.resolved": {"object", "pins", "version", "originHash"},
	"composer.lock": {"_readme", "content-hash", "hash", "packages", "packages-dev", "aliases", "minimum-stability", "stability-flags", "prefer-stable", "prefer-lowest", "platform", "platform-dev",
		"platform-overrides", "plugin-api-version"},
	"Pipfile.lock": {"_meta", "default", "develop"}, "flake.lock": {"nodes", "root", "version"},
	"deno.lock":  {"version", "remote", "npm", "jsr", "redirects", "specifiers", "packages", "workspace", "links", "patches"},
	"conan.lock": {"version", "requires", "build_requires", "python_requires", "config_requires", "overrides", "alias"},
	sqlxQuery:    {"db_name", "query", "describe", "hash"},
}

const (
	pnpmLock = "pnpm-lock.yaml"
	// sqlxQuery stands for the queries that sqlx keeps.
	sqlxQuery = "query-*.json"
)

// lockTexts are those of lockKeys whose value is a text.
var lockTexts = []string{"name", "version", "lockfileVersion", "content-hash", "hash", "minimum-stability", "plugin-api-version", "root", "db_name", "query", "originHash"}

// lockLimit is how much of a lock file is read, in bytes.
const lockLimit = 8 << 20

// astray takes back lock files that may be something else by their text, and new ones that may be by their place: servers, CIs and clusters are told what to run by each file of
// a folder, some of them whatever its ending is (threats.md T887). A new one is what its name says where its manifest stood beside it before, at the root, or where its text, as
// JSON, holds what its package manager writes and nothing else: a manifest beside it is quickly made up, but it has to be there, where reviewers see it. None that changes brings a
// line that templates run (threats.md T905), or lies where tools take any file (threats.md T909).
func (b *builder) astray(ctx context.Context, locks []int, back func(int)) error {
	for batch := range slices.Chunk(locks, diffBatch) {
		var ask []int
		for _, i := range batch {
			f := &b.o.Diff.Files[i]
			kind := lockKind(f.Path)
			_, keyed := lockKeys[kind]
			if loaded(f.Path) != "" {
				back(i)
				continue
			}
			if f.Change != diff.Modified {
				placed, err := b.placed(ctx, f.Path, keyed && kind != pnpmLock)
				if err != nil {
					return err
				}
				if !placed {
					back(i)
					continue
				}
			}
			switch {
			case bringsTemplate(f), f.Binary && f.Omitted == "": // git calls binary too what it did not compare
				back(i)
			case keyed && (f.Change != diff.Modified || path.Ext(kind) != ".lock"), f.OldPath != "", len(f.Hunks) == 0:
				ask = append(ask, i)
			}
		}
		names := b.paths(ask)
		texts, err := b.src.ReadFiles(ctx, b.o.Head, names, lockLimit)
		if err != nil {
			return err
		}
		for n, i := range ask {
			f := &b.o.Diff.Files[i]
			text, there := texts[names[n]]
			_, keyed := lockKeys[lockKind(f.Path)]
			if !there || bytes.IndexByte(text, 0) >= 0 || (f.OldPath != "" || len(f.Hunks) == 0) && holdsTemplate(text) || keyed && !locked(names[n], text, f.Change != diff.Modified) {
				back(i)
			}
		}
	}
	return nil
}

// placed reports whether a new lock file stands where one may.
func (b *builder) placed(ctx context.Context, lock string, keyed bool) (bool, error) {
	dir, base := path.Split(lock)
	if keyed && lockedBy[base] == nil {
		return true, nil
	}
	beside, err := b.besideManifest(ctx, lock, keyed)
	if !beside && err == nil && below(dir, vendorFolders) { // it comes with a package
		return b.holds(ctx, vendorRoot(lock), "", 1)
	}
	return beside, err
}

// besideManifest reports whether the manifest of a new lock file stood beside it at the base, or stands beside it now, where that is enough, as it is at the root.
func (b *builder) besideManifest(ctx context.Context, lock string, now bool) (bool, error) {
	dir := path.Dir(lock)
	commit, below := cmp.Or(b.o.From, b.o.Base), dir
	if now || dir == "." {
		commit = b.o.Head
	}
	if dir == "." {
		below = ""
	}
	standing, err := b.src.Files(ctx, commit, below)
	return slices.ContainsFunc(standing, func(name string) bool {
		return path.Dir(name) == dir && matchesAny(lockedBy[path.Base(lock)], path.Base(name))
	}), err
}

var (
	// templateMark begins what templates of Go, Jinja, ERB, EJS, Mako, FreeMarker, Velocity, Pug, PHP and shells run.
	templateMark = lazyregexp.New(`(?m)\{[{%]|<[%#?]|#\{|\$!?[A-Za-z({]|^[ \t]*%`)
	// quotedWord is a word in backquotes that a package says of itself, and a path of CocoaPods: a shell runs no more than a name there.
	quotedWord = lazyregexp.New("(^|[^\\\\`])`[\\w@./:+~-]+`")
)

// holdsTemplate reports whether a text holds what a template would run, however a value in it is spelled.
func holdsTemplate(text []byte) bool {
	return templateMark.Match(text) || bytes.IndexByte(text, '`') >= 0 && strings.Contains(quotedWord.ReplaceAllString(string(text), ""), "`")
}

// bringsTemplate reports whether a change brings a line with one of them.
func bringsTemplate(f *diff.File) bool {
	for l := range f.Added() {
		if holdsTemplate([]byte(l.Text)) {
			return true
		}
	}
	return false
}

// templated reports whether a text in a value of JSON is one that a template would run.
func templated(value any) bool {
	switch v := value.(type) {
	case string:
		return holdsTemplate([]byte(v))
	case []any:
		return slices.ContainsFunc(v, templated)
	case map[string]any:
		for key, one := range v {
			if templated(key) || templated(one) {
				return true
			}
		}
	}
	return false
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

// locked reports whether a text has no other keys at its top than those of its kind, and, where it is new, nothing that a template would run: what packages say of themselves may
// look like that too.
func locked(name string, text []byte, fresh bool) bool {
	keys := lockKeys[lockKind(name)]
	if fresh && holdsTemplate(text) { // of a key that stands twice the decoded text has one value
		return false
	}
	if lockKind(name) != pnpmLock {
		var top map[string]any
		if json.Unmarshal(text, &top) != nil || top == nil {
			return false
		}
		for key, value := range top {
			if _, is := value.(string); !slices.Contains(keys, key) || is && !slices.Contains(lockTexts, key) || fresh && templated(value) {
				return false
			}
		}
		return true
	}
	if otherBreak.Match(text) {
		return false
	}
	begun, opened := false, false // else a document may begin with blanks, and what follows stands at its top, and what a key holds anywhere
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimRight(line, "\r ")
		m := topKey.FindStringSubmatch(line)
		switch {
		case line == "" || line[0] == '#':
		case line == "---":
			begun = false
		case m != nil && slices.Contains(keys, m[1]) && plainValue.MatchString(m[2]):
			begun, opened = true, true
		case !begun || line[0] != ' ' || opened && !twoBlanks.MatchString(line) || jobKey.MatchString(line):
			return false
		default:
			opened = false
		}
	}
	return begun
}

var (
	// otherBreak is what else ends a line of YAML.
	otherBreak = lazyregexp.New("\r[^\n]|\u0085|\u2028|\u2029")
	// topKey is a line with a key at the top of YAML.
	topKey = lazyregexp.New(`^([A-Za-z]+):(?: (.*))?$`)
	// plainValue is what may stand behind one: a number, a sum, or nothing. jobKey makes a job of a CI, or a group of hosts, of what stands below one.
	plainValue = lazyregexp.New(`^(?:['"]?[0-9]{1,4}(?:\.[0-9]{1,4}){0,2}['"]?|[\w=+/.-]{20,200}|\{\}|)$`)
	jobKey     = lazyregexp.New(`^  (?:['"]?(?:script|run|trigger|extends|hosts|children|vars)['"]?\s*:|[?&*!{\[|>]|<<|"[^"]*\\)`)
	// twoBlanks is how pnpm indents.
	twoBlanks = lazyregexp.New(`^  \S`)
)
