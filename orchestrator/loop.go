package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prloop/prloop/review"
)

// Loop runs reviews. All parts must be set, except Forge, Poster and Outbox, which a local range does not need.
type Loop struct {
	Forge   Forge
	Poster  Poster
	Outbox  Outbox
	History History
	Briefer Briefer
	Agents  Asker
	Record  Recorder
	// Emit receives the news of the run; it may be called from several goroutines at once.
	Emit func(review.Event)
	// MarkerKey authenticates our comments (security 7.6).
	MarkerKey []byte
	// Secrets are those this process holds: a report that contains a part of one is never posted (security 7.4, layer 0).
	Secrets []string
	// Fence gives the word that stands around untrusted text in a run's prompts: the same for all agents of the run, and
	// not to be guessed by who wrote the text.
	Fence func(run string) string
	// Nonce draws an unguessable name for one report.
	Nonce func() string
	// Now is the clock, and Sleep waits on it or until ctx ends.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// errWallTime is the cause of a run that ran out of wall time.
var errWallTime = errors.New("the run's wall time is used up")

// Run takes one request to its end. An error means that the run could not go on (GitHub refused, git failed, the process
// was told to stop); every judgement about the code is a result. The last step stores the result, so that running a
// finished request again returns the same one.
func (l *Loop) Run(ctx context.Context, steps Steps, req Request) (review.RunResult, error) {
	const round = 1
	snap, err := doJSON(ctx, steps, fmt.Sprintf("round %d: snapshot", round), func(ctx context.Context) (Snapshot, error) {
		l.say("reading the pull request, its diff and its discussion")
		snap, err := l.snapshot(ctx, req)
		if err != nil {
			return snap, err
		}
		return snap, l.save(ctx, req, fmt.Sprintf("round-%d/snapshot.json", round), redactSnapshot(snap))
	})
	if err != nil {
		return review.RunResult{}, err
	}
	if snap.Superseded != "" {
		return l.finish(ctx, steps, req, superseded(req, snap, snap.Superseded))
	}
	var heard []Heard
	if reviewable(snap.Brief) {
		if heard, err = l.askAll(ctx, steps, req, round, snap); err != nil {
			return review.RunResult{}, err
		}
	}
	judged := Judge(Inputs{Request: req, Round: round, Snapshot: snap, Heard: heard})
	result := judged.Result
	if !req.Target.Local() && !req.DryRun {
		l.say("posting the report")
		urls, newer, err := l.publish(ctx, steps, req, round, snap, judged.Report)
		if err != nil {
			return review.RunResult{}, err
		}
		if newer != "" {
			result = superseded(req, snap, newer)
		}
		result.Comments = urls
	}
	if err := l.keep(ctx, steps, req, round, judged); err != nil {
		return review.RunResult{}, err
	}
	return l.finish(ctx, steps, req, result)
}

// keep writes the artifacts a person reads: review.md, and the inputs `prloop replay` judges again.
func (l *Loop) keep(ctx context.Context, steps Steps, req Request, round int, judged Judgement) error {
	_, err := doJSON(ctx, steps, fmt.Sprintf("round %d: keep", round), func(ctx context.Context) (bool, error) {
		if err := l.save(ctx, req, fmt.Sprintf("round-%d/inputs.json", round), judged.Inputs); err != nil {
			return false, err
		}
		return true, l.Record.Save(ctx, req.Run, "review.md", []byte(judged.Report))
	})
	return err
}

// finish stores how the run ended.
func (l *Loop) finish(ctx context.Context, steps Steps, req Request, result review.RunResult) (review.RunResult, error) {
	return doJSON(ctx, steps, "finish", func(ctx context.Context) (review.RunResult, error) {
		result.Seconds = l.Now().Sub(req.Started).Seconds()
		if err := l.save(ctx, req, "review.json", result); err != nil {
			return result, err
		}
		if err := l.save(ctx, req, "telemetry.json", telemetry(result)); err != nil {
			return result, err
		}
		return result, l.Record.Finish(ctx, result)
	})
}

func (l *Loop) emit(e review.Event) {
	e.Time = l.Now()
	l.Emit(e)
}

func (l *Loop) say(message string) {
	l.emit(review.Event{Kind: review.EventProgress, Message: message})
}

// save writes one artifact as indented JSON.
func (l *Loop) save(ctx context.Context, req Request, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode artifact %s: %w", name, err)
	}
	return l.Record.Save(ctx, req.Run, name, append(data, '\n'))
}
