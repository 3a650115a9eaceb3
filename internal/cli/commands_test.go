package cli_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/sanitize"
)

// commands are those of the scripts, beside testscript's own.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"pull": cmdPull, "timeline": cmdTimeline, "pr": cmdPR, "token": cmdToken, "fault": cmdFault, "heal": cmdHeal, "requests": cmdRequests, "clock": cmdClock, "model": cmdModel, "asked": cmdAsked,
	"exits": cmdExits, "complains": cmdComplains, "posted": cmdPosted, "await": cmdAwait, "lines": cmdLines,
	"permission": cmdPermission, "tree": cmdTree, "only": cmdOnly, "nowhere": cmdNowhere, "runid": cmdRunID, "gone": cmdGone,
	"landed": cmdLanded, "standing": cmdStanding, "registry": cmdRegistry, "threads": cmdThreads, "story": cmdStory, "online": cmdOnLines, "statuses": cmdStatuses, "stands": cmdStands, "event": cmdEvent, "reactions": cmdReactions, "recorded": cmdRecorded,
	"postgres": cmdPostgres, "created": cmdCreated,
}

const markerLine = "<!-- pr-review-loop-marker -->"

// cmdExits runs a program and holds its exit status against the documented one: exits STATUS PROGRAM [ARGS...]
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "exits STATUS PROGRAM [ARGS...]")
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s exited with %d, want %s", args[1], got, args[0])
	}
}

// cmdComplains checks that the last command ended with one sentence that names what failed and one that names the next
// step, in that order and with nothing after it: complains WHAT NEXT, both regular expressions.
func cmdComplains(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "complains WHAT NEXT")
	said := strings.TrimSuffix(ts.ReadFile("stderr"), "\n")
	at := strings.LastIndex("\n"+said, "\nprloop: ")
	if at < 0 {
		ts.Fatalf("no line of standard error starts with \"prloop: \"")
	}
	if strings.Count("\n"+said, "\nprloop: ") != 1 {
		ts.Fatalf("more than one complaint")
	}
	what, next, ok := strings.Cut(said[at:], "\n  try: ")
	if !ok || strings.Contains(next, "\n") {
		ts.Fatalf("the complaint does not end with one line of advice:\n%s", said[at:])
	}
	for _, c := range []struct{ pattern, text string }{{args[0], what}, {args[1], next}} {
		if !regexp.MustCompile(c.pattern).MatchString(c.text) {
			ts.Fatalf("%q does not match %q", c.text, c.pattern)
		}
	}
}

// cmdPosted checks how many reports stand on a pull request, that each is by octocat and starts with a marker, and
// writes the newest to a file: posted N COUNT [FILE]
func cmdPosted(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "posted N COUNT [FILE]")
	var reports []string
	for _, c := range worldOf(ts).pull(ts, args[0]).Comments() {
		if c.Author != "octocat" {
			continue
		}
		if _, marked := sanitize.ParseMarker(c.Body); !marked {
			ts.Fatalf("a comment does not start with the marker:\n%s", c.Body)
		}
		reports = append(reports, c.Body)
	}
	if strconv.Itoa(len(reports)) != args[1] {
		ts.Fatalf("%d reports are posted, want %s", len(reports), args[1])
	}
	if len(args) == 3 {
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(reports[len(reports)-1]), 0o600))
	}
}

// cmdTimeline writes what the comments of ours on a pull request are, one line each: timeline N FILE
func cmdTimeline(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "timeline N FILE")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(titles(worldOf(ts).pull(ts, args[0]))), 0o600))
}

// titles are those of prloop's comments on a pull request, a line each.
func titles(p *forge.PullRequest) string {
	var b strings.Builder
	for _, c := range p.Comments() {
		if _, words, ours := strings.Cut(c.Body, "\n## prloop: "); ours && c.Author == "octocat" {
			words, _, _ = strings.Cut(words, "\n")
			if c.Minimized {
				words += " (collapsed)"
			}
			b.WriteString(words + "\n")
		}
	}
	return b.String()
}

// cmdOnLines checks how many comments of ours stand on lines of a pull request, and writes them and the reviews that bear them to a file: online N COUNT [FILE]
func cmdOnLines(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "online N COUNT [FILE]")
	p, n := worldOf(ts).pull(ts, args[0]), 0
	var b strings.Builder
	for _, r := range p.Reviews() {
		fmt.Fprintf(&b, "review %s\n%s\n", r.State, r.Body)
	}
	for _, t := range p.Threads() {
		for _, c := range t.Comments {
			if c.Author == "octocat" {
				fmt.Fprintf(&b, "on %s:%d\n%s\n", t.Path, t.Line, c.Body)
				n++
			}
		}
	}
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("%d comments of ours stand on lines, want %s:\n%s", n, args[1], b.String())
	}
	if len(args) == 3 {
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(b.String()), 0o600))
	}
}

// cmdStanding checks how many comments of a pull request nobody has collapsed, and that the others are collapsed as outdated:
// standing N COUNT
func cmdStanding(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "standing N COUNT")
	open := 0
	for _, c := range worldOf(ts).pull(ts, args[0]).Comments() {
		switch {
		case !c.Minimized:
			open++
		case c.Reason != "OUTDATED":
			ts.Fatalf("a comment is collapsed as %q", c.Reason)
		}
	}
	if strconv.Itoa(open) != args[1] {
		ts.Fatalf("%d comments stand open, want %s", open, args[1])
	}
}

var commentNumber = regexp.MustCompile(`#issuecomment-[0-9]+$`)

// cmdStatuses writes the commit statuses that were set, oldest first, to a file, and holds each to what GitHub keeps: its commit by
// the order of appearance, its state, its description and where it leads: statuses FILE
func cmdStatuses(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "statuses FILE")
	var b strings.Builder
	commits := map[string]int{}
	for _, s := range worldOf(ts).start(ts, "").Statuses() {
		if s.Context != "pr-reviewer" || s.Creator != "octocat" {
			ts.Fatalf("a status of %s by %s", s.Context, s.Creator)
		}
		if commits[s.SHA] == 0 {
			commits[s.SHA] = len(commits) + 1
		}
		fmt.Fprintf(&b, "%d %s: %s -> %s\n", commits[s.SHA], s.State, runID.ReplaceAllString(s.Description, "RUN"), commentNumber.ReplaceAllString(s.TargetURL, "#report"))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// cmdStands waits until the newest commit status is of a state, such as success: stands STATE
func cmdStands(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "stands STATE")
	until(ts, args[0]+" to stand", func() bool {
		all := worldOf(ts).start(ts, "").Statuses()
		return len(all) > 0 && all[len(all)-1].State == args[0]
	})
}

// cmdLanded waits until a report stands on a pull request: landed N
func cmdLanded(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "landed N")
	p := worldOf(ts).pull(ts, args[0])
	until(ts, "a comment", func() bool { return len(p.Comments()) > 0 })
}

// patience is how long a script waits for something that has to happen.
const patience = 60 * time.Second

// cmdAwait waits until a file is there: await FILE
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "await FILE")
	until(ts, args[0]+" to be there", func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// cmdGone waits until the process whose id is in a file has ended: gone FILE
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "gone FILE")
	pid := strings.TrimSpace(ts.ReadFile(args[0]))
	until(ts, "process "+pid+" to end", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		if err != nil {
			return true
		}
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		return bytes.HasPrefix(rest, []byte("Z"))
	})
}

func until(ts *testscript.TestScript, what string, done func() bool) {
	for end := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// cmdLines checks how many lines a file has; a missing one has none: lines FILE N
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "lines FILE N")
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	if n := bytes.Count(data, []byte("\n")); strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], n, args[1])
	}
}

// cmdTree writes down every file of a folder with mode, size, time and hash: tree DIR OUT
func cmdTree(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "tree DIR OUT")
	root := ts.MkAbs(args[0])
	var b strings.Builder
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		fmt.Fprintf(&b, "%s %v %s", name, info.Mode(), info.ModTime().UTC().Format(time.RFC3339Nano))
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %d %x", len(data), sha256.Sum256(data))
		}
		b.WriteString("\n")
		return nil
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

// cmdOnly leaves nothing in PATH but prloop and the named programs: only [PROGRAM...]
func cmdOnly(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, true, "")
	dir := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), ".only"))
	ts.Check(os.MkdirAll(dir, 0o700))
	for _, name := range append([]string{"prloop"}, args...) {
		path, err := exec.LookPath(name)
		ts.Check(err)
		ts.Check(os.Symlink(path, filepath.Join(dir, name)))
	}
	ts.Setenv("PATH", dir)
}

// cmdNowhere checks that a text stands in no file below the folders, byte for byte: nowhere TEXT PATH...
func cmdNowhere(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "nowhere TEXT PATH...")
	read := 0
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			read++
			if bytes.Contains(data, []byte(args[0])) {
				return fmt.Errorf("%q stands in %s", args[0], path)
			}
			return nil
		}))
	}
	if read == 0 {
		ts.Fatalf("there was no file to look into")
	}
}

var runID = regexp.MustCompile(`[0-9]{8}T[0-9.]+Z_[0-9a-f]{16}`)

// cmdRunID puts the newest run's id, as prloop runs gives it, into a variable: runid VARIABLE
func cmdRunID(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "runid VARIABLE")
	ts.Check(ts.Exec("prloop", "runs", "--json", "run", "--jq", ".[0].run"))
	id := runID.FindString(ts.ReadFile("stdout"))
	if id == "" {
		ts.Fatalf("prloop runs names no run")
	}
	ts.Setenv(args[0], id)
}
