package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prloop/prloop/internal/testkit/eventually"
)

const nobody = 65534

// quickExit keeps a child built with the race detector from waiting a second at its end.
const quickExit = "GORACE=atexit_sleep_ms=0"

// users are who starts the sandbox.
func users() map[string]int {
	if os.Geteuid() != 0 {
		return map[string]int{"as this user": os.Geteuid()}
	}
	return map[string]int{"as root": 0, "as an unprivileged user": nobody}
}

// withoutNamespaces simulates a machine of tier 2.
var withoutNamespaces = map[string]string{PartNamespaces: "masked", PartBubblewrap: "masked"}

// open makes a folder that every user may enter.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "prloop-sandbox-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// program is a copy of this test binary that every user may start: the build folder is private.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("/var/tmp", "prloop-sandbox-bin-")
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(dir+"/agent", data, 0o755)
	}
	return dir + "/agent", errors.Join(err, os.Chmod(dir, 0o755)) // TestMain removes it
})

// filters says what this machine's kernel says to a filter.
var filters = sync.OnceValue(func() error {
	_, err := probeSeccomp(context.Background())
	return err
})

// withFilters skips a test where the kernel takes no filter: there is no sandbox to test.
func withFilters(t *testing.T) {
	t.Helper()
	if err := filters(); err != nil {
		t.Skip("this machine has no system call filter: " + err.Error())
	}
}

// trial is one run of an agent.
type trial struct {
	t     *testing.T
	user  int
	order order
	// root is a folder of the test, home the agent's below it.
	root, home string
	stdin      string
	// spawner is this test binary.
	spawner string
	env     []string
}

func newTrial(t *testing.T, user int, part string, args ...string) *trial {
	t.Helper()
	withFilters(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	r := &trial{t: t, user: user, root: open(t), spawner: path}
	r.home = r.dir("state/scratch/home")
	r.order.Policy = Policy{Home: r.home}
	r.order.Command = Command{Path: path, Args: append([]string{"test-agent", part}, args...), Env: []string{"PATH=/usr/bin:/bin", "HOME=" + r.home, quickExit}}
	return r
}

// dir makes a folder of the user's.
func (r *trial) dir(name string) string {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Chown(path, r.user, -1); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *trial) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir(filepath.Dir(name)), filepath.Base(name))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Chown(path, r.user, -1); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *trial) command() *exec.Cmd {
	r.t.Helper()
	if !r.order.Plain {
		needs(r.t, r.user, r.order)
	}
	data, err := json.Marshal(r.order)
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(r.t.Context(), r.spawner, "test-spawner", string(data))
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", quickExit}, r.env...)
	cmd.Stdin = strings.NewReader(r.stdin)
	if os.Geteuid() == 0 && r.user != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(r.user), Gid: uint32(r.user)}}
	}
	return cmd
}

// thisMachine is looked at once.
var thisMachine = new(Machine)

// needs skips a test on a machine that cannot do what it is about, with the probe's reason.
func needs(t *testing.T, _ int, o order) {
	t.Helper()
	report := thisMachine.Probe(t.Context())
	want := o.Policy.MinTier
	if want == 0 {
		want = Tier1b
	}
	if o.Missing == nil && report.Tier > want {
		t.Skip("this machine cannot: " + report.String())
	}
}

func (r *trial) run() (stdout, stderr string, code int) {
	r.t.Helper()
	var out, errs bytes.Buffer
	cmd := r.command()
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// good runs an agent that must end well.
func (r *trial) good() string {
	r.t.Helper()
	out, errs, code := r.run()
	if code != 0 {
		r.t.Fatalf("status %d\n%s\n%s", code, out, errs)
	}
	return out
}

func forUsers(t *testing.T, f func(t *testing.T, user int)) {
	t.Helper()
	for name, user := range users() {
		t.Run(name, func(t *testing.T) { t.Parallel(); f(t, user) })
	}
}

func TestThisMachineContains(t *testing.T) {
	r := thisMachine.Probe(t.Context())
	t.Logf("%s in %s: %+v", r, r.Took, r.Parts)
	if r.Tier > Tier1b {
		t.Skip("this machine cannot: " + r.String())
	}
	if again := thisMachine.Probe(t.Context()); again.Took != r.Took {
		t.Error("the second call probed again")
	}
}

// threats.md T51: no channel leads out, whatever tier keeps it shut; the way to the gateway works.
func TestChannels(t *testing.T) {
	t.Parallel()
	// Control and trials have listeners of their own: a connection of the control that is accepted late must not count as
	// one of a confined agent.
	control, world := newOutside(t), newOutside(t)
	plainText, err := json.Marshal(control)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(world)
	if err != nil {
		t.Fatal(err)
	}
	plain := newTrial(t, os.Geteuid(), "channels", string(plainText))
	plain.order.Plain = true
	out := plain.good()
	for _, name := range []string{"tcp", "tfo", "mptcp", "udp", "dns", "netlink", "unix", "abstract"} {
		if !slices.Contains(strings.Split(out, "\n"), "open "+name) {
			t.Errorf("without a sandbox %s is closed too: the test would not notice\n%s", name, out)
		}
	}
	if !eventually.True(t, "five connections without a sandbox: the test would not notice one", func() bool { return control.count() >= 5 }) {
		t.FailNow()
	}
	for name, change := range map[string]func(*order){
		"tier 1":                                  func(*order) {},
		"tier 1, with TCP on its own loopback":    func(o *order) { o.Policy.Loopback = true },
		"tier 2 (masked namespaces), no gateway":  func(o *order) { o.Missing, o.Policy.MinTier = withoutNamespaces, Tier2 },
		"tier 3 (masked seccomp): the namespaces": func(o *order) { o.Missing, o.Policy.MinTier = map[string]string{PartSeccomp: "masked"}, Tier3 },
	} {
		for who, user := range users() {
			t.Run(name+" "+who, func(t *testing.T) {
				r := newTrial(t, user, "channels", string(text))
				change(&r.order)
				out := r.good()
				if n := strings.Count(out, "\n"); n < 12 {
					t.Errorf("only %d channels were tried", n)
				}
				for line := range strings.Lines(out) {
					// Without seccomp sockets can be made; that they lead nowhere is what the listeners say.
					made := r.order.Missing[PartSeccomp] != "" && strings.Contains("netlink vsock udp dns ping raw", strings.TrimSpace(strings.TrimPrefix(line, "open ")))
					if strings.HasPrefix(line, "open ") && !made {
						t.Errorf("%s", line)
					}
				}
				if got := world.taken(); got != nil {
					t.Errorf("the outside was reached: %v", got)
				}
			})
		}
	}
}

func TestGateway(t *testing.T) {
	t.Parallel()
	forUsers(t, func(t *testing.T, user int) {
		for name, row := range map[string]struct {
			port    int
			missing map[string]string
		}{
			"by its unix socket and by TCP": {port: 4141},
			"by its unix socket on tier 2":  {missing: withoutNamespaces},
		} {
			t.Run(name, func(t *testing.T) {
				r := newTrial(t, user, "gateway", "unix!"+GatewaySocket)
				path := r.dir("gw") + "/model.sock"
				gatewayAt(t, path)
				if err := errors.Join(os.Chown(path, user, -1), os.Chmod(path, 0o600)); err != nil {
					t.Fatal(err)
				}
				r.order.Policy.Gateway, r.order.Policy.GatewayPort, r.order.Missing = path, row.port, row.missing
				want := "unix answer unix <nil>\n"
				if row.missing != nil {
					r.order.Policy.MinTier = Tier2
					r.order.Command.Args[2] = "unix!" + r.home + "/.prloop-model.sock"
				}
				if row.port != 0 {
					r.order.Command.Args = append(r.order.Command.Args, fmt.Sprintf("tcp!127.0.0.1:%d", row.port))
					want += "tcp answer tcp <nil>\n"
				}
				if got := r.good(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	})
}

// threats.md P3, T04, T71: planted canaries in every place that could hold a secret: no hit, on every tier that contains files.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				canary := "canary-" + rand.Text()
				r := newTrial(t, user, "read", "walk")
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				r.env = []string{"GH_TOKEN=" + canary, "HOME=" + r.dir("operator")}
				listed := r.file("export/file.go", "package shown")
				r.order.Policy.ReadOnly = []string{filepath.Dir(listed)}
				paths := []string{
					r.file("operator/.netrc", canary), r.file("operator/.config/gh/hosts.yml", canary),
					r.file("state/prloop.db", canary), r.file("state/scratch/other-agent/file", canary),
					r.file("beside.txt", canary), r.file("state/canary", canary),
				}
				if err := os.Symlink(paths[0], filepath.Dir(listed)+"/link"); err != nil {
					t.Fatal(err)
				}
				if missing == nil { // only a mount namespace can take a part out of a folder
					paths = append(paths, r.file("export/secret/key", canary), r.file("export/.env", canary))
					r.order.Policy.Hide = []string{r.root + "/export/secret", r.root + "/export/.env"}
				}
				paths = append(paths, filepath.Dir(listed)+"/link", listed, "/etc/shadow", "/root/.bashrc")
				r.order.Command.Args = append(r.order.Command.Args, paths...)
				out := r.good()
				if strings.Contains(out, canary) {
					t.Errorf("a canary was read:\n%s", out)
				}
				if !strings.Contains(out, "package shown") {
					t.Errorf("what is listed was not readable:\n%s", out)
				}
				r.order.Plain, r.order.Command.Args[2] = true, "no walk"
				if out := r.good(); !strings.Contains(out, canary) {
					t.Error("without a sandbox no canary was found either: the test would not notice")
				}
			})
		})
	}
}

// Beside /usr's programs lie the tokens that package managers of all of the machine use (threats.md T444).
func TestSettingsOfPackageManagersAreHidden(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"/usr/etc/*rc", "/usr/local/etc/*rc", "/usr/local/etc/*.conf"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skip("there are none here")
	}
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 1b": {PartNamespaces: "masked"}, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				r := newTrial(t, user, "read", "no walk")
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				r.order.Command.Args = append(r.order.Command.Args, files...)
				confined := r.good()
				r.order.Plain = true
				plain := r.good()
				for _, file := range files {
					data, err := os.ReadFile(file)
					if text := strings.TrimSpace(string(data)); err != nil || text != "" && (strings.Contains(confined, text) || !strings.Contains(plain, text)) {
						t.Errorf("%s: %v\nconfined %s\nplain %s", file, err, confined, plain)
					}
				}
			})
		})
	}
}

func TestWritesStayInside(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				r := newTrial(t, user, "write")
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				tree, export := filepath.Dir(r.file("tree/canary", "text")), filepath.Dir(r.file("export/canary", "text"))
				state := filepath.Dir(r.file("state/canary", "text"))
				r.order.Policy.Writable, r.order.Policy.ReadOnly = []string{tree}, []string{export}
				r.order.Command.Args = append(r.order.Command.Args, tree, export, state, "/usr", "/etc", "/", "/dev", "/proc")
				for line := range strings.Lines(r.good()) {
					path, result, _ := strings.Cut(strings.TrimSpace(line), ": ")
					if _, path, _ = strings.Cut(path, " "); path != tree && path != state && result == "true" {
						t.Error(line)
					}
				}
				for _, dir := range []string{export, state} {
					if data, err := os.ReadFile(dir + "/canary"); err != nil || string(data) != "text" {
						t.Errorf("%s: %q %v", dir, data, err)
					}
					for _, name := range []string{"new", "new2"} { // in sight, the folder above home is an empty one of the sandbox
						if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
							t.Errorf("%s was made in %s", name, dir)
						}
					}
				}
				if _, err := os.Stat(tree + "/new"); err != nil {
					t.Errorf("the listed folder was not writable: %v", err)
				}
			})
		})
	}
}

// A folder that is shown elsewhere is there alone, with what is listed below it, and a folder of another place within it; what may be
// written stays what may be written.
func TestShownElsewhere(t *testing.T) {
	t.Parallel()
	forUsers(t, func(t *testing.T, user int) {
		r := newTrial(t, user, "write")
		room := r.dir("state/scratch/room")
		tree, layer := filepath.Dir(r.file("state/scratch/room/tree/canary", "text")), filepath.Dir(r.file("state/layers/packages/canary", "text"))
		r.order.Policy.Home, r.order.Policy.Writable, r.order.Policy.ReadOnly = room, []string{room, tree}, []string{layer}
		r.order.Policy.Shown = []Shown{{room, RoomInside}, {layer, RoomInside + "/packages"}}
		r.order.Policy.Hide = []string{filepath.Join(r.root, "state")}
		r.order.Command.Dir = tree
		inside := []string{RoomInside + "/tree", RoomInside + "/packages", RoomInside, tree, layer}
		r.order.Command.Args = append(r.order.Command.Args, inside...)
		got := r.good()
		for _, want := range []string{"append /tree: true", "make /tree: true", "truncate /packages: false", "make /packages: false", "make : true"} {
			what, where, _ := strings.Cut(want, " ")
			if !strings.Contains(got, what+" "+RoomInside+where+"\n") {
				t.Errorf("want %q in\n%s", want, got)
			}
		}
		for _, outside := range []string{tree, layer} {
			if !strings.Contains(got, "make "+outside+": false\n") || strings.Contains(got, "append "+outside) {
				t.Errorf("%s is in sight by its own name:\n%s", outside, got)
			}
		}
		if _, err := os.Stat(tree + "/new"); err != nil {
			t.Errorf("what was written inside is not outside: %v", err)
		}
		if data, err := os.ReadFile(layer + "/canary"); err != nil || string(data) != "text" {
			t.Errorf("what is read-only changed: %q %v", data, err)
		}
	})
}

// threats.md T76: the machine's processes cannot be signalled or traced.
func TestSignalsStayInside(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				victim := exec.Command("/bin/cat")
				hold, err := victim.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				if os.Geteuid() == 0 {
					victim.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
				}
				if err := victim.Start(); err != nil {
					t.Fatal(err)
				}
				r := newTrial(t, user, "signal", fmt.Sprint(victim.Process.Pid))
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				if out := r.good(); strings.Contains(out, ": true") && !strings.Contains(out, "kill 1: true") || strings.Contains(out, "ptrace 1: true") {
					t.Errorf("%s", out)
				}
				hold.Close()
				if err := victim.Wait(); err != nil {
					t.Errorf("the process outside did not live on: %v", err)
				}
			})
		})
	}
}

// threats.md T75 and the rest of what a process carries: no capability, no open file, limits, its own environment and nothing else.
func TestWhatTheAgentIs(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				r := newTrial(t, user, "state")
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				r.order.Policy.Limits = Limits{Processes: 100, Files: 200, FileBytes: 300}
				r.env = []string{"GH_TOKEN=secret"}
				lines := strings.Split(r.good(), "\n")
				want := []string{"limit core 0", "limit files 200", "limit size 300", "limit signals 4096",
					"dir " + r.home, "env HOME=" + r.home, "env PATH=/usr/bin:/bin"}
				if missing == nil || user == 0 && os.Geteuid() == 0 { // otherwise the user's other processes are added
					want = append(want, "limit processes 100")
				}
				if missing == nil {
					const none = " 0000000000000000"
					for _, ns := range []string{"ipc", "mnt", "net", "pid", "uts"} {
						own, err := os.Readlink("/proc/self/ns/" + ns)
						if err != nil || slices.Contains(lines, "ns "+own) || !strings.Contains(strings.Join(lines, "\n"), "ns "+ns+":") {
							t.Errorf("the %s namespace is the machine's, or none was seen: %v", ns, err)
						}
					}
					want = append(want, "init hidden true")
					want = append(want, "CapInh:"+none, "CapPrm:"+none, "CapEff:"+none, "CapBnd:"+none, "CapAmb:"+none, "NoNewPrivs: 1", "Seccomp: 2")
				}
				for _, w := range want {
					if !slices.Contains(lines, w) {
						t.Errorf("%q is missing in %q", w, lines)
					}
				}
				for _, l := range lines {
					if strings.HasPrefix(l, "open ") || strings.HasPrefix(l, "env GH") || strings.HasPrefix(l, "Uid: 0 ") {
						t.Error(l)
					}
				}
			})
		})
	}
}

// threats.md T476: what the kernel counts by user, and can count by user namespace, one child does not use up.
func TestWatchesAreLeft(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances")
	if err != nil {
		t.Fatal(err)
	}
	all, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	var proc unix.Statfs_t
	if err := unix.Statfs("/proc/sys", &proc); err != nil || proc.Flags&unix.ST_RDONLY != 0 || thisMachine.Probe(t.Context()).Tier != Tier1 {
		t.Skip("no user namespace of ours, or /proc/sys is read-only: ", err)
	}
	forUsers(t, func(t *testing.T, user int) {
		r := newTrial(t, user, "watches")
		r.order.Policy.Watch = true
		n, err := strconv.Atoi(strings.TrimSpace(r.good()))
		if err != nil || n == 0 || user != 0 && n > all/2 { // a child of root has a uid of its own, and all that goes with it
			t.Errorf("%d of %d: %v", n, all, err)
		}
	})
}

func TestForbiddenCalls(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				r := newTrial(t, user, "calls")
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				for line := range strings.Lines(r.good()) {
					switch name, errno, _ := strings.Cut(strings.TrimSpace(line), " "); {
					case strings.HasPrefix(name, "own_"): // its own limits and shares are its own
						if errno != "" {
							t.Errorf("%s: %q", name, errno)
						}
					case strings.HasPrefix(name, "share_") && missing == nil: // it sees no other process
						if errno == "EPERM" {
							t.Errorf("%s: %q", name, errno)
						}
					case name == "pair" && errno == "<nil>", strings.Contains(name, "setxattr") && errno == "ENOTSUP", (name == "clone3" || name == "io_setup" || name == "inotify" || strings.HasPrefix(name, "memfd_") || strings.HasPrefix(name, "memory_") || strings.HasPrefix(name, "sysv_")) && errno == "ENOSYS", name != "pair" && errno == "EPERM":
					default:
						t.Errorf("%s: %q", name, errno)
					}
				}
			})
		})
	}
}

func TestStatusAndStreams(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				for _, row := range []struct {
					part, arg string
					code      int
				}{{"exit", "0", 0}, {"exit", "7", 7}, {"exit", "255", 255}, {"die", "15", 143}, {"die", "9", 137}, {"die", "2", 130}} {
					r := newTrial(t, user, row.part, row.arg)
					r.order.Missing, r.order.Policy.MinTier = missing, Tier2
					if _, errs, code := r.run(); code != row.code {
						t.Errorf("%s %s: status %d, want %d; %s", row.part, row.arg, code, row.code, errs)
					}
				}
				r := newTrial(t, user, "echo")
				r.order.Missing, r.order.Policy.MinTier, r.stdin = missing, Tier2, "hello"
				if out, errs, code := r.run(); out != "out hello\n" || errs != "err hello\n" || code != 0 {
					t.Errorf("%q %q %d", out, errs, code)
				}
			})
		})
	}
}

// ready starts an agent that says so.
func (r *trial) ready() *exec.Cmd {
	r.t.Helper()
	cmd := r.command()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		r.t.Fatalf("%q %v %s", line, err, &errs)
	}
	return cmd
}

// termReaches sends TERM to the spawner of an agent that ends by it with status 9.
func (r *trial) termReaches() {
	r.t.Helper()
	cmd := r.ready()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		r.t.Errorf("status %d, want the agent's 9", code)
	}
}

func TestTermReachesTheAgent(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				r := newTrial(t, user, "term")
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				r.termReaches()
			})
		})
	}
}

// marked counts processes that carry a marker in their arguments.
func marked(marker string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), marker) {
			n++
		}
	}
	return n
}

// Finding 3: Fast Open is refused by the filter too, not only for want of someone to send to.
func TestFastOpenIsFiltered(t *testing.T) {
	t.Parallel()
	forUsers(t, func(t *testing.T, user int) {
		r := newTrial(t, user, "fastopen")
		r.order.Policy.Loopback = true
		want := "plain true\nsendto EPERM\nsendmsg EPERM\nconnect EPERM\nlisten EPERM\n"
		if out := r.good(); out != want {
			t.Error(out)
		}
		r.order.Plain = true
		if out := r.good(); strings.Contains(out, "EPERM") {
			t.Errorf("without a sandbox it is refused too: the test would not notice\n%s", out)
		}
	})
}

// leavesNothing waits for an agent whose processes carry a marker, or kills its spawner where it stays: none of them is left.
func (r *trial) leavesNothing(marker string, stay bool) {
	r.t.Helper()
	cmd := r.ready()
	if stay {
		if n := marked(marker); n < 5 {
			r.t.Errorf("only %d processes: the test would not notice", n)
		}
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait()
	left := marked(marker)
	for deadline := time.Now().Add(time.Second); left > 0 && time.Now().Before(deadline); left = marked(marker) {
		time.Sleep(time.Millisecond)
	}
	if left > 0 {
		r.t.Errorf("%d processes survived", left)
	}
}

// threats.md P8, T82, T103: children that hide in sessions of their own die with the agent, and all of it with its spawner.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	forUsers(t, func(t *testing.T, user int) {
		for name, row := range map[string]struct {
			stay    bool
			missing map[string]string
		}{
			"the agent's end":            {},
			"the agent's end, on tier 2": {missing: withoutNamespaces},
			"kill -9 of the spawner":     {stay: true},
		} {
			t.Run(name, func(t *testing.T) {
				marker := "marker-" + rand.Text()
				r := newTrial(t, user, "daemon", marker)
				r.order.Missing, r.order.Policy.MinTier = row.missing, Tier2
				if row.stay {
					r.order.Command.Args = append(r.order.Command.Args, "run")
				}
				r.leavesNothing(marker, row.stay)
			})
		}
	})
}

func TestInitReapsZombies(t *testing.T) {
	t.Parallel()
	forUsers(t, func(t *testing.T, user int) { newTrial(t, user, "zombies").good() })
}
