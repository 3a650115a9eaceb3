package cli_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/forge"
)

// openGated is a hall whose gate waits for the verdict, and a pull request whose base is a branch of its author's own, which has already what a reviewer
// asks to change.
func openGated(t *testing.T) (h *hall, own *forge.PullRequest) {
	h = openHall(t)
	if err := os.CopyFS(filepath.Join(h.home, "tree"), os.DirFS("testdata/share/base")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"reads.sh":     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nif grep -q PLANTED; then cat picky.json; else exec ./clean.sh </dev/null; fi\n",
		"operator.yml": "gate: verdict\n", "tree/planted.go": "package stock\n\n// PLANTED\n",
	} {
		if err := os.WriteFile(filepath.Join(h.home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"))
	at := h.open(1, func(s *forge.PullSpec) { s.Draft = true }).BaseSHA()
	if err := h.forge.Commit(h.repo, "own", at, "Planted", os.DirFS(filepath.Join(h.home, "tree"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.home, "tree", "notes.txt"), []byte("More.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return h, h.open(8, func(s *forge.PullSpec) {
		s.Base, s.BaseRef, s.HeadRef, s.Head = nil, "own", "shared", os.DirFS(filepath.Join(h.home, "tree"))
	})
}

// forked is a pull request of a fork into the branch of openGated, with a commit of its own.
func (h *hall) forked() func(*forge.PullSpec) {
	h.t.Helper()
	if _, err := h.forge.AddRepo("contributor", "widgets"); err != nil {
		h.t.Fatal(err)
	}
	write(h.t, filepath.Join(h.home, "tree", "notes.txt"), []byte("Other notes.\n"))
	return func(s *forge.PullSpec) {
		s.Base, s.BaseRef, s.HeadRef, s.Head, s.Fork = nil, "own", "forked", os.DirFS(filepath.Join(h.home, "tree")), "contributor/widgets"
	}
}

// status waits until the status of a commit is one of some, and gives its description.
func (h *hall) status(sha string, states ...string) (said string) {
	h.t.Helper()
	h.within("the status "+strings.Join(states, " or "), func() bool {
		all := slices.DeleteFunc(h.repo.Statuses(), func(s forge.Status) bool { return s.SHA != sha })
		if len(all) == 0 {
			return false
		}
		last := all[len(all)-1]
		said = last.Description
		return slices.Contains(states, last.State)
	})
	return said
}

// settle has somebody settle a thread on a pull request, which asks for its verdict anew.
func (h *hall) settle(p *forge.PullRequest) {
	before := h.wanted()["#8"].Handled
	p.ResolveThread(p.AddThread(forge.Thread{Path: "notes.txt", Line: 1, Comments: []*forge.Comment{{Author: "contributor", Body: "Why?"}}}))
	h.within("the verdict to be computed", func() bool { return h.wanted()["#8"].Handled > before })
}

// What was approved for one branch is not for another: not while its review has to wait, whatever for, and not where no event told of the choice. One that is for
// the first branch again is approved again (threats.md T280).
func TestApprovedForAnotherBranch(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"quiet hours": {"--quiet-hours", quietNow()}, "no webhooks": {"--poll", "--every", "1s"},
		"paused": {}, "paused without webhooks": {"--poll", "--every", "1s"}, "busy": {"--reviews", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			reads := []string{"--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}
			s := h.serve("", append(reads, "--poll", "--every", "1s")...)
			h.status(p.HeadSHA(), "success")
			h.settled(1)
			s.stop(t, syscall.SIGTERM)
			if strings.HasPrefix(name, "paused") {
				h.run("pause")
			}
			if name == "busy" {
				reads[1] = "exec:" + filepath.Join(h.home, "hangs.sh")
				if err := os.WriteFile(filepath.Join(h.home, "hangs.sh"), []byte("#!/bin/sh\ntouch \"$(dirname \"$0\")/hangs\"\nexec sleep 600\n"), 0o700); err != nil {
					t.Fatal(err)
				}
				h.open(9, nil)
			}
			s = h.serve("", append(reads, args...)...)
			if name == "busy" {
				h.within("a reviewer to be at work", func() bool {
					_, err := os.Stat(filepath.Join(h.home, "hangs"))
					return err == nil
				})
			}
			retarget(t, p, "main")
			if said := h.status(p.HeadSHA(), "error", "failure"); name != "no webhooks" && said != "To be reviewed again: #8" {
				t.Errorf("%q", said)
			}
			if strings.HasPrefix(name, "paused") {
				retarget(t, p, "own")
				h.run("resume-queue")
				h.status(p.HeadSHA(), "success")
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// Nor is it while all reviewers are at work elsewhere: whatever event tells that a pull request has the commit for another branch, whether that is another
// pull request, or the same one that had another head when its branch was chosen (threats.md T412).
func TestAnyEventTellsOfAnotherBranch(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, happens := range map[string]func(h *hall, p *forge.PullRequest) (says string){
		"another pull request": func(h *hall, _ *forge.PullRequest) string {
			h.open(10, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
			return "Not reviewed yet: #10"
		},
		"a head that comes back": func(h *hall, p *forge.PullRequest) string {
			first := p.HeadSHA()
			if _, err := p.Push("contributor", "more", map[string]string{"notes2.txt": "more\n"}); err != nil {
				h.t.Fatal(err)
			}
			retarget(h.t, p, "main")
			if err := h.repo.MoveBranch("shared", first); err != nil {
				h.t.Fatal(err)
			}
			return "To be reviewed again: #8"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			sha := p.HeadSHA()
			h.prloop("", "run", "8", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
			h.status(sha, "success")
			write(t, filepath.Join(h.home, "hangs.sh"), []byte("#!/bin/sh\ntouch \"$(dirname \"$0\")/hangs\"\nexec sleep 600\n"))
			if err := os.Chmod(filepath.Join(h.home, "hangs.sh"), 0o700); err != nil {
				t.Fatal(err)
			}
			h.open(9, nil)
			s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "hangs.sh"), "--reviews", "1")
			h.within("a reviewer to be at work", func() bool {
				_, err := os.Stat(filepath.Join(h.home, "hangs"))
				return err == nil
			})
			says := happens(h, p)
			if said := h.status(sha, "error"); said != says {
				t.Errorf("%q", said)
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

func retarget(t *testing.T, p *forge.PullRequest, base string) {
	t.Helper()
	if err := p.Retarget(base); err != nil {
		t.Fatal(err)
	}
}

// What tells that a success was for another branch is not forgotten with old runs while the pull request may be merged: not when it was closed, and not when a look
// at it failed (threats.md T280).
func TestWhatASuccessWasForIsKept(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, happens := range map[string]struct {
		before, after func(h *hall, p *forge.PullRequest)
	}{
		"closed": {
			func(h *hall, p *forge.PullRequest) {
				p.SetState("CLOSED")
				h.within("it to be seen closed", func() bool { return strings.HasPrefix(h.wanted()["#8"].Seen, "CLOSED ") })
			},
			func(_ *hall, p *forge.PullRequest) { p.SetState("OPEN") },
		},
		"a failed look": {
			func(h *hall, p *forge.PullRequest) {
				h.forge.Fail(forge.Fault{Op: "*", Mode: forge.BadGateway})
				p.Label("mona", "kind")
				h.within("a look to fail", func() bool { return h.wanted()["#8"].Tries > 0 })
			},
			func(h *hall, _ *forge.PullRequest) { h.forge.Heal() },
		},
		"a look that finds nothing": {
			func(h *hall, p *forge.PullRequest) {
				h.forge.Fail(forge.Fault{Op: "PullRequest", Mode: forge.NotFound})
				before := h.wanted()["#8"].Handled
				p.Label("mona", "kind")
				h.within("a look to find nothing", func() bool { return h.wanted()["#8"].Handled > before })
			},
			func(h *hall, _ *forge.PullRequest) { h.forge.Heal() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"), "--author-limit", "1", "--every", "1h")
			h.status(p.HeadSHA(), "success")
			h.settled(1)
			happens.before(h, p)
			h.run("runs", "prune", "--older", "1ms")
			h.run("pause")
			happens.after(h, p)
			retarget(t, p, "main")
			h.status(p.HeadSHA(), "error")
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// Nor is a success left that no record tells of, such as one that is newer than the backup that was restored (threats.md T465).
func TestASuccessThatNoRecordTellsOf(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	backup := filepath.Join(h.home, "backup.tar")
	h.run("backup", backup)
	args := []string{"--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}
	s := h.serve("", args...)
	h.status(p.HeadSHA(), "success")
	h.settled(1)
	s.stop(t, syscall.SIGTERM)
	if err := os.Rename(filepath.Join(h.home, "state"), filepath.Join(h.home, "lost")); err != nil {
		t.Fatal(err)
	}
	h.run("restore", backup)
	retarget(t, p, "main")
	s = h.serve("", append(args, "--quiet-hours", quietNow())...)
	if said := h.status(p.HeadSHA(), "error"); said != "To be reviewed again: #8" {
		t.Errorf("%q", said)
	}
	s.stop(t, syscall.SIGTERM)
}

// A pull request with the commit, for another branch, that is opened while the reviewers are at work keeps it from a success, whatever its own review waits for. A draft
// does not, nor does a fork's of somebody else (threats.md T463).
func TestOpenedDuringTheReviewOfItsCommit(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, c := range map[string]struct {
		of   func(*forge.PullSpec)
		args []string
		want string
	}{
		"it waits":          {func(*forge.PullSpec) {}, []string{"--author-limit", "1"}, "failure"},
		"it is not seen":    {func(*forge.PullSpec) {}, nil, "failure"},
		"a draft":           {func(s *forge.PullSpec) { s.Draft = true }, nil, "success"},
		"a stranger's fork": {func(s *forge.PullSpec) { s.Author, s.Fork = "stranger", "stranger/widgets" }, nil, "success"},
		"a fork's":          {func(s *forge.PullSpec) { s.Fork = "contributor/widgets" }, nil, "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, own := openGated(t)
			for _, owner := range []string{"stranger", "contributor"} {
				if _, err := h.forge.AddRepo(owner, "widgets"); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(h.home, "slow.sh"), []byte("#!/bin/sh\ncd \"$(dirname \"$0\")\"\ntouch begun\nwhile [ ! -e go ]; do sleep 0.1; done\nexec ./reads.sh\n"))
			if err := os.Chmod(filepath.Join(h.home, "slow.sh"), 0o700); err != nil {
				t.Fatal(err)
			}
			s := h.serve("", append([]string{"--reviewers", "exec:" + filepath.Join(h.home, "slow.sh"), "--every", "1h"}, c.args...)...)
			h.within("a reviewer to be at work", func() bool { _, err := os.Stat(filepath.Join(h.home, "begun")); return err == nil })
			if name == "it is not seen" {
				h.run("pause")
			}
			other := h.open(9, func(s *forge.PullSpec) {
				s.Base, s.BaseRef, s.HeadRef, s.Head = nil, "own", "shared", os.DirFS(filepath.Join(h.home, "tree"))
				if c.of(s); s.Fork == "" {
					s.BaseRef, s.Head = "main", nil
				}
			})
			if other.HeadSHA() != own.HeadSHA() {
				t.Fatal("the heads differ")
			}
			if name == "it waits" {
				h.within("the review of #9 to wait", func() bool { return h.wanted()["#9"].Outcome == store.Waits })
			}
			write(t, filepath.Join(h.home, "go"), nil)
			if said := h.status(own.HeadSHA(), "success", "failure"); strings.HasPrefix(said, "#9 has the same commit") != (c.want == "failure") {
				t.Errorf("%q", said)
			}
			if name == "it is not seen" {
				h.run("resume-queue")
			}
			other.SetState("CLOSED")
			h.status(own.HeadSHA(), "success")
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// GitHub is slow with a success that another machine sends, and gets what takes it back first: that machine then says that it is none (threats.md T464).
func TestASlowSuccessIsNotTheLastWord(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	h.share()
	reads := []string{"exec:" + filepath.Join(h.home, "reads.sh")}
	h.forge.Fail(forge.Fault{Op: "POST /repos/{owner}/{repo}/statuses/{sha}", Skip: 1, Times: 1, Do: func() {
		if err := p.Retarget("main"); err != nil {
			t.Error(err)
		}
		for range 60 { // GitHub may take 10 s
			time.Sleep(100 * time.Millisecond)
			if slices.ContainsFunc(h.repo.Statuses(), func(s forge.Status) bool { return s.State == "error" }) {
				return
			}
		}
	}})
	h.work("second", reads, "--reviews", "1", "--author-limit", "1")
	eventually.True(t, "the worker to work", func() bool { return strings.Contains(h.log(), "working for postgres://") })
	h.serve("", "--reviews", "0", "--author-limit", "1", "--every", "1h")
	if said := h.status(p.HeadSHA(), "failure"); said != "#8 is to be merged into another branch now. By itself: Approved" {
		t.Errorf("%q", said)
	}
}

// Agents are asked again for a base branch that a pull request had before another one, and each time that takes a turn of its author's (threats.md T414).
func TestABranchAndBackTakesATurn(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	counts := filepath.Join(h.home, "counts.sh")
	if err := os.WriteFile(counts, []byte("#!/bin/sh\necho asked >>\"$0.asked\"\ncat >/dev/null\nexec \"$(dirname \"$0\")/clean.sh\" </dev/null\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--reviewers", "exec:"+counts, "--author-limit", "2", "--settle", "1s")
	h.settled(2)
	choose := func(base, outcome string) {
		before := h.wanted()["#8"].Handled
		p.SetDraft(true)
		retarget(t, p, base)
		p.SetDraft(false)
		h.within("the review for "+base, func() bool {
			w := h.wanted()["#8"]
			return w.Outcome == outcome && (w.Handled > before && !w.Open() || outcome == store.Waits)
		})
	}
	choose("main", "converged")
	choose("own", store.Waits)
	if asked, err := os.ReadFile(counts + ".asked"); err != nil || strings.Count(string(asked), "asked") != 2 {
		t.Errorf("the reviewer was asked %q, %v", asked, err)
	}
	s.stop(t, syscall.SIGTERM)
}

// A success is taken back once, by who hears of the event or who looks at the pull request: neither waits for the other, or fails (threats.md T415).
func TestTakenBackOnce(t *testing.T) {
	t.Parallel()
	h, p := openGated(t)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"), "--author-limit", "1")
	h.status(p.HeadSHA(), "success")
	stranger := func(s *forge.PullSpec) { s.Author = "stranger" }
	h.open(11, stranger)
	h.settled(3)
	other := h.open(10, func(s *forge.PullSpec) { stranger(s); s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
	if said := h.status(p.HeadSHA(), "error"); said != "Not reviewed yet: #10" {
		t.Errorf("%q", said)
	}
	h.within("the review to wait", func() bool { return h.wanted()["#10"].Outcome != "" })
	if w := h.wanted()["#10"]; w.Outcome != store.Waits {
		t.Errorf("%+v", w)
	}
	other.SetState("CLOSED")
	h.status(p.HeadSHA(), "success")
	s.stop(t, syscall.SIGTERM)
}

// A draft is looked at too when it gets another base branch, and so is one that is opened again (threats.md T280).
func TestADraftApprovedForAnotherBranch(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"), "--settle", "1s")
	h.status(p.HeadSHA(), "success")
	h.settled(2)
	h.run("pause")
	p.SetDraft(true)
	retarget(t, p, "main")
	h.status(p.HeadSHA(), "error")
	h.run("resume-queue")
	p.SetDraft(false)
	if said := h.status(p.HeadSHA(), "failure"); said == "" {
		t.Error("the review for main says nothing")
	}
	s.stop(t, syscall.SIGTERM)
}

// What GitHub refuses, or does not answer, when a success is taken back is said again (threats.md T394).
func TestTakenBackAgain(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for _, mode := range []forge.Mode{forge.BadGateway, forge.SecondaryLimitWait, forge.Forbidden} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			h, _ := openGated(t)
			p := h.open(18, h.forked())
			s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"), "--every", "1s")
			p.Comment("mona", "!prloop review")
			h.status(p.HeadSHA(), "success")
			h.settled(3)
			h.forge.Fail(forge.Fault{Op: "POST /repos/{owner}/{repo}/statuses/{sha}", Mode: mode, Times: 1})
			retarget(t, p, "main")
			h.status(p.HeadSHA(), "error")
			p.Comment("mona", "!prloop review")
			h.status(p.HeadSHA(), "failure")
			if log := h.log(); strings.Contains(log, "not a run id") {
				t.Error(log)
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// Nor is what nobody reviews without being asked, such as a fork's, also where the status is the word on another pull request with the commit (threats.md T280).
func TestAForkApprovedForAnotherBranch(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	of := h.forked()
	p := h.open(18, of)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "success")
	other := h.open(19, of)
	if other.HeadSHA() != p.HeadSHA() {
		t.Fatal("the heads differ")
	}
	h.settled(3)
	other.Comment("mona", "!prloop review")
	h.settled(5)
	h.status(p.HeadSHA(), "success")
	retarget(t, p, "main")
	if said := h.status(p.HeadSHA(), "error"); said != "Not reviewed yet: #18" {
		t.Errorf("%q", said)
	}
	retarget(t, p, "own")
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "success")
	s.stop(t, syscall.SIGTERM)
}

// private has a maintainer whose membership GitHub does not show.
func (h *hall) private(login string) {
	h.repo.SetPermission(login, forge.Maintain)
	h.repo.Conceal(login)
}

// objects has somebody say in a thread what is wrong.
func objects(p *forge.PullRequest, who, association string) {
	id := p.AddThread(forge.Thread{Path: "notes.txt", Line: 1, Comments: []*forge.Comment{{Author: who, Association: association, Body: "P0: this drops the database."}}})
	p.Reply(id, who, "P0: do not merge this.")
}

// What was approved because somebody asked is looked at again when whoever may write contests it: also a member whose membership is private, by event and by list, and
// the person whose login prloop has, by hand (threats.md T493, T494).
func TestContestedByWhomGitHubDoesNotName(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, row := range map[string]struct {
		args    []string
		contest func(*forge.PullRequest)
		state   string
	}{
		"requested": {nil, func(p *forge.PullRequest) {
			p.AddReview(forge.Review{Author: "lisa", Association: "CONTRIBUTOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
		}, "failure"},
		"requested without webhooks": {[]string{"--poll", "--every", "1s"}, func(p *forge.PullRequest) {
			nextSecond()
			p.AddReview(forge.Review{Author: "lisa", Association: "CONTRIBUTOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
		}, "failure"},
		"in a thread": {nil, func(p *forge.PullRequest) { objects(p, "lisa", "CONTRIBUTOR") }, "failure"},
		"by hand":     {nil, func(p *forge.PullRequest) { objects(p, "octocat", "COLLABORATOR") }, "failure"},
		"a stranger":  {nil, func(p *forge.PullRequest) { objects(p, "nobody", "NONE") }, "success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := openGated(t)
			h.private("lisa")
			s := h.serve("", append(row.args, "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))...)
			p := h.open(7, h.forked())
			p.Comment("mona", "!prloop review")
			h.status(p.HeadSHA(), "success")
			h.settled(3)
			before := h.wanted()["#7"].Handled
			row.contest(p)
			h.within("the look", func() bool { return h.wanted()["#7"].Handled > before })
			h.status(p.HeadSHA(), row.state)
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// A member whose membership is private says no more in a thread of prloop's than that something is not fixed: without webhooks a look tells that too (threats.md T611).
func TestContestedByAPlainAnswer(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h := openHall(t)
	mood := "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat >/dev/null\nif [ -e strict ]; then cat picky.json; else exec ./clean.sh </dev/null; fi\n"
	if err := errors.Join(os.WriteFile(filepath.Join(h.home, "mood.sh"), []byte(mood), 0o700), os.WriteFile(filepath.Join(h.home, "operator.yml"), []byte("gate: verdict\n"), 0o600),
		os.WriteFile(filepath.Join(h.home, "strict"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"))
	h.private("lisa")
	p := h.open(7, nil)
	s := h.serve("", "--poll", "--every", "1s", "--reviewers", "exec:"+filepath.Join(h.home, "mood.sh"))
	h.status(p.HeadSHA(), "failure")
	h.settled(1)
	if err := os.Remove(filepath.Join(h.home, "strict")); err != nil {
		t.Fatal(err)
	}
	guarded := strings.Replace(string(readShare(t, "head/stock.go")), "\treturn Count(shelves) / ", "\tif shelves == nil {\n\t\treturn 0\n\t}\n\treturn Count(shelves) / ", 1)
	if _, err := p.Push("contributor", "more", map[string]string{"stock.go": guarded}); err != nil {
		t.Fatal(err)
	}
	h.status(p.HeadSHA(), "success")
	h.settled(1)
	nextSecond()
	p.Reply(p.Threads()[0].ID, "lisa", "This is not fixed: it still divides by zero.")
	h.status(p.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// However many reviews of strangers follow, a request for changes counts (threats.md T528).
func TestContestedUnderAFlood(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	s := h.serve("", "--settle", "2s", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	p := h.open(7, h.forked())
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "success")
	h.settled(3)
	p.AddReview(forge.Review{Author: "mona", Association: "COLLABORATOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
	for range 50 {
		p.AddReview(forge.Review{Author: "stranger", Association: "NONE", State: "APPROVED", Body: "."})
	}
	h.status(p.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// One 404 about what somebody may do makes no stranger of them: not of who objects, and not of who asks (threats.md T529).
func TestOneNotFoundIsNoAnswer(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	h.private("lisa")
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	once := forge.Fault{Op: "GET /repos/{owner}/{repo}/collaborators/{username}/permission", Mode: forge.NotFound, Times: 1}
	p := h.open(7, h.forked())
	h.settled(2)
	h.forge.Fail(once)
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "success")
	h.settled(3)
	h.forge.Fail(once)
	objects(p, "lisa", "CONTRIBUTOR")
	h.status(p.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// What people who may block say in threads counts at whatever look comes next: also when it was said, or heard, while the pull request was closed or had another head,
// when an old word is edited, of which no event tells, and when another commit was reviewed since (threats.md T527, T531).
func TestContestedWhileNobodyReviews(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	seen := func(h *hall, state string) {
		h.within("it to be seen "+state, func() bool { w := h.wanted()["#7"]; return strings.HasPrefix(w.Seen, state+" ") && !w.Open() })
	}
	back := func(h *hall, p *forge.PullRequest, sha string) {
		fork, err := h.forge.AddRepo("contributor", "widgets")
		if err == nil {
			err = fork.MoveBranch("forked", sha)
		}
		if err != nil {
			h.t.Fatal(err)
		}
		h.within("the first commit to be the head", func() bool { return p.HeadSHA() == sha })
	}
	for name, contest := range map[string]func(*hall, *forge.PullRequest){
		"said while closed": func(h *hall, p *forge.PullRequest) {
			p.SetState("CLOSED")
			seen(h, "CLOSED")
			before := h.wanted()["#7"].Handled
			objects(p, "mona", "COLLABORATOR")
			h.within("a look", func() bool { w := h.wanted()["#7"]; return w.Handled > before && !w.Open() })
			p.SetState("OPEN")
		},
		"edited": func(h *hall, p *forge.PullRequest) {
			before := h.wanted()["#7"].Handled
			id := p.Reply(p.AddThread(forge.Thread{Path: "notes.txt", Line: 1, Comments: []*forge.Comment{{Author: "mona", Association: "COLLABORATOR", Body: "Nice."}}}), "mona", "Hm.")
			h.within("a look", func() bool { w := h.wanted()["#7"]; return w.Handled > before && !w.Open() })
			nextSecond()
			p.EditReply(id, "P0: this drops the database.")
			p.Label("contributor", "docs")
		},
		"another head that nobody reviewed": func(h *hall, p *forge.PullRequest) {
			sha := p.HeadSHA()
			if _, err := p.Push("contributor", "More", map[string]string{"more.txt": "x\n"}); err != nil {
				h.t.Fatal(err)
			}
			objects(p, "mona", "COLLABORATOR")
			h.within("a look", func() bool { w := h.wanted()["#7"]; return strings.Contains(w.Seen, p.HeadSHA()) && !w.Open() })
			back(h, p, sha)
		},
		"another head that was reviewed": func(h *hall, p *forge.PullRequest) {
			sha := p.HeadSHA()
			if _, err := p.Push("contributor", "More", map[string]string{"more.txt": "x\n"}); err != nil {
				h.t.Fatal(err)
			}
			p.Comment("mona", "!prloop review")
			h.status(p.HeadSHA(), "success")
			back(h, p, sha)
			h.within("a look", func() bool { w := h.wanted()["#7"]; return strings.Contains(w.Seen, sha) && !w.Open() })
			objects(p, "mona", "COLLABORATOR")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := openGated(t)
			s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
			p := h.open(7, h.forked())
			sha := p.HeadSHA()
			p.Comment("mona", "!prloop review")
			h.status(sha, "success")
			h.settled(3)
			contest(h, p)
			h.status(sha, "failure")
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// What was heard is heard once: no run is done again for it, whatever looks follow, and none for what prloop posts in threads and resolves there itself.
func TestWhatWasHeardIsHeardOnce(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	h.private("lisa")
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	p := h.open(7, h.forked())
	runs := func() (n int) {
		r := h.record()
		defer r.Close()
		all, err := r.ListRuns(t.Context(), store.Filter{Repo: "acme/widgets", PR: 7})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	look := func() {
		before := h.wanted()["#7"].Handled
		p.Label("contributor", fmt.Sprint("label-", before))
		h.within("a look", func() bool { w := h.wanted()["#7"]; return w.Handled > before && !w.Open() })
	}
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "failure", "success")
	h.settled(3)
	for i, who := range []string{"", "mona", "lisa", "contributor", "nobody"} {
		if who != "" {
			before := h.wanted()["#7"].Handled
			objects(p, who, map[string]string{"mona": "COLLABORATOR", "lisa": "CONTRIBUTOR"}[who])
			h.within("a look", func() bool { w := h.wanted()["#7"]; return w.Handled > before && !w.Open() })
			h.settled(3)
		}
		first := runs()
		look()
		look()
		if now := runs(); now != first || i == 0 && now != 1 {
			t.Errorf("%q: %d runs after what was said, and %d after two more looks", who, first, now)
		}
	}
	s.stop(t, syscall.SIGTERM)
}

// What somebody says on what was approved because somebody asked is carried until a look got through: past a look at which GitHub does not show the pull request, and one
// that fails for a fault in the rules of its base, whatever event follows (threats.md T496).
func TestWhatNoLookHeardIsCarried(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	t.Run("not shown", func(t *testing.T) {
		t.Parallel()
		h, _ := openGated(t)
		s := h.serve("", "--every", "1s", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
		p := h.open(7, h.forked())
		p.Comment("mona", "!prloop review")
		h.status(p.HeadSHA(), "success")
		h.settled(3)
		for range 2 { // no list finds it changed any more
			before := h.note()
			h.within("another list", func() bool { return h.note() != before })
		}
		h.forge.Fail(forge.Fault{Op: "PullRequest", Mode: forge.NotFound, Times: 1})
		objects(p, "mona", "COLLABORATOR")
		h.status(p.HeadSHA(), "failure")
		s.stop(t, syscall.SIGTERM)
	})
	t.Run("failed", func(t *testing.T) {
		t.Parallel()
		h, _ := openGated(t)
		h.private("lisa")
		s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
		p := h.open(7, h.forked())
		p.Comment("mona", "!prloop review")
		h.status(p.HeadSHA(), "success")
		h.settled(3)
		rules := func(text string) {
			all, err := h.repo.Branches()
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(h.home, "tree", ".reviewerc"), []byte(text))
			if err := h.forge.Commit(h.repo, "own", all["own"], "Rules", os.DirFS(filepath.Join(h.home, "tree"))); err != nil {
				t.Fatal(err)
			}
		}
		rules("reviewers: [\n")
		objects(p, "lisa", "CONTRIBUTOR")
		h.within("the look to fail", func() bool { w := h.wanted()["#7"]; return w.Outcome == "failed" && !w.Open() })
		rules("min_reviewers: 1\n")
		p.Label("contributor", "docs")
		h.status(p.HeadSHA(), "failure")
		s.stop(t, syscall.SIGTERM)
	})
}

// One commit of a fork is approved for two branches, each time because somebody asked. What is said of either in a thread counts, whichever was asked about last
// (threats.md T495).
func TestContestedBesideAnotherOfItsCommit(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	fork, err := h.forge.AddRepo("stranger", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	all, err := h.repo.Branches()
	if err == nil {
		err = h.forge.Commit(h.repo, "release", all["own"], "Release", os.DirFS(filepath.Join(h.home, "tree")))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	write(t, filepath.Join(h.home, "tree", "notes.txt"), []byte("Other notes.\n"))
	of := func(base, head string) func(*forge.PullSpec) {
		return func(s *forge.PullSpec) {
			s.Author, s.Fork = "stranger", "stranger/widgets"
			s.Base, s.BaseRef, s.HeadRef, s.Head = nil, base, head, os.DirFS(filepath.Join(h.home, "tree"))
		}
	}
	p := h.open(7, of("own", "asked"))
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "success")
	q := h.open(9, of("release", "asked2"))
	if err := fork.MoveBranch("asked2", p.HeadSHA()); err != nil {
		t.Fatal(err)
	}
	h.within("one commit", func() bool { return q.HeadSHA() == p.HeadSHA() })
	q.Comment("mona", "!prloop review")
	h.within("the second to be reviewed", func() bool { return reports(q) == 1 })
	h.settled(5)
	h.status(p.HeadSHA(), "success")
	objects(p, "mona", "COLLABORATOR")
	h.status(p.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// Who asks for a review that cannot begin is told so, and nobody hears from a comment what the operator's keys are. One answer that GitHub does not give makes no
// difference (threats.md T496).
func TestAskedForWhatCannotBegin(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(refuses.Close)
	h.env = append(h.env, "OPENAI_API_KEY=sk-expired-expired-expired-1", "OPENAI_BASE_URL="+refuses.URL, "PRLOOP_MODEL=gpt-4.1")
	s := h.serve("", "--reviewers", "builtin")
	p := h.open(7, h.forked())
	h.settled(3)
	h.forge.Fail(forge.Fault{Op: "PullRequest", Mode: forge.NotFound, Times: 1})
	p.Comment("mona", "!prloop review")
	h.within("the answer", func() bool {
		return slices.ContainsFunc(p.Comments(), func(c forge.Comment) bool {
			return strings.Contains(c.Body, "Nothing was done: the run failed to begin")
		})
	})
	s.stop(t, syscall.SIGTERM)
}

// What was approved because somebody asked, and nobody reviews without that, is no success any more when a collaborator requests changes, or opens a thread
// (threats.md T487).
func TestApprovedOnRequestAndContested(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, of := range map[string]func(*forge.PullSpec){
		"a fork's": func(s *forge.PullSpec) { s.Author, s.Fork = "stranger", "stranger/widgets" },
		"a draft":  func(s *forge.PullSpec) { s.Draft = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := openGated(t)
			if _, err := h.forge.AddRepo("stranger", "widgets"); err != nil {
				t.Fatal(err)
			}
			s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
			write(t, filepath.Join(h.home, "tree", "notes.txt"), []byte("Other notes.\n"))
			p := h.open(7, func(s *forge.PullSpec) {
				s.Base, s.BaseRef, s.HeadRef, s.Head = nil, "own", "asked", os.DirFS(filepath.Join(h.home, "tree"))
				of(s)
			})
			p.Comment("mona", "!prloop review")
			h.status(p.HeadSHA(), "success")
			h.settled(3)
			p.AddReview(forge.Review{Author: "mona", Association: "COLLABORATOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
			h.status(p.HeadSHA(), "failure")
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// A request for changes takes a success back also where no review of it can begin: the base's rules are faulty (threats.md T492).
func TestRefusedWhileNothingCanBeReviewed(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(p.HeadSHA(), "success")
	h.settled(1)
	write(t, filepath.Join(h.home, "tree", ".reviewerc"), []byte("reviewers: [\n"))
	if err := h.forge.Commit(h.repo, "own", p.BaseSHA(), "Faulty", os.DirFS(filepath.Join(h.home, "tree"))); err != nil {
		t.Fatal(err)
	}
	p.AddReview(forge.Review{Author: "mona", Association: "COLLABORATOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
	if said := h.status(p.HeadSHA(), "error"); said != "To be reviewed again: #8" {
		t.Errorf("%q", said)
	}
	s.stop(t, syscall.SIGTERM)
}

// What people say of what is approved is no review, and waits for no hour.
func TestContestedInQuietHours(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	reads := []string{"--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}
	s := h.serve("", reads...)
	h.status(p.HeadSHA(), "success")
	h.settled(1)
	s.stop(t, syscall.SIGTERM)
	s = h.serve("", append(reads, "--quiet-hours", quietNow())...)
	p.AddReview(forge.Review{Author: "mona", Association: "COLLABORATOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
	h.status(p.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// A stop does not keep the success of a commit whose verdict people contest; and it still holds after that (threats.md T486).
func TestStoppedAndContested(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(p.HeadSHA(), "success")
	p.Comment("mona", "!prloop stop")
	h.settled(2)
	p.AddReview(forge.Review{Author: "mona", Association: "COLLABORATOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
	h.status(p.HeadSHA(), "failure")
	h.settled(2)
	p.Label("mona", "docs")
	h.settle(p)
	if w := h.settled(2)["#8"]; !strings.Contains(w.Why, "mona asked for a stop") {
		t.Errorf("%+v", w)
	}
	s.stop(t, syscall.SIGTERM)
}

// A fork's pull request that a maintainer reviewed on a machine of their own, so that no record here tells of its success, keeps it while it stays as it is, and no
// longer (threats.md T465).
func TestAForkApprovedElsewhere(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	refusal := func(_ *testing.T, p *forge.PullRequest) {
		p.AddReview(forge.Review{Author: "mona", Association: "COLLABORATOR", State: "CHANGES_REQUESTED", Body: "This drops the database."})
	}
	for name, change := range map[string]func(*testing.T, *forge.PullRequest){
		"another base": func(t *testing.T, p *forge.PullRequest) { retarget(t, p, "main") },
		"a refusal":    refusal, "a refusal of what a machine with the same key approved": refusal,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := openGated(t)
			if strings.HasSuffix(name, "approved") {
				h.env = append(h.env, "PRLOOP_MARKER_KEY="+strings.Repeat("ab", 32))
			}
			p := h.open(18, h.forked())
			reads := []string{"--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}
			s := h.serve("", reads...)
			h.settled(2)
			env := h.env
			h.env = append(slices.Clone(env), "PRLOOP_STATE="+filepath.Join(h.home, "laptop"))
			h.prloop("", append(reads, "run", "18", "-R", "acme/widgets", "--no-fix")...)
			h.env = env
			h.status(p.HeadSHA(), "success")
			p.Label("mona", "docs")
			h.settled(2)
			h.status(p.HeadSHA(), "success")
			change(t, p)
			if said := h.status(p.HeadSHA(), "error"); said != "To be reviewed again: #18" {
				t.Errorf("%q", said)
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// A stranger who opens a fork's pull request with somebody else's commit takes nothing of that one back (threats.md T478), and has GitHub asked nothing (threats.md T482).
func TestAStrangersForkWithTheCommit(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	if _, err := h.forge.AddRepo("stranger", "widgets"); err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"), "--forks", "--author-limit", "1", "--every", "1s")
	h.status(own.HeadSHA(), "success")
	of := func(p *forge.PullSpec) { p.Author, p.Fork = "stranger", "stranger/widgets" }
	h.status(h.open(10, of).HeadSHA(), "success", "failure") // the turn of today
	before := len(h.repo.Statuses())
	other := h.open(9, func(p *forge.PullSpec) {
		of(p)
		p.Base, p.BaseRef, p.HeadRef, p.Head = nil, "own", "shared", os.DirFS(filepath.Join(h.home, "tree"))
	})
	if other.HeadSHA() != own.HeadSHA() {
		t.Fatal("the heads differ")
	}
	h.within("its review to wait", func() bool { return h.wanted()["#9"].Outcome == store.Waits })
	asked := len(h.forge.Log())
	h.within("three lists", func() bool {
		lists := 0
		for _, e := range h.forge.Log()[asked:] {
			if e.Path == "/repos/acme/widgets/pulls" {
				lists++
			}
		}
		return lists > 3
	})
	for _, e := range h.forge.Log()[asked:] {
		if fmt.Sprint(e.Variables["number"]) == "9" {
			t.Errorf("%s is asked of it", e.Op)
		}
	}
	if after := h.repo.Statuses(); len(after) != before {
		t.Errorf("%+v", after[before:])
	}
	s.stop(t, syscall.SIGTERM)
}

// A success stands on no pull request that nobody reviewed for its base branch, also where nobody reviews it without being asked (threats.md T480).
func TestApprovedBesideWhatNobodyReviews(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	forks := func(t *testing.T) (h *hall, of func(owner string) func(*forge.PullSpec)) {
		h, own := openGated(t)
		own.SetState("CLOSED")
		for _, owner := range []string{"contributor", "stranger"} {
			if _, err := h.forge.AddRepo(owner, "widgets"); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(h.home, "tree", "notes.txt"), []byte("Other notes.\n"))
		return h, func(owner string) func(*forge.PullSpec) {
			return func(s *forge.PullSpec) {
				s.Base, s.BaseRef, s.HeadRef, s.Head = nil, "own", "forked", os.DirFS(filepath.Join(h.home, "tree"))
				s.Author, s.Fork = owner, owner+"/widgets"
			}
		}
	}
	taken := func(h *hall, p *forge.PullRequest) {
		t.Helper()
		if said := h.status(p.HeadSHA(), "error"); said != fmt.Sprintf("Not reviewed yet: #%d", p.Number) {
			h.t.Errorf("%q", said)
		}
	}
	// approve has a fork's reviewed, beside another of its commit.
	approve := func(h *hall, p *forge.PullRequest, state string) {
		h.within("it to be seen", func() bool { return h.wanted()[fmt.Sprintf("#%d", p.Number)].Outcome != "" })
		p.Comment("mona", "!prloop review")
		h.status(p.HeadSHA(), "pending")
		h.status(p.HeadSHA(), state)
	}
	t.Run("its author's fork", func(t *testing.T) {
		t.Parallel()
		h, own := openGated(t)
		if _, err := h.forge.AddRepo("contributor", "widgets"); err != nil {
			t.Fatal(err)
		}
		s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
		h.status(own.HeadSHA(), "success")
		taken(h, h.open(9, func(s *forge.PullSpec) {
			s.Fork = "contributor/widgets"
			s.Base, s.BaseRef, s.HeadRef, s.Head = nil, "own", "shared", os.DirFS(filepath.Join(h.home, "tree"))
		}))
		s.stop(t, syscall.SIGTERM)
	})
	t.Run("no label", func(t *testing.T) {
		t.Parallel()
		h, own := openGated(t)
		own.Label("mona", "prloop")
		s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"), "--label", "prloop")
		h.status(own.HeadSHA(), "success")
		other := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
		taken(h, other)
		h.settle(own)
		if said := h.status(own.HeadSHA(), "failure"); said != "#9 has the same commit and is not approved: have it reviewed, or close it. By itself: Approved" {
			t.Errorf("%q", said)
		}
		other.SetState("CLOSED")
		h.status(own.HeadSHA(), "success")
		s.stop(t, syscall.SIGTERM)
	})
	t.Run("two accounts' forks", func(t *testing.T) {
		t.Parallel()
		h, of := forks(t)
		s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
		p := h.open(18, of("contributor"))
		approve(h, p, "success")
		approve(h, h.open(19, of("stranger")), "success")
		retarget(t, p, "main")
		taken(h, p)
		s.stop(t, syscall.SIGTERM)
	})
	t.Run("one that was refused is opened again", func(t *testing.T) {
		t.Parallel()
		h, of := forks(t)
		s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
		p := h.open(18, of("contributor"))
		retarget(t, p, "main")
		approve(h, p, "failure")
		p.SetState("CLOSED")
		h.within("it to be seen closed", func() bool { return strings.HasPrefix(h.wanted()["#18"].Seen, "CLOSED ") })
		approve(h, h.open(19, of("contributor")), "success")
		p.SetState("OPEN")
		taken(h, p)
		s.stop(t, syscall.SIGTERM)
	})
}

// A pull request that was reviewed for a branch without a gate never gets a status: no other with its commit waits for one (threats.md T481).
func TestBesideABranchWithoutAGate(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	write(t, filepath.Join(h.home, "tree", ".reviewerc"), []byte("gate: off\n"))
	if err := h.forge.Commit(h.repo, "free", own.BaseSHA(), "No gate", os.DirFS(filepath.Join(h.home, "tree"))); err != nil {
		t.Fatal(err)
	}
	other := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.BaseRef, s.HeadRef = nil, nil, "free", "shared" })
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(own.HeadSHA(), "success")
	h.settled(3)
	h.status(own.HeadSHA(), "success")
	before := len(h.repo.Statuses())
	other.Label("mona", "kind")
	h.settle(own)
	if after := h.repo.Statuses(); len(after) != before {
		t.Errorf("%+v", after[before:])
	}
	h.run("pause")
	retarget(t, other, "main")
	if said := h.status(own.HeadSHA(), "error"); said != "Not reviewed yet: #9" {
		t.Errorf("%q", said)
	}
	s.stop(t, syscall.SIGTERM)
}

// Nor does one wait for ever where another state folder has the record, as with jobs of GitHub Actions: what GitHub has as our word counts (threats.md T481).
func TestBesideInAnotherStateFolder(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	if err := h.repo.MoveBranch("staging", own.BaseSHA()); err != nil {
		t.Fatal(err)
	}
	h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.BaseRef, s.HeadRef = nil, nil, "staging", "shared" })
	for _, job := range []struct {
		number     int
		want, said string
	}{{8, "failure", "#9 has the same commit and is not approved"}, {9, "success", "Approved"}, {8, "success", "Approved"}} {
		if last, out := h.alone(job.number); last.State != job.want || !strings.HasPrefix(last.Description, job.said) {
			t.Errorf("%+v\n%s", last, out)
		}
	}
}

// A run of somebody's shell that lacks the settings of the server, dry or not, frees no pull request of the gate that the server reviewed it with (threats.md T488).
func TestBesideARunWithoutTheSettings(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for _, dry := range []bool{true, false} {
		t.Run(fmt.Sprint(dry), func(t *testing.T) {
			t.Parallel()
			h, own := openGated(t)
			reads := "exec:" + filepath.Join(h.home, "reads.sh")
			s := h.serve("", "--reviewers", reads)
			h.status(own.HeadSHA(), "success")
			other := h.open(10, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
			if h.settled(3); other.HeadSHA() != own.HeadSHA() {
				t.Fatal("the heads differ")
			}
			h.status(own.HeadSHA(), "failure")
			all := h.env
			h.env = slices.DeleteFunc(slices.Clone(all), func(e string) bool { return strings.HasPrefix(e, "PRLOOP_CONFIG=") })
			h.prloop("", "run", "10", "-R", "acme/widgets", "--no-fix", "--reviewers", reads, fmt.Sprintf("--dry-run=%t", dry))
			h.env = all
			h.settle(own)
			if said := h.status(own.HeadSHA(), "success", "failure"); !strings.HasPrefix(said, "#10 has the same commit") {
				t.Errorf("%q", said)
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// Two pull requests have one commit, and so one status: it is a success when both are approved, whatever is looked at last (threats.md T281).
func TestTwoPullsOfOneCommit(t *testing.T) {
	t.Parallel()
	h, own := openGated(t)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(own.HeadSHA(), "success")
	other := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
	if other.HeadSHA() != own.HeadSHA() {
		t.Fatal("the heads differ")
	}
	h.status(own.HeadSHA(), "failure")
	h.settle(own)
	if said := h.status(own.HeadSHA(), "failure"); !strings.HasPrefix(said, "#9 has the same commit") {
		t.Errorf("%q", said)
	}
	other.SetState("CLOSED")
	h.status(own.HeadSHA(), "success")
	other.SetState("OPEN")
	if said := h.status(own.HeadSHA(), "failure"); strings.HasPrefix(said, "#") {
		t.Errorf("reopened: %q", said)
	}
	s.stop(t, syscall.SIGTERM)
}

// Where the gate of a base branch is off, a review for it is one, though it says nothing of the commit: what happens later begins no other.
func TestABranchWithoutAGate(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	write(t, filepath.Join(h.home, "tree", ".reviewerc"), []byte("gate: off\n"))
	if err := h.forge.Commit(h.repo, "free", own.BaseSHA(), "No gate", os.DirFS(filepath.Join(h.home, "tree"))); err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(own.HeadSHA(), "success")
	h.run("pause")
	retarget(t, own, "free")
	h.status(own.HeadSHA(), "error")
	h.run("resume-queue")
	before := h.settled(1)["#8"]
	own.Label("mona", "kind")
	h.within("the event to be seen to", func() bool { w := h.wanted()["#8"]; return w.Handled > before.Handled && !w.Open() })
	if now := h.wanted()["#8"]; !strings.HasSuffix(now.Why, "was reviewed: run "+before.Run) {
		t.Errorf("run %s: %s", now.Run, now.Why)
	}
	s.stop(t, syscall.SIGTERM)
}

// A pull request that is approved is a success once the other one with its commit, which is not, has another head (threats.md T413).
func TestWhoLeavesACommitSpeaksForItNoMore(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	if err := h.repo.MoveBranch("twin", own.HeadSHA()); err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(own.HeadSHA(), "success")
	other := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "twin" })
	if said := h.status(own.HeadSHA(), "failure"); strings.HasPrefix(said, "#") {
		t.Errorf("the word of #9 is %q", said)
	}
	if _, err := other.Push("contributor", "more", map[string]string{"notes.txt": "Other.\n"}); err != nil {
		t.Fatal(err)
	}
	h.status(own.HeadSHA(), "success")
	s.stop(t, syscall.SIGTERM)
}

// Whoever may say something on a pull request has its verdict computed again, and no status said again: only what another has said since is
// said over (threats.md T389).
func TestNoStatusIsSaidTwice(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(own.HeadSHA(), "success")
	h.settled(1)
	said := h.repo.Statuses()
	for range 3 {
		h.settle(own)
	}
	if now := h.repo.Statuses(); len(now) != len(said) {
		t.Errorf("said again: %+v", now[len(said):])
	}
	h.repo.AddStatus(forge.Status{SHA: own.HeadSHA(), Context: "pr-reviewer", State: "error", Description: "Broken", Creator: "mona"})
	h.settle(own)
	h.status(own.HeadSHA(), "success")
	own.AddReview(forge.Review{Author: "mona", State: "CHANGES_REQUESTED", Body: "P0: this deletes data"})
	h.status(own.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// GitHub takes a thousand statuses of a commit: the last ones are for what takes a success back, and once there are no more that is said and stops
// nothing (threats.md T389).
func TestStatusesRunOut(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	run := func(args ...string) string {
		return h.prloop("", append([]string{"run", "8", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}, args...)...)
	}
	fill := func(n int) {
		for len(h.repo.Statuses()) < n {
			h.repo.AddStatus(forge.Status{SHA: own.HeadSHA(), Context: "pr-reviewer", State: "error", Description: "Superseded", Creator: "octocat"})
		}
	}
	fill(898)
	run()
	h.status(own.HeadSHA(), "success")
	run()
	if n := len(h.repo.Statuses()); n != 900 {
		t.Errorf("%d statuses, want 900", n)
	}
	out := run("--force")
	if said := h.status(own.HeadSHA(), "failure"); !strings.HasPrefix(said, "The commit has 900 statuses or more, and GitHub takes 1,000: push a new one. By itself: ") {
		t.Errorf("%q\n%s", said, out)
	}
	run()
	if n := len(h.repo.Statuses()); n != 902 {
		t.Errorf("%d statuses, want 902", n)
	}
	fill(forge.MaxStatuses)
	if out = run("--force"); !strings.Contains(out, "the commit status pr-reviewer is not set") || !strings.Contains(out, "push a new one") || !strings.Contains(out, "outcome: converged") {
		t.Error(out)
	}
}

// A run that is interrupted right before its success, and gone on with after another pull request with the commit has failed, does not say the success
// (threats.md T281).
func TestBesideIsAskedAgain(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	review := func(armed, number string) string {
		return h.prloop(armed, "run", number, "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	}
	said := review("outbox: before intent=kill@2", "8")
	if titles := titles(own); !strings.Contains(titles, "approved") {
		t.Fatalf("it was killed before it had approved: %s\n%s", said, titles)
	}
	run := runID.FindString(h.prloop("", "runs", "-R", "acme/widgets", "--json", "run"))
	other := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
	if other.HeadSHA() != own.HeadSHA() {
		t.Fatal("the heads differ")
	}
	review("", "9")
	h.status(own.HeadSHA(), "failure")
	out := h.prloop("", "resume", run)
	if said := h.status(own.HeadSHA(), "failure"); !strings.HasPrefix(said, "#9 has the same commit") {
		t.Errorf("%q\n%s", said, out)
	}
}

// The same where the repository was renamed in between (threats.md T281).
func TestBesideAfterARename(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
	reads := filepath.Join(h.home, "reads.sh")
	h.prloop("", "run", "9", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+reads)
	h.status(own.HeadSHA(), "failure")
	h.repo.Rename("acme", "gizmos")
	out := h.prloop("", "run", "8", "-R", "acme/gizmos", "--no-fix", "--reviewers", "exec:"+reads)
	if all := h.repo.Statuses(); all[len(all)-1].State != "failure" || !strings.HasPrefix(all[len(all)-1].Description, "#9 has the same commit") {
		t.Errorf("%+v\n%s", all[len(all)-1], out)
	}
}

// A success that was decided and not sent is not sent once the pull request has another base branch, whoever goes on with the run (threats.md T410).
func TestDecidedForAnotherBranch(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, goesOn := range map[string]func(h *hall, run, reads string) string{
		"resume": func(h *hall, run, _ string) string { return h.prloop("", "resume", run) },
		"another run": func(h *hall, _, reads string) string {
			return h.prloop("", "run", "9", "-R", "acme/widgets", "--no-fix", "--reviewers", reads)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, own := openGated(t)
			h.open(9, nil)
			reads := "exec:" + filepath.Join(h.home, "reads.sh")
			h.prloop("outbox: after intent=kill@2", "run", "8", "-R", "acme/widgets", "--no-fix", "--reviewers", reads)
			if said := titles(own); !strings.Contains(said, "approved") {
				t.Fatal(said)
			}
			run := runID.FindString(h.prloop("", "runs", "-R", "acme/widgets", "--json", "run"))
			retarget(t, own, "main")
			out := goesOn(h, run, reads)
			if said := h.status(own.HeadSHA(), "failure"); said != "#8 is to be merged into another branch now. By itself: Approved" {
				t.Errorf("%q\n%s", said, out)
			}
		})
	}
}

// What was approved for another base branch than the pull request has now is not approved (threats.md T281).
func TestBesideForAnotherBase(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	review := func(number string) string {
		return h.prloop("", "run", number, "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	}
	review("8")
	h.status(own.HeadSHA(), "success")
	if err := own.Retarget("main"); err != nil {
		t.Fatal(err)
	}
	h.open(10, func(s *forge.PullSpec) { s.Base, s.Head, s.BaseRef, s.HeadRef = nil, nil, "own", "shared" })
	out := review("10")
	if all := h.repo.Statuses(); all[len(all)-1].State != "failure" || !strings.HasPrefix(all[len(all)-1].Description, "#8 has the same commit") {
		t.Errorf("%+v\n%s", all[len(all)-1], out)
	}
}

// A pull request whose run was interrupted is closed, and another one with its commit is approved: when the run goes on it ends and says nothing of the commit
// (threats.md T281).
func TestAClosedPullSaysNothingOfASharedCommit(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	reads := filepath.Join(h.home, "reads.sh")
	closed := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared" })
	h.prloop("consensus: decided=kill", "run", "9", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+reads)
	run := runID.FindString(h.prloop("", "runs", "-R", "acme/widgets", "--json", "run"))
	closed.SetState("CLOSED")
	out := h.prloop("", "run", "8", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+reads)
	said := h.repo.Statuses()
	if said[len(said)-1].State != "success" {
		t.Fatalf("%+v\n%s", said, out)
	}
	if out = h.prloop("", "resume", run); !strings.Contains(out, "outcome: superseded") {
		t.Error(out)
	}
	if now := h.repo.Statuses(); len(now) != len(said) {
		t.Errorf("it says %+v", now[len(said):])
	}
}

// A success that was decided and not sent, under a name that the repository has again, is not sent over what was said under another name (threats.md T281).
func TestRenamedThereAndBack(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h := openHall(t)
	for name, text := range map[string]string{
		"operator.yml": "gate: verdict\n", "mood.sh": "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat >/dev/null\nif [ -e strict ]; then cat picky.json; else exec ./clean.sh </dev/null; fi\n",
	} {
		if err := os.WriteFile(filepath.Join(h.home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"))
	h.open(7, nil)
	h.open(8, nil)
	review := func(armed, repo, number string) string {
		return h.prloop(armed, "run", number, "-R", repo, "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "mood.sh"))
	}
	out := review("outbox: after intent=kill@2", "acme/widgets", "7")
	if err := os.WriteFile(filepath.Join(h.home, "strict"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.repo.Rename("acme", "gizmos")
	out += review("", "acme/gizmos", "7")
	h.repo.Rename("acme", "widgets")
	before := h.repo.Statuses()
	out += review("", "acme/widgets", "8")
	for _, s := range h.repo.Statuses()[len(before):] {
		if s.State == "success" {
			t.Errorf("%+v\n%s", s, out)
		}
	}
	if last := before[len(before)-1]; last.State != "failure" {
		t.Errorf("the newer run said %+v\n%s", last, out)
	}
}

// A run whose repository is renamed while its reviewers are at work comes to an end, and the next one is not held up by what it left (threats.md T162).
func TestRenamedUnderWay(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h := openHall(t)
	for name, text := range map[string]string{
		"operator.yml": "gate: verdict\n", "waits.sh": "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat >/dev/null\ntouch asked\nuntil [ -e free ]; do sleep 0.1; done\nexec ./clean.sh </dev/null\n",
	} {
		if err := os.WriteFile(filepath.Join(h.home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"))
	h.open(7, nil)
	ended := make(chan string)
	go func() {
		ended <- h.prloop("", "run", "7", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "waits.sh"))
	}()
	h.within("the reviewer to be asked", func() bool {
		_, err := os.Stat(filepath.Join(h.home, "asked"))
		return err == nil
	})
	h.repo.Rename("acme", "gizmos")
	if err := os.WriteFile(filepath.Join(h.home, "free"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := <-ended; !strings.Contains(out, "outcome: failed") {
		t.Errorf("it has not ended: %s", out)
	}
}

// A head that comes back is approved in words again: what people read last is not what was said of another one.
func TestAHeadThatComesBack(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h := openHall(t)
	mood := "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat >/dev/null\nif [ -e strict ]; then cat picky.json; else exec ./clean.sh </dev/null; fi\n"
	if err := os.WriteFile(filepath.Join(h.home, "mood.sh"), []byte(mood), 0o700); err != nil {
		t.Fatal(err)
	}
	p := h.open(7, nil)
	first := p.HeadSHA()
	review := func() string {
		return h.prloop("", "run", "7", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "mood.sh"))
	}
	review()
	if _, err := p.Push("contributor", "more", map[string]string{"notes.txt": "more\n"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.home, "strict"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	review()
	if got, want := titles(p), "approved (collapsed)\nchanges requested · 1 to fix\n"; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	if err := errors.Join(os.Remove(filepath.Join(h.home, "strict")), h.repo.MoveBranch("topic-7", first)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and once
		out := review()
		if got, want := titles(p), "approved (collapsed)\nchanges requested · 1 to fix (collapsed)\napproved\n"; got != want {
			t.Errorf("%q, want %q\n%s", got, want, out)
		}
	}
}

// Nor is it approved by what was answered before one of its reviewers raised a P1 that is open: that one is asked again (threats.md T411).
func TestAHeadThatComesBackWithAnOpenThread(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h := openHall(t)
	mood := "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat >/dev/null\nif [ -e strict ]; then cat picky.json; else exec ./clean.sh </dev/null; fi\n"
	if err := errors.Join(os.WriteFile(filepath.Join(h.home, "mood.sh"), []byte(mood), 0o700), os.WriteFile(filepath.Join(h.home, "operator.yml"), []byte("gate: verdict\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"))
	p := h.open(7, nil)
	first := p.HeadSHA()
	review := func() string {
		return h.prloop("", "run", "7", "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "mood.sh"))
	}
	review()
	h.status(first, "success")
	if _, err := p.Push("contributor", "more", map[string]string{"notes.txt": "more\n"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.home, "strict"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	review()
	if err := h.repo.MoveBranch("topic-7", first); err != nil {
		t.Fatal(err)
	}
	review()
	h.status(first, "failure")
	if out := review(); !strings.Contains(out, "answered before") { // and once
		t.Error(out)
	}
}

// prloop runs a command with a failpoint armed.
func (h *hall) prloop(armed string, args ...string) string {
	cmd := exec.Command("prloop", args...)
	cmd.Env, cmd.Dir = append(slices.Clip(h.env), "PRLOOP_FAILPOINT="+armed), h.home
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// The author of a fork that is contested closes it while agents are at work, and opens it again under another title: from then on the bounds of how often hold, and no success is left
// (threats.md T547).
func TestContestedAndOvertaken(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	write(t, filepath.Join(h.home, "slow.sh"), []byte("#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho >>began\n[ -e wait ] && sleep 2\nexec ./reads.sh\n"))
	if err := os.Chmod(filepath.Join(h.home, "slow.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	asked := func() int { data, _ := os.ReadFile(filepath.Join(h.home, "began")); return len(data) }
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "slow.sh"), "--author-limit", "2")
	p := h.open(7, h.forked())
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "success")
	h.settled(3)
	write(t, filepath.Join(h.home, "wait"), nil)
	looked := func(change func()) store.Wanted {
		t.Helper()
		before := h.wanted()["#7"].Handled
		change()
		h.within("a look", func() bool { w := h.wanted()["#7"]; return w.Handled > before && !w.Open() })
		return h.wanted()["#7"]
	}
	looked(func() { p.SetState("CLOSED") })
	objects(p, "mona", "COLLABORATOR")
	held := func() bool { return strings.Contains(h.wanted()["#7"].Why, "has had 2 reviews today") }
	for i := range 4 {
		before := asked()
		p.Retitle(fmt.Sprint("Another title ", i)) // for which agents are asked anew
		p.SetState("OPEN")
		h.within("a review, or the limit", func() bool { return asked() > before || held() })
		if held() {
			break
		}
		looked(func() { p.SetState("CLOSED") })
	}
	if !held() {
		t.Errorf("agents were asked %d times: %+v", asked(), h.wanted()["#7"])
	}
	h.status(p.HeadSHA(), "error")
	s.stop(t, syscall.SIGTERM)
}
