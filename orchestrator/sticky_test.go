package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// desk is a world in which comments are edited too.
type desk struct {
	*world
	// edit is what the next edits do; after the list is used up they succeed.
	edit  []func(d *desk, comment int, body string) error
	edits int
	runs  int
}

func newDesk() *desk { return &desk{world: &world{now: time.Unix(1_800_000_000, 0), head: headSHA}} }

func (d *desk) EditComment(_ context.Context, _ review.PullRequest, comment int64, body sanitize.Text) (string, error) {
	d.edits++
	if len(d.edit) > 0 {
		f := d.edit[0]
		d.edit = d.edit[1:]
		if err := f(d, int(comment), body.String()); err != nil {
			return "", err
		}
	}
	return d.write(int(comment), body.String())
}

// write gives a comment another body.
func (d *desk) write(comment int, body string) (string, error) {
	for i := range d.comments {
		if c := &d.comments[i]; strings.HasSuffix(c.URL, fmt.Sprint("#issuecomment-", comment)) {
			c.Body, c.UpdatedAt = body, d.github()
			return c.URL, nil
		}
	}
	return "", refusal{errors.New("HTTP 404")}
}

// deskRun is a run on a desk that can be done again, as a resumed one is.
type deskRun struct {
	*desk
	req  Request
	snap Snapshot
	loop *Loop
	body string
	done map[string][]byte
	p    progress
}

// begin begins a run: it has seen what stands there.
func (d *desk) begin(body string) *deskRun {
	d.runs++
	r := &deskRun{desk: d, body: body, done: map[string][]byte{}, loop: d.world.loop()}
	r.loop.Editor, r.loop.Permanent = d, func(err error) bool { return errors.As(err, new(refusal)) }
	n, id := 0, d.runs
	r.loop.Nonce = func() string { n = min(n+1, 2); return fmt.Sprintf("%032x", id*1000+n) } // the report's, then the edit's, by which this outbox knows it
	in := round()
	r.req, r.snap = in.Request, in.Snapshot
	r.req.Run, r.req.Sticky = fmt.Sprint("run-", id), true
	ours, err := r.loop.oursNow(context.Background(), r.snap.PR)
	if err != nil {
		panic(err)
	}
	r.snap.Ours = ours
	return r
}

// Do stores what succeeds, as a run's steps are.
func (r *deskRun) Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if data, ok := r.done[name]; ok {
		return data, nil
	}
	data, err := fn(ctx)
	if err == nil {
		r.done[name] = data
	}
	return data, err
}
func (*deskRun) All(context.Context, []Step) ([][]byte, []error) { panic("not used by publishSticky") }

// publish publishes the report; killed is true when the process was.
func (r *deskRun) publish(t *testing.T) (urls []string, overtaken string, err error, killed bool) { //nolint:revive // killed is no error
	defer func() {
		if what := recover(); what != nil {
			if what != "killed" {
				panic(what)
			}
			killed = true
		}
	}()
	urls, overtaken, err = r.loop.publishSticky(t.Context(), r, r.req, &r.p, saying{round: 1, op: OpReport, pr: r.snap.PR, body: r.body}, r.snap)
	return urls, overtaken, err, false
}

// says fails the test unless there is one open comment of ours, the sticky one, with a text.
func (d *desk) says(t *testing.T, want string) {
	t.Helper()
	open := 0
	for _, c := range d.comments {
		if !c.Minimized {
			open++
			if !strings.Contains(c.Body, want) {
				t.Errorf("%s says:\n%s\nwant %q", c.URL, c.Body, want)
			}
		}
	}
	if open != 1 {
		t.Errorf("%d comments, want one", open)
	}
}

// Reviews without a fixer have one comment: it gets each report in its place, keeps its name, and begins with the spec's marker (spec.md R10).
func TestStickyIsOneComment(t *testing.T) {
	d := newDesk()
	var first string
	for n := range 3 {
		r := d.begin(fmt.Sprint("The report of run ", n))
		urls, overtaken, err, _ := r.publish(t)
		if err != nil || overtaken != "" || len(urls) != 1 || urls[0] != d.comments[0].URL {
			t.Fatalf("%v, %q, %v", urls, overtaken, err)
		}
		d.says(t, r.body)
		m, err := sanitize.Verify(d.comments[0].Body, r.loop.MarkerKey, r.req.Target.Repo.String(), r.req.Target.PR)
		if err != nil || !m.Sticky || m.Run != r.req.Run || m.ReviewID != r.req.ReviewID {
			t.Errorf("%+v, %v", m, err)
		}
		if first == "" {
			first = m.Nonce
		}
		if m.Nonce != first {
			t.Errorf("the nonce was %s and is %s", first, m.Nonce)
		}
		if want := "<!-- code-review-agent:review_id=" + r.req.ReviewID + " -->\n" + sanitize.PlainMarker + "\n"; !strings.HasPrefix(d.comments[0].Body, want) {
			t.Errorf("it begins with %.120q", d.comments[0].Body)
		}
		if (r.p.rewritten != "") != (n > 0) {
			t.Errorf("run %d: edited %q", n, r.p.rewritten)
		}
		d.pass(time.Hour)
	}
	if d.calls != 1 || d.edits != 2 {
		t.Errorf("%d posts and %d edits", d.calls, d.edits)
	}
}

// Whatever becomes of an edit, there is one comment in the end, with the report of the run (threats.md K72, K73, K75).
func TestStickyExactlyOnce(t *testing.T) {
	lost := func(d *desk, c int, body string) error { _, _ = d.write(c, body); return errors.New("HTTP 502") }
	never := func(*desk, int, string) error { return errors.New("HTTP 503") }
	killedAfter := func(d *desk, c int, body string) error { _, _ = d.write(c, body); panic("killed") }
	killedBefore := func(*desk, int, string) error { panic("killed") }
	for what, row := range map[string]struct {
		edit  []func(*desk, int, string) error
		edits int
	}{
		"the answer is lost":                {[]func(*desk, int, string) error{lost}, 1},
		"it never arrived":                  {[]func(*desk, int, string) error{never}, 2},
		"killed once it is there":           {[]func(*desk, int, string) error{killedAfter}, 1},
		"killed before it is there":         {[]func(*desk, int, string) error{killedBefore}, 2},
		"killed twice before it is there":   {[]func(*desk, int, string) error{killedBefore, killedBefore}, 3},
		"killed before, then after":         {[]func(*desk, int, string) error{killedBefore, killedAfter}, 2},
		"killed before, the answer is lost": {[]func(*desk, int, string) error{killedBefore, lost}, 2},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk()
			if _, _, err, _ := d.begin("An old report").publish(t); err != nil {
				t.Fatal(err)
			}
			d.pass(time.Hour)
			r := d.begin("The new report")
			d.edit = row.edit
			urls, overtaken, err, killed := r.publish(t)
			for killed {
				d.pass(time.Minute)
				urls, overtaken, err, killed = r.publish(t)
			}
			if err != nil || overtaken != "" || len(urls) != 1 {
				t.Fatalf("%v, %q, %v", urls, overtaken, err)
			}
			d.says(t, "The new report")
			if d.edits != row.edits {
				t.Errorf("%d edits, want %d", d.edits, row.edits)
			}
		})
	}
}

// A comment that is not what it was gets no report: a new one does (threats.md T259).
func TestStickyIsNotThere(t *testing.T) {
	for what, happens := range map[string]func(d *desk){
		"deleted":   func(d *desk) { d.comments = nil },
		"edited":    func(d *desk) { d.comments[0].Body += "\nYes." },
		"collapsed": func(d *desk) { d.comments[0].Minimized = true },
		"copied by somebody, and deleted": func(d *desk) {
			d.comments[0].Author = review.Person{Login: "mallory", ID: 99}
		},
	} {
		for when, early := range map[string]bool{"before the run": true, "while reviewers are at work": false} {
			t.Run(what+" "+when, func(t *testing.T) {
				d := newDesk()
				if _, _, err, _ := d.begin("An old report").publish(t); err != nil {
					t.Fatal(err)
				}
				if early {
					happens(d)
				}
				r := d.begin("The new report")
				if !early {
					happens(d)
				}
				urls, overtaken, err, _ := r.publish(t)
				if err != nil || overtaken != "" || len(urls) != 1 {
					t.Fatalf("%v, %q, %v", urls, overtaken, err)
				}
				if n := len(d.comments); urls[0] != d.comments[n-1].URL || !strings.Contains(d.comments[n-1].Body, "The new report") || d.edits != 0 {
					t.Errorf("%d edits, %+v", d.edits, d.comments)
				}
			})
		}
	}
}

// A run that goes on after another one has reported does not take that one's words away, nor does what a dead one sent take this one's
// (threats.md T259).
func TestStickyKeepsTheNewestReport(t *testing.T) {
	d := newDesk()
	if _, _, err, _ := d.begin("An old report").publish(t); err != nil {
		t.Fatal(err)
	}
	dead := d.begin("The report of a run that was killed")
	d.edit = []func(*desk, int, string) error{func(d *desk, c int, body string) error { panic("killed") }}
	if _, _, _, killed := dead.publish(t); !killed {
		t.Fatal("it lived")
	}
	late := dead.stored[fmt.Sprintf("%032x", 2002)].Payload
	if !strings.Contains(late, "that was killed") {
		t.Fatalf("stored: %q", late)
	}
	next := d.begin("The newest report")
	next.loop.Unfinished = func(context.Context, Request) (bool, error) { return true, nil }
	sleep := next.loop.Sleep
	next.loop.Sleep = func(ctx context.Context, pause time.Duration) error { // GitHub finishes the dead one's request meanwhile
		if pause == effects.Quarantine {
			var words struct{ Body string }
			if err := json.Unmarshal([]byte(late), &words); err != nil {
				return err
			}
			_, _ = d.write(1, words.Body)
		}
		return sleep(ctx, pause)
	}
	if urls, overtaken, err, _ := next.publish(t); err != nil || overtaken != "" || len(urls) != 1 {
		t.Fatalf("%v, %q, %v", urls, overtaken, err)
	}
	d.says(t, "The newest report")
	if d.slept < effects.Quarantine {
		t.Errorf("waited %v for what the dead one sent", d.slept)
	}
	d.pass(time.Hour)
	urls, overtaken, err, _ := dead.publish(t)
	if err != nil || overtaken == "" || len(urls) != 0 {
		t.Errorf("resumed: %v, %q, %v", urls, overtaken, err)
	}
	d.says(t, "The newest report")
}

// A report that does not fit into one comment is posted in parts, none of which is sticky.
func TestStickyThatDoesNotFit(t *testing.T) {
	d := newDesk()
	if _, _, err, _ := d.begin("An old report").publish(t); err != nil {
		t.Fatal(err)
	}
	r := d.begin(strings.Repeat("A paragraph of a long report.\n\n", 4000))
	urls, _, err, _ := r.publish(t)
	if err != nil || len(urls) < 2 || d.edits != 0 {
		t.Fatalf("%v, %v after %d edits", urls, err, d.edits)
	}
	for _, c := range d.comments[1:] {
		if m, _ := sanitize.ParseMarker(c.Body); m.Sticky || !strings.HasPrefix(c.Body, sanitize.PlainMarker) {
			t.Errorf("%.80q", c.Body)
		}
	}
}

// Runs that fix, answers, and commands have comments of their own.
func TestWhichReportsAreSticky(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*Request)
		want   bool
	}{
		"a review":                       {func(*Request) {}, true},
		"the setting is append":          {func(r *Request) { r.Sticky = false }, false},
		"a fixer takes part":             {func(r *Request) { r.Fix = &FixPlan{} }, false},
		"somebody asked by a comment":    {func(r *Request) { r.Asked = &review.Asked{Comment: 1, Line: 1} }, false},
		"it is the answer of a command":  {func(r *Request) { r.Alone = true }, false},
		"a fixer that may not take part": {func(r *Request) { r.FixOff = "off" }, true},
	} {
		r := round().Request
		r.Sticky = true
		row.change(&r)
		if got := r.sticky(); got != row.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
