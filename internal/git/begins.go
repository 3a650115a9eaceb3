package git

import (
	"context"
	"fmt"
)

// Begins reads the first n bytes of one file at a commit, however large it is; nothing for what is no file there.
func (r *Repository) Begins(ctx context.Context, commit, path string, n int) ([]byte, error) {
	infos, err := r.stat(ctx, commit, []string{path})
	if err != nil || !infos[0].blob {
		return nil, err
	}
	out := &limited{left: int64(n)}
	_, err = r.git.run(ctx, command{name: "cat-file", at: r.place(), out: out, limit: 4 * int64(n+1<<20), args: []string{"blob", infos[0].oid}})
	if err != nil && (!out.full || ctx.Err() != nil) {
		return nil, fmt.Errorf("read the beginning of %q at %s: %w", path, commit, err)
	}
	return []byte(out.String()), nil
}
