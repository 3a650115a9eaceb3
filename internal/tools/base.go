package tools

import (
	"bytes"
	"context"
	"strconv"
	"strings"
)

// baseText reads a regular file of the base commit. name was checked: what is hidden in the head version is hidden here.
func (b *Box) baseText(ctx context.Context, name string) ([]byte, error) {
	if b.o.Base == "" || b.o.GitDir == "" {
		return nil, fail(NotFound, "there is no base here")
	}
	return b.textOf(ctx, b.o.Base, name)
}

// textOf reads a regular file of a commit.
func (b *Box) textOf(ctx context.Context, commit, name string) ([]byte, error) {
	out, err := b.git(ctx, "ls-tree", "-l", "-z", "--full-tree", commit, "--", name)
	if err != nil {
		return nil, fail(Unavailable, "that version cannot be read")
	}
	// MODE blob HASH SIZE<tab>NAME<nul>
	head, _, found := bytes.Cut(out, []byte{'\t'})
	fields := strings.Fields(string(head))
	if !found || len(fields) != 4 || !bytes.HasSuffix(out, []byte("\t"+name+"\x00")) {
		return nil, fail(NotFound, "there is no %.200q in that version", name)
	}
	mode, object := fields[0], fields[2]
	if mode != "100644" && mode != "100755" {
		return nil, fail(NotAFile, "%.200q is no regular file in that version", name)
	}
	if size, err := strconv.Atoi(fields[3]); err != nil || size > fileLimit {
		return nil, fail(TooLarge, "%.200q is larger than %d bytes in that version", name, fileLimit)
	}
	text, err := b.git(ctx, "cat-file", "blob", object)
	switch {
	case err != nil:
		return nil, fail(Unavailable, "%.200q cannot be read in that version", name)
	case bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0:
		return nil, fail(Binary, "%.200q is binary in that version", name)
	}
	return text, nil
}
