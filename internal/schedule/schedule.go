// Package schedule has the rules of scheduled jobs (spec.md C4): which branch a job's pull request has, and what the job may change. They
// come on top of the push policy, which always holds. All of it is pure.
package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// The rules' names. They stand in reports and are never renamed.
const (
	// RuleWriteScope: a path is outside schedule.writeScope. RuleMaxFiles and RuleMaxDiffLines: schedule.limits.
	RuleWriteScope   = "write-scope"
	RuleMaxFiles     = "max-files"
	RuleMaxDiffLines = "max-diff-lines"
	// RuleBranchName: it is no name for a branch. RuleBaseBranch: it is the branch that pull requests go to. RuleBranchTaken: it is there
	// and not the job's, or another one, or the place of one, is above or below it.
	RuleBranchName  = "branch-name"
	RuleBaseBranch  = "base-branch"
	RuleBranchTaken = "branch-taken"
	// RuleOneBranch: two commands of a job ask for different branches.
	RuleOneBranch = "one-branch"
)

// JobTrailer is the key of the last line of every commit of a job, which names the job. With the author it tells such a commit from one of a
// person on any machine, from GitHub alone. Whoever forges both asks prloop to build on their commit, and takes nothing from anybody.
const JobTrailer = "prloop-job"

// Prefix is what the names of prloop's own branches begin with.
const Prefix = "prloop/"

// nameLimit is how long the part of a branch's name that is made of ids may be.
const nameLimit = 100

// plain is an id that can stand in a branch's name as it is.
var plain = lazyregexp.New(`^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$`)

// Named reports whether an agent may give a branch this name, once git takes it: workflows write the name of a pull request's branch into scripts, and people read it.
func Named(branch string) bool { return named.MatchString(branch) }

var named = lazyregexp.New(`^[A-Za-z0-9._+/-]{1,100}$`)

// Branches are the names of the branch of a job's pull request, always the same for the same ids in the same order: the one it has, and the one for
// where that cannot be made.
func Branches(job string, commands []string) (names []string) {
	ids := append([]string{job}, commands...)
	odd := func(id string) bool { return !plain.MatchString(id) || strings.HasSuffix(id, ".lock") }
	name := job + "/" + strings.Join(commands, "+")
	if len(commands) > 0 && len(name) <= nameLimit && !slices.ContainsFunc(ids, odd) {
		names = append(names, Prefix+name)
	}
	h := sha256.New()
	for _, id := range ids {
		fmt.Fprintf(h, "%d:%s", len(id), id) // length-prefixed: no two lists read the same
	}
	return append(names, Prefix+"job-"+hex.EncodeToString(h.Sum(nil))[:12])
}

// Numbered is the nth name to try for a branch: the name itself, then with a number behind it.
func Numbered(name string, n int) string {
	if n < 2 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, n)
}

// Skipped reports whether none of the paths is one of those that the globs choose.
func Skipped(touched []string, g globs.Globs) bool { return !slices.ContainsFunc(touched, g.Match) }

// Check gives every rule that a change breaks: the paths it touches, old names included, and how many files and lines it is.
func Check(paths []string, files, lines int, t review.JobTerms) []review.Refusal {
	var refused []review.Refusal
	scope := globs.Globs{Include: t.Include, Exclude: t.Exclude}
	for _, path := range paths {
		if !scope.Match(path) {
			refused = append(refused, review.Refusal{Rule: RuleWriteScope, Path: spelling.Name(path), Detail: "schedule.writeScope does not name it"})
		}
	}
	if t.MaxFiles > 0 && files > t.MaxFiles {
		refused = append(refused, review.Refusal{Rule: RuleMaxFiles, Detail: fmt.Sprintf("%d files, at most %d", files, t.MaxFiles)})
	}
	if t.MaxDiffLines > 0 && lines > t.MaxDiffLines {
		refused = append(refused, review.Refusal{Rule: RuleMaxDiffLines, Detail: fmt.Sprintf("%d changed lines, at most %d", lines, t.MaxDiffLines)})
	}
	return refused
}
