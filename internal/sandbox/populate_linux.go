package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// populate puts into an empty root what every program expects. Everything it writes to is of its own making, so plain
// paths are safe here.
func (p *plan) populate(root int) error {
	for _, dir := range []string{"proc", "dev", "etc", "var", "run/prloop"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			return fmt.Errorf("populate root: %w", err)
		}
	}
	const plain = unix.MS_NOSUID | unix.MS_NODEV
	for _, m := range []struct {
		path, kind string
		flags      uintptr
		options    string
	}{
		// Other users' processes are hidden from the agent, this one's init among them.
		{"proc", "proc", plain | unix.MS_NOEXEC | unix.MS_RDONLY, "hidepid=invisible"},
		{"dev", "tmpfs", unix.MS_NOSUID | unix.MS_NOEXEC, "mode=0755,size=64k"},
	} {
		path := filepath.Join(base, m.path)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return fmt.Errorf("populate root: %w", err)
		}
		if err := unix.Mount(m.kind, path, m.kind, m.flags, m.options); err != nil {
			return fmt.Errorf("mount /%s: %w", m.path, err)
		}
	}
	if err := populateDev(root); err != nil {
		return err
	}
	uid := os.Geteuid() // in a user namespace, the one it maps
	if p.switchUID() {
		uid = p.UID
	}
	for name, text := range p.etcFor(uid) {
		if err := os.WriteFile(filepath.Join(base, "etc", name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("populate root: %w", err)
		}
	}
	return nil
}

func populateDev(root int) error {
	for _, path := range devices {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC}
		tree, err := takeTree(path, &attr)
		if err == nil {
			err = attach(root, path, false, tree)
		}
		if err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(base, "dev", name)); err != nil {
			return fmt.Errorf("populate root: %w", err)
		}
	}
	return nil
}

// etcFor is the part of /etc that names people and hosts. Programs ask who they are: Node.js fails for a uid without a name.
func (p *plan) etcFor(uid int) map[string]string {
	passwd := fmt.Sprintf("agent:x:%d:%d::%s:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n", uid, uid, p.Home)
	if uid != 0 {
		passwd = "root:x:0:0::/:/bin/false\n" + passwd
	}
	return map[string]string{
		"passwd":        passwd,
		"group":         fmt.Sprintf("agent:x:%d:\nnogroup:x:65534:\n", uid),
		"hosts":         "127.0.0.1 localhost sandbox\n::1 localhost\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	}
}
