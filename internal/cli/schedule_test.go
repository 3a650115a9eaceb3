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
	commands["protect"], commands["meanwhile"] = cmdProtect, cmdMeanwhile
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
	all := w.start(ts, "").PullRequests()
	if len(all) == 0 {
		fmt.Fprintln(ts.Stdout(), "none")
	}
	for _, p := range all {
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

// cmdProtect has nobody push to a branch of acme/widgets; - lets all in again: protect BRANCH|-
func cmdProtect(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "protect BRANCH|-")
	repo := worldOf(ts).start(ts, "")
	heads, err := repo.Branches()
	ts.Check(err)
	for name := range heads {
		refusal := forge.PushRefusal("")
		if name == args[0] {
			refusal = forge.ProtectedBranch
		}
		repo.RefusePushes(name, refusal)
	}
}

// cmdMeanwhile puts a tree on a branch between the next push's look at the branches and the push: meanwhile BRANCH DIR
func cmdMeanwhile(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "meanwhile BRANCH DIR")
	w := worldOf(ts)
	repo := w.start(ts, "")
	heads, err := repo.Branches()
	ts.Check(err)
	w.forge.Fail(forge.Fault{Op: forge.DuringPush.Op, Skip: forge.DuringPush.Skip, Times: 1, Do: func() {
		if err := w.forge.Commit(repo, args[0], heads[args[0]], "Meanwhile", os.DirFS(ts.MkAbs(args[1]))); err != nil {
			w.t.Error(err)
		}
	}})
}

func forgeGit(repo *forge.Repo, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir=" + repo.Bare}, args...)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return string(out), err
}
