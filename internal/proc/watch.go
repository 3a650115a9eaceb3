package proc

import (
	"context"
	"time"
)

// watch waits until the child has ended (its status is then not nil) or has to be ended, and why.
func watch(ctx context.Context, spec Spec, s *streams, ended <-chan status) (*status, Reason, error) {
	wall := timer(spec.Timeout)
	defer wall.Stop()
	idle := timer(spec.Idle)
	defer idle.Stop()
	first := timer(spec.FirstByte)
	defer first.Stop()
	linger := timer(0)
	defer linger.Stop()
	stdoutEOF := s.stdoutEOF
	for {
		select {
		case st := <-ended:
			return &st, ReasonNone, nil
		case <-ctx.Done():
			return nil, ReasonCanceled, context.Cause(ctx)
		case stop := <-s.stop:
			return nil, stop.reason, stop.err
		case <-wall.C:
			return nil, ReasonTimeout, nil
		case <-idle.C:
			// The readers only note the time; the timer is set again for the rest of the allowance.
			quiet := s.quiet()
			if spec.Quiet != nil {
				quiet = min(quiet, spec.Quiet())
			}
			if quiet >= spec.Idle {
				return nil, ReasonIdle, nil
			}
			idle.Reset(spec.Idle - quiet)
		case <-first.C:
			if s.silent() {
				return nil, ReasonFirstByte, nil
			}
		case <-stdoutEOF:
			stdoutEOF = nil
			if spec.Linger > 0 {
				linger.Reset(spec.Linger)
			}
		case <-linger.C:
			return nil, ReasonLinger, nil
		}
	}
}

// timer fires after d; never when d is 0.
func timer(d time.Duration) *time.Timer {
	t := time.NewTimer(d)
	if d <= 0 {
		t.Stop()
	}
	return t
}
