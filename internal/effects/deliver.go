package effects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// Quarantine is how long an effect may still appear after the end of the process that sent it, or of its wait for the
	// answer: GitHub ends a request after 10 s (threats.md "Outbox"), and two more cover the way there.
	Quarantine = 12 * time.Second
	// Tries is how often one effect is sent in all by one Deliver.
	Tries = 2
	// SettleTries bounds the search for two equal readings (threats.md T59).
	SettleTries = 6
	// drainTime is how long one write may take once the process was told to stop (threats.md T100).
	drainTime = 15 * time.Second
)

// Delivery is what effects are delivered with.
type Delivery struct {
	Outbox Outbox
	// Overtaken says why the pull request is no longer what the effect is about; empty when it is. It is asked right before
	// each call.
	Overtaken func(ctx context.Context) (why string, err error)
	// Sleep waits, or until ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Done is what became of an effect. One of its fields is set when there is no error.
type Done struct {
	// Ref says where the effect is.
	Ref string
	// Overtaken says why nothing was sent: the pull request is no longer what the effect is about, or it may not be said of it.
	Overtaken string
}

// Deliver makes an effect: intent, one call, acknowledgement. What may be there already is looked for first, and sent again
// only when it is proven absent; a repeatable one is sent again without a look. Called again after a crash or an error it goes on
// from what the outbox remembers.
func (d Delivery) Deliver(ctx context.Context, k Kind, e Effect) (Done, error) {
	e.Kind = k.Name()
	for tries := 0; ; {
		stored, err := d.Outbox.Intent(ctx, e)
		if err != nil || stored.Ref != "" {
			return Done{Ref: stored.Ref}, err
		}
		stored.Since = e.Since
		if stored.As.Login == "" { // stored by a prloop that did not keep it
			stored.As = e.As
		}
		if !stored.SentAt.IsZero() { // begun by us, or by a process that is no more
			ref, err := d.reconcile(ctx, k, stored)
			if err != nil || ref != "" {
				return Done{Ref: ref}, err
			}
			continue // it is intended anew, as who we are now
		}
		// Nothing is said about a commit that is no longer the head, a diff that nobody would merge (threats.md T92),
		// or to people who have decided (threats.md T91).
		if why, err := d.Overtaken(ctx); err != nil || why != "" {
			return Done{Overtaken: why}, err
		}
		if err := d.Outbox.Sending(ctx, stored.Nonce); err != nil {
			return Done{}, err
		}
		// What was begun is finished even when the process was told to stop (threats.md T100).
		writing, done := Finishing(ctx)
		ref, err := k.Send(withSure(writing, d.sure), stored)
		done()
		if err == nil && ref == "" {
			err = fmt.Errorf("%s %s was sent and gave no reference", e.Kind, e.Key)
		}
		if err == nil {
			return Done{Ref: ref}, d.Outbox.Ack(context.WithoutCancel(ctx), stored.Nonce, ref)
		}
		if lost := d.sure(); lost != nil { // others may be at it: what is recorded from now on is theirs
			return Done{}, errors.Join(err, lost)
		}
		if held := (*WithheldError)(nil); errors.As(err, &held) {
			return Done{Overtaken: held.Why}, d.Outbox.Absent(context.WithoutCancel(ctx), stored.Nonce)
		}
		var w interface{ Waited() bool }
		if errors.As(err, &w) && w.Waited() { // it may be sent now, if it is still wanted
			if err := d.Outbox.Absent(context.WithoutCancel(ctx), stored.Nonce); err != nil {
				return Done{}, err
			}
			continue
		}
		var r interface{ Refused() bool }
		if errors.As(err, &r) && r.Refused() { // certainly not there: a resumed run may send it at once
			return Done{}, errors.Join(err, d.Outbox.Absent(context.WithoutCancel(ctx), stored.Nonce))
		}
		if tries++; tries == Tries || ctx.Err() != nil {
			return Done{}, err
		}
	}
}

// reconcile finds out whether an effect that may have been sent is there: it waits until GitHub cannot finish the call any more,
// then has the kind look, unless it may be repeated. An empty ref means that it may be sent again. The wait is whole and begins when nobody sends any more:
// how long ago a call was begun says neither how long it went on, nor does the clock that told it have to be the one there is
// now (threats.md T96).
func (d Delivery) reconcile(ctx context.Context, k Kind, e Effect) (string, error) {
	if err := d.Sleep(ctx, Quarantine); err != nil {
		return "", err
	}
	if !k.Repeatable() {
		ref, err := k.Find(ctx, e)
		if err != nil {
			return "", err
		}
		if ref != "" {
			return ref, d.Outbox.Ack(ctx, e.Nonce, ref)
		}
	}
	if err := d.sure(); err != nil {
		return "", err
	}
	return "", d.Outbox.Absent(ctx, e.Nonce)
}

// Finishing is a context for one write: it outlives ctx by the time a write may take once the process was told to stop
// (threats.md T100).
func Finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	writing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(drainTime, func() { cancel(context.Cause(ctx)) })
	})
	return writing, func() { stop(); cancel(nil) }
}

// NotSent marks an error of Send that happened before its call.
func NotSent(err error) error { return notSent{err} }

type notSent struct{ error }

func (notSent) Refused() bool   { return true }
func (e notSent) Unwrap() error { return e.error }

// A WithheldError is one of Send that happened before its call: what was to be said is not to be said any more, and why.
type WithheldError struct{ Why string }

func (e *WithheldError) Error() string { return e.Why }

// ErrUnsettled: readings of a list kept changing, so nobody can say that something is not in it.
var ErrUnsettled = errors.New("the list does not settle: cannot tell whether it was sent")

// Settled looks for something in a list that is read in pages, until it is found or two readings one second apart have the same
// ids: an entry can be on no page while others come and go (threats.md T59). read gives the ids of all entries, and where the
// thing is if it is there.
func Settled(ctx context.Context, sleep func(context.Context, time.Duration) error, read func() (ids []string, ref string, err error)) (string, error) {
	var before []string
	for try := range SettleTries {
		ids, ref, err := read()
		if err != nil || ref != "" {
			return ref, err
		}
		slices.Sort(ids)
		if try > 0 && slices.Equal(ids, before) {
			return "", nil
		}
		before = ids
		if err := sleep(ctx, time.Second); err != nil {
			return "", err
		}
	}
	return "", ErrUnsettled
}
