package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// world is GitHub, the outbox and the clock in one: what is posted, what is remembered, what time it is.
type world struct {
	now  time.Time
	head string
	// state and base are the pull request's; open when empty.
	state, base string
	comments    []review.Comment
	stored      map[string]effects.Effect
	// fault is what the next posts do; after the list is used up they succeed.
	fault []func(w *world, body string) (string, error)
	calls int
	slept time.Duration
	// viewer is who is logged in; bot unless it is set.
	viewer review.Person
	// late are posts GitHub is at work on, by when they are done.
	late []lateComment
	// ahead is how far GitHub's clock is before ours.
	ahead time.Duration
}

// lateComment is a post that GitHub finishes after its sender has gone.
type lateComment struct {
	at   time.Time // on our clock
	body string
}

// pass lets time pass on all clocks.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.late = slices.DeleteFunc(w.late, func(c lateComment) bool {
		if c.at.After(w.now) {
			return false
		}
		w.add(c.body)
		return true
	})
}

// github is the time on GitHub's clock.
func (w *world) github() time.Time { return w.now.Add(w.ahead) }

// leap sets our clock, and leaves GitHub's alone.
func (w *world) leap(d time.Duration) {
	w.now, w.ahead = w.now.Add(d), w.ahead-d
	for i := range w.late {
		w.late[i].at = w.late[i].at.Add(d)
	}
}

var bot = review.Person{Login: "prloop-bot", ID: 42}

func (w *world) PullRequest(_ context.Context, repo review.Repo, n int) (review.PullRequest, error) {
	return review.PullRequest{Repo: repo, Number: n, URL: "https://github.com/o/r/pull/7", State: cmp.Or(w.state, open), HeadSHA: w.head, BaseRef: w.base}, nil
}

func (w *world) Discussion(context.Context, review.PullRequest) (review.Discussion, error) {
	return review.Discussion{Comments: w.comments}, nil
}
func (w *world) Viewer(context.Context, string) (review.Person, error) { return w.account(), nil }

func (w *world) account() review.Person {
	if w.viewer.Login != "" {
		return w.viewer
	}
	return bot
}

func (w *world) add(body string) string {
	n := len(w.comments) + 1
	c := review.Comment{ID: fmt.Sprint("C", n), URL: fmt.Sprint("https://github.com/o/r/pull/7#issuecomment-", n), Author: w.account(), Body: body, UpdatedAt: w.github()}
	w.comments = append(w.comments, c)
	return c.URL
}

func (w *world) Post(_ context.Context, _ review.PullRequest, body sanitize.Text) (string, error) {
	w.calls++
	if len(w.fault) > 0 {
		f := w.fault[0]
		w.fault = w.fault[1:]
		return f(w, body.String())
	}
	return w.add(body.String()), nil
}

func (w *world) CommentsSince(_ context.Context, _ review.PullRequest, since time.Time) ([]review.Comment, error) {
	var out []review.Comment
	for _, c := range w.comments {
		if !c.UpdatedAt.Before(since) {
			out = append(out, c)
		}
	}
	return out, nil
}

func (w *world) Intent(_ context.Context, e effects.Effect) (effects.Effect, error) {
	if w.stored == nil {
		w.stored = map[string]effects.Effect{}
	}
	if old, ok := w.stored[e.Nonce]; ok {
		if old.SentAt.IsZero() {
			old.As = e.As
			w.stored[e.Nonce] = old
		}
		return old, nil
	}
	w.stored[e.Nonce] = e
	return e, nil
}

func (w *world) change(nonce string, f func(*effects.Effect)) {
	if e, ok := w.stored[nonce]; ok { // a stage remembers none
		f(&e)
		w.stored[nonce] = e
	}
}

func (w *world) Sending(_ context.Context, nonce string) error {
	w.change(nonce, func(e *effects.Effect) { e.SentAt = w.now })
	return nil
}

func (w *world) Absent(_ context.Context, nonce string) error {
	w.change(nonce, func(e *effects.Effect) { e.SentAt = time.Time{} })
	return nil
}

func (w *world) Ack(_ context.Context, nonce, ref string) error {
	w.change(nonce, func(e *effects.Effect) { e.Ref = ref })
	return nil
}

func (w *world) loop() *Loop {
	return &Loop{
		Forge: w, Poster: w, Outbox: w, MarkerKey: []byte("0123456789abcdef0123456789abcdef"),
		Nonce: func() string { return "00112233445566778899aabbccddeeff" }, Now: func() time.Time { return w.now },
		Sleep: func(_ context.Context, d time.Duration) error {
			if d > 0 {
				w.slept += d
				w.pass(d)
			}
			return nil
		},
		Emit: func(review.Event) {},
	}
}

// inline runs steps without storing them: what publish does inside a step is under test here.
type inline struct{}

func (inline) Do(ctx context.Context, _ string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	return fn(ctx)
}
func (inline) All(context.Context, []Step) ([][]byte, []error) { panic("not used by publish") }

type refusal struct{ error }

func (refusal) Refused() bool { return true }

func TestPublishPostsExactlyOnce(t *testing.T) {
	lost := func(w *world, body string) (string, error) { w.add(body); return "", errors.New("HTTP 502") }
	never := func(*world, string) (string, error) { return "", errors.New("HTTP 503") }
	denied := func(*world, string) (string, error) { return "", refusal{errors.New("HTTP 403")} }
	for _, c := range []struct {
		what      string
		fault     []func(*world, string) (string, error)
		comments  int
		calls     int
		wantError bool
	}{
		{"nothing goes wrong", nil, 1, 1, false},
		{"the answer is lost after GitHub committed (threats.md K15)", []func(*world, string) (string, error){lost}, 1, 1, false},
		{"the call never arrived: it is sent again after the quarantine (threats.md K12)", []func(*world, string) (string, error){never}, 1, 2, false},
		{"it never arrives: given up after two tries", []func(*world, string) (string, error){never, never}, 0, 2, true},
		{"a refusal is not repeated", []func(*world, string) (string, error){denied}, 0, 1, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := &world{now: time.Unix(1_800_000_000, 0), head: headSHA, fault: c.fault}
			in := round()
			urls, newer, err := w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
			if (err != nil) != c.wantError || newer != "" {
				t.Fatalf("err %v, newer head %q", err, newer)
			}
			if len(w.comments) != c.comments || w.calls != c.calls {
				t.Errorf("%d comments after %d calls, want %d after %d", len(w.comments), w.calls, c.comments, c.calls)
			}
			if err == nil && (len(urls) != 1 || urls[0] != w.comments[0].URL) {
				t.Errorf("urls %v", urls)
			}
			if c.calls == 2 && w.slept < effects.Quarantine {
				t.Errorf("sent again after %v, before GitHub had to be done (%v)", w.slept, effects.Quarantine)
			}
		})
	}
}

func TestPublishAfterACrashFindsItsOwnComment(t *testing.T) {
	w := &world{now: time.Unix(1_800_000_000, 0), head: headSHA}
	in := round()
	crash := func(w *world, body string) (string, error) { w.add(body); panic("killed") }
	w.fault = []func(*world, string) (string, error){crash}
	func() {
		defer func() { _ = recover() }()
		_, _, _ = w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
	}()
	w.now = w.now.Add(time.Hour)
	urls, _, err := w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
	if err != nil || len(w.comments) != 1 || len(urls) != 1 {
		t.Fatalf("%d comments, urls %v, err %v; want the one that was there", len(w.comments), urls, err)
	}
}

// TestPublishBesideAWrongClock is threats.md T96: GitHub compares times of its own, whatever time it is here.
func TestPublishBesideAWrongClock(t *testing.T) {
	lost := func(w *world, body string) (string, error) { w.add(body); return "", errors.New("HTTP 502") }
	killed := func(w *world, body string) (string, error) { w.add(body); panic("killed") }
	for _, ahead := range []time.Duration{-24 * time.Hour, -time.Hour, -2 * time.Minute, 0, time.Hour, 24 * time.Hour} {
		for _, leap := range []time.Duration{-24 * time.Hour, -time.Hour, 0, time.Hour, 24 * time.Hour} {
			for what, fault := range map[string]func(*world, string) (string, error){"the answer is lost": lost, "killed": killed} {
				t.Run(fmt.Sprintf("%s, GitHub's clock %v ahead, then ours leaps %v", what, ahead, leap), func(t *testing.T) {
					w := &world{now: time.Unix(1_800_000_000, 0), head: headSHA, ahead: ahead}
					in := round()
					in.Snapshot.PR.UpdatedAt = w.github()
					w.now = w.now.Add(10 * time.Minute) // the reviewers take their time
					w.fault = []func(*world, string) (string, error){func(w *world, body string) (string, error) {
						defer w.leap(leap)
						return fault(w, body)
					}}
					publish := func() ([]string, error) {
						defer func() { _ = recover() }()
						urls, _, err := w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
						return urls, err
					}
					urls, err := publish()
					if len(urls) == 0 {
						urls, err = publish()
					}
					if err != nil || len(w.comments) != 1 || len(urls) != 1 || w.calls != 1 {
						t.Errorf("%d comments after %d calls, urls %v, err %v; want the one that was there", len(w.comments), w.calls, urls, err)
					}
				})
			}
		}
	}
}

// TestQuarantineIsWhole is threats.md "Outbox": whatever our clock says, and however long the sending took, a comment that GitHub is
// still at work on is waited for, and no longer than that.
func TestQuarantineIsWhole(t *testing.T) {
	for what, c := range map[string]struct {
		leap, sending time.Duration
		killed        bool
	}{
		"killed": {killed: true}, "killed, our clock leaps ahead": {leap: time.Hour, killed: true},
		"killed, our clock leaps back": {leap: -time.Hour, killed: true}, "killed, our clock leaps back a day": {leap: -24 * time.Hour, killed: true},
		"killed after a long sending": {sending: 50 * time.Second, killed: true},
		"the answer is lost":          {}, "gives up after a minute without an answer": {sending: time.Minute},
		"gives up while our clock leaps ahead": {leap: time.Hour}, "gives up while our clock leaps back": {leap: -time.Hour},
	} {
		t.Run(what, func(t *testing.T) {
			w, in := &world{now: time.Unix(1_800_000_000, 0), head: headSHA}, round()
			w.fault = []func(*world, string) (string, error){func(w *world, body string) (string, error) {
				w.pass(c.sending)
				w.late = []lateComment{{w.now.Add(10 * time.Second), body}}
				w.leap(c.leap)
				if c.killed {
					panic("killed")
				}
				return "", errors.New("no answer")
			}}
			publish := func() ([]string, error) {
				defer func() { _ = recover() }()
				urls, _, err := w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
				return urls, err
			}
			urls, err := publish()
			if c.killed {
				urls, err = publish()
			}
			if err != nil || len(w.comments) != 1 || len(urls) != 1 || w.calls != 1 {
				t.Errorf("%d comments after %d calls, urls %v, err %v; want the one that was on its way", len(w.comments), w.calls, urls, err)
			}
			if w.slept > effects.Quarantine+effects.SettleTries*time.Second {
				t.Errorf("waited %v for a call that may take 10 s", w.slept)
			}
		})
	}
}

// TestResumedAsSomebodyElse is threats.md "Outbox": a comment is looked for as the account it was sent as, whoever is logged in now and
// whatever that account is called by now.
func TestResumedAsSomebodyElse(t *testing.T) {
	other, renamed := review.Person{Login: "mona", ID: 43}, review.Person{Login: "prloop-app", ID: bot.ID}
	posts := func(w *world, body string) { w.add(body) }
	nothing := func(*world, string) {}
	rename := func(w *world, body string) { w.add(body); w.comments[len(w.comments)-1].Author = renamed }
	for what, c := range map[string]struct {
		kills []func(*world, string) // what becomes of a post whose sender is killed
		as    []review.Person        // who posts it, and who resumes in the end
		want  review.Person          // the author of the one comment
		calls int
	}{
		"it was posted":                       {[]func(*world, string){posts}, []review.Person{bot, other}, bot, 1},
		"it was not":                          {[]func(*world, string){nothing}, []review.Person{bot, other}, other, 2},
		"not by the first, but by the second": {[]func(*world, string){nothing, posts}, []review.Person{bot, other, bot}, other, 2},
		"it was posted, and the account has another name": {[]func(*world, string){rename}, []review.Person{bot, renamed}, renamed, 1},
	} {
		t.Run(what, func(t *testing.T) {
			w, in := &world{now: time.Unix(1_800_000_000, 0), head: headSHA}, round()
			for _, kill := range c.kills {
				w.fault = append(w.fault, func(w *world, body string) (string, error) { kill(w, body); panic("killed") })
			}
			var urls []string
			var err error
			for _, w.viewer = range c.as {
				func() {
					defer func() { _ = recover() }()
					urls, _, err = w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
				}()
			}
			if err != nil || len(urls) != 1 || len(w.comments) != 1 || w.calls != c.calls {
				t.Fatalf("%d comments after %d calls, want 1 after %d; urls %v, err %v", len(w.comments), w.calls, c.calls, urls, err)
			}
			if got := w.comments[0].Author; got != c.want {
				t.Errorf("it is by %v, want %v", got, c.want)
			}
		})
	}
}

// TestOwnReportsStayOurs: what the run posted as another account is no pretender's, and a copy of it is.
func TestOwnReportsStayOurs(t *testing.T) {
	s, in := newStage(), round()
	urls, _, err := s.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
	if err != nil {
		t.Fatal(err)
	}
	s.comments = append(s.comments, s.comments[0])
	s.comments[1].URL, s.comments[1].Author = "copy", review.Person{Login: "mallory", ID: 7}
	s.viewer = review.Person{Login: "mona", ID: 43}
	l := s.loop()
	l.History, l.Briefer = s, s
	snap, err := l.snapshot(t.Context(), in.Request, progress{head: s.head, urls: urls})
	if err != nil || len(snap.Pretenders) != 1 || snap.Pretenders[0] != "mallory" || len(snap.Discussion.Comments) != 0 {
		t.Errorf("pretenders %q, %d comments left, err %v", snap.Pretenders, len(snap.Discussion.Comments), err)
	}
}

func TestPublishIgnoresForgedCopies(t *testing.T) {
	w := &world{now: time.Unix(1_800_000_000, 0), head: headSHA}
	in := round()
	w.fault = []func(*world, string) (string, error){func(w *world, body string) (string, error) {
		w.comments = append(w.comments, review.Comment{ID: "C1", URL: "forged", Author: review.Person{Login: "mallory", ID: 7}, Body: body, UpdatedAt: w.github()})
		return "", errors.New("HTTP 502")
	}}
	urls, _, err := w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
	if err != nil || len(urls) != 1 || urls[0] == "forged" {
		t.Fatalf("urls %v, err %v: a stranger's copy of our comment was taken for ours (threats.md T34)", urls, err)
	}
}

func TestPublishSaysNothingOfWhatIsNoMore(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*world)
		want   string
	}{
		"the head moved (threats.md T90)":       {func(w *world) { w.head = baseSHA }, "the head is now 2222222222, not 1111111111: start a new run"},
		"it was closed (threats.md T91)":        {func(w *world) { w.state = "CLOSED" }, "closed"},
		"it was merged (threats.md T91)":        {func(w *world) { w.state = "MERGED" }, "merged"},
		"it has another base (threats.md T92)":  {func(w *world) { w.base = "release" }, `now to be merged into "release", not "main"`},
		"merged counts for more than the head":  {func(w *world) { w.head, w.state = baseSHA, "MERGED" }, "merged"},
		"another base counts before a new head": {func(w *world) { w.head, w.base = baseSHA, "release" }, `not "main"`},
	} {
		t.Run(what, func(t *testing.T) {
			w, in := &world{now: time.Unix(1_800_000_000, 0), head: headSHA, base: "main"}, round()
			in.Snapshot.PR.BaseRef = "main"
			c.change(w)
			urls, why, err := w.loop().publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report"})
			if err != nil || !strings.Contains(why, c.want) || len(urls) != 0 || w.calls != 0 {
				t.Fatalf("urls %v, reason %q, err %v after %d calls; want nothing posted because %q", urls, why, err, w.calls, c.want)
			}
		})
	}
}

// A run whose record was restored from a backup collapses what it had posted since, and nothing else; one that was not interrupted asks for nothing
// (threats.md T679).
func TestForgottenReportsAreCollapsed(t *testing.T) {
	in := round()
	for _, c := range []struct {
		what             string
		run, command     string
		round            int
		theirs, own, new bool
		collapsed        int
	}{
		{what: "a report of the run", run: in.Request.Run, round: 1, collapsed: 1},
		{what: "one of a later round", run: in.Request.Run, round: 2, collapsed: 1},
		{what: "one of an earlier round", run: in.Request.Run, round: 0},
		{what: "a part of this very report", run: in.Request.Run, round: 1, own: true},
		{what: "another run's", run: "20260101T000000.000Z_0123456789abcdef", round: 1},
		{what: "a command's", run: in.Request.Run, round: 1, command: "sec"},
		{what: "somebody else's", run: in.Request.Run, round: 1, theirs: true},
		{what: "a run that was not interrupted", run: in.Request.Run, round: 1, new: true},
	} {
		w := &bearing{picky: &picky{world: &world{now: time.Unix(1_800_000_000, 0), head: headSHA}}}
		l := w.loop()
		l.Minimizer = w
		m := l.marker(in.Request, c.round, strings.Repeat("b", 32))
		if m.Run, m.Command = c.run, c.command; c.own {
			m.Nonce = l.Nonce()
			l.Nonce = func() string { return m.Nonce }
		}
		texts, err := sanitize.Comment("Words.", m, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		w.add(texts[0].String())
		if c.theirs {
			w.comments[0].Author = review.Person{Login: "mallory", ID: 666}
		}
		if _, _, err := l.publish(t.Context(), inline{}, in.Request, saying{round: 1, op: OpReport, pr: in.Snapshot.PR, body: "report", resumed: !c.new}); err != nil {
			t.Fatal(err)
		}
		if len(w.hidden) != c.collapsed {
			t.Errorf("%s: %q are collapsed, want %d", c.what, w.hidden, c.collapsed)
		}
	}
}
