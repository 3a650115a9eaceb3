package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/testkit/forge"
)

func init() {
	commands["land"], commands["branches"], commands["pulls"], commands["shown"] = cmdLand, cmdBranches, cmdPulls, cmdShown
}

// cmdLand puts a tree on a branch of acme/widgets as one more commit, by somebody who is not prloop: land DIR [BRANCH [AGE]]. The branch is main
// without a name, and the commit as old as AGE says.
func cmdLand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) > 0, "land DIR [BRANCH [AGE]]")
	w, branch, at := worldOf(ts), "main", time.Now()
	repo := w.start(ts, "")
	if len(args) > 1 {
		branch = args[1]
	}
	if len(args) > 2 {
		age, err := time.ParseDuration(args[2])
		ts.Check(err)
		at = at.Add(-age)
	}
	heads, err := repo.Branches()
	ts.Check(err)
	ts.Check(w.forge.CommitAt(repo, branch, heads[branch], "Meanwhile", os.DirFS(ts.MkAbs(args[0])), at))
}

// cmdBranches prints the branches of acme/widgets.
func cmdBranches(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 0, "branches")
	heads, err := worldOf(ts).start(ts, "").Branches()
	ts.Check(err)
	var names []string
	for name := range heads {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintln(ts.Stdout(), strings.Join(names, "\n"))
}

// cmdPulls prints the pull requests of acme/widgets, one a line; with a number the body of that one.
func cmdPulls(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) <= 1, "pulls [N]")
	w := worldOf(ts)
	if len(args) == 1 {
		_, body, _, _ := w.pull(ts, args[0]).Words()
		fmt.Fprintln(ts.Stdout(), body)
		return
	}
	for _, p := range w.start(ts, "").PullRequests() {
		title, _, state, head := p.Words()
		fmt.Fprintf(ts.Stdout(), "#%d %s from %s: %s\n", p.Number, state, head, title)
	}
}

// cmdShown prints what git shows of acme/widgets: shown REVISION, or REVISION:PATH.
func cmdShown(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "shown REVISION[:PATH]")
	out, err := forgeGit(worldOf(ts).start(ts, ""), "show", "--no-color", "--stat", "--format=%an <%ae>%n%B", args[0])
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), out)
}

func forgeGit(repo *forge.Repo, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir=" + repo.Bare}, args...)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return string(out), err
}
