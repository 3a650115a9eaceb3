package repocontext_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/repocontext"
)

// The Source is really git's repository.
var _ repocontext.Source = (*git.Repository)(nil)

func run(t testing.TB, dir string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// history imports two commits of n files of which each line of several functions changes.
func history(t testing.TB, dir string, n, functions int) (base, head string) {
	t.Helper()
	run(t, dir, nil, "init", "-q", "--bare")
	var in bytes.Buffer
	for c, word := range []string{"old", "new"} {
		fmt.Fprintf(&in, "commit refs/heads/c%d\ncommitter a <a@example.com> %d +0000\ndata 1\nc\n", c, 1_700_000_000+c)
		if c == 1 {
			in.WriteString("from refs/heads/c0\n")
		}
		for i := range n {
			var b strings.Builder
			fmt.Fprintf(&b, "package p%d\n\nimport \"fmt\"\n", i)
			for f := range functions {
				fmt.Fprintf(&b, "\n// F%d prints.\nfunc F%d(x int) {\n", f, f)
				for l := range 24 {
					fmt.Fprintf(&b, "\tfmt.Println(\"%s line of a usual length\", x, %d, %d)\n", word, f, l)
				}
				for l := range 10 {
					fmt.Fprintf(&b, "\tfmt.Println(\"unchanged line\", x, %d)\n", l)
				}
				b.WriteString("}\n")
			}
			fmt.Fprintf(&in, "M 100644 inline dir%d/file%d.go\ndata %d\n%s\n", i%60, i, b.Len(), b.String())
		}
	}
	run(t, dir, in.Bytes(), "fast-import", "--quiet")
	return run(t, dir, nil, "rev-parse", "c0"), run(t, dir, nil, "rev-parse", "c1")
}

// peak watches how much memory the process holds from the system.
func peak(stop <-chan struct{}) (done func() uint64) {
	var top uint64
	var wg sync.WaitGroup
	wg.Go(func() {
		s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(s)
			top = max(top, s[0].Value.Uint64()-s[1].Value.Uint64())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 { wg.Wait(); return top }
}

// BenchmarkSnapshot snapshots (fetch excluded) and briefs a pull request of 3,001 files and 500,000 diff lines: the goal
// is 5 s and 300 MB.
func BenchmarkSnapshot(b *testing.B) {
	src := filepath.Join(b.TempDir(), "src.git")
	if err := os.Mkdir(src, 0o755); err != nil {
		b.Fatal(err)
	}
	base, head := history(b, src, 3001, 3)
	g, err := git.Find(b.Context(), git.Options{Protocols: []string{"file"}})
	if err != nil {
		b.Fatal(err)
	}
	r, err := g.Open(b.Context(), filepath.Join(b.TempDir(), "m.git"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Fetch(b.Context(), git.FetchOptions{URL: "file://" + src, Refs: []string{"refs/heads/c0", "refs/heads/c1"}}); err != nil {
		b.Fatal(err)
	}
	stop := make(chan struct{})
	top := peak(stop)
	var lines, given int
	var diffing, briefing time.Duration
	for b.Loop() {
		started := time.Now()
		d, err := r.Diff(b.Context(), base, head, git.DiffOptions{})
		if err != nil {
			b.Fatal(err)
		}
		diffing += time.Since(started)
		started = time.Now()
		brief, err := repocontext.Build(b.Context(), r, repocontext.Options{Diff: d, Base: base, Head: head})
		if err != nil {
			b.Fatal(err)
		}
		briefing += time.Since(started)
		if len(brief.Files) != 3001 || brief.Tokens > repocontext.DefaultMaxTokens {
			b.Fatalf("%d files, %d tokens", len(brief.Files), brief.Tokens)
		}
		lines, given = strings.Count(d.Raw(), "\n"), 0
		for _, f := range brief.Files {
			if f.HunksGiven > 0 {
				given++
			}
		}
	}
	close(stop)
	b.ReportMetric(float64(top())/(1<<20), "peak-MB")
	b.ReportMetric(float64(lines), "lines")
	b.ReportMetric(float64(given), "files-given")
	b.ReportMetric(diffing.Seconds()/float64(b.N), "diff-s")
	b.ReportMetric(briefing.Seconds()/float64(b.N), "brief-s")
}

func TestBriefOfARealRepository(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src.git")
	if err := os.Mkdir(src, 0o755); err != nil {
		t.Fatal(err)
	}
	base, head := history(t, src, 3, 2)
	g, err := git.Find(t.Context(), git.Options{Protocols: []string{"file"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Diff(t.Context(), base, head, git.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	brief, err := repocontext.Build(t.Context(), r, repocontext.Options{Diff: d, Base: base, Head: head})
	if err != nil {
		t.Fatal(err)
	}
	if len(brief.Files) != 3 || brief.Status != repocontext.StatusOK {
		t.Fatalf("%d files, %s %q", len(brief.Files), brief.Status, brief.Warnings)
	}
	for _, f := range brief.Files {
		if len(f.Context) != 3 || f.Context[0].Symbol != "" || f.Context[1].Symbol != "F0" || f.Context[2].Symbol != "F1" || f.HunksGiven != 2 || f.Language != "go" {
			t.Errorf("%s: %+v", f.Path, f.Context)
		}
	}
}
