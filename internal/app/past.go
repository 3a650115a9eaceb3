package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Interrupted is a run that is recorded as running and that no process is at work on: it was stopped or killed, and waits to be
// resumed.
const Interrupted store.RunState = "interrupted"

// Runs lists runs, the newest first.
func (s *Service) Runs(ctx context.Context, f store.Filter) ([]store.Run, error) {
	runs, err := s.store.ListRuns(ctx, f)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if err := s.recognize(&runs[i]); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// EachRun calls fn with every run that passes the filter, newest first, with its result.
func (s *Service) EachRun(ctx context.Context, f store.Filter, fn func(store.Run) error) error {
	return s.store.EachRun(ctx, f, fn)
}

// Queue is what servers are at, with at most limit of a kind.
func (s *Service) Queue(ctx context.Context, keys []review.RepoKey, limit int) (queue.Status, error) {
	running, err := s.Runs(ctx, store.Filter{State: store.Running, Keys: keys, Limit: limit})
	if err != nil {
		return queue.Status{}, err
	}
	return queue.Read(ctx, s.store, running, keys, limit)
}

// Usage is what runs came to, those that were pruned too.
func (s *Service) Usage(ctx context.Context, over store.Over) (stats.Usage, error) {
	return stats.ReadUsage(ctx, s.store, over)
}

// Prune forgets finished runs that began before a time, save the newest keep of all runs and those whose spending counts for a
// budget of today. Their files go with them. It says how many there were.
func (s *Service) Prune(ctx context.Context, before time.Time, keep int) (int, error) {
	s.forgetLayers()
	if err := s.store.AddUp(ctx, stats.Figures); err != nil { // usage outlives runs
		return 0, err
	}
	ids, err := s.store.Forgettable(ctx, before, keep)
	for n, id := range ids {
		if err := errors.Join(s.folder.Remove(id), s.store.Forget(ctx, id)); err != nil {
			return n, err
		}
	}
	return len(ids), err
}

// Age reads an age as a person types it: 30d, or what Go writes, such as 12h; 0 for nothing.
func Age(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is no number of days", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time", s)
	}
	return d, nil
}

// Latest names the newest run where Find is asked for one.
const Latest = "latest"

// Find finds a run by a part of its id, or the Latest. Errors are store.ErrNotFound and *store.AmbiguousError.
func (s *Service) Find(ctx context.Context, part string) (store.Run, error) {
	if part == Latest {
		runs, err := s.Runs(ctx, store.Filter{Limit: 1})
		if err != nil {
			return store.Run{}, err
		}
		if len(runs) == 0 {
			return store.Run{}, store.ErrNotFound
		}
		part = runs[0].ID
	}
	run, err := s.store.Run(ctx, part)
	if err != nil {
		return run, err
	}
	return run, s.recognize(&run)
}

// recognize tells a run that is interrupted from one that runs. The store knows neither of the two from the other.
func (s *Service) recognize(run *store.Run) error {
	if run.State != store.Running {
		return nil
	}
	alive, err := engine.Executing(s.database(), run.ID)
	if err == nil && !alive {
		run.State = Interrupted
	}
	return err
}

// Repositories are those that have runs, the one with the newest first.
func (s *Service) Repositories(ctx context.Context) ([]store.Repository, error) {
	return s.store.Repositories(ctx)
}

// Rounds are the rounds of a run that are over, with their findings.
func (s *Service) Rounds(ctx context.Context, run string) ([]store.Round, error) {
	return s.store.Rounds(ctx, run)
}

// Effects are what a run changed on GitHub, or is about to, in order.
func (s *Service) Effects(ctx context.Context, run string) ([]store.Entry, error) {
	return s.store.Outbox(ctx, run)
}

// Incidents are what a person has to look at in a run, whatever it ended with.
func (s *Service) Incidents(ctx context.Context, run string) ([]store.Incident, error) {
	return s.store.Incidents(ctx, run)
}

// File is one of the files of a run, such as review.md; fs.ErrNotExist when there is none.
func (s *Service) File(run, name string) ([]byte, error) { return s.folder.Load(run, name) }

// Talk is what was said on a pull request, as a round of a run read it. Values that look like secrets are masked.
type Talk struct {
	// Threads are ours, with what people replied.
	Threads []conversation.Thread
	// Discussion is all the rest, without the comments of ours; its own threads among those are ours again.
	Discussion review.Discussion
}

// Talk reads what was said when a round of a run began; fs.ErrNotExist when the run has no such round, or nothing of it is kept.
func (s *Service) Talk(run string, round int) (Talk, error) {
	data, err := s.folder.Load(run, fmt.Sprintf("round-%d/snapshot.json", round))
	if err != nil {
		return Talk{}, err
	}
	var snap struct {
		Discussion   review.Discussion
		Conversation conversation.State
	}
	if err := json.Unmarshal(data, &snap); err != nil {
		return Talk{}, fmt.Errorf("read what was said in round %d of run %s: %w", round, run, err)
	}
	return Talk{snap.Conversation.Threads, snap.Discussion}, nil
}

// Files are the names of a run's files, sorted.
func (s *Service) Files(run string) ([]string, error) { return s.folder.Names(run) }

// Kept reports whether the files of a run are still there.
func (s *Service) Kept(run string) bool { return s.folder.Kept(run) }

// Replayed is a round that was judged again.
type Replayed struct {
	Round int
	// Stored is the report that was kept, Again the one that its answers lead to now.
	Stored string
	Again  orchestrator.Judgement
}

// Replay judges the stored answers of a run's round again; fs.ErrNotExist when there is no such round.
func (s *Service) Replay(run string, round int) (Replayed, error) {
	out := Replayed{Round: round}
	report, err := s.folder.Load(run, fmt.Sprintf("round-%d/review.md", round))
	if err != nil {
		return out, err
	}
	data, err := s.folder.Load(run, fmt.Sprintf("round-%d/inputs.json", round))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // the report is there
			err = fmt.Errorf("round %d of run %s has no inputs", round, run)
		}
		return out, err
	}
	var in orchestrator.Inputs
	if err := json.Unmarshal(data, &in); err != nil {
		return out, fmt.Errorf("read the inputs of round %d of run %s: %w", round, run, err)
	}
	out.Stored, out.Again = string(report), orchestrator.Judge(in)
	return out, nil
}
