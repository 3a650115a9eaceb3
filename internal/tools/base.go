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
	out, err := b.git(ctx, "ls-tree", "-l", "-z", "--full-tree", b.o.Base, "--", name)
	if err != nil {
		return nil, fail(Unavailable, "the base cannot be read")
	}
	// MODE blob HASH SIZE<tab>NAME<nul>
	head, _, found := bytes.Cut(out, []byte{'\t'})
	fields := strings.Fields(string(head))
	if !found || len(fields) != 4 || !bytes.HasSuffix(out, []byte("\t"+name+"\x00")) {
		return nil, fail(NotFound, "there is no %.200q in the base", name)
	}
	mode, object := fields[0], fields[2]
	if mode != "100644" && mode != "100755" {
		return nil, fail(NotAFile, "%.200q is no regular file in the base", name)
	}
	if size, err := strconv.Atoi(fields[3]); err != nil || size > fileLimit {
		return nil, fail(TooLarge, "%.200q is larger than %d bytes in the base", name, fileLimit)
	}
	text, err := b.git(ctx, "cat-file", "blob", object)
	switch {
	case err != nil:
		return nil, fail(Unavailable, "%.200q cannot be read in the base", name)
	case bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0:
		return nil, fail(Binary, "%.200q is binary in the base", name)
	}
	return text, nil
}
