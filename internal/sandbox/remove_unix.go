//go:build unix

package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Remove removes a folder that children could write, with all that they made of it, and follows no link. A child may take itself the
// right to enter its own folders, which is given back; it may put tens of thousands of folders into one another, of which one at a
// time would cost a descriptor and a longer path each: what lies deep is moved up first.
func Remove(dir string) error {
	top, err := unix.Open(dir, dirFlags, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		if err = os.Chmod(dir, 0o700); err == nil {
			top, err = unix.Open(dir, dirFlags, 0)
		}
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return os.Remove(dir)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	r := &remover{top: top, name: "." + rand.Text() + "-"}
	for again := true; again && err == nil; { // what was moved up is removed in the next turn
		moved := r.moved
		err = r.empty(top, 0)
		again = r.moved > moved
	}
	if err = errors.Join(err, unix.Close(top)); err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return os.Remove(filepath.Clean(dir))
}

const (
	dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	// deepest is how deep folders are emptied where they are.
	deepest = 100
)

type remover struct {
	top int
	// name begins the names of what was moved up, which no child could guess.
	name string
	// moved counts the folders that were moved up.
	moved int
}

// empty removes what lies in an open folder.
func (r *remover) empty(fd, depth int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&0o700 != 0o700 {
		if err := unix.Fchmod(fd, 0o700); err != nil {
			return err
		}
	}
	again, err := unix.Openat(fd, ".", dirFlags, 0)
	if err != nil {
		return err
	}
	list := os.NewFile(uintptr(again), ".")
	defer list.Close()
	for {
		names, _ := list.Readdirnames(1024)
		if len(names) == 0 {
			return nil
		}
		for _, name := range names {
			if err := r.remove(fd, name, depth); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%q: %w", name, err)
			}
		}
		if _, err := list.Seek(0, 0); err != nil { // a list that changes while it is read may leave names out
			return err
		}
	}
}

func (r *remover) remove(fd int, name string, depth int) error {
	err := unix.Unlinkat(fd, name, 0)
	if err == nil || !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) {
		return err
	}
	sub, err := unix.Openat(fd, name, dirFlags, 0)
	if errors.Is(err, unix.EACCES) {
		if err = unix.Fchmodat(fd, name, 0o700, 0); err == nil {
			sub, err = unix.Openat(fd, name, dirFlags, 0)
		}
	}
	if err != nil {
		return err
	}
	defer unix.Close(sub)
	if depth == deepest {
		if err := unix.Fchmod(sub, 0o700); err != nil {
			return err
		}
		r.moved++
		return unix.Renameat(fd, name, r.top, r.name+strconv.Itoa(r.moved))
	}
	if err := r.empty(sub, depth+1); err != nil {
		return err
	}
	return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR)
}
