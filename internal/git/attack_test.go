package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
)

// takeOut goes the whole way from a fixer's work to the server, as a bundle or as a tree, and gives the rules that stopped
// it; none when it was pushed.
func (b *bench) takeOut(t *testing.T, bundle string) []string {
	t.Helper()
	var taken []Taken
	var err error
	if bundle != "" {
		taken, err = b.r.TakeBundle(t.Context(), bundle, b.head)
	} else {
		var tree string
		tree, err = b.r.TakeTree(t.Context(), b.clone, b.head)
		taken = []Taken{{Tree: tree, Parent: b.head}}
	}
	if err != nil {
		return []string{takeRule(err)}
	}
	var refused []string
	for i, c := range taken {
		from := b.head
		if i > 0 {
			from = taken[i-1].Tree
		}
		changes, err := b.r.Changes(t.Context(), from, c.Tree)
		if err != nil {
			t.Fatal(err)
		}
		paths, err := b.r.Files(t.Context(), c.Tree, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range pushpolicy.Check(changes, pushpolicy.Limits{}, nil, paths) {
			refused = append(refused, r.Rule)
		}
		taken[i].Message = pushpolicy.Message("fix: it", c.Message)
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		return slices.Compact(refused)
	}
	sign := signature()
	sign.Keep = FixRef("attack", 1)
	done, err := b.r.Rewrite(t.Context(), b.head, taken, sign)
	if err != nil {
		t.Fatal(err)
	}
	if res := b.push(t, done[len(done)-1].New); res.Outcome != Pushed {
		t.Fatalf("push: %+v", res)
	}
	if _, err := b.r.Patch(t.Context(), b.head, done[len(done)-1].New, 0); err != nil {
		t.Fatal(err)
	}
	return nil
}

// The git attack set (threats.md "Git attack set"): whatever a fixer plants in its clone, nothing of it runs on the way out, and what a
// reader of the branch could run into is refused by name.
func TestGitAttackSet(t *testing.T) {
	work := func(t *testing.T, b *bench) { commit(t, b.clone, map[string]string{"topic": "2\n"}) }
	set := func(t *testing.T, b *bench, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			shell(t, b.clone, "config", pairs[i], pairs[i+1])
		}
	}
	for _, c := range []struct {
		name string
		evil func(t *testing.T, b *bench, program string)
		// bundle and tree are the rules that stop it on either way; none when it is inert and the honest work is pushed.
		bundle, tree []string
		// revs are what the bundle is made of when it is not the branch.
		revs func(b *bench) []string
		// careless is what somebody's plain git may not do in the clone: it springs the trap, which shows that there is one.
		careless func(b *bench, program string) []string
	}{
		{name: "embedded bare repository, threats.md T20", careless: func(*bench, string) []string {
			return []string{"-C", "sub", "status"}
		},
			bundle: []string{pushpolicy.RuleEmbedded}, tree: []string{TakeEmbedded}, evil: func(t *testing.T, b *bench, program string) {
				commit(t, b.clone, map[string]string{"sub/HEAD": "ref: refs/heads/main\n", "sub/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = worktree\n\tfsmonitor = " + program + "\n",
					"sub/objects/keep": "", "sub/refs/keep": "", "sub/worktree/keep": ""})
			}},
		{name: "poisoned fsmonitor, threats.md T21", careless: func(*bench, string) []string { return []string{"status"} }, evil: func(t *testing.T, b *bench, program string) {
			work(t, b)
			set(t, b, "core.fsmonitor", program, "core.sshCommand", program, "core.gitProxy", program, "core.alternateRefsCommand", program, "credential.helper", program,
				"uploadpack.packObjectsHook", program, "core.pager", program)
		}},
		{name: "hooks, threats.md T21", careless: func(*bench, string) []string { return []string{"commit", "--allow-empty", "-m", "x"} }, evil: func(t *testing.T, b *bench, program string) {
			work(t, b)
			text, err := os.ReadFile(program)
			must(t, err)
			for _, h := range []string{"post-index-change", "reference-transaction", "pre-push", "post-checkout", "post-commit", "fsmonitor-watchman", "pre-auto-gc", "sendemail-validate"} {
				write(t, b.clone, ".git/hooks/"+h, string(text))
				must(t, os.Chmod(filepath.Join(b.clone, ".git", "hooks", h), 0o755))
			}
			set(t, b, "core.hooksPath", filepath.Join(b.clone, ".git", "hooks"))
		}},
		{name: "clean and smudge filters, threats.md T21", careless: func(*bench, string) []string { return []string{"add", "--renormalize", "."} },
			bundle: []string{pushpolicy.RuleAttributes}, tree: []string{pushpolicy.RuleAttributes}, evil: func(t *testing.T, b *bench, program string) {
				commit(t, b.clone, map[string]string{"topic": "2\n", ".gitattributes": "* filter=bad\n"})
				set(t, b, "filter.bad.clean", program, "filter.bad.smudge", program, "filter.bad.process", program, "filter.bad.required", "true")
			}},
		{name: "textconv, threats.md T21", careless: func(*bench, string) []string { return []string{"diff", "HEAD~1"} }, evil: func(t *testing.T, b *bench, program string) {
			work(t, b)
			write(t, b.clone, ".git/info/attributes", "* diff=bad merge=bad\n")
			set(t, b, "diff.bad.textconv", program, "diff.bad.command", program, "diff.external", program, "merge.bad.driver", program)
		}},
		{name: "linked worktree configuration, threats.md T21", careless: func(*bench, string) []string { return []string{"status"} }, evil: func(t *testing.T, b *bench, program string) {
			work(t, b)
			moved := filepath.Join(t.TempDir(), "elsewhere")
			must(t, os.Rename(filepath.Join(b.clone, ".git"), moved))
			write(t, b.clone, ".git", "gitdir: "+moved+"\n")
			set(t, b, "extensions.worktreeConfig", "true", "core.worktree", b.clone)
			write(t, moved, "config.worktree", "[core]\n\tfsmonitor = "+program+"\n\thooksPath = "+filepath.Dir(program)+"\n")
		}},
		{name: "a ref named --upload-pack, threats.md T22", careless: func(b *bench, program string) []string {
			return []string{"fetch", "file://" + b.origin, "--upload-pack=" + program}
		}, evil: func(t *testing.T, b *bench, program string) {
			work(t, b)
			shell(t, b.clone, "update-ref", "refs/heads/--upload-pack="+program, "HEAD")
		}, revs: func(b *bench) []string {
			refs, err := filepath.Glob(filepath.Join(b.clone, ".git", "refs", "heads", "--upload-pack=", "*", "*", "*", "*"))
			if err != nil || len(refs) != 1 {
				panic("the ref is not there")
			}
			ref, err := filepath.Rel(filepath.Join(b.clone, ".git"), refs[0])
			if err != nil {
				panic(err)
			}
			return []string{b.head + ".." + ref}
		}},
		{name: "ext and file transports, threats.md T23", careless: func(*bench, string) []string { return []string{"fetch", "origin"} },
			bundle: []string{pushpolicy.RuleSubmodule}, tree: []string{pushpolicy.RuleSubmodule}, evil: func(t *testing.T, b *bench, program string) {
				commit(t, b.clone, map[string]string{"topic": "2\n", ".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = ext::" + program + "\n"})
				set(t, b, "url.ext::"+program+".insteadOf", "file://", "url.ext::"+program+".pushInsteadOf", "file://", "protocol.ext.allow", "always",
					"remote.origin.url", "ext::"+program, "remote.origin.uploadpack", program)
			}},
		{name: "malformed tree, threats.md T26", bundle: []string{TakeMalformed}, tree: []string{TakeEmbedded}, evil: func(t *testing.T, b *bench, program string) {
			blob := shell(t, b.clone, "hash-object", "-w", "topic")
			evil := shell(t, b.clone, "commit-tree", "-p", b.head, "-m", "evil", rawTree(t, b.clone, "100644 .GIT\x00", blob))
			shell(t, b.clone, "update-ref", "HEAD", evil)
			write(t, b.clone, ".GIT/config", "[core]\n\tfsmonitor = "+program+"\n")
		}},
		{name: "inherited GIT_SSH_COMMAND, threats.md T22", careless: func(*bench, string) []string { return []string{"ls-remote", "ssh://127.0.0.1/x"} }, evil: func(t *testing.T, b *bench, program string) {
			work(t, b)
			for _, name := range []string{"GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR", "GIT_PAGER"} {
				t.Setenv(name, program)
			}
			t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor'='"+program+"' 'core.hooksPath'='"+filepath.Dir(program)+"'")
			t.Setenv("GIT_DIR", filepath.Join(b.clone, ".git"))
			t.Setenv("GIT_WORK_TREE", b.clone)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, way := range []string{"bundle", "tree"} {
				t.Run(way, func(t *testing.T) {
					b := newBench(t, map[string]string{"a": "1\n"})
					program, sprung := trap(t)
					c.evil(t, b, program)
					want, bundle := c.tree, ""
					if way == "bundle" {
						want, bundle = c.bundle, b.bundle(t, revsOf(c.revs, b)...)
					}
					sprung() // the fixer's own git may have run it; that is what its sandbox is for
					got := b.takeOut(t, bundle)
					if !slices.Equal(got, want) {
						t.Errorf("stopped by %v, want %v", got, want)
					}
					if sprung() {
						t.Error("a program of the fixer's ran")
					}
					if (b.at(t) != b.head) != (len(want) == 0) {
						t.Errorf("the branch is at %s", b.at(t))
					}
					if _, err := b.r.Resolve(t.Context(), FixRef("attack", 1)); (err == nil) != (len(want) == 0) {
						t.Errorf("a refused fix is kept: %v", err)
					}
					if c.careless != nil {
						if out, ok := springs(t, b.clone, sprung, c.careless(b, program)); !ok {
							t.Errorf("the trap is none: %s", out)
						}
					}
				})
			}
		})
	}
}

// springs runs a plain git with this process's environment and reports whether that springs the trap. A trap may wait for
// git, and git for the trap, so both are ended as soon as it is known.
func springs(t *testing.T, dir string, sprung func() bool, args []string) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &out, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var found bool
	for deadline := time.Now().Add(20 * time.Second); !found && time.Now().Before(deadline); {
		select {
		case <-ended:
			return out.String(), sprung()
		case <-time.After(10 * time.Millisecond):
			found = sprung()
		}
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	<-ended
	return out.String(), found
}

func revsOf(revs func(*bench) []string, b *bench) []string {
	if revs == nil {
		return nil
	}
	return revs(b)
}

// A branch of a pull request may have any name; one that reads as an option is refused before git sees it.
func TestAttackByTheBranchItself(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	program, sprung := trap(t)
	for _, ref := range []string{"refs/heads/--receive-pack=" + program, "--receive-pack=" + program, "refs/heads/x:refs/heads/main", "refs/heads/a b", "+refs/heads/topic"} {
		if res, err := b.r.Push(t.Context(), PushOptions{Server: b.server(), Ref: ref, Old: b.head, New: made}); err == nil {
			t.Errorf("%s: %+v", ref, res)
		}
		if head, err := b.r.RemoteHead(t.Context(), b.server(), ref); err == nil {
			t.Errorf("%s is at %s", ref, head)
		}
	}
	if sprung() || b.at(t) != b.head {
		t.Error("a ref's name was obeyed")
	}
}

// A refusal of taking is one of the push policy's in shape, so that a fixer is told both alike.
func TestTakeErrorIsARefusal(t *testing.T) {
	e := &TakeError{Rule: TakeLink, Path: "l", Detail: "a symbolic link"}
	if e.Refusal() != (review.Refusal{Rule: "link", Path: "l", Detail: "a symbolic link"}) || e.Error() != `refused: link: "l": a symbolic link` {
		t.Errorf("%+v %v", e.Refusal(), e)
	}
}
