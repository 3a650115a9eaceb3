package cli_test

import (
	"fmt"
	"io/fs"
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

// refusedBy are the modes whose work must not be pushed, and the rule of the push policy that the report names.
var refusedBy = map[string]string{
	"edit-protected": "protected-path",
	"add-symlink":    "link",
	"symlink-escape": "link",
	"add-gitlink":    "embedded-repository",
	"exec-bit":       "mode-change",
	"huge-file":      "too-large",
	"disk-fill":      "too-large",
	"delete-all":     "empty-tree",
}

// leftBehind are the modes whose good change is pushed without what they did beside it, and what the report says of that.
var leftBehind = map[string]string{
	"edit-gitconfig": "the fixer changed the configuration of its clone",
	"plant-hook":     "the fixer put hooks into its clone",
	"write-outside":  "",
}

// bothWays are modes that run in the sandbox as well: those that reach out of the clone, those that leave processes, and
// two whose work is good, without which the sandbox could as well keep everything in.
var bothWays = []string{"json-fenced", "plant-hook", "write-outside", "symlink-escape", "delete-all", "disk-fill", "daemon",
	"hog-file", "hog-removed", "hog-inodes", "hog-memories"}

// strays are names that edit modes give to what they make. After a run none of them is anywhere.
var strays = []string{"tree-outside", "tree-escaped", "pwned", "link", "up", "nested", "run-me", "huge", "fill", "pre-commit", "hog", "hog-0"}

// corrected is what the report says of results that are false.
var corrected = map[string]string{
	"counts-lie":  "claimed 9 fixed and 1 rejected, listed 0 and 1",
	"unknown-ids": `"NOBODY-001" was not asked for`,
	"id-collide":  `"LOG-001" is listed as rejected twice`,
}

// findingsOnly are modes that are about a reviewer's findings: as fixers they answer like ok does.
var findingsOnly = []string{"ok-empty", "salvage", "approve-lie", "path-traverse", "path-absolute", "line-huge", "false-evidence"}

// fixing is one run with a fixer.
type mending struct {
	misdeed
	// fixes has the fixer make a good change first and say so; others reject what they were asked for.
	mends bool
	// behind is true in a sandbox.
	behind bool
	// beside points what the mode damages at a folder beside the clone.
	beside bool
}

func (m mending) String() string {
	s := m.mode
	if m.beside {
		s += " beside the clone"
	}
	if m.behind {
		s += " in a sandbox"
	}
	return s
}

// TestFixerModes runs every mode as the fixer of a review that asks for a change. Whatever it does, the run ends in time and
// says how; on the branch stands what was reviewed, or the good change alone; a rule that was broken is named; what is
// posted is a fixed point of the sanitizer; nothing is left of the fixer, and nothing stands outside its clone
// (threats.md P5, P8, P9, T08, T21, T24, T80-T88).
func TestFixerModes(t *testing.T) {
	a := newArena(t)
	table := mendings(t, a)
	if testing.Short() {
		few := []string{"json-fenced", "hang-silent", "edit-protected", "claim-fixed-nothing"}
		table = slices.DeleteFunc(table, func(m mending) bool { return m.behind || !slices.Contains(few, m.mode) })
		t.Logf("only %q are run: all take a minute, go test without -short runs them", few)
	}
	findings := filepath.Join(a.dir, "lent", "findings.json")
	if err := os.Mkdir(filepath.Dir(findings), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, findings, []byte(`[{"id":"LOG-001","priority":"P1","category":"logic","file":"stock.go","line":15,"title":"Mean divides by zero",`+
		`"description":"An empty list of shelves ends the program.","suggestion":"Return 0 for an empty list.",`+
		`"source":{"type":"agent","name":"picky","reviewId":null,"timestamp":"2026-01-02T03:04:05Z"}}]`))
	if err := os.Chmod(findings, 0o644); err != nil {
		t.Fatal(err)
	}
	var runs sync.WaitGroup
	var times mendTimes
	started := time.Now()
	turns := map[bool]chan struct{}{false: make(chan struct{}, 2), true: make(chan struct{}, 2)} // those that are cut only wait
	for _, m := range table {
		runs.Go(func() {
			turn := turns[m.cut]
			turn <- struct{}{}
			defer func() { <-turn }()
			m.run(a, findings, &times)
		})
	}
	runs.Wait()
	times.check(t)
	t.Logf("%d runs in %.0f s, %.0f s of processor time", len(table), time.Since(started).Seconds(), times.busy.Seconds())
}

// mendings are all runs: each mode with the leash alone, and some in a sandbox.
func mendings(t *testing.T, a *arena) (table []mending) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), a.agent, "-list").Output()
	if err != nil {
		t.Fatal(err)
	}
	group := map[string]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		group[f[1]] = f[0]
	}
	tier := thisMachine.Probe(t.Context())
	boxed := tier.Tier <= sandbox.Tier1b
	if !boxed {
		t.Logf("no fixer runs in a sandbox: %s", tier)
	}
	for _, m := range misdeeds {
		// What content modes say is what they are about. Whom net modes reach has nothing to do with the role.
		row := mending{misdeed: m, mends: group[m.mode] != "content"}
		if group[m.mode] == "net" || slices.Contains(findingsOnly, m.mode) {
			continue
		}
		if !m.box {
			table = append(table, row)
		}
		if row.behind = true; boxed && (m.box || slices.Contains(bothWays, m.mode)) {
			table = append(table, row)
			if row.beside, row.mends = true, false; m.mode == "delete-all" || m.mode == "disk-fill" {
				table = append(table, row)
			}
		}
	}
	if len(table) < 80 {
		t.Errorf("there are only %d runs", len(table))
	}
	return table
}

// limit is the fixer's deadline. Those that are cut after they answered have to get that far.
func (m mending) limit() time.Duration {
	switch {
	case m.cut && m.fixer == fails:
		return time.Second
	case m.cut:
		return cutAfter
	}
	return otherwise
}

// wants is what becomes of the fix, how the run ends, and how often the fixer is asked.
func (m mending) wants() (review.FixState, review.Outcome, int) {
	switch {
	case !m.beside && refusedBy[m.mode] != "":
		return review.FixRefused, review.ChangesRequested, 3
	case m.fixer == fails:
		return review.FixFailed, review.ChangesRequested, 1
	case m.mends: // the reviewer finds the same again
		return review.FixPushed, review.Stuck, 1
	case m.mode == "claim-fixed-nothing":
		return review.FixUnchanged, review.Stuck, 1
	}
	return review.FixUnchanged, review.ChangesRequested, 1
}

func (m mending) run(a *arena, findings string, times *mendTimes) {
	tree := "." // the fixer starts in its clone
	beside := ""
	if m.beside {
		beside = filepath.Join(a.dir, fmt.Sprintf("tree-%d", a.runs.Add(1)))
		tree = filepath.Join(beside, "tree")
		if err := os.MkdirAll(tree, 0o755); err != nil {
			a.t.Error(err)
		}
		write(a.t, filepath.Join(tree, "kept"), []byte("kept"))
	}
	fixer := fighter{mode: m.mode, timeout: m.limit(), args: []string{"-tree", tree, "-count", "8", "-delay", "200ms",
		"-seek", "ton-si-ereht", "-roots", "/var/tmp"}}
	if m.mends && !m.beside {
		fixer.args = append(fixer.args, "-mend")
	}
	box := "off"
	if m.behind {
		box = "required"
	}
	b := a.enter(bout{
		reviewers: []fighter{{name: "picky", mode: "ok", args: []string{"-findings", findings}}}, fixer: fixer,
		config: []string{"fix: {untrusted_authors: true}", "verify: []"},
		env:    []string{"PRLOOP_SANDBOX=" + box, "PRLOOP_SANDBOX_READ=" + filepath.Dir(findings), tight},
	})
	repo, err := a.forge.AddRepo("acme", b.repo[len("acme/"):])
	if err != nil {
		a.t.Error(err)
		return
	}
	reviewed, refs := b.pull.HeadSHA(), asks(a.t, repo.Bare, "for-each-ref")
	f := b.fight()
	f.checkGone(0)
	if f.result.Run == "" {
		return
	}
	f.checkPosted()
	f.checkStrays(m)
	if beside != "" {
		checkUntouched(a.t, beside, m.String())
	}
	fix := m.checkFix(f)
	if fix == nil {
		return
	}
	times.time(m, f, fix)
	switch head := b.pull.HeadSHA(); {
	case fix.State != review.FixPushed:
		if now := asks(a.t, repo.Bare, "for-each-ref"); now != refs {
			a.t.Errorf("%s: the fix is %s, and the forge has other branches than before:\n%s\nwant:\n%s", m, fix.State, now, refs)
		}
	case head != fix.Head:
		a.t.Errorf("%s: the branch is at %s, the report says %s", m, head, fix.Head)
	default:
		if got := asks(a.t, repo.Bare, "diff", "--raw", "--no-abbrev", reviewed, head); strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, " M\tstock.go\n") ||
			!strings.HasPrefix(got, ":100644 100644 ") {
			a.t.Errorf("%s: more was pushed than the good change:\n%s", m, got)
		}
	}
}

// checkFix holds what became of the fix, and what is posted about it, against the table.
func (m mending) checkFix(f *finished) *review.FixOutcome {
	a := f.arena
	if len(f.result.Rounds) == 0 || f.result.Rounds[0].Fix == nil {
		a.t.Errorf("%s: there is no fix: %s (%s)\n%s", m, f.result.Outcome, f.result.Reason, f.stderr)
		return nil
	}
	fix := f.result.Rounds[0].Fix
	state, outcome, tries := m.wants()
	if fix.State != state || f.result.Outcome != outcome || f.result.Reason == "" || f.status != outcome.ExitStatus() || fix.Tries != tries {
		a.t.Errorf("%s: the fix is %s (%s, try %d), the run %s (%s), exit %d; want %s in try %d, %s\n%s", m, fix.State, fix.Reason, fix.Tries,
			f.result.Outcome, f.result.Reason, f.status, state, tries, outcome, f.stderr)
	}
	if fix.Agent.State != m.fixer || fix.Agent.State != well && fix.Agent.Reason == "" {
		a.t.Errorf("%s: the fixer is %s (%s), want %s", m, fix.Agent.State, fix.Agent.Reason, m.fixer)
	}
	if m.rule != "" && !strings.Contains(fix.Agent.Reason, "("+m.rule+")") {
		a.t.Errorf("%s: the fixer was not ended by %s: %s", m, m.rule, fix.Agent.Reason)
	}
	at := slices.IndexFunc(f.bodies, func(b string) bool { return strings.Contains(b, "\n- State: `") }) // in the receipt of a fix report
	if at < 0 {
		a.t.Errorf("%s: no fix report is posted", m)
		return fix
	}
	body := f.bodies[at]
	says := func(want string) {
		if !strings.Contains(body, want) {
			a.t.Errorf("%s: the fix report does not say %q:\n%s", m, want, body)
		}
	}
	switch fix.State {
	case review.FixRefused:
		says("## prloop: fix not pushed, it breaks ")
		says("- `" + refusedBy[m.mode] + "`")
	case review.FixPushed:
		says("## prloop: 1 of 1 finding fixed and pushed")
		says(leftBehind[m.mode])
		if m.behind && m.mode == "write-outside" {
			says("refused: open") // in the fixer's words
		}
	case review.FixUnchanged:
		says("## prloop: nothing fixed, the fixer changed no file")
		says(corrected[m.mode])
		switch m.mode {
		case "fix-forgets":
			says("## Not fixed")
		case "claim-fixed-nothing":
			says("## Fixed")
		default:
			says("## Rejected by the fixer")
		}
	default:
		says("## prloop: fix failed")
	}
	return fix
}

// checkStrays looks for what a fixer may have made outside its clone, which is gone.
func (f *finished) checkStrays(m mending) {
	err := filepath.WalkDir(f.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && slices.Contains(strays, d.Name()) {
			f.t.Errorf("%s: %s is there", m, path)
		}
		return err
	})
	if err != nil {
		f.t.Error(err)
	}
}

// asks is what git says of a repository on the forge.
func asks(t *testing.T, bare string, args ...string) string {
	t.Helper()
	got := start(t, os.Environ(), bare, "git", append([]string{"--git-dir", bare}, args...)...)
	if got.status != 0 {
		t.Errorf("git %q: exit %d: %s", args, got.status, got.stderr)
	}
	return string(got.stdout)
}

// mendTimes are how long fixes took, from the fixer's first task to the stored end of the fix.
type mendTimes struct {
	mu   sync.Mutex
	all  []mendTime
	busy time.Duration
}

type mendTime struct {
	who   string
	cut   bool
	limit time.Duration
	whole time.Duration
	// asked is the last try's own time.
	asked time.Duration
}

func (l *mendTimes) time(m mending, f *finished, fix *review.FixOutcome) {
	from, err := os.Stat(filepath.Join(f.result.Artifacts, "round-1", fix.Agent.Name+".1.request.json"))
	if err != nil {
		f.t.Errorf("%s: %v", m, err)
		return
	}
	to, err := os.Stat(filepath.Join(f.result.Artifacts, "round-1", "fix.json"))
	if err != nil {
		f.t.Errorf("%s: %v", m, err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy += f.busy
	l.all = append(l.all, mendTime{m.String(), m.cut, time.Duration(fix.Tries) * m.limit(), to.ModTime().Sub(from.ModTime()),
		time.Duration(fix.Agent.Seconds * float64(time.Second))})
}

// check holds every fix against its fixer's deadline. What modes that are not cut show beyond two seconds is the machine's.
func (l *mendTimes) check(t *testing.T) {
	t.Helper()
	slow := time.Duration(0)
	for _, x := range l.all {
		if !x.cut {
			slow = max(slow, x.whole-x.asked-2*time.Second)
		}
	}
	if slow > 0 {
		t.Logf("this machine is busy: fixes took up to %.1f s beside their fixers", (slow + 2*time.Second).Seconds())
	}
	for _, x := range l.all {
		if x.asked > x.limit+endsWithin || x.whole > x.limit+endsWithin+slow {
			t.Errorf("%s: the fix took %.1f s, its fixer %.1f s; the deadline was %v", x.who, x.whole.Seconds(), x.asked.Seconds(), x.limit)
		}
	}
}
