package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Bounds of an export.
const (
	exportFiles = 500_000
	exportBytes = 4 << 30
)

// Export writes the files of a commit into dir, which must be empty or not there yet (threats.md T24): blobs as plain
// files, links as text files that hold their target, submodules as empty folders. Nothing is written outside of dir
// whatever the tree says; what is withheld is left out. ErrMalformedTree for names that are not canonical or fall together on this disk; ErrTooLarge.
func (r *Repository) Export(ctx context.Context, commit, dir string) error {
	entries, err := r.List(ctx, commit, "")
	if err != nil {
		return fmt.Errorf("export %s: %w", commit, err)
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return r.hides(e.Path) })
	if err := r.export(ctx, entries, dir); err != nil {
		return fmt.Errorf("export %s: %w", commit, err)
	}
	return nil
}

func (r *Repository) export(ctx context.Context, entries []Entry, dir string) error {
	var total int64
	for _, e := range entries {
		total += e.Size
	}
	if len(entries) > exportFiles || total > exportBytes {
		return fmt.Errorf("%d files, %d bytes: %w", len(entries), total, ErrTooLarge)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if left, err := os.ReadDir(dir); err != nil {
		return err
	} else if len(left) > 0 {
		return fmt.Errorf("%s: %w", dir, os.ErrExist)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for start := 0; start < len(entries); {
		end, size := start, int64(0)
		for end < len(entries) && (end == start || size+entries[end].Size <= readBatch) {
			size += entries[end].Size
			end++
		}
		if err := r.writeAll(ctx, root, entries[start:end], size); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (r *Repository) writeAll(ctx context.Context, root *os.Root, entries []Entry, size int64) error {
	var oids []string
	for _, e := range entries {
		if e.Mode != modeSubmodule {
			oids = append(oids, e.OID)
		}
	}
	texts, err := r.blobs(ctx, oids, size)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.FromSlash(e.Path)
		if e.Mode == modeSubmodule {
			if err := root.MkdirAll(name, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := writeOne(root, name, e, texts[0]); err != nil {
			return err
		}
		texts = texts[1:]
	}
	return nil
}

func writeOne(root *os.Root, name string, e Entry, text []byte) error {
	if folder := path.Dir(e.Path); folder != "." {
		if err := root.MkdirAll(filepath.FromSlash(folder), 0o755); err != nil {
			return err
		}
	}
	mode := os.FileMode(0o644)
	if e.Mode == modeExec {
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if os.IsExist(err) {
		return fmt.Errorf("path %q falls together with another one: %w", e.Path, ErrMalformedTree)
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
