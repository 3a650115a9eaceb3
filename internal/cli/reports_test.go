package cli_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/demo"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

var update = flag.Bool("update", false, "rewrite the reports of docs/report.md")

// TestReportsOfTheDocs makes the reports that docs/report.md shows, each by a real run, and compares what was posted. They are pictures
// for people: when one changes, look at it, and draw it again (make pictures).
func TestReportsOfTheDocs(t *testing.T) {
	t.Parallel()
	gh := forgetest.GH(t)
	said := map[string]string{}
	w, err := demo.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i, names := range [][]string{{"changes", "fix", "approved"}, {"", "", "stuck"}} {
		c := w.Chapters[i]
		state := t.TempDir()
		summary := filepath.Join(state, "summary.md")
		env := append(w.Env(c, gh, state), "PRLOOP_SANDBOX=off", "HOME="+state)
		if i == 1 { // a job's page shows what the comment shows
			env = append(env, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+summary)
		}
		if got := start(t, env, state, "prloop", "run", c.Target); got.status != c.Outcome.ExitStatus() {
			t.Fatalf("%s: exit %d\n%s%s", c.Target, got.status, got.stdout, got.stderr)
		}
		for k, body := range commentsOf(t, env, gh, c.Target) {
			if names[k] != "" {
				said[names[k]] = body
			}
		}
		if i == 1 {
			page, err := os.ReadFile(summary)
			if err != nil {
				t.Fatal(err)
			}
			said["step-summary"] = string(page)
		}
	}
	f := forgetest.Start(t)
	coupons, err := os.ReadFile(filepath.Join("..", "demo", "testdata", "coupons.diff"))
	if err != nil {
		t.Fatal(err)
	}
	base := os.DirFS(filepath.Join("..", "demo", "testdata", "base"))
	forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "shop", Number: 45, Author: "dana", HeadRef: "coupons", Base: base, Diff: coupons, Title: "Add coupons"})
	forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "shop", Number: 44, Author: "dana", HeadRef: "prices", Base: base, Head: withPrices(t, base), Title: "Add the price list"})
	for name, args := range map[string][]string{
		"static":  {"45", "--reviewers", "static"},
		"partial": {"44", "--reviewers", "exec:" + reader(t)},
	} {
		state := t.TempDir()
		env := append(f.Env(""), "PRLOOP_SANDBOX=off", "HOME="+state, "PRLOOP_STATE="+state, "PRLOOP_GH="+gh)
		if got := start(t, env, state, "prloop", append([]string{"run", "-R", "acme/shop"}, args...)...); got.status != 3 && got.status != 6 {
			t.Fatalf("%s: exit %d\n%s%s", name, got.status, got.stdout, got.stderr)
		}
		said[name] = commentsOf(t, env, gh, "acme/shop#"+args[0])[0]
	}
	said["thread"] = threadOfTheDocs(t, gh)
	for name, body := range said {
		file, got := filepath.Join("testdata", "reports", name+".md"), steady(body)
		if *update {
			write(t, file, []byte(got))
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(figureless(string(want)), figureless(got)); d != "" {
			t.Errorf("%s (rewrite with -update, then make pictures):\n%s", name, d)
		}
	}
}

// threadOfTheDocs is a finding on its line, an answer, and what prloop says once the code is gone: as GitHub returns the thread, below
// the code that it shows above it.
func threadOfTheDocs(t *testing.T, gh string) string {
	t.Helper()
	f := forgetest.Start(t)
	share, err := filepath.Abs("testdata/share")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(filepath.Join(share, "head", "stock.go"))
	if err != nil {
		t.Fatal(err)
	}
	p := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Author: "dana", HeadRef: "mean", Title: "Add the mean",
		Base: os.DirFS(filepath.Join(share, "base")), Head: os.DirFS(filepath.Join(share, "head"))})
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write) // who may resolve threads
	state := t.TempDir()
	env := append(f.Env(""), "PRLOOP_SANDBOX=off", "HOME="+state, "PRLOOP_STATE="+state, "PRLOOP_GH="+gh)
	picky, clean := "exec:"+filepath.Join(share, "picky.sh"), "exec:"+filepath.Join(share, "clean.sh")
	if got := start(t, env, state, "prloop", "run", "7", "-R", "acme/widgets", "--reviewers", picky+","+clean); got.status != 3 {
		t.Fatalf("exit %d\n%s%s", got.status, got.stdout, got.stderr)
	}
	line := p.Threads()[0].Line // it is outdated after the push
	p.Reply(p.Threads()[0].ID, "dana", "True: a new shop has no shelves. `Mean` is 0 there now.")
	mended := strings.Replace(string(code), "\treturn Count(shelves) / len(shelves)\n", "\tn := max(1, len(shelves))\n\treturn Count(shelves) / n\n", 1)
	if _, err := p.Push("dana", "Do not divide by zero", map[string]string{"stock.go": mended}); err != nil {
		t.Fatal(err)
	}
	if got := start(t, env, state, "prloop", "run", "7", "-R", "acme/widgets", "--reviewers", clean); got.status != 0 {
		t.Fatalf("exit %d\n%s%s", got.status, got.stdout, got.stderr)
	}
	thread := p.Threads()[0]
	if len(thread.Comments) != 3 || !thread.Resolved {
		t.Fatalf("%d comments, resolved: %t", len(thread.Comments), thread.Resolved)
	}
	lines := strings.SplitAfter(string(code), "\n")
	var out strings.Builder
	fmt.Fprintf(&out, "**%s**\n\n```go\n%s```\n", thread.Path, strings.Join(lines[line-3:line], ""))
	for _, c := range thread.Comments {
		fmt.Fprintf(&out, "\n<!-- %s commented -->\n\n%s\n", c.Author, strings.TrimSpace(markerLines.ReplaceAllString(c.Body, "")))
	}
	fmt.Fprintf(&out, "\n<!-- %s resolved -->\n", thread.ResolvedBy)
	return out.String()
}

// commentsOf are the comments of a pull request OWNER/REPO#N.
func commentsOf(t *testing.T, env []string, gh, target string) (bodies []string) {
	t.Helper()
	repo, number, _ := strings.Cut(target, "#")
	got := start(t, env, t.TempDir(), gh, "pr", "view", number, "-R", repo, "--json", "comments")
	var all struct{ Comments []struct{ Body string } }
	if err := json.Unmarshal(got.stdout, &all); err != nil || got.status != 0 {
		t.Fatalf("gh: exit %d, %v\n%s", got.status, err, got.stderr)
	}
	for _, c := range all.Comments {
		bodies = append(bodies, c.Body)
	}
	return bodies
}

// withPrices is base with a change, and a file that is too large to be read.
func withPrices(t *testing.T, base fs.FS) fs.FS {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, base); err != nil {
		t.Fatal(err)
	}
	var prices bytes.Buffer
	for n := 0; prices.Len() < 2<<20; n++ {
		fmt.Fprintf(&prices, "PRICES[%d] = %d\n", n, n*7%9973)
	}
	write(t, filepath.Join(dir, "shop", "prices.py"), prices.Bytes())
	write(t, filepath.Join(dir, "shop", "rounding.py"), []byte("def rounded(cents):\n    return cents\n"))
	return os.DirFS(dir)
}

// reader is a reviewer that finds nothing.
func reader(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "general")
	data, err := os.ReadFile("testdata/share/clean.sh")
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, data)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	markerLines = lazyregexp.New(`(?m)\A(?:<!--.*-->\n)+\n*`)
	objectIDs   = lazyregexp.New(`\b[0-9a-f]{40}\b`)
	reviewIDs   = lazyregexp.New("(Review id: `)[0-9a-f]+")
	commentIDs  = lazyregexp.New(`#discussion_r\d+`)
	// bounds are what a machine keeps of the bounds of children.
	bounds = lazyregexp.New(`bounded by the kernel: .*`)
	took   = lazyregexp.New(`\b\d+\.\d s\b`)
	// figures are numbers that change with every word of a prompt.
	figures = lazyregexp.New(`\b\d+k? tokens|\b\d+\.\d{4} USD|\b\d+ in, \d+ cached(?: \(\d+ %\))?, \d+ out|Prompts: .*`)
)

// steady is a report without what is another one in each run: ids of commits are counted through.
func steady(body string) string {
	body = markerLines.ReplaceAllString(body, "")
	seen := map[string]bool{}
	for _, id := range objectIDs.FindAllString(body, -1) {
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, n := range []int{40, 12, 10} {
			body = strings.ReplaceAll(body, id[:n], strings.Repeat(fmt.Sprintf("%08x", 0x1f3a5b00+len(seen)), 5)[:n])
		}
	}
	body = reviewIDs.ReplaceAllString(body, "${1}8c21f09d4e6b7a35")
	body = commentIDs.ReplaceAllString(body, "#discussion_r2000000012")
	body = bounds.ReplaceAllString(body, "bounded by the kernel: processes, memory, shares of the processors, file sizes; watched: home and temporary files, the host's free disk, what is added to a clone")
	return took.ReplaceAllString(body, "0.4 s")
}

func figureless(s string) string { return figures.ReplaceAllString(s, "N") }
