package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// killFigures are what one trial, or many, came to.
type killFigures struct {
	Trials, Kills int
	// Duplicates are comments and pushed commits that are there more than once; Lost are those that are stored as done and
	// are not there, or are there and stored as nothing.
	Duplicates, Lost int
	// Ends counts how the runs ended.
	Ends map[string]int
}

func (f *killFigures) add(g killFigures) {
	f.Trials += g.Trials
	f.Kills += g.Kills
	f.Duplicates += g.Duplicates
	f.Lost += g.Lost
	if f.Ends == nil {
		f.Ends = map[string]int{}
	}
	for end, n := range g.Ends {
		f.Ends[end] += n
	}
}

// ends writes how runs ended, most frequent words in the alphabet's order.
func (f *killFigures) ends() string {
	var list []string
	for end, n := range f.Ends {
		list = append(list, fmt.Sprintf("%s %d", end, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// check holds the invariants (threats.md "Invariants") against a world in which nothing runs any more. The error names everything
// that is wrong.
func (w *killWorld) check(ctx context.Context) (killFigures, error) {
	f := killFigures{Trials: 1, Ends: map[string]int{}}
	err := errors.Join(w.checkLeft(), w.checkGone())
	switch {
	case w.scheduled:
		err = errors.Join(w.checkJob(ctx, &f), err)
	case w.asked:
		err = errors.Join(w.checkAsked(ctx, &f), err)
	default:
		err = errors.Join(w.checkRecord(ctx, &f), w.checkStatuses(), w.checkBranch(ctx, &f), err)
	}
	for _, v := range w.forge.Violations() {
		err = errors.Join(err, fmt.Errorf("a request or answer broke GitHub's published contract: %s", v))
	}
	return f, err
}

// checkRecord compares what is stored with what stands on the pull request, and that the lease is free.
func (w *killWorld) checkRecord(ctx context.Context, f *killFigures) error {
	s, err := store.Open(ctx, store.Options{Address: filepath.Join(w.home, "state", "prloop.db")})
	if err != nil {
		return err
	}
	defer s.Close()
	runs, err := s.ListRuns(ctx, store.Filter{})
	if err != nil {
		return err
	}
	var wrong []error
	said := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if len(runs) != 1 {
		said("%d runs are recorded, want one", len(runs))
	}
	stored, collapsed, resolved := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		end := string(r.Outcome)
		if r.State != store.Finished || end == "" {
			end = "running"
		}
		f.Ends[end]++
		if end != string(review.Converged) {
			said("run %s ended %s (%s)", r.ID, end, r.State)
		}
		entries, err := s.Outbox(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.State != store.StateAcked {
				said("%s %s is %s in the end", e.Kind, e.Key, e.State)
				continue
			}
			switch e.Kind {
			case effects.Minimize{}.Name():
				collapsed[e.Ref] = true
			case effects.Resolve{}.Name():
				resolved[e.Payload] = true
			case effects.Edit{}.Name(): // the words of a comment that is counted already
			case effects.Status{}.Name(): // of which GitHub shows the last alone
			default:
				stored[e.Nonce] = true
			}
		}
		lease, err := s.Lease(ctx, r.Target.String(), "probe", time.Minute)
		if err != nil {
			said("the lease is not free: %w", err)
			continue
		}
		if err := lease.Release(ctx); err != nil {
			return err
		}
	}
	there := map[string]int{}
	comments := w.pull.Comments()
	for i, c := range comments {
		// A report stands open until a newer one replaces it, and is collapsed then, once and as it is recorded.
		recorded := slices.ContainsFunc(slices.Collect(maps.Keys(collapsed)), func(ref string) bool { return strings.HasSuffix(ref, fmt.Sprintf("#issuecomment-%d", c.ID)) })
		if last := i == len(comments)-1; c.Minimized == last || c.Minimized != recorded {
			said("comment %d of %d is collapsed: %t, and recorded so: %t", i+1, len(comments), c.Minimized, recorded)
		}
		m, ok := sanitize.ParseMarker(c.Body)
		if !ok || m.Nonce == "" {
			said("a comment without our marker stands there")
			f.Lost++
			continue
		}
		there[fmt.Sprintf("%s-%d", m.Nonce, m.Part)]++
	}
	reports := len(there)
	w.checkThreads(there, resolved, said)
	for nonce, n := range there {
		if n > 1 {
			said("comment %s stands there %d times", nonce, n)
			f.Duplicates += n - 1
		}
		if !stored[nonce] {
			said("comment %s stands there and is not stored as posted", nonce)
			f.Lost++
		}
	}
	for nonce := range stored {
		if there[nonce] == 0 {
			said("comment %s is stored as posted and is not there", nonce)
			f.Lost++
		}
	}
	if len(collapsed) != max(0, len(comments)-1) {
		said("%d comments are recorded as collapsed, want %d", len(collapsed), len(comments)-1)
	}
	want := 3 // a report, the fix, a report
	if w.long {
		want = 4
	}
	if w.quick { // and the scan, which says that a full review follows
		want++
		if len(comments) == 0 || !strings.Contains(comments[0].Body, "\n## prloop: escalating to full review\n") {
			said("the comment of the scan does not say that a full review follows")
		}
	}
	if reports != want {
		said("%d different comments stand there, want %d", reports, want)
		f.Lost += max(0, want-reports)
		f.Duplicates += max(0, reports-want)
	}
	return errors.Join(wrong...)
}

// checkThreads adds the reviews and answers of ours to what is there, by the nonces of their effects. The one finding of the first round
// has one thread, and once it is fixed one answer, and the thread is resolved as it is recorded.
func (w *killWorld) checkThreads(there map[string]int, resolved map[string]bool, said func(string, ...any)) {
	for _, r := range w.pull.Reviews() {
		if m, ok := sanitize.ParseMarker(r.Body); ok {
			there[m.Nonce]++
		}
	}
	parts := map[string]int{}
	all := w.pull.Threads()
	for _, t := range all {
		if id := forge.ThreadID(t.ID); !t.Resolved || !resolved[id] {
			said("thread %s is resolved: %t, and recorded so: %t", id, t.Resolved, resolved[id])
		}
		if len(t.Comments) != 2 {
			said("%d comments stand in a thread, want a finding and an answer", len(t.Comments))
		}
		for i, c := range t.Comments {
			m, ok := sanitize.ParseMarker(c.Body)
			if !ok || m.Nonce == "" {
				said("a comment without our marker stands in a thread")
			}
			if i > 0 {
				there[m.Nonce]++
			} else if name := fmt.Sprintf("%s-%d", m.Nonce, m.Part); parts[name] > 0 {
				said("a finding has two threads: %s", name)
			} else {
				parts[name]++
			}
		}
	}
	want := 1
	if w.long {
		want = 0
	}
	if len(all) != want {
		said("%d threads stand there, want %d", len(all), want)
	}
}

// checkStatuses looks at what the gate says in the end: the reviewed commit failed, the fixed one passes, and nothing of ours is pending.
func (w *killWorld) checkStatuses() error {
	last := map[string]string{}
	for _, s := range w.repo.Statuses() {
		last[s.SHA] = s.State
	}
	want := map[string]string{w.reviewed: "failure", w.pull.HeadSHA(): "success"}
	if !maps.Equal(last, want) {
		return fmt.Errorf("the statuses are %v, want %v; they were set as %+v", last, want, w.repo.Statuses())
	}
	return nil
}

// checkBranch looks for exactly one commit of ours on the reviewed head, and for nothing else that was pushed.
func (w *killWorld) checkBranch(ctx context.Context, f *killFigures) error {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir", w.repo.Bare}, args...)...)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	out, err := git("log", "--format=%H %P", w.reviewed+"..refs/heads/topic")
	if err != nil {
		return fmt.Errorf("read the branch: %w", err)
	}
	var wrong []error
	commits := strings.Split(out, "\n")
	switch {
	case out == "":
		f.Lost++
		wrong = append(wrong, errors.New("no commit of ours is on the branch"))
	case len(commits) > 1:
		f.Duplicates += len(commits) - 1
		wrong = append(wrong, fmt.Errorf("%d commits of ours are on the branch:\n%s", len(commits), out))
	case !strings.HasSuffix(commits[0], " "+w.reviewed):
		wrong = append(wrong, fmt.Errorf("our commit is not a child of the reviewed head %s: %s", w.reviewed, out))
	}
	refs, err := git("for-each-ref", "--format=%(refname)")
	if want := "refs/heads/main\nrefs/heads/topic\nrefs/pull/7/head"; err != nil || refs != want {
		wrong = append(wrong, fmt.Errorf("the server's refs are %q, want %q", refs, want), err)
	}
	return errors.Join(wrong...)
}

// checkLeft looks for what a killed process left in the state folder.
func (w *killWorld) checkLeft() error {
	var wrong []error
	state := filepath.Join(w.home, "state")
	for _, dir := range []string{filepath.Join(state, "scratch"), filepath.Join(w.home, "tmp")} {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			wrong = append(wrong, fmt.Errorf("%s holds %v", filepath.Base(dir), entries), err)
		}
	}
	err := filepath.WalkDir(filepath.Join(state, "repos"), func(path string, d fs.DirEntry, err error) error {
		// Folders of a moment have names nobody uses again, and go with age: a living process may be at work in one.
		if n := d.Name(); err == nil && d.IsDir() && (strings.HasPrefix(n, "index-") || strings.HasPrefix(n, ".new-")) {
			return fs.SkipDir
		}
		if err == nil && (strings.HasSuffix(path, ".lock") || d.Name() == "worktrees") {
			wrong = append(wrong, fmt.Errorf("left behind: %s", strings.TrimPrefix(path, state)))
		}
		return err
	})
	return errors.Join(append(wrong, err)...)
}

// checkGone waits until no process of the world is left: each has the world's folder in its arguments or its environment.
func (w *killWorld) checkGone() error {
	left := w.processes()
	for deadline := time.Now().Add(killPatience); len(left) > 0 && time.Now().Before(deadline); left = w.processes() {
		time.Sleep(10 * time.Millisecond)
	}
	if len(left) > 0 {
		return fmt.Errorf("processes are left: %q", left)
	}
	return nil
}

func (w *killWorld) processes() (alive []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		if err != nil || bytes.HasPrefix(rest, []byte("Z")) { // has ended, nobody has asked yet
			continue
		}
		if bytes.Contains(args, []byte(w.home)) || bytes.Contains(env, []byte(w.home)) {
			alive = append(alive, filepath.Base(dir)+" "+string(bytes.ReplaceAll(args[:min(len(args), 200)], []byte{0}, []byte(" "))))
		}
	}
	return alive
}
