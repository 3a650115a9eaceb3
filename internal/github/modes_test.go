package github_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/history"
	"github.com/prloop/prloop/review"
)

// everyMode runs each mode at each write; without it a test runs each mode at some.
var everyMode = flag.Bool("every-mode", false, "run every mode of the forge at every write")

// mode is one way in which GitHub fails, or lies, at one write and at what is read for it.
type mode struct {
	name   string
	faults []forge.Fault
	// happens is what people do right before the write arrives; happensLater before what is read after it.
	happens, happensLater func(b *bench)
	// api is true for what git cannot tell of, graphql for what only GraphQL does, git for what only a push meets.
	api, graphql, git bool
	// orphan is true where the pull request has no head repository afterwards.
	orphan bool
	// refused is true where the write is refused for good.
	refused bool
	// holds says what is wrong afterwards; nil where the history says it all.
	holds func(b *bench) string
}

// modes are those of the forge at the write, then at what is read after a write whose answer was lost, then what people do meanwhile.
func modes() (all []mode) {
	const pause = 40 * time.Second
	write := func(m forge.Mode) forge.Fault { return forge.Fault{Op: "write", Mode: m, Times: 1, After: pause} }
	for _, m := range []forge.Mode{forge.Unauthorized, forge.Forbidden, forge.NotFound, forge.InternalError, forge.BadGateway, forge.Unavailable, forge.ResetBefore, forge.BadGatewayAfter, forge.ResetAfter,
		forge.InternalErrorAfter, forge.UnavailableAfter, forge.HTML} {
		all = append(all, mode{name: string(m), faults: []forge.Fault{write(m)}})
	}
	for _, m := range []forge.Mode{forge.PrimaryLimit, forge.SecondaryLimit, forge.SecondaryLimitWait, forge.AbuseLimit, forge.AbuseLimitWait, forge.LastOfLimit, forge.Gone, forge.GoneLocked, forge.Conflict,
		forge.LockedConversation, forge.TooLong, forge.PendingReview, forge.BadLine, forge.SilentBefore, forge.SilentAfter, forge.SlowBody, forge.TruncatedJSON, forge.HTMLAfter, forge.RedirectElsewhere, forge.GzipBomb} {
		all = append(all, mode{name: string(m), faults: []forge.Fault{write(m)}, api: true})
	}
	for _, m := range []forge.Mode{forge.GraphQLErrors, forge.GraphQLErrorsAfter} {
		all = append(all, mode{name: string(m), faults: []forge.Fault{write(m)}, graphql: true})
	}
	for _, x := range []struct {
		name  string
		mode  forge.Mode
		after time.Duration
	}{{"a reset in the past", forge.PrimaryLimit, -time.Hour}, {"a reset in the far future", forge.PrimaryLimit, 100 * time.Hour}, {"a pause of five minutes", forge.SecondaryLimitWait, 5 * time.Minute}} {
		all = append(all, mode{name: x.name, faults: []forge.Fault{{Op: "write", Mode: x.mode, Times: 1, After: x.after}}, api: true})
	}
	for _, times := range []int{1, 3} {
		for _, m := range []forge.Mode{forge.NotFound, forge.BadGateway, forge.ResetBefore, forge.SecondaryLimitWait, forge.PrimaryLimit, forge.TruncatedJSON, forge.HTML, forge.SilentBefore, forge.DuplicateItems, forge.PageDrift} {
			read := forge.Fault{Op: "read", Mode: m, Times: times, After: pause}
			all = append(all, mode{name: fmt.Sprintf("the answer is lost, then %s, %d times", m, times), faults: []forge.Fault{write(forge.ResetAfter), read}, api: true})
		}
	}
	all = append(all, mode{name: "the answer is lost, then lists are stale for 9 s", faults: []forge.Fault{write(forge.ResetAfter), {Op: "read", Mode: forge.StaleList, After: 9 * time.Second, Count: 3}}},
		mode{name: "nothing arrived, and lists are stale for 9 s", faults: []forge.Fault{write(forge.ResetBefore), {Op: "read", Mode: forge.StaleList, After: 9 * time.Second, Count: 3}}},
		mode{name: "two answers are lost", faults: []forge.Fault{{Op: "write", Mode: forge.BadGateway, Times: 1}, {Op: "write", Mode: forge.BadGatewayAfter, Times: 1}}},
		mode{name: "a limit after a limit", faults: []forge.Fault{write(forge.SecondaryLimitWait), {Op: "write", Mode: forge.AbuseLimit, Times: 1}}, api: true})
	return slices.Concat(all, meanwhile(), pushed())
}

// meanwhile are things people do while a write is under way.
func meanwhile() []mode {
	again := func(name string, do func(b *bench)) []mode {
		return []mode{{name: name, happens: do, api: true}, {name: name + ", and the answer is lost", happens: do, faults: []forge.Fault{{Op: "write", Mode: forge.ResetAfter, Times: 1}}, api: true}}
	}
	return slices.Concat(
		again("it is closed", func(b *bench) { b.pull.SetState("CLOSED") }),
		again("it is merged", func(b *bench) { b.pull.SetState("MERGED") }),
		again("it becomes a draft", func(b *bench) { b.pull.SetDraft(true) }),
		again("it is locked", func(b *bench) { b.pull.Lock() }),
		again("the head moves", func(b *bench) {
			if err := b.Commit(b.repo, "topic", b.pull.HeadSHA(), "More", tree(fmt.Sprint("package main\n\nfunc main() {}\n// ", b.runs, "\n"))); err != nil {
				b.t.Error(err)
			}
		}),
		again("it is retargeted", func(b *bench) {
			if err := b.pull.Retarget("release"); err != nil {
				b.t.Error(err)
			}
		}),
		orphaned(again("the repository of the head branch is deleted", func(b *bench) { b.undo = append(b.undo, b.pull.DropFork()) })),
		again("the head branch is deleted", func(b *bench) {
			at := b.pull.HeadSHA()
			if err := b.repo.MoveBranch("topic", ""); err != nil {
				b.t.Error(err)
			}
			b.undo = append(b.undo, func() {
				if err := b.repo.MoveBranch("topic", at); err != nil {
					b.t.Error(err)
				}
			})
		}),
		withdrawn(again("the permission is dropped", func(b *bench) { b.repo.SetPermission("octocat", forge.Read) })),
		again("somebody copies our comments", func(b *bench) {
			for _, c := range b.pull.Comments() {
				if c.Author == "octocat" {
					b.pull.Comment("mallory", c.Body)
				}
			}
		}),
		[]mode{
			{name: "what it left is deleted before anybody looks", faults: []forge.Fault{{Op: "write", Mode: forge.ResetAfter, Times: 1}}, happensLater: func(b *bench) {
				for _, c := range b.pull.Comments() {
					if c.Author == "octocat" && forge.CommentID(c.ID) != b.comment {
						b.pull.DeleteComment(c.ID)
					}
				}
			}, api: true},
			{name: "what it left is edited before anybody looks", faults: []forge.Fault{{Op: "write", Mode: forge.ResetAfter, Times: 1}}, happensLater: func(b *bench) {
				for _, c := range b.pull.Comments() {
					if c.Author == "octocat" && forge.CommentID(c.ID) != b.comment {
						b.pull.EditComment(c.ID, c.Body+"\nYes.")
					}
				}
			}, api: true},
		})
}

// orphaned are modes that leave a pull request without a head repository.
func orphaned(all []mode) []mode {
	for i := range all {
		all[i].orphan = true
	}
	return all
}

// withdrawn are modes after which a write is refused for good, of git too.
func withdrawn(all []mode) []mode {
	for i := range all {
		all[i].refused, all[i].api = true, false
	}
	return all
}

// pushed are what GitHub and people do to a branch while it is pushed.
func pushed() (all []mode) {
	no := func(name string, do func(b *bench)) {
		all = append(all, mode{name: name, happens: do, git: true, refused: true})
	}
	for _, why := range []forge.PushRefusal{forge.ProtectedBranch, forge.RepositoryRule, forge.PushProtection, forge.SignatureRequired} {
		no("the push is refused: "+string(why), func(b *bench) { b.repo.RefusePushes(b.branch(), why) })
	}
	no("the repository is archived", func(b *bench) { b.repo.Archive(); b.undo = append(b.undo, b.repo.Unarchive) })
	move := func(to func(b *bench) string) func(b *bench) {
		return func(b *bench) {
			if err := b.repo.MoveBranch(b.branch(), to(b)); err != nil {
				b.t.Error(err)
			}
		}
	}
	gone := func(*bench) string { return "" }
	theirs := func(b *bench) string {
		if err := b.Commit(b.repo, "theirs", b.pull.BaseSHA(), "Theirs", tree(fmt.Sprint("package main\n\n// theirs ", b.runs, "\n"))); err != nil {
			b.t.Error(err)
		}
		b.theirs = b.heads()["theirs"]
		return b.theirs
	}
	at := func(b *bench, want string) string {
		if got := b.heads()[b.branch()]; got != want {
			return fmt.Sprintf("the branch is at %.10q, want %.10q", got, want)
		}
		return ""
	}
	kept := func(b *bench) string { // git may have sent it again on its own, before anybody came
		return at(b, cmp.Or(b.theirs, b.heads()["topic"]))
	}
	lost := []forge.Fault{{Op: "write", Mode: forge.ResetAfter, Times: 1}}
	nothing := []forge.Fault{{Op: "write", Mode: forge.ResetBefore, Times: 1}}
	return append(all,
		mode{name: "somebody pushes to the branch first", happens: move(theirs), git: true, refused: true, holds: kept},
		mode{name: "nothing arrived, and somebody pushes to the branch", faults: nothing, happensLater: move(theirs), git: true, refused: true, holds: kept},
		mode{name: "it arrived, and somebody replaces it before anybody looks", faults: lost, happensLater: move(theirs), git: true, refused: true, holds: kept},
		mode{name: "it arrived, and the branch is deleted before anybody looks", faults: lost, happensLater: move(gone), git: true, refused: true, holds: func(b *bench) string {
			if b.old == none {
				return at(b, b.heads()["topic"]) // it was to be new, and is
			}
			return at(b, "")
		}},
	)
}

// heads are where branches are.
func (b *bench) heads() map[string]string {
	heads, err := b.repo.Branches()
	if err != nil {
		b.t.Error(err)
	}
	return heads
}

// branch is the branch that a push of this trial is to.
func (b *bench) branch() string { return fmt.Sprint("prloop/pushed-", b.runs) }

// restore makes the pull request what it was.
func (b *bench) restore() {
	b.Heal()
	for _, undo := range slices.Backward(b.undo) {
		undo()
	}
	b.undo = nil
	for _, p := range b.repo.PullRequests() { // each that is open is looked at whenever a branch moves
		if p.Number > 8 {
			p.SetState("CLOSED")
		}
	}
	b.pull.SetState("OPEN")
	b.pull.SetDraft(false)
	b.pull.Unlock()
	if err := b.pull.Retarget("main"); err != nil {
		b.t.Error(err)
	}
	b.repo.SetPermission("octocat", forge.Write)
}

// trial has one write made under one mode, by the same process again and again until it is done or can never be, and gives its history.
func (b *bench) trial(w write, m mode) (h history.History, done effects.Done, err error) {
	b.runs++
	b.theirs = ""
	b.out.do(b.restore)
	time.Sleep(time.Hour) // nothing of the trial before goes on
	b.tick()
	c := b.client(b.t)
	if b.rig != nil {
		b.rig(b, c)
	}
	run, nonce := fmt.Sprint("run-", b.runs), fmt.Sprintf("%032x-1", b.runs)
	number := 7
	if w.words {
		number = 8
	}
	if err := b.store.CreateRun(b.t.Context(), store.Run{ID: run, Target: review.Target{Repo: widgets, PR: number}}); err != nil {
		b.t.Fatal(err)
	}
	e := effects.Effect{Key: run, Nonce: nonce, Run: run, Target: review.Target{Repo: widgets, PR: number}, Head: b.head(), Payload: w.payload(b, b.runs, nonce), Since: time.Now().Add(-time.Minute)}
	if e.As, err = c.Viewer(b.t.Context(), ""); err != nil {
		b.t.Fatal(err)
	}
	was, err := c.PullRequest(b.t.Context(), widgets, number)
	if err != nil {
		b.t.Fatal(err)
	}
	before := b.things()
	b.ghTime = time.Minute
	if slices.ContainsFunc(m.faults, func(f forge.Fault) bool {
		return slices.Contains([]forge.Mode{forge.SilentBefore, forge.SilentAfter, forge.SlowBody}, f.Mode)
	}) {
		b.ghTime = 3 * time.Second // it waits in the world's time for what takes the bubble's, in which nothing moves meanwhile
	}
	from, touched := len(b.Log()), len(b.Touches())
	for i, f := range m.faults {
		if i == 0 {
			f.Do = func() {
				if m.happens != nil {
					m.happens(b)
				}
				if m.happensLater != nil {
					b.Fail(forge.Fault{Op: "read", Times: 1, Do: func() { m.happensLater(b) }})
				}
			}
		}
		b.Fail(f)
	}
	if m.happens != nil && len(m.faults) == 0 {
		b.Fail(forge.Fault{Op: "write", Times: 1, Do: func() { m.happens(b) }})
	}
	lease, err := b.store.Lease(b.t.Context(), "pull", run, 1000*time.Hour)
	if err != nil {
		b.t.Fatal(err)
	}
	kind := w.kind(b, c)
	d := effects.Delivery{Outbox: leased{b.store, lease}, Sleep: sleep, Overtaken: func(ctx context.Context) (string, error) {
		now, err := c.PullRequest(ctx, widgets, number)
		switch {
		case err != nil:
			return "", err
		case now.State != was.State, now.HeadSHA != was.HeadSHA, now.BaseRef != was.BaseRef:
			return "it is not what it was", nil
		}
		return "", nil
	}}
	for wait := time.Minute; wait < 200*time.Hour; wait *= 2 {
		if done, err = d.Deliver(b.t.Context(), kind, e); err == nil {
			break
		}
		time.Sleep(wait)
	}
	if failed := lease.Release(b.t.Context()); failed != nil {
		b.t.Error(failed)
	}
	entries, failed := b.store.Outbox(b.t.Context(), run)
	if failed != nil {
		b.t.Fatal(failed)
	}
	h = history.History{Log: b.Log()[from:], Touches: b.Touches()[touched:], Login: "octocat", Before: before, After: b.things()}
	for _, entry := range entries {
		h.Claims = append(h.Claims, history.Claim{Kind: entry.Kind, Payload: entry.Payload, Head: entry.Head, Done: entry.State == store.StateAcked, Ref: entry.Ref})
	}
	return h, done, err
}

// head is the commit at the head of the pull request.
func (b *bench) head() (head string) {
	b.out.do(func() { head = b.pull.HeadSHA() })
	return head
}

// things are what stands on the forge.
func (b *bench) things() (all []history.Thing) {
	var err error
	b.out.do(func() { all, err = history.Things("github.com", b.repo) })
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

// leased is the store's outbox under the run's lease, as the program has it.
type leased struct {
	*store.Store
	lease *store.Lease
}

func (l leased) Sending(ctx context.Context, nonce string) error {
	return l.Store.Sending(ctx, nonce, l.lease)
}

// Every mode of the forge at every write the program has: nothing is made twice or lost, no request comes before the time GitHub named,
// writes come one at a time and a second apart, and none is repeated on the way (threats.md P1, P2, P13).
func TestEveryModeAtEveryWrite(t *testing.T) {
	all := modes()
	var ran atomic.Int64
	t.Run("each", func(t *testing.T) {
		for at, name := range slices.Sorted(maps.Keys(writes)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := writes[name]
				b := newBench(t)
				if w.pushes {
					b.clone()
				}
				synctest.Test(t, func(t *testing.T) {
					b.t = t
					b.furnish()
					defer b.close()
					for i, m := range all {
						if w.pushes && (m.api || m.graphql) || !w.pushes && m.git || m.graphql && !w.graphql || m.orphan && w.short || !*everyMode && (i+at)%4 != 0 {
							continue
						}
						ran.Add(1)
						h, done, err := b.trial(w, m)
						for _, breach := range h.Check() {
							t.Errorf("%s: %s", m.name, breach)
						}
						if err == nil && done.Ref == "" && done.Overtaken == "" {
							t.Errorf("%s: it ended as nothing", m.name)
						}
						if err != nil && !m.refused {
							t.Errorf("%s: it never ended well: %v", m.name, err)
						}
						if m.holds == nil {
							continue
						}
						if wrong := b.amiss(m); wrong != "" {
							t.Errorf("%s: %s", m.name, wrong)
						}
					}
				})
			})
		}
	})
	t.Logf("%d trials of %d modes at %d writes", ran.Load(), len(all), len(writes))
}

// amiss is what a mode says is wrong after its trial.
func (b *bench) amiss(m mode) (wrong string) {
	b.out.do(func() { wrong = m.holds(b) })
	return wrong
}
