package cli_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// goalOverhead is what a round may take beyond agents, git, verify commands and GitHub.
const goalOverhead = 100 * time.Millisecond

// span is a time somebody was at work in, and the processor time prloop itself had used by its end.
type span struct {
	Path     string
	Args     []string
	From, To time.Time
	Self     time.Duration
}

// A prloop that is told PRLOOP_TEST_CHILDREN leaves a span in that file for each of its children.
func init() {
	file := os.Getenv("PRLOOP_TEST_CHILDREN")
	if file == "" || filepath.Base(os.Args[0]) != "prloop" {
		return
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	observe := func(r proc.Ran) {
		mu.Lock()
		defer mu.Unlock()
		var used syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
		self := time.Duration(used.Utime.Nano() + used.Stime.Nano())
		if err := json.NewEncoder(out).Encode(span{r.Path, r.Args, r.From, r.To, self}); err != nil {
			panic(err)
		}
	}
	proc.Observer.Store(&observe)
}

// BenchmarkRounds runs two rounds - review, fix, verify, push, review, approved - with agents that answer at once, against
// the forge, with the real gh and the real git, and splits the wall time. What is left when no child is at work and prloop
// does not wait for the second GitHub asks for between writes is the loop's own: overhead-ms, goal 100 ms a round. What
// comes before the first child and after the last is no round's: start-ms and end-ms, by run. `gh pr comment` and the time
// the forge takes to answer API requests are GitHub's. own-cpu-ms is all of prloop's processor time by round, its start
// included: what overhead-ms would come near to on a machine that has nothing else to do.
func BenchmarkRounds(b *testing.B) {
	gh := filepath.Dir(forgetest.GH(b))
	total := map[string]time.Duration{}
	count := map[string]int{}
	var self time.Duration
	for b.Loop() {
		from, to, spans := twoRounds(b, gh)
		for kind, d := range split(from, to, spans) {
			total[kind] += d
		}
		for _, s := range spans {
			count[kindOf(s)]++
		}
		self += slices.MaxFunc(spans, func(x, y span) int { return cmp.Compare(x.Self, y.Self) }).Self
	}
	rounds := 2 * float64(b.N)
	for kind, d := range total {
		each := rounds
		if kind == "start" || kind == "end" {
			each = float64(b.N)
		}
		b.ReportMetric(d.Seconds()*1000/each, kind+"-ms")
	}
	for _, kind := range []string{"git", "gh", "api"} {
		b.ReportMetric(float64(count[kind])/rounds, kind+"-calls")
	}
	b.ReportMetric(self.Seconds()*1000/rounds, "own-cpu-ms")
	b.ReportMetric(0, "ns/op")
	if overhead := total["overhead"] / time.Duration(2*b.N); overhead > goalOverhead {
		b.Logf("beyond the goal: %v a round, goal %v", overhead.Round(time.Millisecond), goalOverhead)
	}
}

// twoRounds runs prloop on a pull request of its own.
func twoRounds(b *testing.B, gh string) (from, to time.Time, spans []span) {
	dir := b.TempDir()
	f := forgetest.Start(b)
	forgetest.Open(b, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head")})
	r, err := f.AddRepo("acme", "widgets")
	if err != nil {
		b.Fatal(err)
	}
	r.SetPermission("octocat", forge.Write)
	for _, name := range []string{"strict.sh", "clean.sh", "mend.sh", "picky.json", "fine.json"} {
		data, err := os.ReadFile(filepath.Join("testdata/share", name))
		if err != nil {
			b.Fatal(err)
		}
		write(b, filepath.Join(dir, name), data)
		if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	write(b, filepath.Join(dir, "operator.yml"), []byte("fixer: {use: command, path: ./mend.sh}\nfix: {untrusted_authors: true}\nverify: [\"grep -q 'len(shelves) == 0' stock.go\"]\n"))
	children := filepath.Join(dir, "children")
	env := append(f.Env(""), "PRLOOP_SANDBOX=off", "HOME="+dir, "PRLOOP_STATE="+filepath.Join(dir, "state"), "PRLOOP_CONFIG="+filepath.Join(dir, "operator.yml"),
		"PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+gh, "PRLOOP_TEST_CHILDREN="+children)
	from = time.Now()
	got := start(b, env, dir, "prloop", "run", "7", "-R", "acme/widgets", "--reviewers", "exec:./strict.sh,exec:./clean.sh", "--json")
	to = time.Now()
	var result review.RunResult
	if err := json.Unmarshal(got.stdout, &result); err != nil || result.Outcome != review.Converged || result.Round != 2 {
		b.Fatalf("exit %d, %s in round %d: %v\n%s", got.status, result.Outcome, result.Round, err, got.stderr)
	}
	spans = readSpans(b, children)
	for _, e := range f.Log() {
		if !e.Until.IsZero() && e.UserAgent == "prloop" { // prloop's own; git's and gh's are within theirs
			spans = append(spans, span{Path: "api", Args: []string{e.Op}, From: e.At, To: e.Until})
		}
	}
	return from, to, spans
}

func readSpans(b *testing.B, file string) (spans []span) {
	f, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s span
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			b.Fatal(err)
		}
		spans = append(spans, s)
	}
	if err := lines.Err(); err != nil || len(spans) == 0 {
		b.Fatalf("no children: %v", err)
	}
	return spans
}

// kindOf says whose time a child's is.
func kindOf(s span) string {
	switch name := filepath.Base(s.Path); {
	case name == "gh" && slices.Contains(s.Args, "comment"):
		return "comment"
	case name == "gh", name == "git", name == "api":
		return name
	case strings.HasSuffix(name, ".sh"):
		return "agents"
	}
	return "verify"
}

// split gives every moment between from and to to one kind: to a child that was at work, to GitHub's second between two
// comments, to prloop's start or end, or to its overhead.
func split(from, to time.Time, spans []span) map[string]time.Duration {
	got := map[string]time.Duration{"total": to.Sub(from)}
	slices.SortFunc(spans, func(a, b span) int { return a.From.Compare(b.From) })
	at := spans[0].From
	got["start"] = at.Sub(from)
	var wrote time.Time
	for _, s := range spans {
		kind := kindOf(s)
		if gap := s.From.Sub(at); gap > 0 {
			// prloop slept until a second had passed since the last write; at most that part of this gap was the pause.
			pause := time.Duration(0)
			if kind == "comment" && !wrote.IsZero() && s.From.Sub(wrote) < writePause+50*time.Millisecond {
				pause = min(gap, wrote.Add(writePause).Sub(at))
			}
			got["pause"] += max(pause, 0)
			got["overhead"] += gap - max(pause, 0)
			at = s.From
		}
		if d := s.To.Sub(at); d > 0 {
			got[kind] += d
			at = s.To
		}
		if kind == "comment" {
			wrote = s.To
		}
	}
	got["end"] = max(to.Sub(at), 0)
	return got
}

// writePause is the second GitHub asks for between writes.
const writePause = time.Second

// TestSplit holds the arithmetic of the benchmark.
func TestSplit(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1_800_000_000, 0).Add(time.Duration(ms) * time.Millisecond) }
	got := split(at(0), at(2300), []span{
		{Path: "/usr/bin/git", From: at(10), To: at(30)},
		{Path: "/x/a.sh", From: at(40), To: at(90)},
		{Path: "/x/b.sh", From: at(50), To: at(100)}, // beside the other
		{Path: "/usr/bin/gh", Args: []string{"pr", "comment"}, From: at(105), To: at(200)},
		{Path: "/bin/sh", From: at(210), To: at(300)},
		{Path: "/usr/bin/gh", Args: []string{"pr", "comment"}, From: at(1202), To: at(2290)},
	})
	for kind, want := range map[string]int{"total": 2300, "git": 20, "agents": 60, "verify": 90, "comment": 95 + 1088, "pause": 900, "start": 10, "end": 10, "overhead": 10 + 5 + 10 + 2} {
		if got[kind] != time.Duration(want)*time.Millisecond {
			t.Errorf("%s: %v, want %d ms", kind, got[kind], want)
		}
	}
	if sum := got["start"] + got["end"] + got["git"] + got["agents"] + got["verify"] + got["comment"] + got["pause"] + got["overhead"]; sum != got["total"] {
		t.Errorf("the parts make %v of %v", sum, got["total"])
	}
}
