//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// folders are the folders on a disk that a child may write, opened before it starts: what it renames or replaces later is not
// followed elsewhere.
type folders struct {
	Bounds
	open []*os.File
	// before is what stood in them when the child started; its bounds are on what it adds.
	before amount
	// used is what the newest walk found in them, walked when it ended and took how long it lasted.
	used   amount
	walked time.Time
	took   time.Duration
	// free is what the disks had free at the newest walk, freeBefore when the child started.
	free, freeBefore amount
}

// amount is how much of a disk something takes.
type amount struct{ bytes, files int64 }

func openFolders(b Bounds) (*folders, error) {
	f := &folders{Bounds: b}
	for _, dir := range b.Folders {
		d, err := os.Open(dir)
		if err != nil {
			f.close()
			return nil, fmt.Errorf("folder: %w", err)
		}
		f.open = append(f.open, d)
	}
	if len(f.open) == 0 || !f.measured() {
		return f, nil
	}
	m := f.walk(nil, amount{})
	f.before, f.used = m.amount, m.amount
	f.freeBefore = f.free
	return f, nil
}

// measured reports whether what the folders hold has a bound, and not only what is free on their disks.
func (f *folders) measured() bool { return f.FolderBytes > 0 || f.FolderFiles > 0 }

func (f *folders) close() {
	for _, d := range f.open {
		d.Close()
	}
}

// look finds out whether the folders or their disks break a rule. How much is free costs nothing to ask and says when a walk is
// worth its while: at once when the disk fills quickly, and rarely when it does not.
func (f *folders) look(holders func() []string, last bool) stopped {
	if len(f.open) == 0 {
		return stopped{}
	}
	free, low := f.freeNow()
	if low && !last {
		return stopped{ReasonHostDisk, fmt.Errorf("had a disk with less than %s left", size(f.FreeBytes))}
	}
	if !f.measured() {
		return stopped{}
	}
	filling := lost(f.free.bytes-free.bytes, f.FolderBytes, f.used.bytes-f.before.bytes) ||
		lost(f.free.files-free.files, f.FolderFiles, f.used.files-f.before.files)
	pause := max(walkEvery, walkShare*f.took)
	if filling {
		pause = 2 * f.took
	}
	if !last && time.Since(f.walked) < pause {
		return stopped{}
	}
	var limit amount
	if f.FolderBytes > 0 {
		limit.bytes = f.before.bytes + f.FolderBytes
	}
	if f.FolderFiles > 0 {
		limit.files = f.before.files + f.FolderFiles
	}
	m := f.walk(holders, limit)
	f.used = m.amount
	switch {
	case limit.bytes > 0 && m.bytes > limit.bytes:
		return stopped{ReasonDisk, errors.New("wrote more than " + size(f.FolderBytes) + " to disk")}
	case limit.files > 0 && m.files > limit.files:
		return stopped{ReasonFiles, fmt.Errorf("made more than %d files", f.FolderFiles)}
	case m.deep:
		return stopped{ReasonFiles, fmt.Errorf("made folders more than %d deep", maxDepth)}
	case m.closed && limit.bytes > 0 && f.freeBefore.bytes-free.bytes > f.FolderBytes:
		return stopped{ReasonDisk, fmt.Errorf("closed a folder to its measurement while the disk lost more than %s", size(f.FolderBytes))}
	}
	return stopped{}
}

// lost reports whether so much of a disk went since the last walk that a child may be near its limit, of which it had used a part
// then.
func lost(n, limit, used int64) bool { return limit > 0 && n > max((limit-used)/4, limit/16) }

// freeNow is what the disks have free together, and whether one of them has too little.
func (f *folders) freeNow() (free amount, low bool) {
	for _, d := range f.open {
		var st unix.Statfs_t
		if unix.Fstatfs(int(d.Fd()), &st) != nil {
			continue
		}
		bytes := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ between systems
		free.bytes += bytes
		free.files += int64(st.Ffree) //nolint:unconvert // the types differ between systems
		low = low || f.FreeBytes > 0 && bytes < f.FreeBytes || st.Files > 0 && st.Ffree < freeFiles && f.FreeBytes > 0
	}
	return free, low
}

// walk measures the folders, and files that have no name any more but are open in the child's processes, until the limit is
// passed.
func (f *folders) walk(holders func() []string, limit amount) meter {
	from := time.Now()
	f.free, _ = f.freeNow()
	m := meter{limit: limit, seen: map[inode]bool{}, disks: map[uint64]bool{}}
	for _, d := range f.open {
		var st unix.Stat_t
		if unix.Fstat(int(d.Fd()), &st) == nil {
			m.disks[uint64(st.Dev)] = true //nolint:unconvert // the types differ between systems
		}
		if fd, err := unix.Openat(int(d.Fd()), ".", walkFlags, 0); err == nil {
			m.folder(fd, 0)
		} else {
			m.closed = true
		}
	}
	if holders != nil {
		m.nameless(holders())
	}
	f.walked = time.Now()
	f.took = f.walked.Sub(from)
	return m
}

// maxDepth is how many folders may lie in one another: a walk holds one descriptor for each.
const maxDepth = 512

const walkFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// inode names a file on this machine.
type inode struct{ dev, ino uint64 }

// meter adds up files. It follows no link: each name is looked up in the folder that was opened for it.
type meter struct {
	amount
	limit amount
	// seen are files with several names, or with none.
	seen map[inode]bool
	// disks are those the folders lie on.
	disks map[uint64]bool
	// deep is true when folders lie too deep in one another, closed when one could not be read.
	deep, closed bool
}

// over reports whether the limit is passed, and no more needs to be counted.
func (m *meter) over() bool {
	return m.deep || m.limit.bytes > 0 && m.bytes > m.limit.bytes || m.limit.files > 0 && m.files > m.limit.files
}

// folder adds what lies in an open folder, which it closes.
func (m *meter) folder(fd, depth int) {
	dir := os.NewFile(uintptr(fd), "")
	defer dir.Close()
	for !m.over() {
		names, err := dir.Readdirnames(1024)
		for _, name := range names {
			var st unix.Stat_t
			if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue // gone
			}
			m.add(&st)
			if m.over() {
				return
			}
			if st.Mode&unix.S_IFMT != unix.S_IFDIR {
				continue
			}
			if depth == maxDepth {
				m.deep = true
				return
			}
			switch sub, err := unix.Openat(fd, name, walkFlags, 0); {
			case err == nil:
				m.folder(sub, depth+1)
			case !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ELOOP):
				m.closed = true
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// add counts a name, and the bytes of a file once.
func (m *meter) add(st *unix.Stat_t) {
	m.files++
	if st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Nlink != 1 {
		id := inode{uint64(st.Dev), st.Ino} //nolint:unconvert // the types differ between systems
		if m.seen[id] {
			return
		}
		m.seen[id] = true
	}
	m.bytes += st.Blocks * 512 // what POSIX counts in, whatever the disk does
}

// maxHeld bounds how many open files of a child are looked at in one walk.
const maxHeld = 100_000

// nameless adds the files that are open in these folders of links, as /proc/PID/fd is one, and have no name any more.
func (m *meter) nameless(dirs []string) {
	left := maxHeld
	for _, name := range dirs {
		dir, err := os.Open(name)
		if err != nil {
			continue
		}
		fds, _ := dir.Readdirnames(left)
		for _, fd := range fds {
			var st unix.Stat_t
			if unix.Fstatat(int(dir.Fd()), fd, &st, 0) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 0 &&
				m.disks[uint64(st.Dev)] { //nolint:unconvert // the types differ between systems
				id := inode{uint64(st.Dev), st.Ino} //nolint:unconvert // the types differ between systems
				if !m.seen[id] {
					m.add(&st)
				}
			}
		}
		dir.Close()
		if left -= len(fds); left <= 0 || m.over() {
			return
		}
	}
}

// FreeOn is how many bytes this user may still write on the disk that a path lies on.
func FreeOn(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", path, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
