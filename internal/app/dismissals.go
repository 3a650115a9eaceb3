package app

import (
	"bytes"
	"context"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/github"
)

// dismisser reads what people dismissed, for the loop.
type dismisser struct {
	*history
	*github.Client
}

// Dismissed reads the file of a working tree.
func (dismisser) Dismissed(checkout string) ([]byte, error) { return readPlain(checkout) }

// Brought says which commits brought the lines of a file onto the branch.
func (d dismisser) Brought(ctx context.Context, commit, path string) ([]string, error) {
	return d.repo.Brought(ctx, commit, path)
}

// filesAtOnce bounds how many files Holding has in memory.
const filesAtOnce = 100

// Holding reads the files that hold a word.
func (d dismisser) Holding(ctx context.Context, commit string, paths []string, word string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for len(paths) > 0 {
		n := min(len(paths), filesAtOnce)
		files, err := d.repo.ReadFiles(ctx, commit, paths[:n], dismissals.MaxBytes)
		if err != nil {
			return nil, err
		}
		for name, text := range files {
			if bytes.Contains(text, []byte(word)) {
				out[name] = bytes.Clone(text)
			}
		}
		paths = paths[n:]
	}
	return out, nil
}
