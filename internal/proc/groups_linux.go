package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// group is a control group: a folder. The zero value is one that could not be had; what it would bound is watched.
type group struct {
	Dir string
	// Home is the group that prloop and the leash are in.
	Home string
	// V2 tells the version, whose files differ.
	V2 bool
}

// groups are those of one child. With version 2 they are one.
type groups struct{ Memory, Pids, CPU group }

func (g groups) all() []group { return []group{g.Memory, g.Pids, g.CPU} }

// groupPrefix is what groups of children are called, with the number of the process that made them.
const groupPrefix = "prloop-"

// roots are the groups in which groups may be made.
var roots = sync.OnceValue(func() groups {
	own, err1 := os.ReadFile("/proc/self/cgroup")
	mounts, err2 := os.ReadFile("/proc/self/mountinfo")
	if err1 != nil || err2 != nil {
		return groups{}
	}
	root := func(controller string) group { return rootOf(controller, string(own), string(mounts)) }
	return groups{Memory: root("memory"), Pids: root("pids"), CPU: root("cpu")}
})

// GroupsBound reports whether the kernel bounds the memory and the processes of children here, in control groups, and gives each child its share of the
// processors. Elsewhere these are watched.
func GroupsBound() (memory, processes, shares bool) {
	g := makeGroups(Bounds{MemoryBytes: 1 << 30, Processes: 100})
	defer g.remove()
	return g.Memory.Dir != "", g.Pids.Dir != "", g.CPU.Dir != ""
}

// rootOf finds the group in which groups with a controller can be made: that of this process, and with version 2, where a group with
// processes in it cannot bound others below it, the one above if it was handed over to this user.
func rootOf(controller, own, mounts string) group {
	for line := range strings.Lines(own) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		v2 := f[0] == "0" && f[1] == ""
		if !v2 && !slices.Contains(strings.Split(f[1], ","), controller) {
			continue
		}
		at := mounted(mounts, controller, v2, f[2])
		above := filepath.Dir(at)
		switch {
		case at == "":
		case !v2 || offers(at, controller):
			return group{at, at, v2}
		case handedOver(above) && offers(above, controller):
			return group{above, at, v2}
		}
	}
	return group{}
}

// mounted finds the folder of a group in /proc/self/mountinfo; empty when it is not to be seen.
func mounted(mounts, controller string, v2 bool, group string) string {
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(kind) < 3 {
			continue
		}
		if v2 && kind[0] != "cgroup2" || !v2 && (kind[0] != "cgroup" || !slices.Contains(strings.Split(kind[2], ","), controller)) {
			continue
		}
		if rel, err := filepath.Rel(f[3], group); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return filepath.Join(f[4], rel)
		}
	}
	return ""
}

// offers reports whether groups below a group of version 2 have a controller.
func offers(dir, controller string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	for _, name := range bytes.Fields(data) {
		if err == nil && string(name) == controller {
			return true
		}
	}
	return false
}

// handedOver reports whether the system manager leaves a group to this user: it says so in an attribute, or gives it away.
func handedOver(dir string) bool {
	var word [1]byte
	if n, err := unix.Getxattr(dir, "user.delegate", word[:]); err == nil && n == 1 && word[0] == '1' {
		return true
	}
	var st unix.Stat_t
	return unix.Stat(dir, &st) == nil && st.Uid != 0 && int(st.Uid) == os.Geteuid()
}

// makeGroups makes the groups that bounds ask for, as far as they can be had. A child that may have but so many processes is in a group that has its
// share of the processors, however many it has: the share of each other child's.
func makeGroups(b Bounds) (g groups) {
	if b.noGroups {
		return g
	}
	r := roots()
	if b.MemoryBytes > 0 {
		g.Memory = g.add(r.Memory, memoryFiles(b.MemoryBytes, r.Memory.V2))
	}
	if b.Processes > 0 {
		g.Pids = g.add(r.Pids, []setting{{"pids.max", strconv.FormatInt(b.Processes, 10), false}})
		g.CPU = g.add(r.CPU, nil)
	}
	return g
}

// add makes one more group of a child. A process is in one group of version 2: that gets the settings, if it is at the same place.
func (g groups) add(root group, settings []setting) group {
	for _, have := range g.all() {
		switch {
		case root.Dir == "" || !have.V2 || !root.V2:
		case filepath.Dir(have.Dir) == root.Dir && set(have.Dir, settings) == nil:
			return have
		default:
			return group{}
		}
	}
	return makeGroup(root, settings)
}

// setting is a file of a group.
type setting struct {
	name, value string
	// optional settings are those that not every kernel has.
	optional bool
}

func memoryFiles(bytes int64, v2 bool) []setting {
	n := strconv.FormatInt(bytes, 10)
	if v2 {
		return []setting{{"memory.max", n, false}, {"memory.swap.max", "0", true}, {"memory.oom.group", "1", true}}
	}
	return []setting{{"memory.limit_in_bytes", n, false}, {"memory.memsw.limit_in_bytes", n, true}}
}

// makeGroup makes a group below another, and removes those that dead processes left there.
func makeGroup(root group, settings []setting) group {
	if root.Dir == "" {
		return group{}
	}
	sweepGroups(root.Dir)
	dir, err := os.MkdirTemp(root.Dir, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
	if err != nil {
		return group{}
	}
	if set(dir, settings) != nil {
		_ = unix.Rmdir(dir)
		return group{}
	}
	return group{dir, root.Home, root.V2}
}

func set(dir string, settings []setting) error {
	for _, s := range settings {
		err := os.WriteFile(filepath.Join(dir, s.name), []byte(s.value), 0)
		if err != nil && !(s.optional && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// sweepGroups removes the groups of processes that have ended. The kernel keeps those in which something lives.
func sweepGroups(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, groupPrefix+"*"))
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && unix.Kill(n, 0) == unix.ESRCH {
			_ = unix.Rmdir(dir)
		}
	}
}

// enter moves this process into the groups, for a child to begin there. leave brings it back.
func (g groups) enter() (leave func(), err error) {
	leave = func() {
		for _, one := range g.all() {
			_ = one.move(one.Home)
		}
	}
	for _, one := range g.all() {
		if err := one.move(one.Dir); err != nil {
			leave()
			return nil, pathCause(err)
		}
	}
	return leave, nil
}

// move puts this process into a group; none is no move.
func (g group) move(to string) error {
	if g.Dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(to, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
}

// oomKills reports whether the kernel ended a process of the group for the memory all of it held.
func (g groups) oomKills() bool {
	if g.Memory.Dir == "" {
		return false
	}
	file := "memory.oom_control"
	if g.Memory.V2 {
		file = "memory.events"
	}
	data, _ := os.ReadFile(filepath.Join(g.Memory.Dir, file))
	for line := range bytes.Lines(data) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte{' '})
		if string(name) == "oom_kill" {
			return string(value) != "0"
		}
	}
	return false
}

// remove removes the groups, in which nothing lives any more.
func (g groups) remove() {
	for _, one := range g.all() {
		if one.Dir != "" {
			_ = unix.Rmdir(one.Dir)
		}
	}
}
