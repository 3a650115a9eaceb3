package sandbox

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// insideUID is the uid an unprivileged user's agent sees itself as. It is not 0: some agents refuse to work as root.
const insideUID = 1000

// freeUID picks an unprivileged uid for one child: a dedicated one keeps the children of one root apart, and process
// limits count by uid. The kernel needs no account for it. 0 means that only root is mapped here.
func freeUID() int {
	data, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0
	}
	offset := rand.IntN(1 << 16)
	best := 0
	for line := range strings.Lines(string(data)) {
		var first, parent, count int64
		if n, _ := fmt.Sscan(line, &first, &parent, &count); n != 3 {
			continue
		}
		switch last := first + count; {
		case first <= 0x70000000 && last >= 0x70010000: // above what systemd gives to containers
			return 0x70000000 + offset
		case first <= 60000 && last >= 65000: // a container's usual share; 61184 and up are systemd's
			best = 60000 + offset%1184
		}
	}
	return best
}

// chooseUID gives the child a uid of its own when prloop is root. Without a mount namespace its folders must be within its
// reach; where they lie in root's home the child keeps root's uid, without root's rights, if Landlock keeps it from
// signalling root's processes. That is tier 3: the modes of all of root's files are in its reach.
func (p *plan) chooseUID() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if p.UID = freeUID(); p.Mode != modeRules {
		return nil
	}
	if p.UID == 0 {
		p.root = noUID
	}
	for _, b := range p.Binds {
		if dir := closed(b.Source); dir != "" && !within(b.Source, "/etc") {
			if p.Landlock < landlockScopes {
				return &PolicyError{b.Path, fmt.Sprintf("no other user may enter %s, and this kernel cannot confine root", dir)}
			}
			p.UID, p.root = 0, fmt.Sprintf("no other user may enter %s", dir)
		}
	}
	return nil
}

// noUID is why a child keeps root's uid where there is no other.
const noUID = "no other uid is mapped here"

// isRoot reports whether prloop is root.
func isRoot() bool { return os.Geteuid() == 0 }

// closed is the outermost folder above path that other users may not enter.
func closed(path string) string {
	found := ""
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			found = dir
		}
		if dir == "/" {
			return found
		}
	}
}

// giveAway hands a folder to the child. It never follows a link out of it, and leaves files alone that another name may
// lead to: an earlier child could have made it.
func giveAway(dir string, uid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("give folder away: %w", err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(st.Uid) == uid || !info.IsDir() && st.Nlink > 1 {
			return nil
		}
		return root.Lchown(path, uid, uid)
	})
	if err != nil {
		return fmt.Errorf("give folder %s away: %w", dir, err)
	}
	return nil
}
