package git

import (
	"context"
	"fmt"
)

// wholeLimit is the largest file that is read whole for its beginning, together with others: what is larger costs a process each.
const wholeLimit = 1 << 20

// Begins reads the first n bytes of files at a commit, however large they are, small ones with few processes. What is no file there
// is left out. The texts may be slices of shared memory and must not be changed.
func (r *Repository) Begins(ctx context.Context, commit string, paths []string, n int) (map[string][]byte, error) {
	infos, err := r.stat(ctx, commit, paths)
	if err != nil {
		return nil, err
	}
	got := make(map[string][]byte, len(paths))
	var small []int
	var total int64
	flush := func() error {
		oids := make([]string, len(small))
		for i, at := range small {
			oids[i] = infos[at].oid
		}
		texts, err := r.blobs(ctx, oids, total)
		if err != nil {
			return err
		}
		for i, text := range texts {
			end := min(len(text), n)
			got[paths[small[i]]] = text[:end:end]
		}
		small, total = small[:0], 0
		return nil
	}
	for i, in := range infos {
		switch {
		case !in.blob:
			continue
		case in.size > wholeLimit:
			if got[paths[i]], err = r.begins(ctx, in.oid, n); err != nil {
				return nil, fmt.Errorf("read the beginning of %q at %s: %w", paths[i], commit, err)
			}
			continue
		}
		if total+in.size > readBatch {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		small, total = append(small, i), total+in.size
	}
	return got, flush()
}

// begins reads the first n bytes of a blob.
func (r *Repository) begins(ctx context.Context, oid string, n int) ([]byte, error) {
	out := &limited{left: int64(n)}
	_, err := r.git.run(ctx, command{name: "cat-file", at: r.place(), out: out, limit: 4 * int64(n+1<<20), args: []string{"blob", oid}})
	if err != nil && (!out.full || ctx.Err() != nil) {
		return nil, err
	}
	return []byte(out.String()), nil
}
