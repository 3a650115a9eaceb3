// Package running has review cases reviewed and keeps what came of it (eval.md "Run"): one result set for each agent, with a
// recording of the conversations with models for each review. What reviews stands behind an interface.
package running

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/review"
)

// Agent is a named configuration: who reviews, who verifies, with which settings.
type Agent struct {
	// Name names the result set; it is a valid id of a case.
	Name string
	// File is a configuration as .reviewerc, on top of the operator's; nil for the operator's alone. Dir is its folder, where relative
	// paths of commands start.
	File *config.File
	Dir  string
}

// Settled is what an agent comes to with the operator's settings.
type Settled struct {
	// Reviewers are the names of those who take part, Models the models they ask.
	Reviewers, Models []string
	// Settings is the SHA-256 of all settings but addresses and keys, Prompts that of each prompt, Program that of this program.
	Settings string
	Prompts  map[string]string
	Program  string
	// MostUSD is the most that one review may cost.
	MostUSD float64
}

// Order is one review that is wanted.
type Order struct {
	Agent Agent
	// Dir is a checkout at Head; Base is the commit before the change.
	Dir, Base, Head string
	// Title and Body are those of the pull request.
	Title, Body string
	Cassette    gateway.Cassette
}

// Reviewed is how a review went.
type Reviewed struct {
	Result review.RunResult
	Stages review.Stages
}

// Reviewer reviews; Review is called from several goroutines.
type Reviewer interface {
	// Work is a folder of its own, for as long as the reviewer is open.
	Work() string
	// Settle resolves an agent's settings and asks nobody. replayed tells that recordings stand in for models.
	Settle(a Agent, replayed bool) (Settled, error)
	// Review reviews the range between Base and Head.
	Review(ctx context.Context, o Order) (Reviewed, error)
}

// Options say what is to be run.
type Options struct {
	// Cases is the folder of the cases; Only are the ids of those that are reviewed, all of them when it is empty.
	Cases  string
	Only   []string
	Agents []Agent
	// Out is the folder of the result sets, one for each agent.
	Out string
	// Repeat is how often each case is reviewed, Parallel how many reviews are under way at once.
	Repeat, Parallel int
	// MaxUSD is what all reviews in Out may cost together; 0 is without bound.
	MaxUSD float64
	// Replay is a folder of result sets whose recordings answer instead of models; empty asks models.
	Replay string
	// Reuse is a result set whose recordings answer first; only what they do not hold is asked of models. Empty has none.
	Reuse string
	// Retry does reviews again that failed.
	Retry bool
	// Say hears of each review that is done, and of what was dropped; it is called by one goroutine at a time.
	Say func(line string)
}

// Errors of Run.
var (
	// ErrBudget: the rest may cost more than Options.MaxUSD leaves.
	ErrBudget = errors.New("the budget is used up")
	// ErrNoRecording: a recording that is to be replayed is missing, is another one, or does not have what was asked.
	ErrNoRecording = errors.New("there is no recording of it")
	// ErrBusy: another process writes the same result sets.
	ErrBusy = errors.New("another process is at work on these results")
	// ErrUnknownCase: Options.Only names a case that is not there.
	ErrUnknownCase = errors.New("there is no such case")
)

// Summary says what stands in a result set.
type Summary struct {
	Agent, Dir string
	// Done of Planned reviews are there; Failed of them reviewed nothing.
	Done, Planned, Failed int
	// Answered to Prominent are findings a review at each stage, in the mean.
	Answered, SetAside, Counted, Prominent float64
	// CostUSD is that of all reviews, nil where one of them cannot tell; Seconds are those of all of them.
	CostUSD *float64
	Seconds float64
}

// run is a run under way.
type run struct {
	Options
	reviewer Reviewer
	sets     []*set
	begun    time.Time

	mu sync.Mutex
	// done and spent are of the reviews of this process, earlier is what those of others cost, held what those under way may cost
	// yet. stopped is what ended the run.
	done                 int
	spent, earlier, held float64
	stopped              error
}

// set is the result set of one agent.
type set struct {
	Agent
	Settled
	dir    string
	writer *results.Writer
	// have are the reviews that are done, by case and repeat, of the number that is planned.
	have    map[string]results.Review
	planned int
	// replay is the set whose recordings are replayed, empty for none, and hashes are theirs.
	replay string
	hashes map[string]string
}

// row is one review that is to be made.
type row struct {
	set    *set
	c      cases.Case
	repeat int
}

func (w row) String() string { return fmt.Sprintf("%s %s/%d", w.set.Name, w.c.ID, w.repeat) }

func (w row) key() string { return fmt.Sprintf("%s/%d", w.c.ID, w.repeat) }

// Run has the cases reviewed by each agent, as far as their result sets lack it. The summaries are of all that is there, with an
// error too.
func Run(ctx context.Context, reviewer Reviewer, o Options) ([]Summary, error) {
	all, err := selected(o)
	if err != nil {
		return nil, err
	}
	lock, err := filelock.TryFolder(reviewer.Work())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	defer lock.Close()
	r := &run{Options: o, reviewer: reviewer, begun: time.Now()}
	for _, a := range o.Agents {
		s, err := r.open(a, all)
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", a.Name, err)
		}
		r.sets = append(r.sets, s)
	}
	rows := r.missing(all)
	if err := r.recordings(rows); err != nil {
		return nil, err
	}
	err = r.all(ctx, rows)
	if err == nil {
		err = r.seal()
	}
	return r.summaries(), err
}

// all makes the reviews, several at a time. The first error ends it: whatever makes one review impossible makes the others so.
func (r *run) all(ctx context.Context, rows []row) error {
	checkouts := newCheckouts(r.Cases, filepath.Join(r.reviewer.Work(), "cases"))
	next := make(chan row)
	var workers sync.WaitGroup
	for range max(1, min(r.Parallel, len(rows))) {
		workers.Go(func() {
			for w := range next {
				if ctx.Err() != nil || r.over() {
					continue
				}
				if err := r.one(ctx, checkouts, w, len(rows)); err != nil {
					r.stop(fmt.Errorf("%s: %w", w, err))
				}
			}
		})
	}
	for _, w := range rows {
		if ctx.Err() != nil || !r.reserve(ctx, w) {
			break
		}
		next <- w
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return r.stopped
}

func (r *run) stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped == nil {
		r.stopped = err
	}
}

// over reports whether something ended the run.
func (r *run) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped != nil
}

// one makes one review and keeps it.
func (r *run) one(ctx context.Context, checkouts *checkouts, w row, total int) error {
	began := time.Now()
	held := w.set.MostUSD
	defer func() {
		r.mu.Lock()
		r.held -= held
		r.mu.Unlock()
	}()
	at, err := checkouts.get(ctx, w.c)
	if err != nil {
		return err
	}
	o := Order{Agent: w.set.Agent, Dir: at.dir, Base: at.base, Head: at.head, Title: w.c.Title, Body: w.c.Body}
	o.Cassette = gateway.Cassette{Path: w.recording(), Mode: gateway.Record, From: w.earlier(r.Reuse)}
	var lacks missed
	if r.Replay != "" {
		o.Cassette.Mode, o.Cassette.Missed = gateway.Replay, lacks.add
	}
	got, err := r.reviewer.Review(ctx, o)
	if err != nil {
		return err
	}
	if err := lacks.err(); err != nil {
		return err
	}
	v := kept(w, got)
	if v.Cassette, err = sumOf(w.recording()); errors.Is(err, os.ErrNotExist) { // no model was asked
		err = nil
	}
	if err == nil {
		err = w.set.writer.Add(v)
	}
	if err != nil {
		return err
	}
	r.tell(w, v, time.Since(began), total)
	return nil
}

// missed collects what a recording lacks.
type missed struct {
	mu    sync.Mutex
	first error
}

func (m *missed) add(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == nil {
		m.first = err
	}
}

func (m *missed) err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNoRecording, m.first)
}

// kept is what is kept of a review.
func kept(w row, got Reviewed) results.Review {
	v := results.Review{
		Case: w.c.ID, Repeat: w.repeat, Outcome: got.Result.Outcome, Reason: got.Result.Reason, Agents: got.Result.Receipt.Agents, Stages: &got.Stages,
		Result: review.ReviewResult{ReviewID: got.Result.Receipt.ReviewID, Status: review.StatusError, Summary: got.Result.Reason},
	}
	if got.Result.Review != nil {
		v.Result = *got.Result.Review
	}
	v.Result.Issues = got.Stages.Counted
	return v
}

// seal ends the sets.
func (r *run) seal() error {
	for _, s := range r.sets {
		if err := s.writer.Seal(); err != nil {
			return err
		}
	}
	return nil
}
