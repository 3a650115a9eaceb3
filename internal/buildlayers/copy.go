package buildlayers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// deepest is how deep folders may lie in one another.
const deepest = 200

// Bounds are what a copy may hold.
type Bounds struct{ Bytes, Files int64 }

// ErrTooLarge: more stands there than may be copied.
var ErrTooLarge = errors.New("it is larger than may be kept")

// Copy copies what children of a sandbox left in a folder into another one, as data: plain files, of which anybody may read and the owner
// write, folders, and links as they are. Everything else is left out, as is what leave names, a path that begins at the folder, and
// what has a name that is there already. Empty blocks become holes, so that no copy takes more of the disk than what it is made from. No link is followed out of either folder. Nobody may be at work in them.
func Copy(ctx context.Context, to, from string, leave func(path string) bool, b Bounds) error {
	into, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer into.Close()
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	c := copier{ctx: ctx, leave: leave, left: b, bounds: b}
	if err := c.folder(into, source, "", 0); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}

type copier struct {
	ctx          context.Context
	leave        func(path string) bool
	left, bounds Bounds
	buf          []byte
}

// block is what a disk keeps of a file at least, in bytes; emptyBlock one that a hole can stand for.
const block = 4096

var emptyBlock [block]byte

func (c *copier) tooLarge() error {
	return fmt.Errorf("%w: %d MB, %d files", ErrTooLarge, c.bounds.Bytes>>20, c.bounds.Files)
}

func (c *copier) folder(into, from *os.Root, at string, depth int) error {
	if depth > deepest {
		return fmt.Errorf("folders are %d deep: %w", depth, ErrTooLarge)
	}
	entries, err := fs.ReadDir(from.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.ctx.Err(); err != nil {
			return context.Cause(c.ctx)
		}
		name := e.Name()
		if c.leave != nil && c.leave(path.Join(at, name)) {
			continue
		}
		if c.left.Files--; c.left.Files < 0 {
			return c.tooLarge()
		}
		switch {
		case e.IsDir():
			err = c.below(into, from, name, at, depth)
		case e.Type().IsRegular():
			err = c.file(into, from, name)
		case e.Type() == fs.ModeSymlink:
			var target string
			if target, err = from.Readlink(name); err == nil {
				err = into.Symlink(target, name)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func (c *copier) below(into, from *os.Root, name, at string, depth int) error {
	err := into.Mkdir(name, 0o755)
	switch {
	case err == nil:
		err = into.Chmod(name, 0o755) // whatever the umask is
	case errors.Is(err, fs.ErrExist):
		info, err := into.Lstat(name)
		if err != nil || !info.IsDir() {
			return err
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	to, err := into.OpenRoot(name)
	if err != nil {
		return err
	}
	defer to.Close()
	sub, err := from.OpenRoot(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	return c.folder(to, sub, path.Join(at, name), depth+1)
}

func (c *copier) file(into, from *os.Root, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if c.left.Bytes -= info.Size(); c.left.Bytes < 0 { // also of one that is all hole
		return c.tooLarge()
	}
	mode := fs.FileMode(0o644) | info.Mode()&0o111
	out, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = c.bytes(out, in)
	if err = errors.Join(err, out.Chmod(mode), out.Close()); err != nil {
		return err
	}
	return into.Chtimes(name, info.ModTime(), info.ModTime()) // builds go by it
}

// bytes copies a file and leaves out its empty blocks.
func (c *copier) bytes(out, in *os.File) error {
	if c.buf == nil {
		c.buf = make([]byte, 32*block)
	}
	for at := int64(0); ; {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		n, err := io.ReadFull(in, c.buf)
		for from := 0; from < n; {
			to := from
			for to < n && !bytes.HasPrefix(emptyBlock[:], c.buf[to:min(to+block, n)]) {
				to = min(to+block, n)
			}
			if from == to {
				from = min(from+block, n)
				continue
			}
			if _, err := out.WriteAt(c.buf[from:to], at+int64(from)); err != nil {
				return err
			}
			from = to
		}
		at += int64(n)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return out.Truncate(at)
		case err != nil:
			return err
		}
	}
}
