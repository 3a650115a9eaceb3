package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prloop/prloop/internal/testkit/eventually"
)

// script is a child that runs shell in a folder of its own, which holds 8 MB in 100 files.
func script(t *testing.T, text string) Spec {
	t.Helper()
	dir := t.TempDir()
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("kept-%d", i)), make([]byte, 80<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Spec{Path: "/bin/sh", Args: []string{"-c", text}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 3 * time.Minute, // a busy machine
		Bounds: Bounds{Folders: []string{dir}, FolderBytes: 32 << 20, FolderFiles: 2000}}
}

// bounded runs a child and holds the rule it is ended by, and what is said of it, against what is wanted.
func bounded(t *testing.T, s Spec, want Reason, says string) {
	t.Helper()
	res, err := Run(t.Context(), s)
	if res.Reason != want || res.Unclean {
		t.Errorf("reason %q (%v), want %q; %+v", res.Reason, err, want, res)
	}
	if exit := (*ExitError)(nil); want != ReasonNone && (!errors.As(err, &exit) || !strings.Contains(err.Error(), says+" ("+string(want)+")")) {
		t.Errorf("%v does not say %q", err, says)
	}
	m := meter{seen: map[inode]bool{}}
	if fd, err := unix.Open(s.Dir, walkFlags, 0); s.Dir != "" && err == nil {
		m.folder(fd, 0)
	}
	t.Logf("ended after %v; there are %d MB in %d files, and it said %q", res.Took, m.bytes>>20, m.files, tailOf(res.Stdout))
}

// tailOf is the last word of a text.
func tailOf(text []byte) string {
	words := strings.Fields(string(text))
	return strings.Join(words[max(0, len(words)-1):], "")
}

// Folders on a disk are watched; what stood in them before does not count (threats.md T88).
func TestFolderBounds(t *testing.T) {
	t.Parallel()
	const bytes, files = "wrote more than 32 MB to disk", "made more than 2000 files"
	for name, row := range map[string]struct {
		script, says string
		want         Reason
	}{
		"little":                   {`head -c 1M /dev/zero >x; sleep 0.3`, "", ReasonNone},
		"a file with holes":        {`truncate -s 10G x; sleep 0.3`, "", ReasonNone},
		"many names of a file":     {`head -c 4M /dev/zero >x; for i in $(seq 500); do ln x x$i; done; sleep 0.3`, "", ReasonNone},
		"what it removes again":    {`for i in $(seq 20); do head -c 4M /dev/zero >x; rm x; done; sleep 0.3`, "", ReasonNone},
		"one large file":           {`head -c 100M /dev/zero >x; sleep 600`, bytes, ReasonDisk},
		"many small files":         {`i=0; while [ $i -lt 1500 ]; do head -c 64K /dev/zero >x$i; i=$((i+1)); done; sleep 600`, bytes, ReasonDisk},
		"one that ends at once":    {`head -c 100M /dev/zero >x`, bytes, ReasonDisk},
		"a removed, open file":     {`exec 3>x; rm x; head -c 100M /dev/zero >&3; sleep 600`, bytes, ReasonDisk},
		"behind a link":            {`mkdir a; ln -s a b; head -c 100M /dev/zero >b/x; sleep 600`, bytes, ReasonDisk},
		"under another name":       {`mkdir a; mv ../*/a b 2>/dev/null; head -c 100M /dev/zero >b/x; sleep 600`, bytes, ReasonDisk},
		"in a folder made private": {`mkdir a; chmod 0 a; chmod 700 a; head -c 100M /dev/zero >a/x; sleep 600`, bytes, ReasonDisk},
		"empty files":              {`i=0; while [ $i -lt 100000 ]; do : >x$i; i=$((i+1)); done; sleep 600`, files, ReasonFiles},
		"links":                    {`for i in $(seq 30); do ln -s $(seq -f "/l$i-%g" 100) .; done; sleep 600`, files, ReasonFiles},
		"folders in one another":   {`i=0; while [ $i -lt 600 ]; do mkdir d; cd d; i=$((i+1)); done; sleep 600`, "made folders more than 512 deep", ReasonFiles},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bounded(t, script(t, row.script), row.want, row.says)
		})
	}
}

// A child that writes to a disk with too little left is ended, whoever filled it; one that does not is not.
func TestHostDisk(t *testing.T) {
	t.Parallel()
	s := script(t, `sleep 0.5`)
	s.Bounds.FreeBytes = 1 << 60
	bounded(t, s, ReasonHostDisk, "had a disk with less than 1073741824 GB left")
	s.Bounds.Folders = nil
	bounded(t, s, ReasonNone, "")
}

// The memory of a tree is bounded by the kernel where there are control groups, and watched elsewhere.
func TestMemoryBounds(t *testing.T) {
	t.Parallel()
	memory, processes, shares := GroupsBound()
	t.Logf("kept by the kernel: memory %v, processes %v, shares of the processors %v", memory, processes, shares)
	for name, noGroups := range map[string]bool{"as this machine can": false, "watched": true} {
		for _, row := range []struct{ each, more string }{{"1500", "0"}, {"60", "3"}} {
			t.Run(name+", "+row.more+" more", func(t *testing.T) {
				t.Parallel()
				s := self(t, "hold", row.each, row.more)
				s.Bounds = Bounds{MemoryBytes: 128 << 20, noGroups: noGroups}
				bounded(t, s, ReasonMemory, "used more than 128 MB of memory")
			})
		}
		t.Run(name+", tables of pages that are not there", func(t *testing.T) { // threats.md T124
			t.Parallel()
			s := self(t, "tables", "200")
			s.Bounds = Bounds{MemoryBytes: 128 << 20, noGroups: noGroups}
			bounded(t, s, ReasonMemory, "used more than 128 MB of memory")
		})
		t.Run(name+", enough", func(t *testing.T) {
			t.Parallel()
			s := self(t, "hold", "20", "1")
			s.Timeout, s.Bounds = time.Second, Bounds{MemoryBytes: 256 << 20, Processes: 200, noGroups: noGroups}
			if res, err := Run(t.Context(), s); res.Reason != ReasonTimeout {
				t.Errorf("%q (%v), want the end of its time", res.Reason, err)
			}
		})
	}
}

// holdTables has the kernel keep so many MB of tables: one page of each two megabytes of a mapping is read, where nothing was written.
func holdTables(megabytes int) {
	const each = 2 << 20
	nothing, err := unix.Mmap(-1, 0, megabytes*256*each, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err == nil {
		err = unix.Madvise(nothing, unix.MADV_NOHUGEPAGE)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := 0
	for at := 0; at < len(nothing); at += each {
		sum += int(nothing[at])
	}
	fmt.Println("holding", sum)
}

// Locks of files are counted, with control groups and without (threats.md T660).
func TestLockBounds(t *testing.T) {
	t.Parallel()
	for name, noGroups := range map[string]bool{"as this machine can": false, "watched": true} {
		for n, want := range map[int]Reason{manyLocks / 2: ReasonTimeout, manyLocks + 100: ReasonMemory} {
			t.Run(fmt.Sprintf("%s, %d", name, n), func(t *testing.T) {
				t.Parallel()
				s := self(t, "locks", strconv.Itoa(n))
				s.Bounds = Bounds{MemoryBytes: 256 << 20, noGroups: noGroups}
				if s.Timeout = 3 * time.Second; want != ReasonTimeout {
					s.Timeout = 2 * time.Minute // a busy machine lists so many locks slowly
				}
				if res, err := Run(t.Context(), s); res.Reason != want {
					t.Errorf("%q (%v), want %q; it said %q", res.Reason, err, want, res.Stdout)
				}
			})
		}
	}
}

// takeLocks locks every other byte of a file that has no name.
func takeLocks(n int) (got int) {
	f, err := os.CreateTemp("", "locks")
	if err != nil {
		return 0
	}
	_ = os.Remove(f.Name())
	for got < n { // from the end, since the kernel looks for the place from the start
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(2 * (n - got)), Len: 1}
		if unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock) != nil {
			break
		}
		got++
	}
	return got
}

func TestLockOwner(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"1: POSIX  ADVISORY  WRITE 4321 00:2a:77 0 0":    "4321",
		"1: -> POSIX  ADVISORY  WRITE 4322 00:2a:77 0 0": "4322",
		"12: FLOCK  ADVISORY  READ 7 fe:00:77 0 EOF":     "7",
		"13: OFDLCK ADVISORY  WRITE -1 00:2a:77 0 0":     "-1",
		"": "",
	} {
		if got := lockOwner(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Without control groups too many processes are seen and ended; with them there are never more.
func TestProcessBounds(t *testing.T) {
	t.Parallel()
	s := script(t, `i=0; while [ $i -lt 40 ]; do sleep 60 & i=$((i+1)); done; wait`)
	s.Bounds = Bounds{Processes: 20, noGroups: true}
	bounded(t, s, ReasonProcesses, "had more than 20 processes at a time")
	if _, processes, _ := GroupsBound(); !processes {
		t.Skip("this machine gives no control group for processes")
	}
	s.Args[1] = `i=0; while [ $i -lt 40 ]; do sleep 60 & i=$((i+1)); done 2>&1; echo all`
	s.Bounds.noGroups = false
	if res, err := Run(t.Context(), s); err == nil || strings.Contains(string(res.Stdout), "all") {
		t.Errorf("40 processes were started: %v %s", err, res.Stdout)
	}
}

// Each child is in a group of its own for the processors, of which the kernel gives each group as much (threats.md T373).
func TestSharesOfTheProcessors(t *testing.T) {
	t.Parallel()
	if _, _, shares := GroupsBound(); !shares {
		t.Skip("this machine gives no control group for processors")
	}
	in := func() string {
		s := script(t, `cat /proc/self/cgroup`)
		s.Bounds = Bounds{Processes: 20}
		res, err := Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(res.Stdout)) {
			number, controllers, _ := strings.Cut(strings.TrimSpace(line), ":")
			controllers, path, _ := strings.Cut(controllers, ":")
			if strings.Contains(path, "/"+groupPrefix) && (number == "0" || slices.Contains(strings.Split(controllers, ","), "cpu")) {
				return path
			}
		}
		t.Fatalf("the child is in %s", res.Stdout)
		return ""
	}
	if one, other := in(), in(); one == other {
		t.Errorf("both children are in %s", one)
	}
}

// One file is bounded by the kernel, for all that a child starts.
func TestFileBound(t *testing.T) {
	t.Parallel()
	s := script(t, `(head -c 9M /dev/zero >x); stat -c %s x`)
	s.Bounds = Bounds{FileBytes: 4 << 20}
	if res, err := Run(t.Context(), s); string(res.Stdout) != "4194304\n" {
		t.Errorf("%v %s", err, res.Stdout)
	}
}

// When memory is short children die first, theirs too, and prloop's own standing is as it was.
func TestChildrenDieFirst(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), script(t, `cat /proc/self/oom_score_adj; sh -c 'cat /proc/self/oom_score_adj; cat /proc/'$PPID'/oom_score_adj'`))
	if want := "800\n800\n" + string(own); err != nil || string(res.Stdout) != want {
		t.Errorf("%v: child, its child and the leash have %q, want %q", err, res.Stdout, want)
	}
}

// What stands between prloop and the child may say why it ended it, and no child that ended well is asked.
func TestEnded(t *testing.T) {
	t.Parallel()
	s := script(t, `echo why >&2; exit 9`)
	s.Bounds = Bounds{Ended: func(code int, stderr []byte) (Reason, error) {
		if code != 9 || string(stderr) != "why\n" {
			t.Errorf("told %d %q", code, stderr)
		}
		return ReasonDisk, errors.New("used it up")
	}}
	bounded(t, s, ReasonDisk, "used it up")
	s.Args[1] = `exit 0`
	bounded(t, s, ReasonNone, "")
}

// Groups go with the child, also when prloop died and nobody else removes them.
func TestGroupsGo(t *testing.T) {
	t.Parallel()
	dead := filepath.Join(t.TempDir(), "prloop-4194305-x") // above any process number
	mine := filepath.Join(filepath.Dir(dead), fmt.Sprintf("prloop-%d-x", os.Getpid()))
	for _, dir := range []string{dead, mine} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweepGroups(filepath.Dir(dead))
	if _, err := os.Stat(dead); err == nil {
		t.Error("the group of a dead process is kept")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// After kill -9 of prloop the leash removes the groups.
func TestKillLeavesNoGroups(t *testing.T) {
	t.Parallel()
	if memory, _, _ := GroupsBound(); !memory {
		t.Skip("this machine gives no control groups")
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "test-child", "bounded")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	groups := filepath.Join(roots().Memory.Dir, fmt.Sprintf("%s%d-*", groupPrefix, cmd.Process.Pid))
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(groups); len(found) != 1 {
		t.Errorf("there are groups %q: the test would not notice", found)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually.True(t, "the end of the groups "+groups, func() bool {
		left, _ := filepath.Glob(groups)
		return len(left) == 0
	})
}

// Where groups can be made is read from what the kernel lists, for both versions.
func TestGroupRoots(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for path, text := range map[string]string{
		"top/unit/cgroup.subtree_control":      "\n",
		"top/cgroup.subtree_control":           "cpu memory pids\n",
		"delegated/cgroup.subtree_control":     "memory pids\n",
		"delegated/own/cgroup.subtree_control": "",
	} {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v2 := "1 1 0:1 / " + root + " rw - cgroup2 cgroup2 rw\n"
	v1 := "1 1 0:1 / /sys/x rw - tmpfs tmpfs rw\n2 1 0:2 /docker/7 /cg/memory rw - cgroup cgroup rw,memory\n3 1 0:3 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	for name, row := range map[string]struct {
		own, mounts string
		want        group
	}{
		"version 1, mounted from below the top":      {"4:memory:/docker/7/sub\n0::/\n", v1, group{"/cg/memory/sub", "/cg/memory/sub", false}},
		"version 1, of another branch":               {"4:memory:/other\n", v1, group{}},
		"version 2, which hands memory on":           {"0::/top\n", v2, group{root + "/top", root + "/top", true}},
		"version 2, in a group that does not":        {"0::/top/unit\n", v2, handed(root+"/top", root+"/top/unit")},
		"version 2, without the controller anywhere": {"0::/delegated/own/deep\n", v2, group{}},
		"nothing that is mounted":                    {"4:memory:/x\n", "", group{}},
	} {
		if got := rootOf("memory", row.own, row.mounts); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

// handed is a group above that belongs to this user; root's belong to the system manager unless it says otherwise.
func handed(above, home string) group {
	if os.Geteuid() == 0 {
		return group{}
	}
	return group{above, home, true}
}
