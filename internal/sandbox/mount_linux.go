package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// base is where the new root is put together; any folder that exists would do, it is only covered in this namespace.
const base = "/tmp"

// buildRoot makes the file system the agent sees and moves into it. Sources are taken by open_tree before anything is
// covered; targets are walked folder by folder without following links, because a target may lie in a tree a stranger
// wrote.
func (p *plan) buildRoot() error {
	// Without this our mounts would appear in the machine's namespace.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	trees, err := p.take()
	if err != nil {
		return err
	}
	if err := unix.Mount("sandbox", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=4m"); err != nil {
		return fmt.Errorf("mount root: %w", err)
	}
	root, err := unix.Open(base, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open root: %w", err)
	}
	defer unix.Close(root)
	if err := p.populate(root); err != nil {
		return err
	}
	s, err := p.newScratch(root)
	if err != nil {
		return fmt.Errorf("mount scratch space: %w", err)
	}
	for i, b := range p.Binds {
		switch {
		case b.Hide:
			err = cover(root, b)
		case b.Scratch:
			err = s.home(root, b, trees[i])
		default:
			err = attach(root, b.Path, b.Dir, trees[i])
		}
		if err != nil {
			return fmt.Errorf("mount %s: %w", b.Path, err)
		}
	}
	for _, l := range p.Links {
		if err := makeLink(root, l); err != nil {
			return fmt.Errorf("link %s: %w", l.Path, err)
		}
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("close scratch space: %w", err)
	}
	return enter()
}

// take opens a copy of every tree to show, with what it may be used for.
func (p *plan) take() ([]int, error) {
	trees := make([]int, len(p.Binds))
	for i, b := range p.Binds {
		if b.Hide {
			continue
		}
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
		if !b.Write || b.Scratch {
			attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
		}
		tree, err := takeTree(b.Source, &attr)
		if err != nil {
			return nil, fmt.Errorf("take %s: %w", b.Source, err)
		}
		trees[i] = tree
	}
	return trees, nil
}

func takeTree(path string, attr *unix.MountAttr) (int, error) {
	tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return 0, err
	}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
		return 0, err
	}
	return tree, nil
}

// attach mounts a tree and closes it.
func attach(root int, path string, dir bool, tree int) error {
	defer unix.Close(tree)
	at, err := place(root, path, dir)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return unix.MoveMount(tree, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// cover hides a path under an empty folder or file.
func cover(root int, b bind) error {
	at, err := place(root, b.Path, b.Dir)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	target := fmt.Sprintf("/proc/self/fd/%d", at)
	if b.Dir {
		return unix.Mount("hidden", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=64k")
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_RDONLY}
	tree, err := takeTree("/dev/null", &attr)
	if err != nil {
		return err
	}
	return attach(root, b.Path, false, tree)
}

// place opens the place for a mount below root and makes what is missing on the way. It follows no link.
func place(root int, path string, dir bool) (int, error) {
	at, err := parent(root, path)
	if err != nil {
		return 0, err
	}
	defer unix.Close(at)
	name := filepath.Base(path)
	if dir {
		return step(at, name)
	}
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		if fd, err = unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o444); err == nil {
			_ = unix.Close(fd)
			fd, err = unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
	}
	return fd, err
}

// parent opens the folder a path lies in.
func parent(root int, path string) (int, error) {
	at, err := unix.Openat(root, ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	for name := range strings.SplitSeq(strings.Trim(filepath.Dir(path), "/"), "/") {
		if name == "" {
			continue
		}
		next, err := step(at, name)
		_ = unix.Close(at)
		if err != nil {
			return 0, err
		}
		at = next
	}
	return at, nil
}

// step opens a folder in another and makes it if it is missing.
func step(at int, name string) (int, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(at, name, flags, 0)
	if errors.Is(err, unix.ENOENT) {
		if err := unix.Mkdirat(at, name, 0o755); err != nil {
			return 0, err
		}
		fd, err = unix.Openat(at, name, flags, 0)
	}
	return fd, err
}

func makeLink(root int, l link) error {
	at, err := parent(root, l.Path)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if err := unix.Symlinkat(l.Target, at, filepath.Base(l.Path)); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// enter makes the new root the only one.
func enter() error {
	if err := unix.Chdir(base); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	// The old root lies on top of the new one now.
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	if _, err := os.Lstat("/proc/1/status"); err != nil {
		return fmt.Errorf("read the new /proc: %w", err)
	}
	return nil
}

// sealRoot makes the folders between the mounts read-only, once the gateway's socket is among them.
func sealRoot() error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, path := range []string{"/", "/dev"} {
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &attr); err != nil {
			return fmt.Errorf("make %s read-only: %w", path, err)
		}
	}
	return nil
}
