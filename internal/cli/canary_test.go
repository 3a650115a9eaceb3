package cli_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/orchestrator"
)

// stranger is an unprivileged user that nothing else on the machine runs as.
const stranger = 54321

// box is one way to confine agents, and what prloop promises of it.
type box struct {
	name, box string
	// without are parts left out of the sandbox.
	without []string
	uid     int
	bwrap   bool
	// holds is true when nothing outside may be reached: files, processes, network. What the others do not hold is
	// measured and told, not asserted.
	holds bool
}

// boxes are the tiers this machine can give (threats.md "Sandbox tiers"), each as root where the test is, and as a user.
func boxes(t *testing.T) []box {
	t.Helper()
	parts := func(names ...string) []string { return names }
	all := []box{
		{name: "1", box: "required", holds: true},
		{name: "1b", box: "required", without: parts(sandbox.PartNamespaces), bwrap: true, holds: true},
		{name: "2", box: "best", without: parts(sandbox.PartNamespaces, sandbox.PartBubblewrap), holds: true},
		{name: "3, Landlock alone", box: "best", without: parts(sandbox.PartNamespaces, sandbox.PartBubblewrap, sandbox.PartSeccomp)},
		{name: "3, seccomp alone", box: "best", without: parts(sandbox.PartNamespaces, sandbox.PartBubblewrap, sandbox.PartLandlock)},
		{name: "4", box: "best", without: sandbox.Parts()},
		{name: "off", box: "off"},
	}
	all = slices.DeleteFunc(all, func(b box) bool {
		if b.bwrap && bubblewrap() == "" {
			t.Log("tier 1b is not tried: bubblewrap is not installed, and PRLOOP_TEST_BWRAP names none")
			return true
		}
		if b.bwrap && os.Geteuid() == 0 { // it is used as a user only, who cannot be asked from here
			return false
		}
		r := sandbox.Without("left out by this test", b.without...).Probe(t.Context())
		if b.holds && !strings.HasPrefix(r.String(), "tier "+b.name) {
			t.Logf("tier %s is not tried: this machine has %s", b.name, r)
			return true
		}
		return false
	})
	if os.Geteuid() != 0 {
		t.Log("only tiers that contain are tried: without a sandbox, agents of this test would read the processes of whoever runs it")
		return slices.DeleteFunc(all, func(b box) bool { return !b.holds })
	}
	var out []box
	for _, b := range all {
		// Without a full sandbox everything of root's is open to an agent of root; that needs no measurement, and would read
		// the whole machine. Bubblewrap is not used as root.
		if b.holds && !b.bwrap {
			root := b
			root.name += " as root"
			if b.name == "2" { // without namespaces an agent of root keeps its uid, which is tier 3
				root.name = "3, Landlock and seccomp, as root"
			}
			out = append(out, root)
		}
		b.uid = stranger
		out = append(out, b)
	}
	return out
}

// bubblewrap is bwrap where prloop looks for it, or the one named for tests.
func bubblewrap() string {
	for _, path := range []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", os.Getenv("PRLOOP_TEST_BWRAP")} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// canaries are the tokens of one run, by label.
type canaries struct {
	prefix string
	tokens map[string]string
}

func newCanaries() *canaries {
	return &canaries{prefix: "Cny" + rand.Text()[:14], tokens: map[string]string{}}
}

// plant makes the token of a label, the same each time. Labels are small letters.
func (c *canaries) plant(label string) string {
	if c.tokens[label] == "" {
		c.tokens[label] = c.prefix + "-" + label + "-" + rand.Text()
	}
	return c.tokens[label]
}

// seek is the prefix as the hunter is told it.
func (c *canaries) seek() string {
	b := []byte(c.prefix)
	slices.Reverse(b)
	return string(b)
}

// in names the labels whose token stands in a text, as it is, backwards, in hex or in base64.
func (c *canaries) in(text []byte) (labels []string) {
	for label, token := range c.tokens {
		back := []byte(token)
		slices.Reverse(back)
		// The middle of the base64 is the same for every alignment of whole threes.
		forms := [][]byte{[]byte(token), back, []byte(hex.EncodeToString([]byte(token)))}
		for skip := range 3 {
			code := base64.StdEncoding.EncodeToString([]byte(token)[skip:])
			forms = append(forms, []byte(code[:len(code)-6]))
		}
		if slices.ContainsFunc(forms, func(f []byte) bool { return bytes.Contains(text, f) }) {
			labels = append(labels, label)
		}
	}
	slices.Sort(labels)
	return labels
}

// guarded are those that only prloop itself holds: at every tier they must be nowhere but there.
var guarded = []string{"ghtoken", "githubtoken", "modelkey", "upstreamkey"}

// TestCanaries plants a token in every holder a stranger's agent could want to reach and lets agents loose that hunt for
// them, dump what they see and knock at every door. Of a tier that promises containment it holds that nothing was found
// and nothing reached; of the others it tells what was. At every tier the credentials of prloop itself are in no agent's
// hands, and no token at all is in what is stored, logged or posted (threats.md P3, P4, P14, T51, T70-T76).
func TestCanaries(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the whole program some thirty times: go test without -short does")
	}
	a := newArena(t)
	var found, reached bytes.Buffer
	channels := []string{"environment", "arguments", "request", "descriptors", "processes", "memory", "files", "sockets"}
	modes := []string{"net-tcp", "net-tfo", "net-mptcp", "net-udp", "net-unix", "net-dns", "net-meta"}
	rows, doors := tabwriter.NewWriter(&found, 0, 0, 2, ' ', 0), tabwriter.NewWriter(&reached, 0, 0, 2, ' ', 0)
	fmt.Fprintf(rows, "tier\t%s\toutputs\n", strings.Join(channels, "\t"))
	fmt.Fprintf(doors, "tier\t%s\tbeacon\n", strings.Join(modes, "\t"))
	list := boxes(t)
	hunts, knocks := make([]hunted, len(list)), make([]knocked, len(list))
	var tried errgroup.Group
	tried.SetLimit(4)
	for i, x := range list {
		tried.Go(func() error { hunts[i] = x.hunt(a); return nil })
		tried.Go(func() error { knocks[i] = x.knock(a, modes); return nil })
	}
	_ = tried.Wait()
	for i, x := range list {
		fmt.Fprintf(rows, "%s", x.name)
		for _, c := range channels {
			fmt.Fprintf(rows, "\t%s", hunts[i].channel[c])
		}
		fmt.Fprintf(rows, "\t%d\n", hunts[i].outputs)
		fmt.Fprintf(doors, "%s", x.name)
		for _, m := range modes {
			fmt.Fprintf(doors, "\t%s", knocks[i].doors[m])
		}
		fmt.Fprintf(doors, "\t%d\n", knocks[i].hits)
	}
	_, _ = rows.Flush(), doors.Flush()
	t.Logf("canaries found, by channel:\n%s", &found)
	t.Logf("doors that opened, and connections at the beacon:\n%s", &reached)
}

// prepare makes a bout of a box, with canaries in every holder.
func (x box) prepare(a *arena, b bout, c *canaries) (*bout, *exec.Cmd) {
	a.t.Helper()
	model, err := fakemodel.Start(fakemodel.Script{Default: &fakemodel.Answer{JSON: envelope(nil)}})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = model.Close() })
	b.uid, b.token = x.uid, c.plant("ghtoken")
	b.env = append(b.env, "PRLOOP_SANDBOX="+x.box, "PRLOOP_SANDBOX_WITHOUT="+strings.Join(x.without, ","), "PRLOOP_LOG=debug",
		"GITHUB_TOKEN="+c.plant("githubtoken"), "OPENAI_API_KEY="+c.plant("modelkey"), "UPSTREAM_KEY="+c.plant("upstreamkey"), "OPENAI_BASE_URL="+model.URL())
	ready := a.enter(b)
	put := func(name, text string) {
		file := filepath.Join(ready.home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			a.t.Fatal(err)
		}
		write(a.t, file, []byte(text))
	}
	put(".netrc", "machine github.com login x password "+c.plant("netrc")+"\n")
	put("gh/hosts.yml", "github.com:\n    user: x\n    oauth_token: "+c.plant("ghhosts")+"\n")
	put(".config/gh/hosts.yml", "github.com:\n    oauth_token: "+c.plant("ghconfig")+"\n")
	put(".git-credentials", "https://x:"+c.plant("gitstore")+"@github.com\n")
	put(".gitconfig", "[credential]\n\thelper = store\n")
	put(".ssh/id_ed25519", "not a key: "+c.plant("sshkey")+"\n")
	put("notes.txt", c.plant("homefile"))
	put("state/notes.txt", c.plant("statefile"))
	config, err := os.ReadFile(filepath.Join(ready.home, "config.yml"))
	if err != nil {
		a.t.Fatal(err)
	}
	put("config.yml", fmt.Sprintf("%sapi_key: %s\nupstreams:\n  - {name: other, base_url: %q, key_env: UPSTREAM_KEY, models: [nobody-asks-for-it]}\n",
		config, c.plant("configkey"), model.URL()))
	ready.own(ready.home)
	return ready, x.launch(ready, c)
}

// launch is prloop as a child of a shell whose environment holds one more canary. The tokens of prloop's own environment
// go to it by a script that is gone before it runs, so that nobody else holds them.
func (x box) launch(b *bout, c *canaries) *exec.Cmd {
	plain := b.command()
	var script strings.Builder
	script.WriteString("rm -- \"$0\"\nexec env -i")
	for _, e := range append(slices.Clone(plain.Env), "PWD="+b.home) {
		fmt.Fprintf(&script, " '%s'", strings.ReplaceAll(e, "'", `'\''`))
	}
	for _, arg := range plain.Args {
		fmt.Fprintf(&script, " '%s'", arg)
	}
	file := filepath.Join(b.home, "launch")
	write(b.t, file, []byte(script.String()+"\n"))
	b.own(file)
	args := []string{"/bin/sh", "-c", `/bin/sh "$1"; exit $?`, "sh", file}
	if x.bwrap && !strings.HasPrefix(bubblewrap(), "/usr/") {
		// A folder prloop looks into, in a mount namespace of this run.
		const dress = `mount -t tmpfs bwrap /usr/local/bin && cp "$1" /usr/local/bin/bwrap && chmod 755 /usr/local/bin/bwrap && shift && exec "$@"`
		args = append([]string{"unshare", "--mount", "/bin/sh", "-c", dress, "sh", bubblewrap(), "setpriv", fmt.Sprintf("--reuid=%d", x.uid),
			fmt.Sprintf("--regid=%d", x.uid), "--clear-groups"}, args...)
	}
	cmd := exec.CommandContext(b.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.SysProcAttr = b.home, plain.SysProcAttr
	if args[0] == "unshare" {
		cmd.SysProcAttr = nil
	}
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "OPERATOR_SECRET=" + c.plant("shellenv")}
	return cmd
}

// hunted is what a hunt came to.
type hunted struct {
	// channel gives the labels found, by channel, as they are printed.
	channel map[string]string
	outputs int
}

var channelLine = regexp.MustCompile(`(?m)^channel (\w+)(\(cut\))? looked (\d+) found (\S+)$`)

// hunt lets hunters and dumpers loose.
func (x box) hunt(a *arena) hunted {
	c := newCanaries()
	roots := "/"
	b := bout{reviewers: []fighter{{name: "good", mode: "ok"}, {name: "env-dump", mode: "env-dump"}}}
	if x.holds {
		b.reviewers = append(b.reviewers, fighter{name: "proc-walk", mode: "proc-walk"})
	}
	if x.name[0] != '1' { // there it is the machine's own
		roots = "{home}:/etc:/root:/home:/run"
	}
	b.also = []string{"{name: model, use: builtin}"} // so that there is a gateway
	hunter := fighter{name: "hunt", mode: "hunt", args: []string{"-seek", c.seek(), "-roots", roots, "-delay", "5s"}, timeout: time.Minute}
	b.reviewers = append(b.reviewers, hunter)
	b.analyzer = fighter{mode: "hunt", args: hunter.args, timeout: time.Minute}
	ready, cmd := x.prepare(a, b, c)
	f := ready.follow(cmd, func(int) {})
	f.checkGone(0)
	got := hunted{channel: map[string]string{}}
	if f.result.Run == "" {
		return got
	}
	if want := "tier " + strings.Fields(strings.ReplaceAll(x.name, ",", " "))[0]; x.box != "off" && !strings.HasPrefix(f.result.Receipt.Isolation, want) {
		a.t.Errorf("tier %s: the report says %q", x.name, f.result.Receipt.Isolation)
	}
	for _, name := range []string{"hunt", "comments-analyzer"} {
		x.judge(f, name, got.channel)
	}
	checkEnvironment(f)
	got.outputs = checkOutputs(f, c)
	return got
}

// judge reads one hunter's answer and holds it against what the tier promises.
func (x box) judge(f *finished, name string, into map[string]string) {
	f.t.Helper()
	lines := channelLine.FindAllStringSubmatch(f.says(name), -1)
	if len(lines) != 8 {
		f.t.Errorf("tier %s: %s told of %d channels:\n%s\n%s", x.name, name, len(lines), f.says(name), f.agent(name).Reason)
		return
	}
	for _, l := range lines {
		channel, looked, found := l[1], l[3], l[4]
		labels := strings.Split(found, ",")
		if found == "none" {
			labels = nil
		}
		given := channel == "environment" || channel == "arguments" || channel == "request" || channel == "descriptors"
		switch {
		case len(labels) > 0 && (x.holds || given):
			f.t.Errorf("tier %s: %s found %s in %s", x.name, name, found, channel)
		case channel == "descriptors" && looked != "0":
			f.t.Errorf("tier %s: %s was left %s open files", x.name, name, looked)
		case looked == "0" && (channel == "environment" || channel == "request" || channel == "files" && x.name[0] != '2' && !strings.HasPrefix(x.name, "3, Landlock")):
			f.t.Errorf("tier %s: %s looked at nothing in %s", x.name, name, channel)
		}
		for _, g := range guarded {
			if slices.Contains(labels, g) {
				f.t.Errorf("tier %s: %s found prloop's own %s in %s", x.name, name, g, channel)
			}
		}
		if x.box == "off" && channel == "files" && !slices.Contains(labels, "netrc") || x.box == "off" && channel == "processes" && !slices.Contains(labels, "shellenv") {
			f.t.Errorf("without a sandbox %s found only %s in %s: the test would not notice", name, found, channel)
		}
		if prev := into[channel]; prev == "" || prev == "none" {
			into[channel] = found
		}
	}
}

// says is the description of an agent's first finding, as it was stored.
func (f *finished) says(name string) string {
	var heard orchestrator.AgentReport
	if err := json.Unmarshal([]byte(f.answer(name)), &heard); err != nil {
		f.t.Errorf("%s: answer of %s: %v", f, name, err)
	}
	switch r, c := heard.Answer.Reviewer, heard.Answer.Comments; {
	case r != nil && len(r.Findings) > 0:
		return r.Findings[0].Description
	case c != nil && len(c.PendingIssues) > 0:
		return c.PendingIssues[0].Description
	}
	return ""
}

// given are the only variables a command agent may have (threats.md T70); the last ones lead to the gateway.
var given = []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR",
	"PRLOOP_GATEWAY_SOCKET", "PRLOOP_GATEWAY_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL"}

// checkEnvironment holds the environment an agent dumped against the golden list.
func checkEnvironment(f *finished) {
	f.t.Helper()
	dump := f.says("env-dump")
	if !strings.Contains(dump, "HOME=") {
		f.t.Errorf("%s: the agent dumped no environment: %q", f, dump)
	}
	for line := range strings.Lines(dump) {
		if name, _, ok := strings.Cut(line, "="); ok && !slices.Contains(given, name) {
			f.t.Errorf("%s: an agent has %q in its environment", f, name)
		}
	}
}

// checkOutputs looks for canaries in all that is stored, printed and posted, the database and the marker key included, and
// counts what it finds.
func checkOutputs(f *finished, c *canaries) (hits int) {
	f.t.Helper()
	look := func(what string, text []byte, also ...[]byte) {
		labels := c.in(text)
		for _, key := range also {
			if len(key) > 0 && bytes.Contains(text, key) {
				labels = append(labels, "markerkey")
			}
		}
		hits += len(labels)
		if len(labels) > 0 {
			f.t.Errorf("%s: %s holds %v", f, what, labels)
		}
	}
	key := f.markerKey()
	forms := [][]byte{key, []byte(hex.EncodeToString(key)), []byte(base64.StdEncoding.EncodeToString(key))}
	look("standard output", f.stdout, forms...)
	look("standard error", f.stderr, forms...)
	for _, body := range f.bodies {
		look("a comment", []byte(body), forms...)
	}
	files := 0
	err := filepath.WalkDir(f.state(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "notes.txt" {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		if strings.HasPrefix(d.Name(), "prloop.db") { // which holds the marker key by right
			look(path, data)
		} else {
			look(path, data, forms...)
		}
		return err
	})
	if err != nil || files < 10 {
		f.t.Errorf("%s: %d files of the state folder were looked at: %v", f, files, err)
	}
	return hits
}

// markerKey reads the key that authenticates comments out of the run's database.
func (f *finished) markerKey() []byte {
	f.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Address: filepath.Join(f.state(), "prloop.db")})
	if err != nil {
		f.t.Error(err)
		return nil
	}
	defer s.Close()
	key, err := s.MarkerKey(context.Background(), func() []byte { return nil })
	if err != nil || len(key) < 16 {
		f.t.Errorf("the marker key has %d bytes: %v", len(key), err)
	}
	return key
}

// knocked is what came of knocking at every door.
type knocked struct {
	doors map[string]string
	hits  int
}

// knock lets an agent loose on every way out.
func (x box) knock(a *arena, modes []string) knocked {
	beacon := newBeacon(a.t)
	got := knocked{doors: map[string]string{}}
	if !x.holds {
		// Nobody should ask this address for a machine's credentials without a sandbox around, not even in a test.
		modes, got.doors["net-meta"] = slices.DeleteFunc(slices.Clone(modes), func(m string) bool { return m == "net-meta" }), "-"
	}
	for group := range slices.Chunk(modes, 4) {
		b := bout{reviewers: []fighter{{name: "good", mode: "ok"}}}
		for _, m := range group {
			b.reviewers = append(b.reviewers, fighter{name: m, mode: m, args: []string{"-target", beacon.target(m)}})
		}
		ready, cmd := x.prepare(a, b, newCanaries())
		f := ready.follow(cmd, func(int) {})
		if f.result.Run == "" {
			continue
		}
		for _, m := range group {
			said := f.says(m)
			switch {
			case said == "done":
				got.doors[m] = "open"
			case strings.HasPrefix(said, "refused: "):
				got.doors[m] = "shut"
				if strings.Contains(said, "lookup") && strings.Contains(said, " on ") && !strings.Contains(said, "socket: ") {
					got.doors[m] = "open" // a name server was asked
				}
			default:
				a.t.Errorf("tier %s: %s told %q (%s)", x.name, m, said, f.agent(m).Reason)
			}
			if x.holds && got.doors[m] != "shut" {
				a.t.Errorf("tier %s: %s: %s", x.name, m, said)
			}
		}
	}
	want := 0
	if x.box == "off" {
		want = 5
	}
	got.hits = len(beacon.await(max(want, 1), 500*time.Millisecond))
	switch {
	case x.holds && got.hits > 0:
		a.t.Errorf("tier %s: the beacon was reached: %q", x.name, beacon.seen())
	case got.hits < want:
		a.t.Errorf("without a sandbox only %q reached the beacon: the test would not notice", beacon.seen())
	}
	return got
}

// TestCanariesInDump makes prloop die with a dump of all its goroutines in the middle of a run: no canary is in it, and no
// core file is left (threats.md P14, T72).
func TestCanariesInDump(t *testing.T) {
	a := newArena(t)
	c := newCanaries()
	x := box{name: "off", box: "off"}
	b, _ := x.prepare(a, bout{reviewers: []fighter{{name: "hang", mode: "hang-silent"}}}, c)
	cmd := b.command()
	cmd.Env = append(cmd.Env, "GOTRACEBACK=crash")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); len(b.census()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no agent came: %s", &out)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if !strings.Contains(out.String(), "goroutine ") {
		t.Errorf("there is no dump: %s", &out)
	}
	if labels := c.in(out.Bytes()); len(labels) > 0 {
		t.Errorf("the dump holds %v", labels)
	}
	b.checkGone(goneWithin)
	if cores, _ := filepath.Glob(filepath.Join(b.home, "core*")); len(cores) > 0 {
		t.Errorf("core files are left: %v", cores)
	}
}
