package effects_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// A row is one kind of effect in the suite.
type row struct {
	// kind is the kind as a process makes it, with the fake of its API: a few lines around take and list.
	kind func(g *github) effects.Kind
	// payload is what it sends in the run and under the nonce given.
	payload func(run, nonce string) string
}

// effect is the nth effect of the kind; every process of its run comes to the same.
func (r row) effect(n int) effects.Effect {
	run, nonce := fmt.Sprint("run-", n), fmt.Sprintf("%032x-1", n)
	return effects.Effect{Key: run, Nonce: nonce, Run: run, Target: review.Target{Repo: repo, PR: 7}, Head: "abc", Payload: r.payload(run, nonce), Since: time.Unix(1_800_000_000, 0)}
}

// suite is a row and the database of all its worlds.
type suite struct {
	row
	store  *store.Store
	worlds int
}

var (
	repo = review.Repo{Host: "github.com", Owner: "octo", Name: "demo"}
	bot  = review.Person{Login: "prloop-bot", ID: 42}
	mona = review.Person{Login: "mona", ID: 43}
	// stranger copies what it sees.
	stranger = review.Person{Login: "mallory", ID: 7}
)

// thing is what one call left on GitHub.
type thing struct {
	id   int
	by   review.Person
	text string
	// shown is when lists begin to have it.
	shown time.Time
}

func (x thing) ref() string {
	return fmt.Sprint("https://github.com/octo/demo/pull/7#issuecomment-", x.id)
}

// github is the other side of every kind, and the clock: it keeps what calls leave there, and goes wrong as it is told to.
type github struct {
	now    time.Time
	slept  time.Duration
	viewer review.Person
	things []thing
	calls  int
	// faults are what the next calls do, readings what the next lists do; after that all goes well.
	faults   []func(g *github, arrive func() string) (string, error)
	readings []func([]thing) []thing
	// hidden is how long a thing is in no list.
	hidden time.Duration
	// late is what GitHub is still at work on, and when it is done.
	late map[time.Time]func() string
}

// take is one call that writes. Nobody hears its answer when ctx ends before.
func (g *github) take(ctx context.Context, text string) (ref string, err error) {
	g.calls++
	by := g.viewer
	f := well
	if len(g.faults) > 0 {
		f, g.faults = g.faults[0], g.faults[1:]
	}
	ref, err = f(g, func() string { return g.add(by, text) })
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return ref, err
}

func (g *github) add(by review.Person, text string) string {
	g.things = append(g.things, thing{len(g.things) + 1, by, text, g.now.Add(g.hidden)})
	return g.things[len(g.things)-1].ref()
}

// list is one reading of all there is.
func (g *github) list() (out []thing) {
	for _, x := range g.things {
		if !x.shown.After(g.now) {
			out = append(out, x)
		}
	}
	if len(g.readings) > 0 {
		out = g.readings[0](out)
		g.readings = g.readings[1:]
	}
	return out
}

func (g *github) sleep(ctx context.Context, d time.Duration) error {
	g.slept += d
	g.now = g.now.Add(d)
	for at, arrive := range g.late {
		if !at.After(g.now) {
			arrive()
			delete(g.late, at)
		}
	}
	return ctx.Err()
}

// ours are the things that are not a stranger's.
func (g *github) ours() (out []thing) {
	for _, x := range g.things {
		if x.by != stranger {
			out = append(out, x)
		}
	}
	return out
}

// What can become of a call.
type fault = func(g *github, arrive func() string) (string, error)

var (
	errLost = errors.New("no answer")
	// errKilled is what a process dies of.
	errKilled = errors.New("killed")
)

func well(_ *github, arrive func() string) (string, error) { return arrive(), nil }
func lost(_ *github, arrive func() string) (string, error) { arrive(); return "", errLost }
func never(*github, func() string) (string, error)         { return "", errLost }
func mute(_ *github, arrive func() string) (string, error) { arrive(); return "", nil }
func refused(*github, func() string) (string, error) {
	return "", effects.NotSent(errors.New("HTTP 403"))
}
func withheld(*github, func() string) (string, error) {
	return "", &effects.WithheldError{Why: "not now"}
}
func waited(*github, func() string) (string, error)               { return "", waitedError{} }
func killedBefore(*github, func() string) (string, error)         { panic(errKilled) }
func killedAfter(_ *github, arrive func() string) (string, error) { arrive(); panic(errKilled) }

// waitedError is that of a call that had to wait and was not made.
type waitedError struct{}

func (waitedError) Error() string { return "waited" }
func (waitedError) Waited() bool  { return true }

// slow is a call that GitHub finishes as late as it can.
func slow(end fault) fault {
	return func(g *github, arrive func() string) (string, error) {
		g.late = map[time.Time]func() string{g.now.Add(10 * time.Second): arrive}
		return end(g, func() string { return "" })
	}
}

// copied is a call that never arrives while a stranger pastes its text.
func copied(g *github, arrive func() string) (string, error) {
	arrive()
	g.things[len(g.things)-1].by = stranger
	return "", errLost
}

// world is one effect on its way, by the processes of one run, one after the other.
type world struct {
	t *testing.T
	*github
	*suite
	effect effects.Effect
	// overtaken is why the pull request is not what it was; asked is called when that is asked.
	overtaken string
	asked     func()
	lease     *store.Lease
	ctx       context.Context
}

func (s *suite) world(t *testing.T, faults ...fault) *world {
	s.worlds++
	w := &world{
		t: t, suite: s, effect: s.row.effect(s.worlds), ctx: t.Context(), asked: func() {},
		github: &github{now: time.Unix(1_800_000_000, 0), viewer: bot, faults: faults},
	}
	if err := s.store.CreateRun(w.ctx, store.Run{ID: w.effect.Run, Target: w.effect.Target}); err != nil {
		t.Fatal(err)
	}
	return w
}

// held is the store's outbox under the run's lease, as the program has it.
type held struct {
	*store.Store
	lease *store.Lease
}

func (h held) Sending(ctx context.Context, nonce string) error {
	return h.Store.Sending(ctx, nonce, h.lease)
}

// process is one process of the run, until it ends or is killed. at, if it is set, is called at every failpoint.
func (w *world) process(at func(name string) error) (done effects.Done, err error) {
	w.t.Helper()
	if w.lease, err = w.store.Lease(w.t.Context(), "pull", w.effect.Run, time.Minute); err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		failpoint.Arm(nil)
		if r := recover(); r == errKilled {
			err = errKilled
		} else if r != nil {
			panic(r)
		}
		if err := w.lease.Release(w.t.Context()); err != nil {
			w.t.Error(err)
		}
	}()
	failpoint.Arm(at)
	d := effects.Delivery{Outbox: held{w.store, w.lease}, Sleep: w.sleep, Overtaken: func(context.Context) (string, error) {
		w.asked()
		return w.overtaken, nil
	}}
	e := w.effect
	e.As = w.viewer
	return d.Deliver(w.ctx, w.kind(w.github), e)
}

// settle resumes the run until it ends well, and holds what is left: an effect that is there exactly once, or, if it is
// repeatable, at least once; stored as done where it is; and no more calls.
func (w *world) settle() {
	w.t.Helper()
	var done effects.Done
	err := errKilled
	for tries := 0; err != nil; tries++ {
		if done, err = w.process(nil); tries == 4 {
			w.t.Fatalf("it does not end: %v", err)
		}
	}
	ours := w.ours()
	if len(ours) != 1 && !w.kind(w.github).Repeatable() || len(ours) == 0 {
		w.t.Fatalf("it is there %d times", len(ours))
	}
	there := false
	for _, x := range ours {
		there = there || x.ref() == done.Ref
	}
	if !there {
		w.t.Errorf("ref %q, want that of %v", done.Ref, ours)
	}
	calls := w.calls
	if again, err := w.process(nil); err != nil || again != done || w.calls != calls {
		w.t.Errorf("once more: %+v, %v, %d calls; want %+v and none", again, err, w.calls-calls, done)
	}
	if e := w.stored(); e.State != store.StateAcked || e.Ref != done.Ref {
		w.t.Errorf("stored as %s at %q", e.State, e.Ref)
	}
}

func (w *world) stored() store.Entry {
	w.t.Helper()
	all, err := w.store.Outbox(w.t.Context(), w.effect.Run)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("outbox %v, %v; want one effect", all, err)
	}
	return all[0]
}

// callFaults are the ends of a first call.
var callFaults = map[string]fault{
	"well": well, "with its answer lost": lost, "before it arrived": never,
	"without a ref": mute, "with a late arrival": slow(never), "refused": refused, "in a stranger's copy": copied,
	"in a kill before it arrived": killedBefore, "in a kill after it arrived": killedAfter, "in a kill with a late arrival": slow(killedBefore),
}

// TestKinds is what every kind promises (threats.md "Outbox", "Fault matrix").
func TestKinds(t *testing.T) {
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			db, err := store.Open(t.Context(), store.Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			s := &suite{row: r, store: db}
			for what, f := range callFaults {
				t.Run("the first call ends "+what, func(t *testing.T) { s.everyPoint(t, f) })
			}
			s.behaves(t)
		})
	}
}

// everyPoint stops the run at each failpoint it passes until its end, by a kill and by an error, and resumes it.
func (s *suite) everyPoint(t *testing.T, f fault) {
	s.world(t, f).settle()
	for n, name := 1, "first"; name != ""; n++ {
		name = ""
		for _, kill := range []bool{true, false} {
			w, passed := s.world(t, f), 0
			at := func(at string) error {
				if passed++; passed != n {
					return nil
				}
				if name = at; kill {
					panic(errKilled)
				}
				return errors.New("broken here")
			}
			// All processes count on, so that the points of recovery are reached too.
			for err := errLost; err != nil && passed < n; {
				_, err = w.process(at)
			}
			w.settle()
			if t.Failed() {
				t.Fatalf("stopped at point %d, %q (kill %v)", n, name, kill)
			}
		}
		if name == "" && n <= 5 {
			t.Errorf("%d points, and a call that ends well has 5", n-1)
		}
	}
}

// behaves is what else can happen.
func (s *suite) behaves(t *testing.T) {
	repeatable := s.kind(&github{}).Repeatable()
	t.Run("a refusal is not repeated, and needs no wait", func(t *testing.T) {
		w := s.world(t, refused)
		if _, err := w.process(nil); err == nil || w.calls != 1 || w.stored().State != store.StateAbsent {
			t.Errorf("%v after %d calls", err, w.calls)
		}
		w.settle()
		if w.slept != 0 || w.calls != 2 {
			t.Errorf("slept %v, %d calls", w.slept, w.calls)
		}
	})
	t.Run("after a wait it is asked again whether it is wanted", func(t *testing.T) {
		w := s.world(t, waited, waited, waited)
		asked := 0
		w.asked = func() { asked++ }
		w.settle()
		if asked != 4 || w.calls != 4 || w.slept != 0 {
			t.Errorf("asked %d times for %d calls, slept %v", asked, w.calls, w.slept)
		}
		late := s.world(t, waited)
		late.asked = func() {
			if late.calls == 1 {
				late.overtaken = "it is closed"
			}
		}
		if done, err := late.process(nil); err != nil || done.Overtaken == "" || late.calls != 1 || late.stored().State != store.StateAbsent {
			t.Errorf("%+v, %v after %d calls", done, err, late.calls)
		}
	})
	t.Run("what is withheld is not repeated, and may be sent later", func(t *testing.T) {
		w := s.world(t, withheld)
		if done, err := w.process(nil); err != nil || done.Overtaken != "not now" || w.calls != 1 || w.stored().State != store.StateAbsent {
			t.Errorf("%+v, %v after %d calls", done, err, w.calls)
		}
		w.settle()
		if w.slept != 0 || w.calls != 2 {
			t.Errorf("slept %v, %d calls", w.slept, w.calls)
		}
	})
	t.Run("given up after two tries", func(t *testing.T) {
		w := s.world(t, never, never)
		if _, err := w.process(nil); !errors.Is(err, errLost) || w.calls != effects.Tries {
			t.Errorf("%v after %d calls", err, w.calls)
		}
		w.settle()
	})
	t.Run("what may be there is waited for as long as GitHub may work on it", func(t *testing.T) {
		w := s.world(t, never)
		w.settle()
		if w.slept < effects.Quarantine || repeatable && w.slept != effects.Quarantine || w.slept > effects.Quarantine+effects.SettleTries*time.Second {
			t.Errorf("waited %v", w.slept)
		}
	})
	t.Run("it is shown late", func(t *testing.T) {
		for _, f := range []fault{lost, killedAfter} {
			w := s.world(t, f)
			w.hidden = 11 * time.Second
			w.settle()
		}
	})
	t.Run("a reading has it twice, or misses it", func(t *testing.T) {
		for _, reading := range []func([]thing) []thing{
			func(l []thing) []thing { return append(l, l...) },
			func(l []thing) []thing { return l[:len(l)-1] },
		} {
			w := s.world(t, lost)
			w.add(stranger, "hello")
			w.readings = append(w.readings, reading)
			w.settle()
		}
	})
	t.Run("readings that never settle prove nothing", func(t *testing.T) {
		w := s.world(t, killedAfter)
		w.hidden = time.Minute
		for n := range effects.SettleTries {
			w.readings = append(w.readings, func(l []thing) []thing { return append(l, thing{id: 100 + n, by: stranger}) })
		}
		_, _ = w.process(nil)
		if _, err := w.process(nil); errors.Is(err, effects.ErrUnsettled) == repeatable || !repeatable && w.calls != 1 {
			t.Errorf("%v after %d calls", err, w.calls)
		}
		w.now = w.now.Add(time.Minute)
		w.settle()
	})
	t.Run("the account changes between the tries", func(t *testing.T) {
		renamed := review.Person{Login: "prloop-app", ID: bot.ID}
		for _, c := range []struct {
			faults []fault
			as     []review.Person // who makes each call, and who resumes in the end
			want   review.Person   // whose it is
		}{
			{[]fault{killedAfter}, []review.Person{bot, mona}, bot},
			{[]fault{killedBefore}, []review.Person{bot, mona}, mona},
			{[]fault{killedBefore, killedAfter}, []review.Person{bot, mona, bot}, mona},
			{[]fault{killedAfter}, []review.Person{bot, renamed}, bot},
		} {
			w := s.world(t, c.faults...)
			for _, w.viewer = range c.as[:len(c.faults)] {
				_, _ = w.process(nil)
			}
			w.viewer = c.as[len(c.faults)]
			w.settle()
			if by := w.ours()[0].by; by != c.want {
				t.Errorf("it is by %v, want %v", by, c.want)
			}
		}
	})
	t.Run("the lease is lost", func(t *testing.T) {
		release := func(w *world) {
			if err := w.lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
		before := s.world(t)
		before.asked = func() { release(before); before.asked = func() {} }
		if _, err := before.process(nil); !errors.Is(err, store.ErrStale) || before.calls != 0 {
			t.Errorf("before the call: %v after %d calls", err, before.calls)
		}
		before.settle()
		for _, f := range []fault{never, lost} {
			w := s.world(t)
			w.faults = []fault{func(g *github, arrive func() string) (string, error) { release(w); return f(g, arrive) }}
			if _, err := w.process(nil); w.calls != 1 || len(w.ours()) == 0 && !errors.Is(err, store.ErrStale) {
				t.Errorf("during the call: %v after %d calls", err, w.calls)
			}
			w.settle()
		}
	})
	t.Run("the pull request is not what it was", func(t *testing.T) {
		w := s.world(t)
		w.overtaken = "it is merged by now"
		if done, err := w.process(nil); err != nil || done != (effects.Done{Overtaken: w.overtaken}) || w.calls != 0 {
			t.Errorf("%+v, %v after %d calls", done, err, w.calls)
		}
		after := s.world(t, never) // nor is it sent a second time
		after.asked = func() {
			if after.calls > 0 {
				after.overtaken = "it is merged by now"
			}
		}
		if done, err := after.process(nil); err != nil || done.Overtaken == "" || after.calls != 1 {
			t.Errorf("%+v, %v after %d calls", done, err, after.calls)
		}
	})
	t.Run("what was begun is finished when the process is told to stop", func(t *testing.T) {
		for _, end := range []fault{well, never} {
			w := s.world(t)
			ctx, stop := context.WithCancel(t.Context())
			w.ctx = ctx
			w.faults = []fault{func(g *github, arrive func() string) (string, error) { stop(); return end(g, arrive) }}
			done, err := w.process(nil)
			if w.calls != 1 || len(w.ours()) == 1 && (err != nil || done.Ref == "") || len(w.ours()) == 0 && !errors.Is(err, errLost) {
				t.Errorf("%+v, %v after %d calls", done, err, w.calls)
			}
			w.ctx = t.Context()
			w.settle()
		}
	})
}

// A write outlives its process's context, and by no more than it may take (threats.md T100).
func TestFinishing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		writing, done := effects.Finishing(ctx)
		defer done()
		stop(errKilled)
		time.Sleep(14 * time.Second)
		synctest.Wait()
		if writing.Err() != nil {
			t.Error("it ended with the process")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if context.Cause(writing) != errKilled {
			t.Errorf("it goes on: %v", context.Cause(writing))
		}
	})
}

// A kind that nobody holds to the suite is found.
func TestEveryKindHasARow(t *testing.T) {
	tested := map[string]bool{}
	for name, r := range rows {
		k := r.kind(&github{})
		tested[reflect.TypeOf(k).Name()] = true
		if k.Name() != name {
			t.Errorf("the row %q is of the kind %q", name, k.Name())
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Send" {
				kinds++
				if of := strings.TrimPrefix(fmt.Sprint(f.Recv.List[0].Type), "*"); !tested[of] {
					t.Errorf("the kind %s has no row", of)
				}
			}
		}
	}
	if kinds < len(rows) {
		t.Errorf("%d kinds were found", kinds)
	}
}
