package repocontext

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
)

// Reasons of review.BriefFile.Omitted, besides those the diff already carries.
const (
	OmittedExcluded   = "excluded by configuration"
	OmittedBinary     = "binary"
	OmittedGenerated  = "generated"
	OmittedVendored   = "vendored"
	OmittedLockFile   = "lock file"
	OmittedOverBudget = "over budget"
)

// lockFiles are written by package managers.
var lockFiles = []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock",
	"go.sum", "go.work.sum", "Cargo.lock", "Gemfile.lock", "poetry.lock", "Pipfile.lock", "uv.lock", "pdm.lock", "pixi.lock",
	"composer.lock", "flake.lock", "mix.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "Cartfile.resolved",
	"packages.lock.json", "gradle.lockfile", "conan.lock", ".terraform.lock.hcl", "MODULE.bazel.lock", "esy.lock", "Gopkg.lock", "glide.lock"}

// vendorFolders hold other people's code. Linguist's list also names CI files, testdata, caches and fixtures, where a
// change must be seen.
var vendorFolders = []string{"vendor", "vendors", "node_modules", "bower_components", "jspm_packages", "Godeps", "Pods", "Carthage",
	"third_party", "third-party", "thirdparty", "3rdparty", "3rd_party"}

// byName is the reason a file is left out that its name and its diff alone give; empty for none.
func byName(f *diff.File) string {
	if why := named(f.Path); why != "" && (f.OldPath == "" || named(f.OldPath) == why) {
		return why
	}
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

// below reports whether one of the folders of a path is in the list.
func below(dir string, folders []string) bool {
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if slices.Contains(folders, part) {
			return true
		}
	}
	return false
}

// neverSkipped are files that run things: nothing may take them out of a review but the operator's configuration.
func neverSkipped(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case ".github", ".gitlab", ".circleci", ".buildkite", ".husky", ".devcontainer", ".vscode":
			return true
		}
	}
	base := path.Base(p)
	return strings.HasPrefix(base, ".git") || base == "Jenkinsfile" || base == "Makefile" || base == ".gitlab-ci.yml"
}

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
