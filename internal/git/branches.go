package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// CheckBranch refuses a name, such as "prloop/nightly/docs", that no branch may have: options, refs in full, what git refuses, and HEAD.
// The error wraps ErrName.
func CheckBranch(name string) error {
	if err := checkRef("refs/heads/" + name); err != nil {
		return err
	}
	if strings.HasPrefix(name, "refs/") || name == "HEAD" || name == "@" {
		return fmt.Errorf("branch %q: %w: not the name of a branch", name, ErrName)
	}
	return nil
}

// Authored is a commit with who made it.
type Authored struct {
	Commit string
	// Parents are its parents, the first first.
	Parents []string
	// Author and Committer are written as "Name <address>".
	Author, Committer string
	Message           string
}

// authoredLimit bounds FirstParents and Since: a branch of prloop's own has a few commits.
const authoredLimit = 500

// FirstParents are the commits of a branch since another: from tip, along first parents, up to what base has, newest first; the oldest
// are left out where there are more than 500.
func (r *Repository) FirstParents(ctx context.Context, base, tip string) ([]Authored, error) {
	return r.authored(ctx, base, tip, "--first-parent", "%B")
}

// Since are all commits of a branch since another, those that were merged into it among them, each before its parents; the oldest are left out where there are more than 500.
// Their messages, which may be of any length, are left out.
func (r *Repository) Since(ctx context.Context, base, tip string) ([]Authored, error) {
	return r.authored(ctx, base, tip, "--topo-order", "")
}

func (r *Repository) authored(ctx context.Context, base, tip, order, message string) ([]Authored, error) {
	if !IsOID(base) || !IsOID(tip) {
		return nil, fmt.Errorf("commits from %q to %q: %w", base, tip, ErrName)
	}
	out, err := r.lasting(ctx, command{name: "log", at: r.place(), limit: listLimit, args: []string{order, fmt.Sprintf("--max-count=%d", authoredLimit),
		"--no-show-signature", "--no-decorate", "-z", "--format=%H%x01%P%x01%an <%ae>%x01%cn <%ce>%x01" + message, "--end-of-options", tip, "^" + base}})
	if err != nil {
		return nil, fmt.Errorf("commits from %s to %s: %w", base, tip, err)
	}
	var all []Authored
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		f := strings.SplitN(entry, "\x01", 5)
		if len(f) != 5 || !IsOID(f[0]) {
			return nil, fmt.Errorf("commits from %s to %s: %w", base, tip, errAnswerShape)
		}
		all = append(all, Authored{Commit: f[0], Parents: strings.Fields(f[1]), Author: f[2], Committer: f[3], Message: f[4]})
	}
	return all, nil
}

// Touched lists the paths that commits on the first-parent line of head touched since a time, a merge being what it brought; by the
// committers' clocks. One that is older hides none below it. A path may stand there twice.
func (r *Repository) Touched(ctx context.Context, head string, since time.Time) ([]string, error) {
	if !IsOID(head) {
		return nil, fmt.Errorf("paths touched before %q: %w", head, ErrName)
	}
	out, err := r.git.run(ctx, command{name: "log", at: r.place(), limit: listLimit, args: []string{"--first-parent", "-m", fmt.Sprintf("--since-as-filter=@%d +0000", since.Unix()),
		"--no-show-signature", "--no-decorate", "--name-only", "--no-renames", "--no-relative", "-z", "--format=", "--end-of-options", head}})
	if err != nil {
		return nil, fmt.Errorf("paths touched since %s: %w", since.UTC().Format(time.RFC3339), err)
	}
	var paths []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			paths = append(paths, name)
		}
	}
	return paths, nil
}

// ErrConflict: two commits cannot be merged without somebody who decides.
var ErrConflict = errors.New("they conflict")

// Merged brings what theirs has into ours: ours itself when it has it all, theirs when ours has nothing of its own, else a merge commit,
// the same whenever it is asked for. ErrConflict where both changed the same.
func (r *Repository) Merged(ctx context.Context, ours, theirs, message string, sign Signature) (string, error) {
	fail := func(err error) (string, error) {
		return "", fmt.Errorf("merge %s into %s: %w", theirs, ours, err)
	}
	if err := sign.check(); err != nil {
		return fail(err)
	}
	for _, pair := range [][2]string{{theirs, ours}, {ours, theirs}} {
		if has, err := r.IsAncestor(ctx, pair[0], pair[1]); err != nil || has {
			if err != nil {
				return fail(err)
			}
			return pair[1], nil
		}
	}
	out, err := r.git.run(ctx, command{name: "merge-tree", at: r.place(), settings: []setting{{"merge.directoryRenames", "false"}}, ok: 1,
		limit: listLimit, args: []string{"--write-tree", "--no-messages", "--name-only", ours, theirs}})
	if errors.Is(err, errAnswer) {
		return fail(ErrConflict)
	}
	if err != nil {
		return fail(err)
	}
	tree := strings.TrimSpace(string(out))
	if !IsOID(tree) {
		return fail(errAnswerShape)
	}
	commit, err := r.commitTree(ctx, tree, message, sign, ours, theirs)
	if err != nil {
		return fail(err)
	}
	if _, err := r.update(ctx, command{name: "update-ref", at: r.place(), args: []string{"--end-of-options", sign.Keep, commit}}); err != nil {
		return fail(err)
	}
	return commit, nil
}

// Partly is the tree of base with those of the changes that lead to tree whose paths are chosen.
func (r *Repository) Partly(ctx context.Context, base, tree string, chosen func(path string) bool) (string, error) {
	out, err := r.partly(ctx, base, tree, chosen)
	if err != nil {
		return "", fmt.Errorf("a part of what leads from %s to %s: %w", base, tree, err)
	}
	return out, nil
}

func (r *Repository) partly(ctx context.Context, base, tree string, chosen func(string) bool) (string, error) {
	if !IsOID(base) || !IsOID(tree) {
		return "", ErrName
	}
	all, err := r.changes(ctx, base, tree, "--no-renames")
	if err != nil {
		return "", err
	}
	var gone, there strings.Builder // a folder may take a file's place
	for _, c := range all {
		switch {
		case !chosen(c.path):
		case c.status == 'D':
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", len(base)), c.path)
		default:
			fmt.Fprintf(&there, "%o %s\t%s\x00", c.newMode, c.newOID, c.path)
		}
	}
	tmp, err := os.MkdirTemp(r.dir, "index-part-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	at := place{dir: r.dir, index: filepath.Join(tmp, "index")}
	if _, err := r.git.run(ctx, command{name: "read-tree", at: at, args: []string{"--end-of-options", base}}); err != nil {
		return "", err
	}
	if lines := gone.String() + there.String(); lines != "" {
		if _, err := r.git.run(ctx, command{name: "update-index", at: at, args: []string{"-z", "--index-info"}, stdin: []byte(lines)}); err != nil {
			return "", err
		}
	}
	out, err := r.git.run(ctx, command{name: "write-tree", at: at})
	if err != nil {
		return "", err
	}
	made := strings.TrimSpace(string(out))
	if !IsOID(made) {
		return "", errAnswerShape
	}
	return made, nil
}
