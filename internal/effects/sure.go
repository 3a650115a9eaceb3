package effects

import "context"

// A Surer is an Outbox of a process that can lose its right to work on a target without being told: it was stopped for a while, say, and others went
// on. Sure gives an error unless the process still has that right, as far as it can know without asking anybody. It costs nothing, and is
// asked where nothing else can be: between Sending and the call.
type Surer interface{ Sure() error }

type sureKey struct{}

// withSure hands Sure of an outbox, if it has one, to whoever makes the call.
func withSure(ctx context.Context, sure func() error) context.Context {
	return context.WithValue(ctx, sureKey{}, sure)
}

// Carrying gives a context the Sure of another one: of the call that it is part of.
func Carrying(ctx, call context.Context) context.Context {
	if sure, ok := call.Value(sureKey{}).(func() error); ok {
		return withSure(ctx, sure)
	}
	return ctx
}

// Sure is asked by whoever makes the call of an effect, with the context that Send was given, right before: an error means that nothing may be
// sent any more.
func Sure(ctx context.Context) error {
	if sure, ok := ctx.Value(sureKey{}).(func() error); ok {
		return sure()
	}
	return nil
}

// sure asks the outbox.
func (d Delivery) sure() error {
	if s, ok := d.Outbox.(Surer); ok {
		return s.Sure()
	}
	return nil
}
