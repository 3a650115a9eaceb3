package pushpolicy

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/globs"
)

// Instructions are the files of context.guidance, whose text reviewers are given as rules under names of their own (threats.md T746).
type Instructions struct {
	// Guidance are the names and globs of context.guidance.
	Guidance []string
}

// why says why a file is a part of instructions; empty means that it is not known as one.
func (in *Instructions) why(name string) string {
	if slices.ContainsFunc(in.Guidance, func(rules string) bool { return guides(rules, name) }) {
		return "reviewers take it for rules"
	}
	return ""
}

// guides reports whether an entry of context.guidance names a file. A name without a slash counts in every folder.
func guides(rules, file string) bool {
	switch {
	case strings.ContainsAny(rules, "*?[{"):
		return globs.Any([]string{rules}, file)
	case !strings.Contains(rules, "/"):
		return path.Base(file) == rules
	}
	return path.Clean(rules) == file
}
