package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// scratch is the one file system in memory whose folders are the child's home, /tmp, /var/tmp and /dev/shm: they share its
// bounds, which the kernel keeps.
type scratch struct {
	dir string
	// uid is whom the home is given to; -1 leaves it.
	uid int
}

// temps are the folders of the scratch space that every child has, by their names in it.
var temps = []struct {
	name, path string
	noexec     uint64
}{{"tmp", "/tmp", 0}, {"var-tmp", "/var/tmp", 0}, {"shm", "/dev/shm", unix.MOUNT_ATTR_NOEXEC}}

// roomBytes is the size of the scratch space: somewhat more than the child may use, so that it is ended by name before it meets
// a full disk.
func (l Limits) roomBytes() uint64 { return l.ScratchBytes + l.ScratchBytes/16 }

func (l Limits) roomFiles() uint64 { return l.ScratchFiles + l.ScratchFiles/16 + 64 }

// newScratch mounts the scratch space below the new root and shows its folders there.
func (p *plan) newScratch(root int) (*scratch, error) {
	s := &scratch{dir: filepath.Join(base, ".scratch"), uid: -1}
	if p.switchUID() {
		s.uid = p.UID
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	options := fmt.Sprintf("mode=0700,size=%d,nr_inodes=%d", p.Limits.roomBytes(), p.Limits.roomFiles())
	if err := unix.Mount("scratch", s.dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return nil, err
	}
	for _, t := range temps {
		dir := filepath.Join(s.dir, t.name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, os.ModeSticky|0o777)); err != nil {
			return nil, err
		}
		tree, err := takeTree(dir, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | t.noexec})
		if err != nil {
			return nil, err
		}
		if err := attach(root, t.path, true, tree); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// home shows a folder of the scratch space as the child's home. It begins with copies of the files in the seed, which it
// closes.
func (s *scratch) home(root int, b bind, seed int) error {
	defer unix.Close(seed)
	dir := filepath.Join(s.dir, "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := copySeed(dir, fmt.Sprintf("/proc/self/fd/%d", seed), s.uid); err != nil {
		return err
	}
	tree, err := takeTree(dir, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
	if err != nil {
		return err
	}
	return attach(root, b.Path, true, tree)
}

// close leaves the scratch space to the folders it is shown at.
func (s *scratch) close() error {
	return errors.Join(unix.Unmount(s.dir, unix.MNT_DETACH), os.Remove(s.dir))
}

// copySeed copies plain files and folders, which are prloop's own, and gives them and the folder to a uid unless it is -1.
func copySeed(to, from string, uid int) error {
	seed := os.DirFS(from)
	return fs.WalkDir(seed, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, path)
		switch {
		case path == ".":
		case d.IsDir():
			err = os.Mkdir(target, 0o700)
		case d.Type().IsRegular():
			err = copyFile(target, seed, path)
		default:
			return nil
		}
		if err == nil && uid >= 0 {
			err = os.Lchown(target, uid, uid)
		}
		return err
	})
}

func copyFile(target string, from fs.FS, path string) error {
	data, err := fs.ReadFile(from, path)
	if err != nil {
		return err
	}
	info, err := fs.Stat(from, path)
	if err != nil {
		return err
	}
	return os.WriteFile(target, data, info.Mode().Perm())
}

// seedBubblewrap copies what the home begins with, where bubblewrap has mounted both.
func (p *plan) seedBubblewrap() error {
	for _, b := range p.Binds {
		if b.Scratch {
			if err := copySeed(b.Path, seedInside, -1); err != nil {
				return fmt.Errorf("populate home: %w", err)
			}
		}
	}
	return nil
}

// scratchWatch ends the sandbox by name when the child has used more of the scratch space than it may. What the space can hold
// at all is the kernel's affair: this is for whoever reads why the child failed.
type scratchWatch struct {
	limits Limits
	// spaces are open folders, one of each file system.
	spaces []int
}

// scratchEvery is the time between two looks, each of some microseconds.
const scratchEvery = 50 * time.Millisecond

func (p *plan) openScratch() (*scratchWatch, error) {
	w := &scratchWatch{limits: p.Limits}
	var paths []string
	for _, t := range temps {
		paths = append(paths, t.path)
	}
	for _, b := range p.Binds {
		if b.Scratch {
			paths = append(paths, b.Path)
		}
	}
	seen := map[uint64]bool{}
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open scratch space %s: %w", path, err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, fmt.Errorf("open scratch space %s: %w", path, err)
		}
		if dev := uint64(st.Dev); !seen[dev] { //nolint:unconvert // narrower on some architectures
			seen[dev] = true
			w.spaces = append(w.spaces, fd)
		}
	}
	return w, nil
}

func (w *scratchWatch) run() {
	for ; ; time.Sleep(scratchEvery) {
		w.enforce()
	}
}

// enforce does not return when a rule is broken. The end of this process ends everything in the sandbox.
func (w *scratchWatch) enforce() {
	if why := w.look(); why != "" {
		endBy(why)
	}
}

// endBy ends this process, and says by which rule and why.
func endBy(why string) {
	fmt.Fprintf(os.Stderr, "\n%s%s\n", boundsPrefix, why)
	os.Exit(ExitBounds)
}

// look says which rule is broken, and how; empty when none is.
func (w *scratchWatch) look() string {
	var bytes, files uint64
	for _, fd := range w.spaces {
		var st unix.Statfs_t
		if unix.Fstatfs(fd, &st) == nil {
			bytes += (st.Blocks - st.Bfree) * uint64(st.Bsize)
			files += st.Files - st.Ffree
		}
	}
	shared := sharedMemory()
	switch {
	case shared > 0 && bytes+shared > w.limits.ScratchBytes:
		return fmt.Sprintf("%s: used more than %d MB of its home and temporary folders and of shared memory", RuleDisk, w.limits.ScratchBytes>>20)
	case bytes > w.limits.ScratchBytes:
		return fmt.Sprintf("%s: used more than %d MB of its home and temporary folders", RuleDisk, w.limits.ScratchBytes>>20)
	case files > w.limits.ScratchFiles:
		return fmt.Sprintf("%s: made more than %d files in its home and temporary folders", RuleFiles, w.limits.ScratchFiles)
	}
	return ""
}

// sharedMemory is what lies in segments of shared memory, in bytes: those of System V stay when no process maps them. The list is that
// of the sandbox's own IPC namespace.
func sharedMemory() (bytes uint64) {
	data, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil { // a kernel without them
		return 0
	}
	for i, line := range strings.Split(string(data), "\n") {
		f := strings.Fields(line)
		if i == 0 || len(f) < 16 {
			continue
		}
		for _, n := range f[14:16] { // resident and swapped
			more, _ := strconv.ParseUint(n, 10, 64)
			bytes += more
		}
	}
	return bytes
}
