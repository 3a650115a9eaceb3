package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"golang.org/x/sys/unix"
)

// gatewayFD is where the gateway's descriptor is found behind bubblewrap; 3 carries the orders.
const gatewayFD = 4

// selfInside is where bubblewrap shows this program, which goes on inside.
const selfInside = "/run/prloop/init"

// seedInside is where bubblewrap shows the folder whose files the home begins with. Landlock keeps it from the agent.
const seedInside = "/run/prloop/seed"

// findBubblewrap looks where systems install it, not in PATH: what it is given is all of the sandbox.
func findBubblewrap() string {
	for _, path := range []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// wrapped is a call of bwrap with the files it is handed, from descriptor 4 on.
type wrapped struct {
	argv  []string
	files []uintptr
	own   []*os.File
}

func (w *wrapped) close() {
	for _, f := range w.own {
		_ = f.Close()
	}
}

// data hands over a small file.
func (w *wrapped) data(path, text string) error {
	fd, err := unix.MemfdCreate(filepath.Base(path), unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), path)
	w.own = append(w.own, f)
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	w.argv = append(w.argv, "--ro-bind-data", fmt.Sprint(3+1+len(w.files)), path)
	w.files = append(w.files, uintptr(fd))
	return nil
}

// bubblewrap has bwrap make the namespaces and mounts of a plan (threats.md "Sandbox tiers"). Landlock, seccomp, limits and the
// bridge are ours in this mode too.
func bubblewrap(p plan) (*wrapped, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	w := &wrapped{argv: []string{"bwrap", "--unshare-all", "--unshare-user", "--as-pid-1", "--die-with-parent", "--new-session",
		"--cap-drop", "ALL", "--uid", fmt.Sprint(insideUID), "--gid", fmt.Sprint(insideUID), "--hostname", "sandbox",
		"--proc", "/proc", "--dev", "/dev", "--size", "4096", "--tmpfs", "/run/prloop", "--ro-bind", self, selfInside}}
	size := fmt.Sprint(p.Limits.roomBytes())
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		w.argv = append(w.argv, "--perms", "1777", "--size", size, "--tmpfs", dir)
	}
	fd, err := unix.Open(orNull(p.Gateway), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open gateway %s: %w", p.Gateway, err)
	}
	gateway := os.NewFile(uintptr(fd), "gateway")
	w.own, w.files = append(w.own, gateway), append(w.files, uintptr(fd))
	etc := p.etcFor(insideUID)
	names := make([]string, 0, len(etc))
	for name := range etc {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if err := w.data("/etc/"+name, etc[name]); err != nil {
			w.close()
			return nil, fmt.Errorf("hand over /etc/%s: %w", name, err)
		}
	}
	for _, b := range p.Binds {
		switch {
		case b.Hide && b.Dir:
			w.argv = append(w.argv, "--size", "4096", "--tmpfs", b.Path)
		case b.Scratch:
			w.argv = append(w.argv, "--perms", "0700", "--size", size, "--tmpfs", b.Path, "--ro-bind", b.Source, seedInside)
		case b.Hide:
			w.argv = append(w.argv, "--ro-bind", "/dev/null", b.Path)
		case b.Write:
			w.argv = append(w.argv, "--bind", b.Source, b.Path)
		default:
			w.argv = append(w.argv, "--ro-bind", b.Source, b.Path)
		}
	}
	for _, l := range p.Links {
		w.argv = append(w.argv, "--symlink", l.Target, l.Path)
	}
	w.argv = append(w.argv, "--remount-ro", "/", "--", selfInside, insideArgs[1], insideArgs[2])
	return w, nil
}

func orNull(path string) string {
	if path == "" {
		return os.DevNull
	}
	return path
}
