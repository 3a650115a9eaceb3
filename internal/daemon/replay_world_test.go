package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/traffic"
	"github.com/prloop/prloop/internal/testkit/webhooks"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/review"
)

// opened is the event a pull request begins with.
const opened traffic.Kind = "opened"

// draw is a number below n that depends on a name alone.
func draw(name string, n uint64) uint64 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint64(sum[:8]) % n
}

// wordOf is what a comment says: its text is not recorded.
func wordOf(e traffic.Event) string {
	return []string{wordReview, wordStatus, wordStatus, wordThanks, wordThanks, wordThanks}[draw(e.ID, 6)]
}

// mayWrite tells who may write to the repositories: four of five.
func mayWrite(login string) bool { return draw(login, 5) > 0 }

// A world is GitHub, and the runs on it, as a replay has them. Its reviews take no agents and some milliseconds.
type world struct {
	*app.Service
	t   *testing.T
	rng func(n int) int

	mu sync.Mutex
	// now counts all that happens.
	now   int
	pulls map[string]*pull
	// runs are all that were begun, by their ids.
	runs map[string]*fakeRun
	// merges are the pull requests of which it was asked what became of their findings.
	merges map[string]bool
	// lately has it told when runs about a head began: a replay of weeks takes minutes.
	lately bool
	// relabelled has reviewed commits have other labels of the gate, and takenBack is how often a success was to be taken back by what people say.
	relabelled bool
	takenBack  int
}

// A pull is a pull request.
type pull struct {
	traffic.Pull
	repo    string
	number  int
	is      review.PullRequest
	labels  int
	since   map[string]int // when the heads came
	verdict []int          // when people said what a verdict rests on
	moved   int            // how often its head moved, or it was closed or made a draft
	thread  []review.Comment
	answers map[string]int
	working string // the run that works on it
	runs    []*fakeRun
}

// A fakeRun is a run.
type fakeRun struct {
	id, head   string
	base       string
	read       string // people's reviews, as it was begun
	pull       *pull
	began      int
	ask        string
	resumed    int
	outcome    review.Outcome
	finishedAt int
	at         time.Time
}

func newWorld(t *testing.T, s *app.Service, seed uint64) *world {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // moments of a test
	return &world{Service: s, t: t, pulls: map[string]*pull{}, runs: map[string]*fakeRun{}, merges: map[string]bool{}, rng: func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}}
}

// open opens a pull request.
func (w *world) open(p traffic.Pull, repo string, number int) *pull {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now++
	at := &pull{Pull: p, repo: repo, number: number, since: map[string]int{p.Head: w.now}, answers: map[string]int{}}
	at.is = review.PullRequest{
		Repo: review.Repo{Host: "github.com", Owner: "acme", Name: repo}, RepoID: 1 + int64(draw(repo, 1<<40)), Number: number, State: "OPEN", Draft: p.Draft, HeadSHA: p.Head, HeadRef: "topic", BaseRef: "main",
		BaseSHA: strings.Repeat("0", 40), Author: review.Person{Login: p.Author, Bot: p.Bot}, Labels: []string{}, UpdatedAt: time.Now().UTC(),
	}
	w.pulls[key(repo, number)] = at
	return at
}

func key(repo string, number int) string { return fmt.Sprintf("%s#%d", repo, number) }

// moveBase has the base branch of a pull request at another commit.
func (w *world) moveBase(p *pull, commit string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.is.BaseSHA = commit
}

// happens is something that happens to a pull request.
func (w *world) happens(p *pull, e traffic.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now++
	p.is.UpdatedAt = time.Now().UTC()
	switch e.Kind {
	case traffic.Push:
		p.is.HeadSHA = e.Commit
		p.moved++
		if p.since[e.Commit] == 0 {
			p.since[e.Commit] = w.now
		}
	case traffic.Close:
		p.is.State = map[bool]string{false: "CLOSED", true: "MERGED"}[p.Merged]
		p.moved++
	case traffic.Reopen:
		p.is.State = "OPEN"
	case traffic.Draft, traffic.Ready:
		p.is.Draft = e.Kind == traffic.Draft
		p.moved++
	case traffic.Label:
		p.labels++
	case traffic.Unlabel:
		p.labels = max(p.labels-1, 0)
	case traffic.Dismiss:
		p.verdict = append(p.verdict, w.now)
	case traffic.Review:
		if e.Changes() {
			p.verdict = append(p.verdict, w.now)
		}
	case traffic.Comment:
		id, _ := strconv.ParseInt(e.ID, 10, 64) // as the source has it
		at := time.Now().UTC().Truncate(time.Second)
		p.thread = append(p.thread, review.Comment{DatabaseID: id, Author: review.Person{Login: e.By, Bot: e.Bot}, Body: wordOf(e), CreatedAt: at, UpdatedAt: at})
	}
	p.is.Labels = []string{}
	for i := range p.labels {
		p.is.Labels = append(p.is.Labels, fmt.Sprintf("label-%d", i))
	}
	if n := len(p.verdict); n > 0 {
		p.is.Standing = strconv.Itoa(n)
	}
}

// find finds a pull request.
func (w *world) find(repo review.Repo, number int) (*pull, error) {
	p := w.pulls[key(repo.Name, number)]
	if p == nil {
		return nil, github.ErrNotFound
	}
	return p, nil
}

// What the daemon asks GitHub.

func (w *world) Viewer(context.Context, string) (review.Person, error) {
	return review.Person{Login: "prloop", ID: 1}, nil
}

func (w *world) PullRequest(_ context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.find(repo, number)
	if err != nil {
		return review.PullRequest{}, err
	}
	return p.is, nil
}

func (w *world) Comment(_ context.Context, pr review.PullRequest, id int64) (review.Comment, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.find(pr.Repo, pr.Number)
	if err != nil {
		return review.Comment{}, err
	}
	for _, c := range p.thread {
		if c.DatabaseID == id {
			return c, nil
		}
	}
	return review.Comment{}, github.ErrNotFound
}

func (w *world) OpenPulls(_ context.Context, repo review.Repo) (all []review.PullRequest, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pulls {
		if p.repo == repo.Name && p.is.State == "OPEN" {
			is := p.is
			is.Standing = "" // a list does not tell
			all = append(all, is)
		}
	}
	return all, nil
}

func (w *world) NewComments(_ context.Context, repo review.Repo, since time.Time) (all []github.NumberedComment, until time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pulls {
		for _, c := range p.thread {
			if p.repo == repo.Name && !c.UpdatedAt.Before(since) {
				all = append(all, github.NumberedComment{Comment: c, Number: p.number, PullRequest: true})
			}
		}
	}
	return all, until, nil
}

func (w *world) Installed(context.Context, string) ([]review.Repo, error) { return nil, nil }

func (w *world) Clock() time.Time { return time.Now() }

func (w *world) Writes(_ context.Context, _ review.Repo, login string) (bool, error) {
	return mayWrite(login), nil
}

// What the daemon has done. The record and the engine are real.

func (w *world) Live() []string     { return nil }
func (w *world) Cancel(string) bool { return false }

// Reviewed knows of each run which base it was for, as what a run was asked says.
func (w *world) Reviewed(_ context.Context, pr review.PullRequest) (known intake.Known, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.find(pr.Repo, pr.Number)
	if err != nil {
		return known, err
	}
	for _, r := range slices.Backward(p.runs) {
		if w.lately && r.head == pr.HeadSHA {
			known.Lately = append(known.Lately, r.at)
		}
	}
	for _, r := range slices.Backward(p.runs) {
		if r.outcome == review.Converged {
			if r.base != pr.BaseRef {
				return known, nil
			}
			known.Head, known.Run, known.Standing, known.Relabelled = r.head, r.id, r.read, w.relabelled
			return known, nil
		}
	}
	return known, nil
}

func (w *world) NotYet(_ context.Context, _ review.PullRequest, _, said bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if said {
		w.takenBack++
	}
	return nil
}

func (w *world) Said(context.Context, review.PullRequest, intake.Known) (bool, error) {
	return false, nil
}

func (w *world) Beside(context.Context, review.PullRequest, string) ([]int, error) { return nil, nil }

func (w *world) InDoubt(context.Context, review.PullRequest, bool) (bool, error) { return false, nil }

func (w *world) Halt(context.Context, review.Target, string, string) error { return nil }

// Merged is asked about what is merged alone.
func (w *world) Merged(_ context.Context, o app.Order) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.merges[key(o.Target.Repo.Name, o.Target.PR)] = true
	return true, nil
}

func (w *world) Unfinished(_ context.Context, pr review.PullRequest) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.find(pr.Repo, pr.Number)
	if err != nil {
		return "", err
	}
	for _, r := range p.runs {
		if r.outcome == "" && r.ask == "" && p.working != r.id {
			return r.id, nil
		}
	}
	return "", nil
}

func (w *world) Once(ctx context.Context, o app.Order, resume string, _ func(review.Event)) (app.Ended, error) {
	return w.review(ctx, o.Target, resume, "", o.Drafts)
}

// review does a run, or goes on with one.
func (w *world) review(ctx context.Context, target review.Target, id, ask string, drafts bool) (app.Ended, error) {
	if err := ctx.Err(); err != nil {
		return app.Ended{}, err
	}
	w.mu.Lock()
	p, err := w.find(target.Repo, target.PR)
	if err != nil {
		w.mu.Unlock()
		return app.Ended{}, err
	}
	r := w.runs[id]
	if r == nil {
		w.now++
		r = &fakeRun{id: fmt.Sprintf("20260101T000000Z_%016x", w.now), head: p.is.HeadSHA, base: p.is.BaseRef, read: intake.Standing(p.is), pull: p, began: w.now, ask: ask, at: time.Now()}
	}
	w.mu.Unlock()
	ended := app.Ended{Result: review.RunResult{Run: r.id, Receipt: review.Receipt{HeadSHA: r.head}}}
	lease, err := w.Record().Take(ctx, target.String(), r.id, time.Minute)
	if err != nil {
		return ended, err
	}
	defer func() {
		if err := lease.Release(context.WithoutCancel(ctx)); err != nil {
			w.t.Errorf("%s: %v", r.id, err)
		}
	}()
	// A process that is ended here knows whether the run was recorded; what comes of one that does not is the service's own (threats.md T289).
	if err := w.Record().CreateRun(context.WithoutCancel(ctx), store.Run{ID: r.id, Target: target, RepoKey: target.Repo.Key(p.is.RepoID), Head: r.head}); err != nil {
		return ended, err
	}
	w.mu.Lock()
	if p.working != "" {
		w.t.Errorf("%s: the runs %s and %s work at once", target, p.working, r.id)
	}
	if r.outcome != "" {
		w.t.Errorf("%s: the run %s had ended", target, r.id)
	}
	if w.runs[r.id] == nil {
		w.runs[r.id], p.runs = r, append(p.runs, r)
	}
	p.working = r.id
	r.resumed++
	w.mu.Unlock()
	stop := ctx.Err()
	select {
	case <-ctx.Done():
		stop = context.Cause(ctx)
	case <-time.After(time.Duration(w.rng(4000)) * time.Microsecond):
	}
	w.mu.Lock()
	ended.Result.Outcome, ended.Result.Reason = review.Converged, "nothing to fix"
	if p.is.HeadSHA != r.head || p.is.State != "OPEN" || p.is.Draft && !drafts {
		ended.Result.Outcome, ended.Result.Reason = review.Superseded, "the pull request is another one"
	}
	w.mu.Unlock()
	if stop == nil {
		stop = w.Record().FinishRun(context.WithoutCancel(ctx), ended.Result)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.working = ""; stop == nil {
		w.now++
		r.outcome, r.finishedAt = ended.Result.Outcome, w.now
	}
	return ended, stop
}

func (w *world) Hear(_ context.Context, c app.Comment, _ app.Order) (asks []app.Ask, why string, err error) {
	lines, why := trigger.Heard(c.Heard, c.Bot)
	if why != "" {
		return nil, why, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.find(c.Target.Repo, c.Target.PR)
	switch {
	case err != nil:
		return nil, "", err
	case p.is.State != "OPEN":
		return nil, "the pull request is not open", nil
	case !mayWrite(c.Heard.Author.Login):
		return nil, c.Heard.Author.Login + " may not write", nil
	case p.answers[strconv.FormatInt(c.ID, 10)] > 0:
		return nil, "the comment is answered already", nil
	}
	for i, a := range trigger.Choose(lines, nil) {
		asks = append(asks, app.Ask{Asked: review.Asked{Comment: c.ID, Line: i + 1}, Ask: a})
	}
	return asks, "", nil
}

func (w *world) answer(target review.Target, a app.Ask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.find(target.Repo, target.PR)
	if err != nil {
		w.t.Error(err)
		return
	}
	p.answers[strconv.FormatInt(a.Comment, 10)]++
}

func (w *world) Reply(_ context.Context, o app.Order, a app.Ask) (string, bool, error) {
	if a.Word != trigger.Status {
		return "", false, nil
	}
	w.answer(o.Target, a)
	return "there", true, nil
}

func (w *world) Answer(_ context.Context, target review.Target, a app.Ask, _ string) (string, error) {
	w.answer(target, a)
	return "there", nil
}

func (w *world) RunAsked(ctx context.Context, o app.Order, a app.Ask, _ func(review.Event)) (app.Ended, error) {
	id := ""
	w.mu.Lock()
	for _, r := range w.runs {
		if r.ask == strconv.FormatInt(a.Comment, 10) {
			id = r.id
		}
	}
	w.mu.Unlock()
	ended, err := w.review(ctx, o.Target, id, strconv.FormatInt(a.Comment, 10), true)
	if err == nil {
		w.answer(o.Target, a)
	}
	return ended, err
}

// runsOf are the runs on a pull request, the oldest first.
func (w *world) runsOf(p *pull) (all []*fakeRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all = slices.Clone(p.runs)
	slices.SortFunc(all, func(a, b *fakeRun) int { return a.began - b.began })
	return all
}

// templates are recorded events, by name and action.
var templates = sync.OnceValue(func() map[string]webhooks.Event {
	all := map[string]webhooks.Event{}
	for _, e := range webhooks.All() {
		if name := e.Name + " " + e.Action; all[name].File == "" {
			all[name] = e
		}
	}
	return all
})

// eventOf is the name and the action by which GitHub tells of what happened.
var eventOf = map[traffic.Kind]string{
	opened: "pull_request opened", traffic.Push: "pull_request synchronize", traffic.Close: "pull_request closed", traffic.Reopen: "pull_request reopened",
	traffic.Draft: "pull_request converted_to_draft", traffic.Ready: "pull_request ready_for_review", traffic.Label: "pull_request labeled",
	traffic.Unlabel: "pull_request unlabeled", traffic.Request: "pull_request review_requested", traffic.Comment: "issue_comment created",
	traffic.Review: "pull_request_review submitted", traffic.Dismiss: "pull_request_review dismissed",
}

// payload is what GitHub sends of something that just happened: a recorded event that is about this pull request.
func (w *world) payload(p *pull, e traffic.Event) (event string, body []byte) {
	w.mu.Lock()
	is := p.is
	w.mu.Unlock()
	name := eventOf[e.Kind]
	recorded, ok := templates()[name]
	if !ok {
		w.t.Errorf("no %q is recorded", name)
		return "ping", []byte("{}")
	}
	place := webhooks.Place{Repo: "acme/" + p.repo, HeadRepo: "acme/" + p.repo, PR: p.number, Base: is.BaseSHA, Head: is.HeadSHA}
	if e.Kind == traffic.Comment {
		id, _ := strconv.ParseInt(e.ID, 10, 64) // as the source has it
		place.Comment = &webhooks.Comment{ID: id, Author: e.By, Body: wordOf(e), Updated: time.Now()}
	}
	data, err := recorded.At(place)
	var all map[string]any
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		w.t.Error(err)
		return recorded.Name, data
	}
	set := func(object string, fields map[string]any) {
		if at, ok := all[object].(map[string]any); ok {
			for name, value := range fields {
				at[name] = value
			}
		}
	}
	kind := map[bool]string{false: "User", true: "Bot"}[e.Bot]
	labels := make([]any, len(is.Labels))
	for i, l := range is.Labels {
		labels[i] = map[string]any{"name": l}
	}
	set("pull_request", map[string]any{"draft": is.Draft, "state": map[bool]string{false: "closed", true: "open"}[is.State == "OPEN"], "labels": labels})
	set("repository", map[string]any{"id": is.RepoID})
	set("sender", map[string]any{"login": e.By, "id": 2 + draw(e.By, 1<<40), "type": kind})
	set("review", map[string]any{"state": e.State})
	if c, ok := all["comment"].(map[string]any); ok {
		c["user"] = map[string]any{"login": e.By, "id": 2 + draw(e.By, 1<<40), "type": kind}
	}
	data, err = json.Marshal(all)
	if err != nil {
		w.t.Error(err)
	}
	return recorded.Name, data
}

func (w *world) Prune(context.Context, time.Time, int) (int, error) { return 0, nil }
