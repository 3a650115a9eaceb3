package effects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// StatusLimit is how many characters of a status's description GitHub keeps.
const StatusLimit = 140

// CommitStatus is what a commit status says.
type CommitStatus struct {
	State review.GateState `json:"state"`
	// Description is one line of our own words, Target the page it leads to.
	Description string `json:"description"`
	Target      string `json:"target"`
	// Own is what the pull request comes to by itself, where a success is withheld; empty where State is that.
	Own review.GateState `json:"own,omitempty"`
}

// Withheld is the status of a commit that has come to a success, which may not be said for a reason.
func (s CommitStatus) Withheld(why string) CommitStatus {
	s.Own, s.State = s.State, review.GateFailure
	s.Description = fmt.Sprintf("%s. By itself: %s", why, s.Description)
	return s
}

// Statuses sets commit statuses.
type Statuses interface {
	// SetStatus sets the status gate.Context of a commit and returns where it is. It never retries. Errors are as those of Kind.Send; a success may
	// be withheld.
	SetStatus(ctx context.Context, repo review.Repo, commit string, s CommitStatus) (string, error)
}

// Status is the kind of a commit status. Its payload is a CommitStatus, its ref the status's address. One that may still arrive
// is waited for before another is set on the same commit, so that a late one never overwrites a later one (decision 35).
type Status struct {
	Statuses Statuses
	// Policy names the secrets no status may hold.
	Policy sanitize.Policy
}

// DeliverStatus delivers a status. Where others have said something of the commit since it was intended, as later tells, GitHub may have got that before it:
// whether it was overtaken is then asked again (threats.md T464).
func (d Delivery) DeliverStatus(ctx context.Context, k Status, e Effect, later func(context.Context) (bool, error)) (Done, error) {
	done, err := d.Deliver(ctx, k, e)
	if err != nil || done.Ref == "" {
		return done, err
	}
	since, err := later(ctx)
	if err != nil || !since {
		return done, err
	}
	if why, err := d.Overtaken(ctx); err != nil || why != "" {
		return Done{Overtaken: why}, err
	}
	return done, nil
}

// StatusKey is the key of a status of a run: what of it names the moment, such as "1/reviewing".
func StatusKey(run, what string) string { return run + "/" + what }

// Payload is what an effect of the kind holds. The description is cut to what GitHub keeps.
func (s CommitStatus) Payload() string {
	s.Description = strings.Join(strings.Fields(s.Description), " ")
	if utf8.RuneCountInString(s.Description) > StatusLimit {
		s.Description = string([]rune(s.Description)[:StatusLimit-1]) + "…"
	}
	data, _ := json.Marshal(s) // three texts
	return string(data)
}

// ReadStatus reads a payload.
func ReadStatus(payload string) (s CommitStatus, err error) {
	if err := json.Unmarshal([]byte(payload), &s); err != nil {
		return s, fmt.Errorf("no status: %w", err)
	}
	switch s.State {
	case review.GatePending, review.GateSuccess, review.GateFailure, review.GateError:
	default:
		return s, fmt.Errorf("no state of a status: %q", s.State)
	}
	switch {
	case s.Description == "", utf8.RuneCountInString(s.Description) > StatusLimit, sanitize.Line(s.Description, StatusLimit) != s.Description:
		return s, fmt.Errorf("no description of a status: %q", s.Description)
	case !strings.HasPrefix(s.Target, "https://"), strings.ContainsFunc(s.Target, func(r rune) bool { return r <= ' ' || r > '~' }):
		return s, fmt.Errorf("no address of a page: %q", s.Target)
	}
	return s, nil
}

// Name is "status".
func (Status) Name() string { return "status" }

// Send checks the status again and sets it.
func (s Status) Send(ctx context.Context, e Effect) (string, error) {
	status, err := ReadStatus(e.Payload)
	if err == nil && sanitize.Leaks(e.Payload, s.Policy) {
		err = sanitize.ErrKnownSecret
	}
	if err != nil {
		return "", NotSent(fmt.Errorf("stored status of run %s: %w", e.Run, err))
	}
	return s.Statuses.SetStatus(ctx, e.Target.Repo, e.Head, status)
}

// Find is not asked: see Repeatable.
func (Status) Find(context.Context, Effect) (string, error) {
	return "", errors.New("a status of " + gate.Context + " is not looked for")
}

// Repeatable is true: the second call says the same.
func (Status) Repeatable() bool { return true }
