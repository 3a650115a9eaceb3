package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Resolve gives the commit a ref or object id stands for: ErrUnknownRevision, ErrName. Only fully qualified refs and full
// object ids are taken; what people type belongs to Checkout.Resolve.
func (r *Repository) Resolve(ctx context.Context, rev string) (string, error) {
	if !IsOID(rev) {
		if err := checkRef(rev); err != nil {
			return "", err
		}
	}
	question := "commit " + rev
	if oid, known := r.kept.get(question); known {
		return oid, nil
	}
	oid, err := r.git.resolve(ctx, r.place(), rev)
	if err == nil && IsOID(rev) {
		r.kept.put(question, oid)
	}
	return oid, err
}

func (g *Git) resolve(ctx context.Context, at place, rev string) (string, error) {
	out, err := g.run(ctx, command{name: "rev-parse", at: at, args: []string{"--verify", "--quiet", "--end-of-options", rev + "^{commit}"}})
	if failed := (*CommandError)(nil); errors.As(err, &failed) && failed.Stderr == "" {
		// With --quiet git says nothing about a revision that does not exist.
		return "", fmt.Errorf("revision %q: %w", rev, ErrUnknownRevision)
	}
	if err != nil {
		return "", fmt.Errorf("revision %q: %w", rev, err)
	}
	oid := strings.TrimSpace(string(out))
	if !IsOID(oid) {
		return "", fmt.Errorf("revision %q: %w", rev, ErrUnknownRevision)
	}
	return oid, nil
}

// MergeBase gives the best common ancestor of two commits (full object ids), and where there are several the merge of them all,
// as a commit of ours: what a has changed since one of them alone is not what merging a brings in. Errors: ErrNoMergeBase,
// ErrShallow when history ends before one is found, ErrMergeBases when several do not merge cleanly.
func (r *Repository) MergeBase(ctx context.Context, a, b string) (string, error) {
	question := "merge base of " + a + " " + b
	if base, known := r.kept.get(question); known {
		return base, nil
	}
	bases, err := r.git.mergeBases(ctx, r.place(), r.dir, a, b)
	if err != nil {
		return "", err
	}
	base, err := r.joined(ctx, bases)
	if err != nil {
		return "", fmt.Errorf("merge base of %s and %s: %w", a, b, err)
	}
	r.kept.put(question, base)
	return base, nil
}

func (g *Git) mergeBases(ctx context.Context, at place, common, a, b string) ([]string, error) {
	if !IsOID(a) || !IsOID(b) {
		return nil, fmt.Errorf("merge base of %q and %q: %w", a, b, ErrName)
	}
	out, err := g.run(ctx, command{name: "merge-base", at: at, args: []string{"--all", "--end-of-options", a, b}, ok: 1})
	if errors.Is(err, errAnswer) {
		err = ErrNoMergeBase
		if _, shallow := os.Stat(filepath.Join(common, "shallow")); shallow == nil {
			err = ErrShallow
		}
	}
	if err != nil {
		return nil, fmt.Errorf("merge base of %s and %s: %w", a, b, err)
	}
	return strings.Fields(string(out)), nil
}

// mostBases bounds how many merge bases are merged, each by two processes.
const mostBases = 8

// joined is the merge of all merge bases: git itself merges two commits since that one, so a change since it is what the merge
// takes from a side. git goes on where they conflict; nobody reads what it makes of that, so here it is an error.
func (r *Repository) joined(ctx context.Context, bases []string) (string, error) {
	if len(bases) > mostBases {
		return "", fmt.Errorf("%d of them: %w", len(bases), ErrMergeBases)
	}
	base := bases[0]
	for _, next := range bases[1:] {
		// git looks for renamed folders only where it merges for good.
		out, err := r.git.run(ctx, command{name: "merge-tree", at: r.place(), settings: []setting{{"merge.directoryRenames", "false"}}, ok: 1,
			limit: listLimit, args: []string{"--write-tree", "--no-messages", "--name-only", base, next}})
		if errors.Is(err, errAnswer) {
			return "", fmt.Errorf("%s and %s conflict: %w", base, next, ErrMergeBases)
		}
		if err != nil {
			return "", err
		}
		if base, err = r.keep(ctx, "merge base\n", strings.TrimSpace(string(out)), base, next); err != nil {
			return "", err
		}
	}
	return base, nil
}

// keep makes a commit of a tree, with fixed names and dates, and keeps it under a ref of ours. Same content, same commit.
func (r *Repository) keep(ctx context.Context, message, tree string, parents ...string) (string, error) {
	who := func(role string) []string {
		return []string{"GIT_" + role + "_NAME=prloop", "GIT_" + role + "_EMAIL=prloop@localhost", "GIT_" + role + "_DATE=2000-01-01T00:00:00Z"}
	}
	var args []string
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := r.git.run(ctx, command{name: "commit-tree", at: r.place(), extra: append(who("AUTHOR"), who("COMMITTER")...),
		stdin: []byte(message), args: append(args, tree)})
	if err != nil {
		return "", err
	}
	commit := strings.TrimSpace(string(out))
	_, err = r.update(ctx, command{name: "update-ref", at: r.place(), args: []string{"--end-of-options", "refs/prloop/work/" + commit, commit}})
	return commit, err
}

// IsAncestor reports whether a is an ancestor of b, or b itself.
func (r *Repository) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	if !IsOID(a) || !IsOID(b) {
		return false, fmt.Errorf("ancestor %q of %q: %w", a, b, ErrName)
	}
	_, err := r.git.run(ctx, command{name: "merge-base", at: r.place(), args: []string{"--is-ancestor", "--end-of-options", a, b}, ok: 1})
	if errors.Is(err, errAnswer) {
		return false, nil
	}
	return err == nil, err
}
