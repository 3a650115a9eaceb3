package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// FixTrial runs one sample of a fixer: it makes a clone of SampleTree, calls ask once with the folder, and says what is wrong
// with what is in the folder then.
type FixTrial func(ctx context.Context, task review.Task, ask func(dir string) review.Answer) []Problem

// CheckFixer is Check for a fixer, which is judged by its work too. Spec.Dir is set for each sample.
func CheckFixer(ctx context.Context, spec Spec, trial FixTrial) []Problem {
	spec.Role = review.RoleFixer
	return check(ctx, spec, func(spec Spec, s sample) []Problem {
		var a *attempt
		found := trial(ctx, s.task, func(dir string) review.Answer {
			spec.Dir = dir
			a = try(ctx, spec, s.task, spec.Timeout, func(review.Event) {})
			return spec.question(s.task).Settle(said(spec, []*attempt{a}))
		})
		for i := range found {
			found[i].Sample = s.name
		}
		if a == nil {
			return found
		}
		return append(a.problems(s.name), found...)
	})
}

// Problem is one departure of a program from the contract.
type Problem struct {
	// Sample is the request that showed it: normal, empty, large or repair.
	Sample string
	// Reason is one line.
	Reason string
	// Warning is true for what prloop puts right by itself and notes in the receipt; such a program passes.
	Warning bool
}

// defaultCheckTimeout bounds one sample.
const defaultCheckTimeout = time.Minute

// Check runs a program with sample requests and reports every departure from the contract that the first failing sample
// shows: the ordinary request comes first, and what goes wrong there goes wrong everywhere. A program passes when no
// Problem is left that is not a Warning. Spec.Timeout bounds each sample; 0 means a minute.
func Check(ctx context.Context, spec Spec) []Problem {
	return check(ctx, spec, func(spec Spec, s sample) []Problem {
		return try(ctx, spec, s.task, spec.Timeout, func(review.Event) {}).problems(s.name)
	})
}

func check(ctx context.Context, spec Spec, one func(Spec, sample) []Problem) []Problem {
	if spec.Name == "" {
		spec.Name = "checked"
	}
	if spec.Role == "" {
		spec.Role = review.RoleReviewer
	}
	if spec.Timeout <= 0 {
		spec.Timeout = defaultCheckTimeout
	}
	var all []Problem
	seen := map[string]bool{}
	for _, s := range samples(spec) {
		for _, p := range one(spec, s) {
			if !seen[p.Reason] {
				seen[p.Reason] = true
				all = append(all, p)
			}
		}
		if ctx.Err() != nil || slices.ContainsFunc(all, func(p Problem) bool { return !p.Warning }) {
			break
		}
	}
	return all
}

// problems lists what was wrong with one attempt.
func (a *attempt) problems(sample string) []Problem {
	var list []Problem
	add := func(reason string) { list = append(list, Problem{Sample: sample, Reason: reason}) }
	res := a.result
	var exit *proc.ExitError
	switch {
	case a.ended == nil:
	case !errors.As(a.ended, &exit):
		add(a.ended.Error())
		return list
	default:
		reason := reasonText(exit)
		if tail := lastLines(res.StderrTail); tail != "" {
			reason += "; stderr: " + tail
		}
		add(reason)
	}
	stopped := exit != nil && exit.Reason != proc.ReasonNone
	if a.invalid != nil && !(a.ended != nil && res.StdoutBytes == 0) {
		var faults *schema.Error
		if errors.As(a.invalid, &faults) {
			for _, f := range faults.Faults {
				add("envelope: " + f.String())
			}
			if faults.More > 0 {
				add(fmt.Sprintf("envelope: %d further faults", faults.More))
			}
		} else {
			add("output: " + a.invalid.Error())
		}
	}
	if a.events.bad > 0 {
		add(strings.Replace(a.events.faults[0], "event dropped: ", "event line: ", 1))
	}
	if res.Survivors > 0 {
		add("leaves processes behind when it ends")
	}
	if res.Unclean {
		add("leaves processes behind that cannot be ended")
	}
	if res.StdinUnread > 0 && !stopped {
		add("does not read its standard input to the end")
	}
	if a.invalid == nil {
		for _, n := range a.notes {
			if !strings.HasPrefix(n, "agent: ") && !strings.HasPrefix(n, "prNumber: ") && !strings.HasPrefix(n, "left ") && !strings.HasPrefix(n, "event dropped") {
				list = append(list, Problem{Sample: sample, Reason: n, Warning: true})
			}
		}
	}
	return list
}

// reasonText says what the contract wants instead, without running times: the same fault reads the same each time.
func reasonText(e *proc.ExitError) string {
	switch e.Reason {
	case proc.ReasonNone:
		if e.Signal != "" {
			return "ends by a signal: " + e.Signal
		}
		return fmt.Sprintf("ends with exit status %d; a complete answer ends with 0", e.Code)
	case proc.ReasonTimeout:
		return "does not end in time"
	case proc.ReasonIdle:
		return "says nothing for too long"
	case proc.ReasonLinger:
		return "runs on after it closed its standard output"
	case proc.ReasonOutputLimit:
		return "writes more than 8 MB on one stream"
	case proc.ReasonLineLimit:
		return "writes a line longer than 1 MB"
	case proc.ReasonLeashLost:
		return "kills its parent process"
	}
	return "was stopped: " + string(e.Reason)
}
