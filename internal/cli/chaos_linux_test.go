package cli_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/postgres"
	"github.com/prloop/prloop/sanitize"
)

var (
	chaosFor   = flag.Duration("chaos", 0, "make chaos around servers and workers for so `long`; its figures go into the file of -robustness")
	chaosStore = flag.String("chaosstore", "sqlite", "the `kind` of database for -chaos: sqlite or postgres")
	chaosSeed  = flag.Uint64("chaosseed", 0, "draw the faults of -chaos from this seed again; 0 draws a new one")
)

// A unit is a process that is started again whenever it ends, as systemd would.
type unit struct {
	h    *hall
	args []string
	env  []string

	mu      sync.Mutex
	cmd     *exec.Cmd
	over    bool
	started int
	ended   chan struct{}
}

func (h *hall) unit(state string, args ...string) *unit {
	u := &unit{h: h, args: args, env: append(slices.Clone(h.env), "PRLOOP_STATE="+state, operator.EnvClock+"="+clockOf(state)), ended: make(chan struct{})}
	go u.supervise()
	return u
}

// clockOf says how wrong the clock of the machine of a state folder is.
func clockOf(state string) string { return state + ".clock" }

func (u *unit) supervise() {
	defer close(u.ended)
	for {
		cmd := exec.Command("prloop", u.args...)
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = u.env, u.h.home, u.h, u.h, killPatience
		u.mu.Lock()
		if u.over {
			u.mu.Unlock()
			return
		}
		err := cmd.Start()
		if err == nil {
			u.cmd = cmd
			u.started++
		}
		u.mu.Unlock()
		if err != nil {
			u.h.t.Error(err)
			return
		}
		_ = cmd.Wait() // however it ended, the next one is started
		time.Sleep(300 * time.Millisecond)
	}
}

// signal sends a signal to the process there is.
func (u *unit) signal(s os.Signal) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.cmd != nil {
		_ = u.cmd.Process.Signal(s) // it may have ended by itself
	}
}

func (u *unit) end() {
	u.mu.Lock()
	u.over = true
	u.mu.Unlock()
	u.signal(syscall.SIGCONT)
	u.signal(syscall.SIGTERM)
	select {
	case <-u.ended:
	case <-time.After(killPatience):
		u.signal(syscall.SIGKILL)
		<-u.ended
	}
}

// chaos is one go of it.
type chaos struct {
	*hall
	rng    *rand.Rand
	units  []*unit
	states []string // the state folders of their machines
	server *postgres.Server
	down   *atomic.Bool // whether the blob store of the machines is
	disk   string       // a small disk with the state of a server; empty when there is none
	pulls  []*forge.PullRequest
	pushes int
	faults map[string]int
}

// burst happens on GitHub as fast as it can, and perMinute after that: an account creates at most 450 comments an hour, however often processes are killed,
// and what waits for its place in the next hour would count as lost.
const (
	burst     = 40
	perMinute = 6
)

// faultKinds are what may happen, in the order of the table.
var faultKinds = []string{"kill -9", "stopped", "PostgreSQL killed", "connections dropped", "disk full", "GitHub's answer lost", "blob store down", "clock jumped"}

// Servers and workers are killed and stopped, their database is killed and its connections are dropped, their disk is full, their blob
// store is down, their clocks jump, and answers of GitHub are lost, at random, while pull requests are opened, pushed to and closed. When it is over, each open one has one report at its head, no report stands there twice, nothing is
// there that no living process had the right to write, and no run is left. `make chaos` writes the figures into docs/robustness.md.
func TestChaos(t *testing.T) {
	if *chaosFor <= 0 {
		t.Skip("chaos takes minutes: make chaos, or -chaos 1m")
	}
	seed := cmp.Or(*chaosSeed, rand.Uint64())
	t.Logf("seed %d", seed)
	c := &chaos{hall: openHall(t), rng: rand.New(rand.NewPCG(seed, 0)), faults: map[string]int{}} //nolint:gosec // moments of a test
	c.begin()
	began := time.Now()
	over, events := began.Add(*chaosFor), 0
	for next := time.Now(); time.Now().Before(over); time.Sleep(time.Duration(500+c.rng.IntN(1500)) * time.Millisecond) {
		if events < burst+int(perMinute*time.Since(began).Minutes()) {
			c.traffic()
			events++
		}
		if time.Now().After(next) {
			c.fault()
			next = time.Now().Add(time.Duration(2+c.rng.IntN(6)) * time.Second)
		}
	}
	for _, u := range c.units {
		u.signal(syscall.SIGCONT)
	}
	found := c.calm()
	for _, what := range found.all {
		t.Error(what)
	}
	table := "| minutes | seed | pull requests | pushes | runs | " + strings.Join(faultKinds, " | ") + " | twice | lost | left running | stale writes |\n" + strings.Repeat("|---:", 9+len(faultKinds)) + "|\n"
	table += fmt.Sprintf("| %.1f | %d | %d | %d | %d |", chaosFor.Minutes(), seed, len(c.pulls), c.pushes, found.runs)
	for _, kind := range faultKinds {
		table += fmt.Sprintf(" %d |", c.faults[kind])
	}
	table += fmt.Sprintf(" %d | %d | %d | %d |\n", found.twice, found.lost, found.running, found.stale)
	t.Log("\n" + table)
	if *killReport != "" && !t.Failed() {
		(&killSuite{t: t}).write("chaos-"+*chaosStore, table)
	}
}

// begin starts the database and the processes.
func (c *chaos) begin() {
	reviewers := []string{"--reviewers", "exec:" + filepath.Join(c.home, "clean.sh")}
	serve := append([]string{"serve", "acme/widgets", "--settle", "0s", "--every", "3s", "--listen", c.listen()}, reviewers...)
	state := filepath.Join(c.home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		c.t.Fatal(err)
	}
	switch *chaosStore {
	case "sqlite":
		// Agents are started only where some of a disk is free, so that it is not as small as it could be.
		if err := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=3g,mode=0700"); err != nil {
			c.t.Logf("no disk is filled up: a small one cannot be mounted: %v", err)
		} else {
			c.disk = state
			c.t.Cleanup(func() {
				if err := syscall.Unmount(state, syscall.MNT_DETACH); err != nil {
					c.t.Error(err)
				}
			})
		}
	case "postgres":
		var err error
		if c.server, err = postgres.Start(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { _ = c.server.Close() })
		c.database = c.server.Database(c.t) + "&prloop_lease=3s"
		c.env = append(c.env, "PRLOOP_DATABASE="+c.database)
		c.down = c.bucket()
		socket := filepath.Join(c.home, "github.sock")
		c.units = append(c.units, c.unit(filepath.Join(c.home, "broker"), "broker", "github", "acme/widgets", "--socket", socket))
		c.env = append(c.env, operator.EnvGitHubBroker+"="+socket)
	default:
		c.t.Fatalf("-chaosstore %q is none", *chaosStore)
	}
	c.units, c.states = append(c.units, c.unit(state, serve...)), append(c.states, state)
	if c.server != nil {
		for _, machine := range []string{"second", "third"} {
			c.states = append(c.states, filepath.Join(c.home, machine))
			c.units = append(c.units, c.unit(filepath.Join(c.home, machine), append([]string{"worker", "--reviews", "1"}, reviewers...)...))
		}
	}
	c.t.Cleanup(func() {
		for _, u := range c.units {
			u.end()
		}
	})
}

// traffic is something that happens on GitHub.
func (c *chaos) traffic() {
	draw := c.rng.IntN(10)
	switch {
	case len(c.pulls) == 0 || draw < 3:
		c.pulls = append(c.pulls, c.open(len(c.pulls)+1, nil))
	case draw < 5:
		p := c.pulls[c.rng.IntN(len(c.pulls))]
		if _, _, state, _ := p.Words(); state != "OPEN" {
			return
		}
		c.pushes++
		if _, err := p.Push("contributor", "More", map[string]string{fmt.Sprintf("more%d.go", c.pushes): "package stock\n"}); err != nil {
			c.t.Error(err)
		}
	case draw == 5:
		c.pulls[c.rng.IntN(len(c.pulls))].Comment("mona", "!prloop status")
	case draw == 6 && len(c.pulls) > 5:
		c.pulls[c.rng.IntN(len(c.pulls))].SetState("CLOSED")
	}
}

// fault is something that goes wrong.
func (c *chaos) fault() {
	u := c.units[c.rng.IntN(len(c.units))]
	wait := time.Duration(1000+c.rng.IntN(7000)) * time.Millisecond
	kind := faultKinds[c.rng.IntN(len(faultKinds))]
	switch {
	case kind == "kill -9":
		u.signal(syscall.SIGKILL)
	case kind == "stopped":
		if c.rng.IntN(4) == 0 { // far beyond every lease
			wait = time.Minute
		}
		u.signal(syscall.SIGSTOP)
		time.AfterFunc(wait, func() { u.signal(syscall.SIGCONT) })
	case kind == "PostgreSQL killed" && c.server != nil:
		if err := c.server.Kill(); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(wait / 4)
		if err := c.server.Up(context.WithoutCancel(c.t.Context())); err != nil {
			c.t.Fatal(err)
		}
	case kind == "connections dropped" && c.server != nil:
		c.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
	case kind == "disk full" && c.disk != "":
		filler := filepath.Join(c.disk, "filler")
		f, err := os.Create(filler)
		if err != nil {
			return
		}
		var at int64
		for size := int64(1 << 30); size >= 4<<10; {
			if syscall.Fallocate(int(f.Fd()), 0, at, size) == nil { //nolint:gosec // a descriptor
				at += size
			} else {
				size /= 2
			}
		}
		f.Close()
		time.Sleep(wait / 2)
		if err := os.Remove(filler); err != nil {
			c.t.Fatal(err)
		}
	case kind == "GitHub's answer lost":
		c.forge.Fail(forge.Fault{Op: "addComment", Mode: forge.ResetAfter, Times: 1})
	case kind == "blob store down" && c.down != nil:
		c.down.Store(true)
		time.AfterFunc(2*wait, func() { c.down.Store(false) })
	case kind == "clock jumped":
		wrong := []time.Duration{-3 * time.Hour, -10 * time.Minute, -40 * time.Second, 0, 40 * time.Second, 10 * time.Minute, 3 * time.Hour}
		if err := os.WriteFile(clockOf(c.states[c.rng.IntN(len(c.states))]), []byte(wrong[c.rng.IntN(len(wrong))].String()), 0o600); err != nil {
			c.t.Fatal(err)
		}
	default:
		return
	}
	c.faults[kind]++
}

func (c *chaos) sql(statement string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(c.database, "postgres:///"), "?")
	return c.server.SQL(c.t, name, statement)
}

// verdict is what is wrong when it is over.
type verdict struct {
	runs, twice, lost, running, stale int
	all                               []string
}

// calm waits until all is as it should be, for some minutes, and says what is not.
func (c *chaos) calm() (v verdict) {
	for deadline := time.Now().Add(8 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
		v = c.judge()
		if v.lost+v.running == 0 || time.Now().After(deadline) {
			return v
		}
	}
}

// judge holds what stands on GitHub against the record.
func (c *chaos) judge() (v verdict) {
	say := func(n *int, format string, args ...any) {
		*n++
		v.all = append(v.all, fmt.Sprintf(format, args...))
	}
	s, err := store.Open(c.t.Context(), store.Options{Address: cmp.Or(c.database, filepath.Join(c.home, "state", "prloop.db"))})
	if err != nil {
		say(&v.lost, "the record cannot be read: %v", err)
		return v
	}
	defer s.Close()
	runs, err := s.ListRuns(c.t.Context(), store.Filter{Limit: math.MaxInt32})
	if err != nil {
		say(&v.lost, "the runs cannot be read: %v", err)
	}
	v.runs = len(runs)
	if u, err := s.Unkept(c.t.Context()); err != nil || u.Files > 0 {
		say(&v.lost, "%d files of runs are not in the blob store: %v", u.Files, err)
	}
	heads := map[string]string{} // of the reports that are acknowledged, by their nonces
	for _, r := range runs {
		if r.State != store.Finished {
			say(&v.running, "#%d: run %s is left running", r.Target.PR, r.ID)
		}
		entries, err := s.Outbox(c.t.Context(), r.ID)
		if err != nil {
			say(&v.lost, "the outbox cannot be read: %v", err)
		}
		for _, e := range entries {
			if e.Kind == "comment" && e.State == store.StateAcked {
				heads[e.Nonce] = e.Head
			}
		}
	}
	for i, p := range c.pulls {
		at, nonces := map[string]int{}, map[string]bool{}
		for _, m := range p.Comments() {
			mark, ok := sanitize.ParseMarker(m.Body)
			if m.Author != "octocat" || !ok {
				continue
			}
			nonce := fmt.Sprintf("%s-%d", mark.Nonce, mark.Part)
			if nonces[nonce] {
				say(&v.twice, "#%d: %s stands there twice", i+1, nonce)
			}
			nonces[nonce] = true
			if mark.Asked == "" {
				head, known := heads[nonce]
				if !known {
					say(&v.stale, "#%d: the report %s is there, and not in the record", i+1, nonce)
				}
				at[head]++
			}
		}
		for head, n := range at {
			if n > 1 {
				say(&v.twice, "#%d: %d reports at %.7s", i+1, n, head)
			}
		}
		if _, _, state, _ := p.Words(); state == "OPEN" && at[p.HeadSHA()] == 0 {
			say(&v.lost, "#%d: no report at its head %.7s", i+1, p.HeadSHA())
		}
	}
	return v
}
