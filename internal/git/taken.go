package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// Taken is one commit of a fixer, in prloop's own repository but under no ref.
type Taken struct {
	// Commit is the fixer's own object id; empty for a plain tree that was never committed.
	Commit string
	// Parent is the commit before it.
	Parent string
	// Tree is its content. Rewrite keeps it as it is.
	Tree string
	// Message is what Rewrite gives the new commit. Out of a bundle it is the fixer's own text, which is data: the caller
	// puts its own there (pushpolicy.Message).
	Message string
}

// TakeError is a refusal to take a fixer's work out of its folder or bundle, by rule.
type TakeError struct {
	// Rule is one of those below; it is never renamed.
	Rule string
	// Path is the file it is about; empty when it is about the whole.
	Path string
	// Detail says what was found.
	Detail string
	// Err is what git said; often nil.
	Err error
}

// The rules of taking. Merges are refused, not flattened: a flattened one would hide what came in beside the fix.
const (
	TakeNotBundle    = "not-a-bundle"
	TakeTooLarge     = "too-large"
	TakeTooMany      = "too-many-objects"
	TakeRefs         = "bundle-refs"
	TakePrerequisite = "bundle-prerequisite"
	TakeMalformed    = "malformed-object"
	TakeForeign      = "foreign-object"
	TakeMerge        = "merge-commit"
	TakeUnrelated    = "unrelated-history"
	TakeTooLong      = "too-many-commits"
	TakeLink         = "link"
	TakeSpecial      = "special-file"
	TakeHardLink     = "hard-link"
	TakeEmbedded     = "embedded-repository"
	TakeSubmodule    = "submodule"
	TakeBadName      = "bad-name"
	TakeTooManyFiles = "too-many-files"
	TakeUnreadable   = "unreadable-file"
)

func (e *TakeError) Error() string {
	s := "refused: " + e.Rule
	if e.Path != "" {
		s += fmt.Sprintf(": %q", e.Path)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives what git said.
func (e *TakeError) Unwrap() error { return e.Err }

// Refusal is the error in the shape of the push policy's.
func (e *TakeError) Refusal() review.Refusal {
	return review.Refusal{Rule: e.Rule, Path: e.Path, Detail: e.Detail}
}

// takeMessage is the longest commit message that is read, in bytes.
const takeMessage = 1 << 20

// commitAt reads a commit object: its tree, its parents and its message. It does not obey grafts, replacements or the
// boundary of a shallow history, and takes no tag for a commit.
func (g *Git) commitAt(ctx context.Context, at place, oid string) (tree string, parents []string, message string, err error) {
	out, err := g.run(ctx, command{name: "cat-file", at: at, args: []string{"--batch"}, stdin: []byte(oid + "\n"), limit: takeMessage})
	if errors.Is(err, ErrTooLarge) {
		return "", nil, "", &TakeError{Rule: TakeTooLarge, Detail: "commit " + oid}
	}
	if err != nil {
		return "", nil, "", err
	}
	first, text, _ := strings.Cut(string(out), "\n")
	if f := strings.Fields(first); len(f) != 3 || f[0] != oid || f[1] != "commit" {
		return "", nil, "", fmt.Errorf("commit %s: %w", oid, ErrUnknownRevision)
	}
	head, message, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n\n")
	for header := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(header, "\n"), " ")
		switch key {
		case "tree":
			tree = value
		case "parent":
			parents = append(parents, value)
		}
	}
	if !IsOID(tree) {
		return "", nil, "", &TakeError{Rule: TakeMalformed, Detail: "commit " + oid}
	}
	return tree, parents, message, nil
}
