package repocontext

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
)

// Reasons of review.BriefFile.Omitted, besides those the diff already carries.
const (
	OmittedExcluded   = "excluded by configuration"
	OmittedBinary     = "binary"
	OmittedGenerated  = "generated"
	OmittedVendored   = "vendored"
	OmittedLockFile   = "lock file"
	OmittedOverBudget = "over budget"
	// overBudgetRun is the reason of a file that would have been excused, were it not run for its name.
	overBudgetRun = OmittedOverBudget + "; new, and run by its name where a test runner looks"
)

// lockFiles are written by package managers, and read by them as data: a format that a tool evaluates, such as mix.lock, is code, and so is one that may hold
// commands, as MODULE.bazel.lock does of the repositories that extensions make.
var lockFiles = []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock",
	"go.sum", "go.work.sum", "Cargo.lock", "Gemfile.lock", "poetry.lock", "Pipfile.lock", "uv.lock", "pdm.lock", "pixi.lock",
	"composer.lock", "flake.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "Cartfile.resolved",
	"packages.lock.json", "gradle.lockfile", "conan.lock", ".terraform.lock.hcl", "esy.lock", "Gopkg.lock", "glide.lock"}

// vendorFolders hold other people's code. Linguist's list also names CI files, testdata, caches and fixtures, where a
// change must be seen, and vendors, which are as often those who sell something.
var vendorFolders = []string{"vendor", "node_modules", "bower_components", "jspm_packages", "Godeps", "Pods", "Carthage",
	"third_party", "third-party", "thirdparty", "3rdparty", "3rd_party"}

// byName is the reason a file is left out that its name and its diff alone give; empty for none.
func byName(f *diff.File) string {
	if why := named(f.Path); why != "" && !runnable(f) && (f.OldPath == "" || named(f.OldPath) == why) {
		return why
	}
	return unshown(f)
}

// unshown is the reason for which git shows nothing of a file; empty for none.
func unshown(f *diff.File) string {
	if f.Binary && f.Omitted == "" {
		return OmittedBinary
	}
	return f.Omitted
}

// named is the reason a file is left out that its name alone gives. One that was renamed has to have it under both names.
func named(p string) string {
	dir, base := path.Split(p)
	switch {
	case neverSkipped(p):
		return ""
	case slices.Contains(lockFiles, base):
		return OmittedLockFile
	case below(dir, vendorFolders):
		return OmittedVendored
	case namedGenerated(p):
		return OmittedGenerated
	}
	return ""
}

// runnable reports whether a file runs by itself or stands for something else: a link, another repository, an executable, a text
// that begins with the name of its interpreter. No name, mark or attribute lets such a file go unread.
func runnable(f *diff.File) bool {
	if mode := cmp.Or(f.NewMode, f.OldMode); mode != plainMode && mode != 0 { // 0: neither mode nor text have changed
		return true
	}
	for i := range f.Hunks {
		for l := range f.Hunks[i].Lines() {
			if (l.Old == 1 || l.New == 1) && hasInterpreter([]byte(l.Text)) {
				return true
			}
			if l.Old > 1 && l.New > 1 {
				break
			}
		}
	}
	return false
}

// plainMode is git's mode of a file that is no link and that cannot be run by itself.
const plainMode = 0o100644

// hasInterpreter reports whether a text begins with the name of what runs it. Attributes of Rust begin in the same way.
func hasInterpreter(text []byte) bool {
	return bytes.HasPrefix(text, []byte("#!")) && !bytes.HasPrefix(text, []byte("#!["))
}

// listing reports whether a file, by its name, is text that nobody reads for the text around a change: what tools resolve and
// lock under names that no rule excuses, snapshots of tests, translations.
func listing(p string) bool {
	dir, base := path.Split(strings.ToLower(p))
	ending := path.Ext(base)
	switch {
	case ending == ".lock", ending == ".snap", strings.Contains(base, "-lock."), strings.Contains(base, ".lock."):
		return true
	case slices.Contains(translations, ending):
		return true
	}
	return below(dir, localeFolders) && slices.Contains(localeData, lang.Of(p))
}

var (
	translations  = []string{".po", ".pot", ".xlf", ".xliff", ".arb", ".resx", ".ftl"}
	localeFolders = []string{"locale", "locales", "i18n", "l10n", "lang", "langs", "translations"}
	localeData    = []string{"json", "json with comments", "yaml", "toml", "java properties", "ini", "xml"}
)

// below reports whether one of the folders of a path is in the list.
func below(dir string, folders []string) bool {
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if slices.Contains(folders, part) {
			return true
		}
	}
	return false
}

// Ordinary is the name of a file beside one that its name takes out of a review, in the same folder and with the same ending, that no list here knows: a folder of
// other people's code has another name in it, and where that is all that takes the file out, its own name stays. An ending that lock files alone have is gone. A pattern
// that matches both was not written for what is left out.
func Ordinary(p string) string {
	const other = "other"
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if slices.Contains(vendorFolders, part) {
			parts[i] = other
		}
	}
	if moved := strings.Join(parts, "/"); moved != p && named(moved) == "" {
		return moved
	}
	base := path.Base(p)
	ending := path.Ext(base)
	if slices.Contains(lockFiles, base) && lang.Of(other+ending) == "" {
		ending = ""
	}
	parts[len(parts)-1] = other + ending
	return strings.Join(parts, "/")
}

// neverSkipped are files that run things by their name or ending: nothing may take them out of a review but the operator's
// configuration. A manifest that is data says what a package in a vendored folder is made of, which nobody reads either.
func neverSkipped(p string) bool {
	dir, base := path.Split(p)
	if path.Base(dir) == "db" && railsSchema.MatchString(base) {
		return true
	}
	if strings.HasPrefix(spelling.Fold(base), ".git") || slices.Contains(scriptEndings, strings.ToLower(path.Ext(base))) || slices.Contains(scriptLanguages, lang.Of(p)) {
		return true
	}
	why, manifest := pushpolicy.Acts(p)
	return why != "" && !(manifest && (slices.Contains(lockFiles, base) || below(dir, vendorFolders) && !slices.Contains(projectTasks, base) && slices.Contains(dataLanguages, lang.Of(p))))
}

var (
	// scriptLanguages are those of files that people and tools run by their path; scriptEndings are the endings of some more, and of programs.
	scriptLanguages = []string{"shell", "fish", "powershell", "batchfile", "makefile", "cmake", "dockerfile", "diff"}
	scriptEndings   = []string{".csh", ".tcsh", ".command", ".vbs", ".wsf", ".pth", ".exe", ".com", ".scr", ".msi"}
	// projectTasks are manifests with tasks that a tool finds in any folder.
	projectTasks = []string{"project.json", "moon.yml"}
	// dataLanguages are those of manifests that hold no code.
	dataLanguages = []string{"json", "json with comments", "toml", "yaml", "text", "go module", "go workspace", "go checksums"}
)

// railsSchema matches the files from which Rails makes its databases, tests' too. Its own attributes call the first generated (threats.md T907).
var railsSchema = lazyregexp.New(`^(?:\w+_)?(?:schema\.rb|structure\.sql)$`)

// addedHead is the beginning of a new file, taken from its diff.
func addedHead(f *diff.File) []byte {
	var b []byte
	for l := range f.Added() {
		b = append(append(b, l.Text...), '\n')
		if len(b) > generatedHead {
			break
		}
	}
	return b
}
