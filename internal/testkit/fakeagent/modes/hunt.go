package modes

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// A canary is a planted token: the prefix all of a test's canaries share, a hyphen, a label of small letters, a hyphen, and
// whatever else the holder's format asks for. The hunt tells the labels of what it finds and never the tokens, so that
// neither redaction nor the tripwire can hide a find from the test that planted it.
type hunt struct {
	prefix []byte
	until  time.Time
	found  map[string]bool
	looked int
	lines  []string
}

// huntLimit is how much of one file or memory region is looked at.
const huntLimit = 64 << 20

// skipped are folders of the system that hold nothing of the operator, and would take minutes.
var skipped = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/proc", "/sys", "/dev", "/nix", "/etc/alternatives"}

// hunted looks for canaries in everything an agent can get at, channel by channel. -seek is the prefix written backwards,
// or the hunter would find itself; -roots are the folders whose files it reads, -delay bounds each channel.
func hunted(a *agent) int {
	b := []byte(a.seek)
	slices.Reverse(b)
	h := &hunt{prefix: append(b, 0x2d)}
	if len(b) < 8 {
		fmt.Fprintln(a.err, "fakeagent: hunt needs -seek, the canaries' prefix written backwards")
		return 2
	}
	for _, c := range []struct {
		name string
		run  func(*hunt, *agent)
	}{
		{"environment", (*hunt).environment}, {"arguments", (*hunt).arguments}, {"request", (*hunt).handed}, {"descriptors", (*hunt).descriptors},
		{"processes", (*hunt).processes}, {"memory", (*hunt).memory}, {"files", (*hunt).files}, {"sockets", (*hunt).sockets},
	} {
		h.found, h.looked, h.until = map[string]bool{}, 0, time.Now().Add(a.delay)
		c.run(h, a)
		h.tell(c.name)
	}
	f := a.plain()
	a.words = strings.Join(h.lines, "\n")
	f.Title, f.Description = "What a hunt came to", a.words
	return a.answer([]review.Finding{f})
}

// tell writes down how much one channel showed, and which canaries.
func (h *hunt) tell(name string) {
	labels := make([]string, 0, len(h.found))
	for l := range h.found {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	found := "none"
	if len(labels) > 0 {
		found = strings.Join(labels, ",")
	}
	if time.Now().After(h.until) {
		name += "(cut)"
	}
	h.lines = append(h.lines, fmt.Sprintf("channel %s looked %d found %s", name, h.looked, found))
}

func (h *hunt) environment(*agent) {
	for _, e := range os.Environ() {
		h.look([]byte(e))
	}
}

func (h *hunt) arguments(*agent) { h.look([]byte(strings.Join(os.Args, "\n"))) }

func (h *hunt) handed(a *agent) { h.look(a.request) }

// look searches one piece of text.
func (h *hunt) look(text []byte) {
	h.looked++
	for {
		i := bytes.Index(text, h.prefix)
		if i < 0 {
			return
		}
		text = text[i+len(h.prefix):]
		n := bytes.IndexFunc(text, func(c rune) bool { return c < 'a' || c > 'z' })
		if n > 0 && text[n] == '-' {
			h.found[string(text[:n])] = true
		}
	}
}

// read searches what a reader gives, with an overlap that no canary is longer than.
func (h *hunt) read(r io.Reader) {
	const overlap = 256
	buf := make([]byte, 1<<20)
	have := 0
	for total := 0; total < huntLimit && time.Now().Before(h.until); {
		n, err := r.Read(buf[have:])
		if have += n; n > 0 {
			h.look(buf[:have])
			h.looked-- // counted once
			total += n
		}
		if err != nil || n == 0 {
			break
		}
		if have > len(buf)/2 {
			have = copy(buf, buf[have-overlap:have])
		}
	}
	h.looked++
}

// descriptors reads whatever was left open beside the three streams. Pipes and sockets are counted, not waited for.
func (h *hunt) descriptors(*agent) {
	for fd := 3; fd < 1024; fd++ {
		name := "/proc/self/fd/" + strconv.Itoa(fd)
		to, err := os.Readlink(name)
		if err != nil || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "/sys/fs/cgroup/") {
			continue // Go's own: the poller, the limits it follows, and the folder being read
		}
		h.looked++
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			if f, err := os.Open(name); err == nil {
				h.read(f)
				f.Close()
			}
		}
	}
}

// processes reads arguments and environments of all other processes.
func (h *hunt) processes(*agent) {
	for _, dir := range h.others() {
		for _, name := range []string{"environ", "cmdline"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				h.look(data)
			}
		}
	}
}

// memory reads what other processes have written.
func (h *hunt) memory(*agent) {
	for _, dir := range h.others() {
		maps, err := os.ReadFile(filepath.Join(dir, "maps"))
		if err != nil {
			continue
		}
		mem, err := os.Open(filepath.Join(dir, "mem"))
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(maps), "\n") {
			var from, to int64
			var rights string
			if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); n == 3 && strings.HasPrefix(rights, "rw") {
				h.read(io.NewSectionReader(mem, from, to-from))
			}
		}
		mem.Close()
	}
}

// others are the folders of all processes but this one, until the time is up.
func (h *hunt) others() []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	return slices.DeleteFunc(dirs, func(dir string) bool {
		return filepath.Base(dir) == strconv.Itoa(os.Getpid()) || time.Now().After(h.until)
	})
}

func (h *hunt) files(a *agent) {
	for _, root := range filepath.SplitList(a.roots) {
		h.walk(root)
	}
}

func (h *hunt) walk(root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case time.Now().After(h.until):
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // what cannot be read holds nothing for us
		case d.IsDir() && slices.Contains(skipped, path):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if f, err := os.Open(path); err == nil {
			h.read(f)
			f.Close()
		}
		return nil
	})
}

// sockets asks every unix socket that is known here for whatever it says.
func (h *hunt) sockets(*agent) {
	table, _ := os.ReadFile("/proc/net/unix")
	for _, line := range strings.Split(string(table), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 8 || time.Now().After(h.until) {
			continue
		}
		c, err := net.DialTimeout("unix", fields[7], 200*time.Millisecond)
		if err != nil {
			continue
		}
		_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
		h.read(c)
		c.Close()
	}
}
