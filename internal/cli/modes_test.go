package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
)

// What becomes of an agent. A role a mode says nothing about is left out: what edit, resource and network modes try has
// nothing to do with the role.
const (
	well  = review.AgentComplete
	half  = review.AgentDegraded
	fails = review.AgentFailed
	skip  = review.AgentState("")
)

// misdeed is one mode of fakeagent and what becomes of it, by role. The fixer's column is what agents.Ask makes of it; a
// run has to add what becomes of the work.
type misdeed struct {
	mode                      string
	reviewer, analyzer, fixer review.AgentState
	// cut modes end only when prloop ends them, so their time is short.
	cut bool
	// box modes run in a sandbox only: without, they would read the whole machine.
	box bool
	// rule is what the agent is ended by; empty for those that nothing of the kind ends.
	rule string
}

// tight is what agents of the suites may take: little enough that a hog is stopped soon, and more than any other mode takes.
const tight = "PRLOOP_LIMITS=memory=768MB disk=96MB files=5000 free=1MB"

// misdeeds are all modes (threats.md "Agent modes"). One that is missing here, or was not run, fails the test.
var misdeeds = []misdeed{
	// process
	{mode: "ok", reviewer: well, analyzer: well, fixer: well},
	{mode: "ok-empty", reviewer: well, analyzer: well, fixer: well},
	{mode: "ok-events", reviewer: well, analyzer: well, fixer: well},
	{mode: "slow", reviewer: well, analyzer: well, fixer: well},
	{mode: "hang-silent", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "hang-partial", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "hang-events", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "drip", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "ignore-term", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "exit-1", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "exit-1-answer", reviewer: half, analyzer: half, fixer: half},
	{mode: "exit-0-empty", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "never-reads", reviewer: well, analyzer: fails, fixer: fails}, // it answers as a reviewer
	{mode: "repair-once", reviewer: well, analyzer: well, fixer: well},
	{mode: "panic", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "segv", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "self-kill", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "kill-parent", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "bomb", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "bomb-part", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "daemon", reviewer: well, analyzer: well, fixer: well},
	{mode: "daemon-hang", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "daemon-middle", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "hold-stdout", reviewer: well, analyzer: well, fixer: well},
	{mode: "idle-child", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "close-stdout-run-on", reviewer: half, analyzer: half, fixer: half, cut: true},
	// output
	{mode: "flood-out", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "flood-err", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "flood-both", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "flood-stubborn", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "flood-json", reviewer: half, analyzer: fails, fixer: fails},
	{mode: "flood-events", reviewer: fails, analyzer: fails, fixer: fails, cut: true},
	{mode: "giant-line", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "json-truncated", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "json-fenced", reviewer: well, analyzer: well, fixer: well},
	{mode: "json-marked", reviewer: well, analyzer: well, fixer: well},
	{mode: "json-two", reviewer: half, analyzer: half, fixer: fails},
	{mode: "json-noise", reviewer: half, analyzer: half, fixer: fails},
	{mode: "fence-open", reviewer: half, analyzer: half, fixer: fails},
	{mode: "begin-open", reviewer: half, analyzer: half, fixer: fails},
	{mode: "dup-keys", reviewer: half, analyzer: half, fixer: fails},
	{mode: "case-keys", reviewer: half, analyzer: half, fixer: fails},
	{mode: "unknown-fields", reviewer: well, analyzer: well, fixer: well},
	{mode: "bad-types", reviewer: half, analyzer: half, fixer: fails},
	{mode: "nan", reviewer: half, analyzer: half, fixer: fails},
	{mode: "deep", reviewer: half, analyzer: half, fixer: fails},
	{mode: "million-findings", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "bad-utf8", reviewer: half, analyzer: half, fixer: fails},
	{mode: "nul", reviewer: half, analyzer: half, fixer: fails},
	{mode: "surrogate", reviewer: half, analyzer: half, fixer: fails},
	{mode: "utf8-bom", reviewer: half, analyzer: half, fixer: fails},
	{mode: "utf16-bom", reviewer: half, analyzer: half, fixer: fails},
	{mode: "bad-events", reviewer: well, analyzer: well, fixer: well},
	{mode: "wrong-envelope", reviewer: fails, analyzer: fails, fixer: fails},
	{mode: "salvage", reviewer: half, analyzer: half, fixer: well}, // a fixer has no findings to break
	// content
	{mode: "ansi", reviewer: well, analyzer: well, fixer: well},
	{mode: "bidi-tags", reviewer: well, analyzer: well, fixer: well},
	{mode: "marker-forge", reviewer: well, analyzer: well, fixer: well},
	{mode: "state-forge", reviewer: well, analyzer: well, fixer: well},
	{mode: "mention-bomb", reviewer: well, analyzer: well, fixer: well},
	{mode: "image-exfil", reviewer: well, analyzer: well, fixer: well},
	{mode: "html-trap", reviewer: well, analyzer: well, fixer: well},
	{mode: "suggestion-block", reviewer: well, analyzer: well, fixer: well},
	{mode: "diff-dump", reviewer: well, analyzer: well, fixer: well},
	{mode: "injection", reviewer: well, analyzer: well, fixer: well},
	{mode: "secret-plain", reviewer: well, analyzer: well, fixer: well},
	{mode: "secret-split", reviewer: well, analyzer: well, fixer: well},
	{mode: "secret-b64", reviewer: well, analyzer: well, fixer: well},
	{mode: "secret-rev", reviewer: well, analyzer: well, fixer: well},
	{mode: "secret-cut7", reviewer: well, analyzer: well, fixer: well},
	{mode: "env-dump", reviewer: well, analyzer: well, fixer: well},
	{mode: "proc-walk", reviewer: well, analyzer: well, fixer: well, box: true},
	{mode: "hunt", reviewer: well, analyzer: well, fixer: well, box: true},
	{mode: "counts-lie", reviewer: well, analyzer: well, fixer: well},
	{mode: "approve-lie", reviewer: well, analyzer: well, fixer: well},
	{mode: "wrong-agent", reviewer: well, analyzer: well, fixer: well},
	{mode: "unknown-ids", reviewer: well, analyzer: well, fixer: well},
	{mode: "id-collide", reviewer: well, analyzer: well, fixer: half}, // as a fixer it names a finding twice
	{mode: "path-traverse", reviewer: half, analyzer: half, fixer: well},
	{mode: "path-absolute", reviewer: half, analyzer: half, fixer: well},
	{mode: "line-huge", reviewer: half, analyzer: half, fixer: well},
	{mode: "false-evidence", reviewer: well, analyzer: well, fixer: well},
	{mode: "claim-fixed-nothing", reviewer: fails, analyzer: fails, fixer: well},
	{mode: "fix-forgets", reviewer: fails, analyzer: fails, fixer: half},
	// resource
	{mode: "oom", reviewer: fails, analyzer: skip, fixer: fails, cut: true},
	{mode: "disk-fill", reviewer: well, analyzer: skip, fixer: well},
	{mode: "cpu-spin", reviewer: fails, analyzer: skip, fixer: fails, cut: true},
	{mode: "hog-file", reviewer: fails, analyzer: skip, fixer: fails, rule: "disk-limit"},
	{mode: "hog-files", reviewer: fails, analyzer: skip, fixer: fails, rule: "disk-limit"},
	{mode: "hog-sparse", reviewer: fails, analyzer: skip, fixer: fails, rule: "disk-limit"},
	{mode: "hog-removed", reviewer: fails, analyzer: skip, fixer: fails, rule: "disk-limit"},
	{mode: "hog-temp", reviewer: fails, analyzer: skip, fixer: fails, box: true, rule: "disk-limit"},
	{mode: "hog-inodes", reviewer: fails, analyzer: skip, fixer: fails, rule: "inode-limit"},
	{mode: "hog-links", reviewer: fails, analyzer: skip, fixer: fails, rule: "inode-limit"},
	{mode: "hog-symlinks", reviewer: fails, analyzer: skip, fixer: fails, rule: "inode-limit"},
	{mode: "hog-deep", reviewer: fails, analyzer: skip, fixer: fails, rule: "inode-limit"},
	{mode: "hog-attributes", reviewer: fails, analyzer: skip, fixer: fails, rule: "inode-limit"},
	{mode: "hog-memory", reviewer: fails, analyzer: skip, fixer: fails, rule: "memory-limit"},
	{mode: "hog-memories", reviewer: fails, analyzer: skip, fixer: fails, rule: "memory-limit"},
	{mode: "hog-memory-part", reviewer: fails, analyzer: skip, fixer: fails, cut: true},
	{mode: "hog-shared", reviewer: fails, analyzer: skip, fixer: fails, rule: "memory-limit"},
	// edit
	{mode: "edit-protected", reviewer: well, analyzer: skip, fixer: well},
	{mode: "edit-gitconfig", reviewer: well, analyzer: skip, fixer: well},
	{mode: "plant-hook", reviewer: well, analyzer: skip, fixer: well},
	{mode: "add-symlink", reviewer: well, analyzer: skip, fixer: well},
	{mode: "add-gitlink", reviewer: well, analyzer: skip, fixer: well},
	{mode: "symlink-escape", reviewer: well, analyzer: skip, fixer: well},
	{mode: "exec-bit", reviewer: well, analyzer: skip, fixer: well},
	{mode: "huge-file", reviewer: well, analyzer: skip, fixer: well},
	{mode: "write-outside", reviewer: well, analyzer: skip, fixer: well},
	{mode: "delete-all", reviewer: well, analyzer: skip, fixer: well},
	// net
	{mode: "net-tcp", reviewer: well, analyzer: skip, fixer: well},
	{mode: "net-udp", reviewer: well, analyzer: skip, fixer: well},
	{mode: "net-unix", reviewer: well, analyzer: skip, fixer: well},
	{mode: "net-tfo", reviewer: well, analyzer: skip, fixer: well},
	{mode: "net-mptcp", reviewer: well, analyzer: skip, fixer: well},
	{mode: "net-meta", reviewer: well, analyzer: skip, fixer: well},
	{mode: "net-dns", reviewer: well, analyzer: skip, fixer: well},
}

// state is what becomes of a mode in a role.
func (m misdeed) state(role review.Role) review.AgentState {
	switch role {
	case review.RoleCommentsAnalyzer:
		return m.analyzer
	case review.RoleFixer:
		return m.fixer
	}
	return m.reviewer
}

// The deadlines of agents: of those that are cut by it, and of all others.
const (
	cutAfter  = 2 * time.Second
	otherwise = 20 * time.Second
)

// endsWithin is how long after its agents' deadline a run may end (threats.md P9).
const endsWithin = 5 * time.Second

// TestModes runs every mode as a reviewer among others and, where it makes sense, as the comments analyzer: up to four bad
// reviewers beside a good one. Whatever they do, the run ends in time, the good ones' stored answers are byte for byte
// those of a clean run, the posted report names the bad ones and is a fixed point of the sanitizer, and nothing of an
// agent is left (threats.md P5, P8, P9, T80-T87).
func TestModes(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the whole program some ninety times: go test without -short does")
	}
	a := newArena(t)
	checkTable(t, a)
	tier := thisMachine.Probe(t.Context())
	confined, table := "required", misdeeds
	if tier.Tier > sandbox.Tier1b {
		confined = "best"
		t.Logf("the runs in a sandbox have what this machine can give: %s", tier)
	}
	if tier.Tier > sandbox.Tier2 {
		t.Log("modes that read the whole machine are left out: there is no sandbox to keep them in")
		table = slices.DeleteFunc(slices.Clone(table), func(m misdeed) bool { return m.box })
	}
	beacon := newBeacon(t)
	ran := &ledger{ran: map[string]bool{}}
	var runs sync.WaitGroup
	turn := make(chan struct{}, 5)
	clean := map[string]*finished{}
	for _, box := range []string{confined, "off"} {
		clean[box] = a.enter(bout{reviewers: []fighter{{name: "good", mode: "ok"}}, env: []string{"PRLOOP_SANDBOX=" + box, tight}}).fight()
	}
	started := time.Now()
	bouts := plans(t, table, confined, tier.Tier <= sandbox.Tier2)
	for _, p := range bouts {
		runs.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			p.run(a, beacon, clean[p.box], ran)
		})
	}
	runs.Wait()
	t.Logf("%d runs in %.0f s, %.0f s of processor time", len(bouts), time.Since(started).Seconds(), ran.busy.Seconds())
	ran.checkTimes(t)
	for _, m := range table {
		for _, role := range []review.Role{review.RoleReviewer, review.RoleCommentsAnalyzer} {
			if m.state(role) != skip && !ran.ran[m.mode+" as "+string(role)] {
				t.Errorf("%s was not run as %s", m.mode, role)
			}
		}
	}
	if tier.Tier <= sandbox.Tier1b {
		if hits := beacon.await(1, 500*time.Millisecond); len(hits) > 0 {
			t.Errorf("the beacon was reached: %q", hits)
		}
	}
}

// ledger remembers what was run, and how long it took.
type ledger struct {
	mu    sync.Mutex
	ran   map[string]bool
	busy  time.Duration
	times []timing
}

// timing is how long one run took from the end of the snapshot, and its slowest agent as the receipt says.
type timing struct {
	who                      string
	deadline, whole, slowest time.Duration
}

// rest is what the run took beside its agents: the report, gh, the database.
func (x timing) rest() time.Duration { return x.whole - x.slowest }

func (l *ledger) time(f *finished, deadline time.Duration) {
	x := timing{who: f.String(), deadline: deadline, whole: f.took}
	for _, a := range f.result.Receipt.Agents {
		x.slowest = max(x.slowest, time.Duration(a.Seconds*float64(time.Second)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times = append(l.times, x)
	l.busy += f.busy
}

// checkTimes holds every run against its agents' deadline. What a run takes beside its agents is a second at most; on a
// machine where runs of agents that are not cut show more, it is that machine's and no agent's.
func (l *ledger) checkTimes(t *testing.T) {
	t.Helper()
	slow := time.Duration(0)
	for _, x := range l.times {
		if x.deadline != cutAfter {
			slow = max(slow, x.rest()-time.Second)
		}
	}
	if slow > 0 {
		t.Logf("this machine is busy: reports took up to %.1f s", (slow + time.Second).Seconds())
	}
	for _, x := range l.times {
		if x.slowest > x.deadline+endsWithin || x.whole > x.deadline+endsWithin+slow {
			t.Errorf("%s: the run ended %.1f s after the snapshot, its slowest agent took %.1f s, the deadline was %v", x.who,
				x.whole.Seconds(), x.slowest.Seconds(), x.deadline)
		}
	}
}

func (l *ledger) note(mode string, role review.Role) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran[mode+" as "+string(role)] = true
}

// checkTable holds the table against what fakeagent says it can do.
func checkTable(t *testing.T, a *arena) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), a.agent, "-list").Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for line := range strings.Lines(string(out)) {
		name := strings.Fields(line)[1]
		listed++
		if !slices.ContainsFunc(misdeeds, func(m misdeed) bool { return m.mode == name }) {
			t.Errorf("mode %s is not in the table", name)
		}
	}
	if listed != len(misdeeds) || listed < 95 {
		t.Errorf("fakeagent lists %d modes, the table has %d", listed, len(misdeeds))
	}
}

// plan is one run of the suite.
type plan struct {
	reviewers []misdeed
	analyzer  *misdeed
	box       string
	// holds is true when the sandbox keeps files from agents.
	holds bool
}

// plans puts four modes as reviewers into each of the first runs, in the sandbox, and one mode as analyzer into each run
// as long as there are any. What comes after has no reviewer but the good one, and the leash alone.
func plans(t *testing.T, table []misdeed, confined string, holds bool) []plan {
	t.Helper()
	analyzers := slices.DeleteFunc(slices.Clone(table), func(m misdeed) bool { return m.analyzer == skip })
	slices.SortStableFunc(analyzers, func(a, b misdeed) int {
		switch {
		case a.box == b.box:
			return 0
		case a.box:
			return -1
		}
		return 1
	})
	var out []plan
	for group := range slices.Chunk(table, 4) {
		out = append(out, plan{reviewers: group, box: confined, holds: holds})
	}
	// The last groups keep a good analyzer, whose answer is compared too.
	grouped := len(out) - 4
	for i := range analyzers {
		switch {
		case i < grouped:
			out[i].analyzer = &analyzers[i]
		case analyzers[i].box:
			t.Fatalf("%s as analyzer has no run in a sandbox", analyzers[i].mode)
		default:
			out = append(out, plan{analyzer: &analyzers[i], box: "off"})
		}
	}
	return out
}

func (p plan) run(a *arena, beacon *beacon, clean *finished, ran *ledger) {
	b := bout{reviewers: []fighter{{name: "good", mode: "ok"}}, env: []string{"PRLOOP_SANDBOX=" + p.box, tight}}
	deadline := time.Duration(0)
	trees := map[string]string{}
	fight := func(name string, m misdeed) fighter {
		limit := otherwise
		if m.cut {
			limit = cutAfter
		}
		deadline = max(deadline, limit)
		tree := filepath.Join(a.dir, fmt.Sprintf("tree-%d", a.runs.Add(1)), "tree")
		if err := os.MkdirAll(tree, 0o755); err != nil {
			a.t.Error(err)
		}
		write(a.t, filepath.Join(tree, "kept"), []byte("kept"))
		trees[name] = filepath.Dir(tree)
		return fighter{name: name, mode: m.mode, timeout: limit, args: []string{"-tree", tree, "-target", beacon.target(m.mode),
			"-count", "8", "-delay", "500ms", "-seek", "ton-si-ereht", "-roots", "/var/tmp"}}
	}
	for i, m := range p.reviewers {
		b.reviewers = append(b.reviewers, fight(fmt.Sprintf("bad-%d", i+1), m))
	}
	if p.analyzer != nil {
		b.analyzer = fight("", *p.analyzer)
	}
	f := a.enter(b).fight()
	f.checkGone(0)
	if f.result.Run == "" {
		return
	}
	ran.time(f, deadline)
	if got, want := f.answer("good"), clean.answer("good"); got != want {
		a.t.Errorf("%s: the good reviewer's answer is not that of a clean run:\n%s\nwant:\n%s", f, got, want)
	}
	for i, m := range p.reviewers {
		f.checkState(m, review.RoleReviewer, fmt.Sprintf("bad-%d", i+1))
		ran.note(m.mode, review.RoleReviewer)
	}
	const analyzer = "comments-analyzer"
	switch {
	case p.analyzer != nil:
		f.checkState(*p.analyzer, review.RoleCommentsAnalyzer, analyzer)
		ran.note(p.analyzer.mode, review.RoleCommentsAnalyzer)
	case f.answer(analyzer) != clean.answer(analyzer):
		a.t.Errorf("%s: the good analyzer's answer is not that of a clean run:\n%s", f, f.answer(analyzer))
	}
	f.checkPosted()
	if p.holds {
		for name, dir := range trees {
			checkUntouched(a.t, dir, fmt.Sprintf("%s: %s", f, name))
		}
	}
}

// checkState holds what became of an agent against the table, and the report against both.
func (f *finished) checkState(m misdeed, role review.Role, name string) {
	f.t.Helper()
	got := f.agent(name)
	if got.State != m.state(role) {
		f.t.Errorf("%s: %s as %s is %s (%s), want %s", f, m.mode, role, got.State, got.Reason, m.state(role))
	}
	if got.State != well {
		f.checkNamed(got)
		if got.Reason == "" {
			f.t.Errorf("%s: there is no reason why %s as %s is %s", f, m.mode, role, got.State)
		}
		if m.rule != "" && !strings.Contains(got.Reason, "("+m.rule+")") {
			f.t.Errorf("%s: %s as %s was not ended by %s: %s", f, m.mode, role, m.rule, got.Reason)
		}
	}
}

// checkUntouched holds a folder that an agent was told to damage against what stood in it.
func checkUntouched(t *testing.T, dir, who string) {
	t.Helper()
	var names []string
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		names = append(names, name)
		return err
	})
	if !slices.Equal(names, []string{".", "tree", "tree/kept"}) {
		t.Errorf("%s changed files outside its sandbox: %q", who, names)
	}
}
