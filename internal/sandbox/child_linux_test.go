package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary plays three parts beside the tests: the trampoline (by the package's init), the program that wraps and
// starts a command, and the agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "test-spawner" {
		os.Exit(spawner(os.Args[2]))
	}
	if len(os.Args) > 2 && os.Args[1] == "test-agent" {
		os.Exit(agent(os.Args[2], os.Args[3:]))
	}
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// order is what a spawner is told.
type order struct {
	Policy  Policy
	Command Command
	// Missing are masked parts; Plain starts the command without a sandbox, to see that the test would notice.
	Missing map[string]string
	Plain   bool
	Bwrap   string
}

func spawner(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	c := o.Command
	if !o.Plain {
		var err error
		if c, err = (&Machine{missing: o.Missing, bwrap: o.Bwrap}).Wrap(o.Policy, o.Command); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
	}
	runtime.LockOSThread()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // as internal/proc does
	secret, err := os.Open("/etc/hostname")                            // an open file the agent must not get
	if err == nil {
		cmd.ExtraFiles = []*os.File{secret}
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	go func() {
		for s := range terms {
			_ = cmd.Process.Signal(s)
		}
	}()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

func agent(part string, args []string) int {
	switch part {
	case "exit":
		n, _ := strconv.Atoi(args[0])
		return n
	case "die":
		n, _ := strconv.Atoi(args[0])
		_ = unix.Kill(os.Getpid(), unix.Signal(n))
		forever()
	case "echo":
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf("out %s\n", in)
		fmt.Fprintf(os.Stderr, "err %s\n", in)
	case "term":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		return 9
	case "channels":
		return channels(args[0])
	case "read":
		read(args)
	case "write":
		write(args)
	case "signal":
		signalAll(args)
	case "state":
		state()
	case "calls":
		calls()
	case "attributes":
		giveAttributes()
	case "shm":
		return leaveShared(args[0])
	case "unread":
		return leaveUnread(args[0], args[1] == "accepted", args[2])
	case "watches":
		n := 0
		for ; ; n++ {
			if _, err := unix.InotifyInit1(0); err != nil {
				break
			}
		}
		fmt.Println(n)
	case "fastopen":
		fastOpen()
	case "daemon":
		return daemon(args)
	case "zombies":
		return zombies()
	case "stop":
		stopWatcher(len(args) > 0)
	case "gateway":
		return gatewayCall(args)
	}
	return 0
}

// read prints whatever can be read: the files named, all that /proc shows of processes, and every small file in sight.
func read(paths []string) {
	for _, pattern := range []string{"environ", "cmdline", "root/etc/shadow", "cwd/canary"} {
		found, _ := filepath.Glob("/proc/[0-9]*/" + pattern)
		paths = append(paths, found...)
		paths = append(paths, "/proc/1/"+pattern, fmt.Sprintf("/proc/%d/%s", os.Getppid(), pattern))
	}
	for _, path := range paths {
		data, err := os.ReadFile(path) // "walk" is no file
		fmt.Printf("read %s: %q %v\n", path, data, err)
	}
	if paths[0] != "walk" {
		return
	}
	_ = filepath.WalkDir("/", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() && (path == "/proc" || path == "/usr" || path == "/sys") {
			return filepath.SkipDir
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() < 64<<10 {
			data, _ := os.ReadFile(path)
			fmt.Printf("walk %s: %q\n", path, data)
		}
		return nil
	})
}

func write(paths []string) {
	for i, path := range paths {
		err := os.WriteFile(path, []byte("x"), 0o600)
		fmt.Printf("write %s: %v\n", path, err == nil)
		if f, err := os.OpenFile(path+"/canary", os.O_WRONLY|os.O_APPEND, 0); err == nil {
			f.Close()
			fmt.Printf("append %s: true\n", path)
		}
		fmt.Printf("truncate %s: %v\n", path, os.Truncate(path+"/canary", 0) == nil)
		fmt.Printf("make %s: %v\n", path, os.WriteFile(path+"/new", nil, 0o600) == nil)
		way := fmt.Sprint("way", i)
		_ = os.Symlink(path, way)
		fmt.Printf("link %s: %v\n", path, os.WriteFile(way+"/new2", nil, 0o600) == nil)
	}
}

func signalAll(pids []string) {
	for _, s := range append(pids, "1", strconv.Itoa(os.Getppid())) {
		pid, _ := strconv.Atoi(s)
		// 0 is this very group of processes and -1 all but this one: neither may be tried outside a sandbox.
		if pid > 0 {
			fmt.Printf("kill %d: %v\n", pid, unix.Kill(pid, unix.SIGKILL) == nil)
			fmt.Printf("ptrace %d: %v\n", pid, unix.PtraceAttach(pid) == nil)
		}
	}
}

// state prints what the process is.
func state() {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		for _, name := range []string{"Cap", "NoNewPrivs", "Seccomp:", "Uid", "Gid"} {
			if strings.HasPrefix(line, name) {
				fmt.Print(strings.Join(strings.Fields(line), " "), "\n")
			}
		}
	}
	for fd := 3; fd < 64; fd++ {
		// Go's own poller makes descriptors of its own; only files count.
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			fmt.Println("open", fd)
		}
	}
	for name, which := range map[string]int{"core": unix.RLIMIT_CORE, "files": unix.RLIMIT_NOFILE, "processes": unix.RLIMIT_NPROC,
		"size": unix.RLIMIT_FSIZE, "memory": unix.RLIMIT_AS, "signals": unix.RLIMIT_SIGPENDING} {
		var l unix.Rlimit
		_ = unix.Getrlimit(which, &l)
		fmt.Println("limit", name, l.Max)
	}
	for _, ns := range []string{"ipc", "mnt", "net", "pid", "uts"} {
		name, _ := os.Readlink("/proc/self/ns/" + ns)
		fmt.Println("ns", name)
	}
	_, err := os.Lstat("/proc/1")
	fmt.Println("init hidden", err != nil)
	dir, _ := os.Getwd()
	fmt.Println("dir", dir)
	for _, e := range os.Environ() {
		fmt.Println("env", e)
	}
}

// calls tries some of the calls the filter forbids, in forms that do nothing where they are allowed.
func calls() {
	try := func(name string, number, a, b, c uintptr) {
		_, _, errno := unix.Syscall(number, a, b, c)
		fmt.Printf("%s %s\n", name, unix.ErrnoName(errno))
	}
	bad := ^uintptr(0)
	try("mount", unix.SYS_MOUNT, 0, 0, 0)
	try("bpf", unix.SYS_BPF, bad, 0, 0)
	try("keyctl", unix.SYS_KEYCTL, bad, 0, 0)
	try("userfaultfd", unix.SYS_USERFAULTFD, bad, 0, 0)
	try("perf", unix.SYS_PERF_EVENT_OPEN, 0, 0, 0)
	try("kexec", unix.SYS_KEXEC_LOAD, 0, 0, 0)
	try("module", unix.SYS_FINIT_MODULE, bad, 0, 0)
	try("ptrace", unix.SYS_PTRACE, bad, 0, 0)
	try("io_uring", unix.SYS_IO_URING_SETUP, 0, 0, 0)
	try("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0)
	try("clone", unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_NEWPID, 0, 0)
	try("setns", unix.SYS_SETNS, bad, 0, 0)
	try("clone3", unix.SYS_CLONE3, 0, 0, 0)
	try("memfd_create", unix.SYS_MEMFD_CREATE, 0, 0, 0)
	try("memfd_secret", unix.SYS_MEMFD_SECRET, 0, 0, 0)
	try("sysv_semget", unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600)
	try("sysv_msgget", unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600, 0)
	try("memory_mbind", unix.SYS_MBIND, 0, 0, 0)
	try("memory_landlock", unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1)
	try("io_setup", unix.SYS_IO_SETUP, 0, 0, 0)
	try("setxattr", unix.SYS_SETXATTR, bad, bad, bad)
	try("lsetxattr", unix.SYS_LSETXATTR, bad, bad, bad)
	try("fsetxattr", unix.SYS_FSETXATTR, bad, bad, bad)
	try("setxattrat", unix.SYS_SETXATTRAT, bad, bad, bad)
	self := uintptr(os.Getpid())
	try("prlimit_by_number", unix.SYS_PRLIMIT64, self, unix.RLIMIT_NOFILE, 0)
	try("own_prlimit", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, 0)
	try("own_setpriority", unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, 19)
	try("share_setpriority", unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, self, 19)
	try("share_ioprio_set", unix.SYS_IOPRIO_SET, 1, self, 0)
	try("share_sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, self, 0, 0)
	try("share_sched_setattr", unix.SYS_SCHED_SETATTR, self, 0, 0)
	try("share_sched_setparam", unix.SYS_SCHED_SETPARAM, self, 0, 0)
	try("share_sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, self, bad, 0)
	try("setlease", unix.SYS_FCNTL, bad, unix.F_SETLEASE, unix.F_WRLCK)
	try("notify", unix.SYS_FCNTL, bad, unix.F_NOTIFY, 1)
	try("setdeleg", unix.SYS_FCNTL, bad, setDelegation, 0)
	try("own_fcntl", unix.SYS_FCNTL, 1, unix.F_GETFL, 0)
	for _, option := range []uintptr{unix.SO_ATTACH_FILTER, unix.SO_ATTACH_BPF, unix.SO_ATTACH_REUSEPORT_CBPF, unix.SO_ATTACH_REUSEPORT_EBPF} {
		try("socket_filter", unix.SYS_SETSOCKOPT, bad, unix.SOL_SOCKET, option)
	}
	try("memory_seccomp", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0)
	for _, number := range slices.Concat(watches, archWatches) {
		try("inotify", uintptr(number), bad, bad, 0)
	}
	try("fanotify_init", unix.SYS_FANOTIFY_INIT, bad, 0, 0)
	try("fanotify_mark", unix.SYS_FANOTIFY_MARK, bad, 0, 0)
	try("tiocsti", unix.SYS_IOCTL, 0, unix.TIOCSTI, 0)
	fmt.Println("pair", func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }())
}

// giveAttributes tries to give every folder and file in memory that is mounted an attribute.
func giveAttributes() {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if before, after, _ := strings.Cut(line, " - "); strings.HasPrefix(after, "tmpfs ") {
			path := strings.Fields(before)[4]
			fmt.Println(path, unix.ErrnoName(errnoOf(unix.Setxattr(path, "user.a", []byte("x"), 0))))
		}
	}
}

func errnoOf(err error) unix.Errno {
	var errno unix.Errno
	_ = errors.As(err, &errno)
	return errno
}

// leaveShared fills a segment of shared memory with so many MB, maps it no more, and stays.
func leaveShared(megabytes string) int {
	n, _ := strconv.Atoi(megabytes)
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, n<<20, unix.IPC_CREAT|0o600)
	if err == nil {
		var data []byte
		if data, err = unix.SysvShmAttach(id, 0, 0); err == nil {
			for i := range data {
				data[i] = 1
			}
			err = unix.SysvShmDetach(data)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 2
	}
	fmt.Println("done")
	if n > 16 {
		forever()
	}
	return 0
}

// leaveUnread sends so many MB to itself, 1 MB over each connection, that nobody reads, and stays for a time.
func leaveUnread(megabytes string, accepted bool, stay string) int {
	n, _ := strconv.Atoi(megabytes)
	left, _ := time.ParseDuration(stay)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return 2
	}
	var keep []net.Conn
	for range n {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			fmt.Println(err)
			return 2
		}
		keep = append(keep, c)
		if accepted {
			if s, err := l.Accept(); err == nil {
				keep = append(keep, s)
			}
		}
		_ = c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = c.Write(make([]byte, 1<<20))
	}
	fmt.Println("done")
	time.Sleep(left)
	runtime.KeepAlive(keep)
	runtime.KeepAlive(l) // who is not accepted yet goes with the listener
	return 0
}

// daemon starts a process in a session of its own that is nobody's child, ignores TERM and never ends.
func daemon(args []string) int {
	if len(args) > 1 && args[1] != "run" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		if args[1] == "child" {
			cmd := exec.Command(os.Args[0], "test-agent", "daemon", args[0], "grandchild")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			return boolStatus(cmd.Start() == nil)
		}
		forever()
	}
	for range 3 {
		cmd := exec.Command(os.Args[0], "test-agent", "daemon", args[0], "child")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
			return 2
		}
	}
	fmt.Println("ready")
	if len(args) > 1 { // stays until it is killed
		forever()
	}
	return 0
}

func boolStatus(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// stopWatcher stops every thread of the process that watches, makes more files than it may, and waits to be ended. With apart it first waits until
// no thread there can be signalled.
func stopWatcher(apart bool) {
	signalled := func(s syscall.Signal) (reached bool) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", os.Getppid()))
		for _, task := range tasks {
			if id, err := strconv.Atoi(filepath.Base(task)); err == nil && unix.Tgkill(os.Getppid(), id, s) == nil {
				reached = true
			}
		}
		return reached
	}
	for deadline := time.Now().Add(10 * time.Second); apart && signalled(0); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			fmt.Println("a thread can be signalled")
			return
		}
	}
	signalled(syscall.SIGSTOP)
	for i := range 1000 {
		_ = os.WriteFile(fmt.Sprintf("/tmp/%d", i), nil, 0o600)
	}
	time.Sleep(20 * time.Second)
	fmt.Println("still here")
	signalled(syscall.SIGCONT)
}

// zombies leaves children to init and sees that they do not stay as zombies.
func zombies() int {
	for range 20 {
		if err := exec.Command("/bin/sh", "-c", "(exit 0) & exec true").Run(); err != nil {
			fmt.Println(err)
			return 2
		}
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		left := 0
		files, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err == nil && strings.Contains(string(data), ") Z ") {
				left++
			}
		}
		if left == 0 {
			return 0
		}
	}
	return 1
}

// gatewayCall sends a line to each address and prints the answer.
func gatewayCall(addresses []string) int {
	for _, a := range addresses {
		network, address, _ := strings.Cut(a, "!")
		answer, err := ask(network, address)
		fmt.Printf("%s %s %v\n", network, answer, err)
		if err != nil {
			return 1
		}
	}
	return 0
}

var errNoAnswer = errors.New("no answer")

// forever waits; a select without cases would end a program built without cgo as a deadlock.
func forever() {
	for {
		_ = unix.Pause()
	}
}
