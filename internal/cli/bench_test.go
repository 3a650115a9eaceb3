package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

// slowest is how long each reviewer of the benchmarks takes.
const slowest = 2 * time.Second

// The goals of the benchmarks: wall time over that of the slowest reviewer, and prloop's own memory.
const (
	goalRatio       = 1.05
	goalMemoryBytes = 50 << 20
)

// BenchmarkRound measures a round of a local range with five reviewers of 2 s each: from the end of the snapshot, so without
// git, to the stored result (x-of-slowest, goal 1.05), the whole process (x-whole), and the most memory prloop itself held.
func BenchmarkRound(b *testing.B) {
	dir := b.TempDir()
	repo := filepath.Join(dir, "repo")
	env := append(os.Environ(), "HOME="+dir, "PRLOOP_STATE="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+dir, "OPENAI_API_KEY=",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	if err := os.CopyFS(repo, os.DirFS("testdata/share/base")); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "Base"}} {
		if got := start(b, env, repo, "git", args...); got.status != 0 {
			b.Fatalf("git %s: %s", args[0], got.stderr)
		}
	}
	change, err := os.ReadFile("testdata/share/head/stock.go")
	if err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(repo, "stock.go"), change)
	measure(b, env, repo, slowReviewers(b, dir), "run", "--base", "main")
}

// BenchmarkPullRequest measures the same on a pull request: snapshot, five reviewers, verdict, and the report posted by gh.
func BenchmarkPullRequest(b *testing.B) {
	dir := b.TempDir()
	f := forgetest.Start(b)
	forgetest.Open(b, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head")})
	r, err := f.AddRepo("acme", "widgets")
	if err != nil {
		b.Fatal(err)
	}
	r.SetPermission("octocat", forge.Write)
	gh := filepath.Dir(forgetest.GH(b))
	env := append(f.Env(""), "PRLOOP_SANDBOX=off", "HOME="+dir, "PRLOOP_STATE="+filepath.Join(dir, "state"), "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+gh)
	measure(b, env, dir, slowReviewers(b, dir), "run", "7", "-R", "acme/widgets")
}

func slowReviewers(b *testing.B, dir string) string {
	answer, err := os.ReadFile("testdata/share/clean.sh")
	if err != nil {
		b.Fatal(err)
	}
	var names []string
	for i := range 5 {
		file := filepath.Join(dir, fmt.Sprintf("slow%d.sh", i))
		pause := fmt.Sprintf("cat >/dev/null\nsleep %v", slowest.Seconds())
		write(b, file, []byte(strings.Replace(string(answer), "cat >/dev/null", pause, 1)))
		if err := os.Chmod(file, 0o700); err != nil {
			b.Fatal(err)
		}
		names = append(names, "exec:"+file)
	}
	return strings.Join(names, ",")
}

func measure(b *testing.B, env []string, dir, reviewers string, args ...string) {
	status := filepath.Join(b.TempDir(), "status")
	env = append(env, "PRLOOP_TEST_MEMORY="+status)
	var whole, round time.Duration
	var memory int64
	b.ResetTimer()
	for range b.N {
		from := time.Now()
		got := start(b, env, dir, "prloop", append(args, "--reviewers", reviewers)...)
		whole += time.Since(from)
		if got.status != 0 {
			b.Fatalf("exit %d\n%s%s", got.status, got.stdout, got.stderr)
		}
		round += judged(b, env)
		memory = max(memory, peak(b, status))
	}
	b.StopTimer()
	per := func(d time.Duration) float64 { return d.Seconds() / float64(b.N) / slowest.Seconds() }
	b.ReportMetric(per(round), "x-of-slowest")
	b.ReportMetric(per(whole), "x-whole")
	b.ReportMetric(float64(memory)/(1<<20), "MB-prloop")
	if per(round) > goalRatio || memory > goalMemoryBytes {
		b.Logf("beyond the goals: %.3f of the slowest (goal %.2f), %d MB (goal %d)", per(round), goalRatio, memory>>20, goalMemoryBytes>>20)
	}
}

// peak reads the most memory a process held out of its status, in bytes.
func peak(b *testing.B, file string) int64 {
	data, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kilobytes, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes << 10
}

// judged is the time between a run's snapshot and its result, as the artifacts of the newest run were written.
func judged(b *testing.B, env []string) time.Duration {
	state := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PRLOOP_STATE="); ok {
			state = v
		}
	}
	runs, err := filepath.Glob(filepath.Join(state, "runs", "*"))
	if err != nil || len(runs) == 0 {
		b.Fatalf("there is no run: %v", err)
	}
	at := func(name string) time.Time {
		info, err := os.Stat(filepath.Join(runs[len(runs)-1], name)) // sorted, and named after their time
		if err != nil {
			b.Fatal(err)
		}
		return info.ModTime()
	}
	return at("telemetry.json").Sub(at("round-1/snapshot.json"))
}
