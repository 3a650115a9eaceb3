package app

import (
	"context"
	"time"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// A Meter hears what the runs of this process come to. Its methods are called from several goroutines.
type Meter interface {
	// Called hears of a call to a model.
	Called(gateway.Observation)
	// Ended hears how a run ended, once, in the process that ended it.
	Ended(review.RunResult)
	// Worked hears how long this process was at work on a run.
	Worked(time.Duration)
}

// Measure has a meter hear of the runs that begin from now on.
func (s *Service) Measure(m Meter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter = m
}

// metered is a recorder that tells the meter how the run ended.
type metered struct {
	orchestrator.Recorder
	meter Meter
}

func (m metered) Finish(ctx context.Context, result review.RunResult) error {
	err := m.Recorder.Finish(ctx, result)
	if err == nil {
		m.meter.Ended(result)
	}
	return err
}

// measured has the meter hear of what is recorded.
func (r *run) measured(to orchestrator.Recorder) orchestrator.Recorder {
	if r.meter == nil {
		return to
	}
	return metered{to, r.meter}
}

// callObserver hears of every call to a model; nil when nobody wants to know.
func (r *run) callObserver() func(gateway.Observation) {
	traced := r.telemetry.observer()
	if r.meter == nil {
		return traced
	}
	return func(o gateway.Observation) {
		if traced != nil {
			traced(o)
		}
		r.meter.Called(o)
	}
}

// Budgets are what GitHub lets this process ask for, as it said last.
func (s *Service) Budgets() (all []github.Budget) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		all = append(all, c.Budgets()...)
	}
	return all
}
