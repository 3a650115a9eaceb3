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
	return r.git.resolve(ctx, r.place(), rev)
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

// MergeBase gives the best common ancestor of two commits (full object ids): ErrNoMergeBase, or ErrShallow when history
// ends before one is found.
func (r *Repository) MergeBase(ctx context.Context, a, b string) (string, error) {
	return r.git.mergeBase(ctx, r.place(), r.dir, a, b)
}

func (g *Git) mergeBase(ctx context.Context, at place, common, a, b string) (string, error) {
	if !IsOID(a) || !IsOID(b) {
		return "", fmt.Errorf("merge base of %q and %q: %w", a, b, ErrName)
	}
	out, err := g.run(ctx, command{name: "merge-base", at: at, args: []string{"--end-of-options", a, b}, ok: 1})
	if errors.Is(err, errAnswer) {
		err = ErrNoMergeBase
		if _, shallow := os.Stat(filepath.Join(common, "shallow")); shallow == nil {
			err = ErrShallow
		}
	}
	if err != nil {
		return "", fmt.Errorf("merge base of %s and %s: %w", a, b, err)
	}
	oid, _, _ := strings.Cut(string(out), "\n")
	return oid, nil
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
