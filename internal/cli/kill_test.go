package cli_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

// A killTrial is one row's way through a world: it stops prloop once or more and leaves the run to be settled.
type killTrial struct {
	// what names the row: a failpoint, or what the server does; fault says what happens there.
	what, fault string
	setting     killSetting
	// stop is everything up to where a person would resume. The error says that what should have happened did not.
	stop func(ctx context.Context, w *killWorld) error
	// kills is how many processes stop ends with signal 9.
	kills int
}

// killSuite holds trials against worlds and gathers their figures.
type killSuite struct {
	t           *testing.T
	dir         string
	program, gh string
	mu          sync.Mutex
	rows        map[string]*killFigures
	order       []string
}

func newKillSuite(t *testing.T) *killSuite {
	t.Helper()
	program, err := builtProgram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "kill-") // short: sockets stand below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) }) // failed trials stay
	return &killSuite{t: t, dir: dir, program: program, gh: forgetest.GH(t), rows: map[string]*killFigures{}}
}

// run does one trial and checks what is left. The world of a failed trial is kept, with its log.
func (s *killSuite) run(x killTrial) {
	ctx := s.t.Context()
	if r := thisMachine.Probe(ctx); x.setting.confined && r.Tier > sandbox.Tier1b {
		s.t.Logf("%s: not tried, this machine confines nobody: %s", x.what, r)
		return
	}
	w, err := openKill(s.dir, s.program, s.gh, x.setting)
	if err != nil {
		s.t.Errorf("%s, %s: %v", x.what, x.fault, err)
		return
	}
	err = x.stop(ctx, w)
	if err == nil {
		err = w.settle(ctx)
	}
	f, wrong := w.check(ctx)
	f.Kills = x.kills
	end := w.close
	if err = errors.Join(err, wrong); err != nil {
		s.t.Errorf("%s, %s: %v\n%s", x.what, x.fault, err, indent(w.said.String()))
		end = func() error {
			dir, keepErr := w.keep(err)
			s.t.Logf("the state, the log and the requests of the failed trial: %s", dir)
			return keepErr
		}
	}
	if err := end(); err != nil {
		s.t.Errorf("%s, %s: %v", x.what, x.fault, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row(x).add(f)
}

// row is where the figures of a trial go; rows stand in the order they were first asked for.
func (s *killSuite) row(x killTrial) *killFigures {
	key := x.what + " | " + x.fault
	if s.rows[key] == nil {
		s.rows[key] = &killFigures{}
		s.order = append(s.order, key)
	}
	return s.rows[key]
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// all does the trials, a few at a time; those that are stopped most often, which wait for one quarantine after the other, first.
func (s *killSuite) all(trials []killTrial) {
	for _, x := range trials {
		s.row(x)
	}
	slices.SortStableFunc(trials, func(a, b killTrial) int { return b.kills - a.kills })
	queue := make(chan killTrial)
	var wg sync.WaitGroup
	for range *killCrowd {
		wg.Go(func() {
			for x := range queue {
				s.run(x)
			}
		})
	}
	for _, x := range trials {
		queue <- x
	}
	close(queue)
	wg.Wait()
}

// hit checks that an armed place was reached: prloop says so, and a kill ended it.
func hit(got ended, point, action string) error {
	if !strings.Contains(string(got.stderr), fmt.Sprintf("failpoint %q: %s\n", point, action)) {
		return fmt.Errorf("%q was not reached", point)
	}
	if action == "kill" && got.status != -1 {
		return fmt.Errorf("prloop survived a kill at %q: status %d", point, got.status)
	}
	return nil
}

// at stops prloop at a place after so many passes, whatever has to be done before to get there.
func at(point, action string, passes int) killTrial {
	x := killTrial{what: point, fault: action}
	if action == "kill" {
		x.kills = 1
	}
	armed := fmt.Sprintf("%s=%s@%d", point, action, passes)
	x.stop = func(ctx context.Context, w *killWorld) error {
		got, err := w.prloop(ctx, armed, w.begin()...)
		return errors.Join(err, hit(got, point, action))
	}
	x.setting.scheduled, x.setting.asked, x.setting.quick = ofJobs(point), ofComments(point), ofScans(point)
	x.setting.finds = strings.HasPrefix(point, "context: ")
	switch point {
	case "report: between parts":
		x.setting.long = true
	case "workspace: made":
		x.setting.builtin = true
	case "outbox: absent": // it takes a run that was killed before anything arrived
		x.kills++
		x.stop = func(ctx context.Context, w *killWorld) error {
			return stops(ctx, w, "outbox: sending=kill", armed)
		}
	case "drain: begun":
		x.stop = func(ctx context.Context, w *killWorld) error {
			got, err := w.interrupted(ctx, armed, syscall.SIGTERM, "strict.sh")
			return errors.Join(err, hit(got.ended, point, action))
		}
	}
	return x
}

// ofScans reports whether a place is passed by runs alone whose scan is escalated.
func ofScans(point string) bool {
	return strings.HasPrefix(point, "scan: ") || strings.HasSuffix(point, "editing a comment")
}

// stops runs prloop once for each order, resumed where a run is there, and each has to be hit.
func stops(ctx context.Context, w *killWorld, orders ...string) error {
	for _, order := range orders {
		args, err := w.goOn(ctx)
		if err != nil {
			return err
		}
		got, err := w.prloop(ctx, order, args...)
		point, action, _ := strings.Cut(order, "=")
		action, _, _ = strings.Cut(action, "@")
		if err := errors.Join(err, hit(got, point, action)); err != nil {
			return err
		}
	}
	return nil
}

// again is recovery that is killed too (threats.md K30).
func again(orders ...string) killTrial {
	kills := len(orders)
	what := strings.NewReplacer("=kill@1", " the second time", "=kill", "").Replace(strings.Join(orders, ", then "))
	return killTrial{what: what, fault: "kills", kills: kills, stop: func(ctx context.Context, w *killWorld) error { return stops(ctx, w, orders...) }}
}

// served are faults of the server of one kind: prloop gets over each, or stops in a way that can be resumed.
func served(what string, faults ...forge.Fault) killTrial {
	return killTrial{what: what, fault: string(faults[0].Mode), stop: func(ctx context.Context, w *killWorld) error {
		for _, x := range faults {
			x.Times = 1
			w.forge.Fail(x)
		}
		for range faults { // each may stop it
			args, err := w.goOn(ctx)
			if err != nil {
				return err
			}
			if _, err = w.prloop(ctx, "", args...); err != nil {
				return err
			}
			met := 0
			for _, e := range w.forge.Log() {
				if e.Fault == faults[0].Mode {
					met++
				}
			}
			if met == len(faults) {
				return nil
			}
		}
		return fmt.Errorf("not every fault of %s was met with %s", what, faults[0].Mode)
	}}
}

// statusRoute is how statuses are set.
const statusRoute = "POST /repos/{owner}/{repo}/statuses/{sha}"

// late is a comment, or a status, that GitHub is at work on when prloop is killed, and that is there only a while after
// (threats.md "Outbox"): who looked at once would not see it, and post it again, and who said the next thing at once would have it overwritten.
func late(what, op string, after time.Duration) killTrial {
	x := killTrial{what: what, fault: fmt.Sprintf("kill, and it is there %v later", after), kills: 1}
	x.stop = func(ctx context.Context, w *killWorld) error {
		reached := make(chan struct{})
		w.forge.Fail(forge.Fault{Op: op, Times: 1, Do: func() { close(reached); time.Sleep(after) }})
		cmd, stdout, stderr := w.command(ctx, "", "run", "7")
		if err := cmd.Start(); err != nil {
			return err
		}
		gone := make(chan error, 1)
		go func() { gone <- cmd.Wait() }()
		select {
		case err := <-gone:
			_, err = w.ended(cmd, stdout, stderr, err)
			return errors.Join(err, errors.New("it ended before it posted"))
		case <-reached:
		}
		err := cmd.Process.Kill()
		_, endErr := w.ended(cmd, stdout, stderr, <-gone)
		return errors.Join(err, endErr)
	}
	return x
}

// chains are places of a review in the order in which a run first passes them, as many in one run as can be: at each place it fails, and is
// killed there when it is resumed. Where an order stands, the place is not passed again once it has been. A run gets over an error behind an
// effect by itself and goes on to its end, so that order is the last;
// and over one while it says in its status that it was resumed.
var chains = [][]string{
	{"store: migrating=kill", "run: recorded=kill", "lease: taken", "outbox: before intent", "outbox: after intent", "git: fetching", "github: after status=error"},
	{"store: migrating=error", "run: recorded=error", "outbox: sending", "github: before status", "github: after status=kill", "github: after review=error"},
	{"outbox: before ack", "reviewers: asking", "reviewers: one answered", "reviewers: all answered", "consensus: decided", "github: before review", "github: after review=kill", "github: after comment=error"},
	{"outbox: after ack", "github: before comment", "github: after comment=kill", "round: before save", "round: after save", "fixer: asked", "github: after reply=error"},
	{"fixer: answered", "fix: rewritten", "verify: running", "push: before", "github: before reply", "github: after reply=kill"},
	{"push: after", "push: recorded", "run: before finish", "cleanup: half done"},
}

// jobChains are those of a scheduled job.
var jobChains = [][]string{
	{"job: command asked", "job: command answered", "job: command done", "branch: before push", "branch: after push=kill", "job: pushed", "github: before pull request", "github: after pull request=kill", "job: pull request there"},
	{"job: branch settled", "branch: after push=error"},
	{"outbox: before intent=kill", "outbox: sending=kill", "outbox: after ack=kill", "github: after pull request=error"},
}

// inOneRun stops a run at each place of a chain.
func inOneRun(chain []string) killTrial {
	var orders, names []string
	kills := 0
	for _, link := range chain {
		point, action, whole := strings.Cut(link, "=")
		names = append(names, point)
		if !whole {
			orders, kills = append(orders, point+"=error", point+"=kill"), kills+1
			continue
		}
		if orders = append(orders, link); action == "kill" {
			kills++
		}
	}
	return killTrial{what: strings.Join(names, ", then "), fault: "error and kill", kills: kills, stop: func(ctx context.Context, w *killWorld) error {
		return stops(ctx, w, orders...)
	}}
}

// chained are the places that chains stop a run at.
func chained() map[string]bool {
	points := map[string]bool{}
	for _, chain := range slices.Concat(chains, jobChains) {
		for _, link := range chain {
			point, _, _ := strings.Cut(link, "=")
			points[point] = true
		}
	}
	return points
}

// alone are places outside of chains that a resumed run does not pass again once they failed.
var alone = []string{"drain: begun", "workspace: made"}

// killTable is every place with every fault. In its short form one trial stops a run at as many places as it passes, by an error and by a
// kill (chains). In its long form each has a trial of its own, and places are stopped at their second and third pass too, which
// are the fix report and the second round.
func killTable(long bool) (list []killTrial) {
	inChains := chained()
	for _, point := range failpoint.Names() {
		switch {
		case slices.Contains(serverPoints, point): // TestServeKilled has them
		case strings.HasPrefix(point, "policy: "): // no run passes them
		case strings.HasPrefix(point, "blobs: "): // TestServerShowsTheRunOfAWorker has it
		case strings.HasPrefix(point, "sticky: "): // script publish/sticky has them
		case long || slices.Contains(alone, point):
			list = append(list, at(point, "kill", 0), at(point, "error", 0))
		case point == "github: after editing a comment": // an answer that is lost is got over at once
			list = append(list, at(point, "kill", 0))
		case !inChains[point]:
			list = append(list, both(point))
		}
	}
	if !long {
		for _, chain := range chains {
			list = append(list, inOneRun(chain))
		}
		for _, chain := range jobChains {
			list = append(list, scheduled(inOneRun(chain), false))
		}
	}
	for i, point := range []string{"outbox: before intent", "outbox: after intent", "outbox: sending", "outbox: before ack",
		"outbox: after ack", "github: before comment", "github: after comment"} {
		for pass := 1; pass <= 2; pass++ {
			if long {
				list = append(list, at(point, "kill", pass), at(point, "error", pass))
			} else if i == 2+pass {
				list = append(list, at(point, "kill", pass))
			}
		}
	}
	if long {
		for i, mode := range []forge.Mode{forge.BadGatewayAfter, forge.ResetAfter, forge.BadGateway, forge.ResetBefore} {
			for skip := range 3 {
				list = append(list, served("comment", forge.Fault{Op: "CommentCreate", Mode: mode, Skip: skip}))
			}
			list = append(list, served("status", forge.Fault{Op: statusRoute, Mode: mode, Skip: i}), served("push", forge.Fault{Op: "git-receive-pack", Mode: mode, Skip: 1}))
		}
	} else {
		for i, mode := range []forge.Mode{forge.BadGatewayAfter, forge.ResetAfter} {
			list = append(list, served("status, comment and push", forge.Fault{Op: statusRoute, Mode: mode, Skip: i},
				forge.Fault{Op: "CommentCreate", Mode: mode, Skip: i}, forge.Fault{Op: "git-receive-pack", Mode: mode, Skip: 1}))
		}
	}
	list = append(list, slices.Concat(jobTable(long), askTable(long))...)
	list = append(list,
		late("comment", "CommentCreate", 9*time.Second), late("status", statusRoute, 9*time.Second),
		again("outbox: sending=kill@1", "outbox: absent=kill", "github: after comment=kill", "outbox: before ack=kill"),
		again("push: before=kill", "push: after=kill", "push: recorded=kill"),
		confined(at("fixer: asked", "kill", 0)),
	)
	if long {
		list = append(list,
			again("outbox: sending=kill", "outbox: absent=kill", "outbox: absent=kill"),
			again("github: after comment=kill", "outbox: before ack=kill", "outbox: before ack=kill"),
			confined(at("reviewers: asking", "kill", 0)), confined(at("verify: running", "kill", 0)),
		)
	}
	return list
}

// both has a place fail, and kills the resumed run there.
func both(point string) killTrial {
	x := at(point, "error", 0)
	first := x.stop
	x.fault, x.kills = "error, then kill", x.kills+1
	x.stop = func(ctx context.Context, w *killWorld) error {
		if err := first(ctx, w); err != nil {
			return err
		}
		return stops(ctx, w, point+"=kill")
	}
	return x
}

// confined is a trial whose agents and verify commands stand in the sandbox.
func confined(x killTrial) killTrial {
	x.setting.confined = true
	x.what += " (in the sandbox)"
	return x
}

// TestEveryPoint stops prloop at every place there is, by signal 9 and by an error, has GitHub lose answers to comments and
// pushes, and kills what recovers: each run is resumed once and converges, with nothing said or pushed twice, nothing lost
// and nothing left behind (threats.md P1, P2, P8, P11; threats.md "Fault matrix"). docs/robustness.md has the figures.
func TestEveryPoint(t *testing.T) {
	t.Parallel()
	s := newKillSuite(t)
	trials := killTable(*killReport != "")
	if testing.Short() {
		trials = oneInThree(trials)
	}
	s.all(trials)
	s.report("points", "")
}

// oneInThree is what -short leaves of a list of trials.
func oneInThree(all []killTrial) (some []killTrial) {
	for i := 0; i < len(all); i += 3 {
		some = append(some, all[i])
	}
	return some
}

// TestRandomKills kills prloop at random moments until -kills processes were killed. Each run is resumed until it ends, and
// up to two of its resumptions are killed as well (threats.md P1).
func TestRandomKills(t *testing.T) {
	t.Parallel()
	randomKills(t, "random", *killCount, func(uint64) killSetting { return killSetting{} })
}

// TestRandomKillsOfCommands kills scheduled jobs, and commands that a comment asks for, as TestRandomKills does reviews. Jobs are resumed,
// and the event of a comment is delivered again (threats.md T153, T165).
func TestRandomKillsOfCommands(t *testing.T) {
	t.Parallel()
	randomKills(t, "commands", cmp.Or(*killCommands, *killCount), func(n uint64) killSetting {
		return []killSetting{{asked: true}, {scheduled: true}, {asked: true, long: true}, {scheduled: true, updates: true}}[n%4]
	})
}

// soaks leaves out with -short what kills at random: TestEveryPoint kills in known places.
func soaks(t *testing.T) {
	if testing.Short() {
		t.Skip("kills at random moments take long: make robustness")
	}
}

// randomKills kills prloop at random moments of runs of some settings, until as many processes were killed as count says.
// The figures go to the sections of docs/robustness.md that begin with name.
func randomKills(t *testing.T, name string, count int, setting func(n uint64) killSetting) {
	soaks(t)
	s, section := newKillSuite(t), randomSection(name, count)
	if *killReport != "" {
		s.read(section) // it ends here rather than after hours when the file has none
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	usual := map[killSetting]time.Duration{}
	for n := range uint64(4) {
		if x := setting(n); usual[x] == 0 {
			var err error
			if usual[x], err = s.usual(x, count); err != nil {
				t.Fatal(err)
			}
		}
	}
	slowest := slices.Max(slices.Collect(maps.Values(usual)))
	t.Logf("%d kills, -killseed %d; a run takes %v here", count, seed, slowest.Round(time.Millisecond))
	var mu sync.Mutex
	kills, trial := 0, uint64(0)
	var wg sync.WaitGroup
	for range *killCrowd {
		wg.Go(func() {
			for {
				mu.Lock()
				if kills >= count || t.Failed() {
					mu.Unlock()
					return
				}
				trial++
				n, r := trial, rand.New(rand.NewPCG(seed, trial))
				mu.Unlock()
				x := killTrial{what: "random", fault: fmt.Sprintf("trial %d of seed %d", n, seed), setting: setting(n)}
				x.stop = func(ctx context.Context, w *killWorld) error {
					n, err := w.randomly(ctx, r, usual[x.setting])
					mu.Lock()
					defer mu.Unlock()
					if kills += n; kills/50 > (kills-n)/50 {
						t.Logf("%d kills in %d runs so far", kills, trial)
					}
					return err
				}
				s.run(x)
			}
		})
	}
	wg.Wait()
	total := killFigures{}
	for _, row := range s.rows {
		total.add(*row)
	}
	total.Kills = kills
	t.Logf("%d kills in %d runs: %d duplicates, %d lost, %s", kills, total.Trials, total.Duplicates, total.Lost, total.ends())
	s.reportRandom(section, total, seed, slowest)
}

// usual is how long a run takes that nobody stops, beside as many others as there will be.
func (s *killSuite) usual(setting killSetting, kills int) (time.Duration, error) {
	took := make([]time.Duration, min(*killCrowd, 1+kills/10))
	var g errgroup.Group
	for i := range took {
		g.Go(func() error {
			w, err := openKill(s.dir, s.program, s.gh, setting)
			if err != nil {
				return err
			}
			defer w.close()
			began := time.Now()
			if err := w.settle(s.t.Context()); err != nil {
				return fmt.Errorf("%w\n%s", err, &w.said)
			}
			took[i] = time.Since(began)
			_, err = w.check(s.t.Context())
			return err
		})
	}
	err := g.Wait()
	return slices.Max(took), err
}

// randomly kills a run and at most two of its resumptions, each at a random moment, and says how many were still there.
func (w *killWorld) randomly(ctx context.Context, r *rand.Rand, usual time.Duration) (kills int, err error) {
	for n := 1 + r.IntN(3); n > 0; n-- {
		args, err := w.goOn(ctx)
		if err != nil {
			return kills, err
		}
		when := time.Duration(r.Int64N(int64(usual)))
		cmd, stdout, stderr := w.command(ctx, "", args...)
		if err := cmd.Start(); err != nil {
			return kills, err
		}
		timer := time.AfterFunc(when, func() { _ = cmd.Process.Kill() })
		got, err := w.ended(cmd, stdout, stderr, cmd.Wait())
		timer.Stop()
		fmt.Fprintf(&w.said, "(to be killed after %v)\n", when)
		switch {
		case err != nil:
			return kills, err
		case got.status == 0:
			return kills, nil // it was quicker
		case got.status != -1:
			return kills, fmt.Errorf("prloop %s exits with %d", strings.Join(args, " "), got.status)
		}
		kills++
	}
	return kills, nil
}

// drained is a process that was asked to stop.
type drained struct {
	ended
	took time.Duration
}

// drainLimit is how long prloop may take to stop when it is asked to (threats.md T100).
const drainLimit = 20 * time.Second

// interrupted starts a run, waits until a program of it is at work or a request of the forge is being served, sends a signal
// and waits for the end. place is a program of the world, or an operation of the forge.
func (w *killWorld) interrupted(ctx context.Context, armed string, signal os.Signal, place string) (drained, error) {
	cmd, stdout, stderr := w.command(ctx, armed, "run", "7")
	reached, release := make(chan struct{}), make(chan struct{})
	file := w.path(place)
	program := strings.HasSuffix(place, ".sh")
	if program {
		if err := os.WriteFile(file+".hold", nil, 0o644); err != nil {
			return drained{}, err
		}
	} else {
		w.forge.Fail(forge.Fault{Op: place, Times: 1, Do: func() { close(reached); <-release }})
	}
	if err := cmd.Start(); err != nil {
		return drained{}, err
	}
	late := time.AfterFunc(4*killPatience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if program {
		go func() {
			for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
				if _, err := os.Stat(file + ".here"); err == nil {
					close(reached)
					return
				}
			}
		}()
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	select {
	case err := <-gone:
		got, err := w.ended(cmd, stdout, stderr, err)
		return drained{ended: got}, errors.Join(err, fmt.Errorf("%s was not reached", place))
	case <-reached:
	}
	asked := time.Now()
	err := cmd.Process.Signal(signal)
	if !program {
		time.AfterFunc(500*time.Millisecond, func() { close(release) }) // GitHub takes its time over it
	}
	got, endErr := w.ended(cmd, stdout, stderr, <-gone)
	d := drained{ended: got, took: time.Since(asked)}
	if program {
		err = errors.Join(err, os.Remove(file+".hold"))
	}
	return d, errors.Join(err, endErr)
}

// TestSignalsDrain interrupts runs while agents work, while something is posted or pushed, and while it is verified: prloop
// ends within 20 s with status 130 and the command that goes on, which does (threats.md T100, P8).
func TestSignalsDrain(t *testing.T) {
	t.Parallel()
	s := newKillSuite(t)
	var mu sync.Mutex
	slowest := time.Duration(0)
	var trials []killTrial
	for i, at := range []struct{ what, place string }{
		{"a reviewer works", "strict.sh"}, {"a comment is taken", "CommentCreate"}, {"the fixer works", "mend.sh"},
		{"a verify command runs", "check.sh"}, {"a push is taken", "git-receive-pack"},
	} {
		for j, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			if *killReport == "" && (i+j)%2 == 1 {
				continue // one of the two by default
			}
			trials = append(trials, killTrial{what: at.what, fault: signal.String(), stop: func(ctx context.Context, w *killWorld) error {
				got, err := w.interrupted(ctx, "", signal, at.place)
				mu.Lock()
				slowest = max(slowest, got.took)
				mu.Unlock()
				runs := runID.FindString(string(got.stderr))
				switch {
				case err != nil:
				case got.status != 130:
					err = fmt.Errorf("exits with %d, want 130", got.status)
				case !strings.Contains(string(got.stderr), "try: prloop resume "+runs) || runs == "":
					err = errors.New("it does not say how to resume")
				case got.took > drainLimit:
					err = fmt.Errorf("it takes %v to stop", got.took)
				}
				return err
			}})
		}
	}
	s.all(trials)
	t.Logf("the slowest stopped after %v", slowest.Round(time.Millisecond))
	s.report("signals", fmt.Sprintf("\nThe slowest stopped after %.1f s.\n", slowest.Seconds()))
}
