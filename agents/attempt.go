package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/values"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// attempt is one run of the child.
type attempt struct {
	result proc.Result
	// ended is why the child did not end by itself with status 0; nil when it did.
	ended error
	// invalid is why the output holds no valid envelope; nil when it does.
	invalid error
	env     answer.Envelope
	notes   []string
	frame   framer
	events  intake
}

// try runs the child once and reads what it wrote.
func try(ctx context.Context, spec Spec, task review.Task, limit time.Duration, emit func(review.Event)) *attempt {
	a := &attempt{events: intake{agent: spec.Name, emit: emit}}
	a.frame.event = a.events.line
	request, err := schema.Encode(task)
	if err != nil {
		a.ended = fmt.Errorf("write the request: %w", err)
		a.invalid = a.ended
		return a
	}
	a.result, a.ended = proc.Run(ctx, proc.Spec{
		Path: spec.Path, Args: spec.Args, Env: spec.Env, Dir: spec.Dir, Stdin: append(request, '\n'),
		Timeout: limit, Idle: spec.Idle, Quiet: spec.Quiet, Grace: spec.grace(), Linger: lingerFor, OnLine: a.frame.line, Bounds: spec.Bounds,
	})
	a.notes = a.events.notes()
	if n := a.result.Survivors; n > 0 {
		a.notes = append(a.notes, fmt.Sprintf("left %d processes behind, which were ended", n))
	}
	if a.result.Unclean {
		a.notes = append(a.notes, "unclean: processes of this agent could not be ended")
	}
	a.read(spec, task)
	return a
}

// read takes the envelope out of what the child wrote and holds it against what was asked.
func (a *attempt) read(spec Spec, task review.Task) {
	doc, notes, err := a.frame.envelope()
	a.notes = append(a.notes, notes...)
	if err != nil {
		a.invalid = err
		return
	}
	if a.invalid = answer.Another(a.frame.beside(), spec.Role); a.invalid != nil {
		return
	}
	a.env, notes, a.invalid = spec.question(task).Read(doc, a.frame.beside())
	a.notes = append(a.notes, notes...)
	if other := roleOf(doc); a.invalid != nil && other != "" && other != spec.Role {
		a.invalid = fmt.Errorf("this is the envelope of the %s, wanted is that of the %s", other, spec.Role)
	}
}

// roleOf guesses whose envelope a refused document is, by the field only that one has; a program that mixes up its tasks
// is told so rather than a list of missing fields.
func roleOf(doc []byte) (found review.Role) {
	if values.MoreThan(schema.MaxValues, doc) {
		return "" // what is no answer has no role
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(doc, &keys) // what is no object is nobody's
	for _, role := range []review.Role{review.RoleReviewer, review.RoleCommentsAnalyzer, review.RoleFixer, review.RoleVerifier, review.RoleCommand, review.RoleScout, review.RoleFinder} {
		switch _, ok := keys[answer.Key(role)]; {
		case ok && found != "":
			return "" // of two roles at once: the list of faults says more
		case ok:
			found = role
		}
	}
	return found
}

func (a *attempt) complete() bool { return a.ended == nil && a.invalid == nil }

// repairable reports whether asking again with the reason can help: the child is well, its answer is not.
func (a *attempt) repairable() bool { return a.ended == nil && a.invalid != nil }

// kind is the reason as everybody may read it: what the program and its answer say is the operator's (threats.md T681).
func (a *attempt) kind() string {
	var exit *proc.ExitError
	switch {
	case a.ended == nil:
		return "invalid answer"
	case !errors.As(a.ended, &exit):
		return "its program could not be run"
	case exit.Reason == proc.ReasonIdle:
		return exit.Kind() + "; " + idleMost
	}
	return exit.Kind()
}

// idleMost names the setting that bounds silence.
const idleMost = "limits.max_idle_seconds allows no more"

// why is the reason in one line: what is wrong, exit status, running time and the end of standard error. Agents of prloop's own say it in words, and that they
// end with a status then tells nobody anything.
func (a *attempt) why(kind string) string {
	var parts []string
	var exit *proc.ExitError
	switch {
	case a.ended == nil:
		parts = append(parts, "invalid answer: "+a.invalid.Error(), fmt.Sprintf("exit status 0 after %s", proc.Seconds(a.result.Took)))
	case errors.As(a.ended, &exit):
		parts = append(parts, strings.TrimPrefix(a.ended.Error(), "run "))
		if exit.Reason == proc.ReasonIdle {
			parts = append(parts, idleMost)
		}
		if exit.Reason != proc.ReasonNone {
			parts = append(parts, status(a.result))
		}
	default:
		parts = append(parts, a.ended.Error())
	}
	tail := lastLines(a.result.StderrTail)
	if said, own := strings.CutPrefix(tail, "prloop: "); own && (kind == review.KindBuiltin || kind == review.KindStatic) {
		if exit != nil && exit.Reason == proc.ReasonNone && exit.Signal == "" {
			return said
		}
		return said + "; " + strings.Join(parts, "; ")
	}
	if tail != "" {
		parts = append(parts, "stderr: "+tail)
	}
	return strings.Join(parts, "; ")
}

func status(r proc.Result) string {
	if r.Signal != "" {
		return "ended by signal: " + r.Signal
	}
	return fmt.Sprintf("exit status %d", r.ExitCode)
}

// lastLines is the end of standard error on one line.
func lastLines(tail []byte) string { return sanitize.LastLine(string(tail), 500) }
