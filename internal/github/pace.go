package github

import (
	"context"
	"fmt"
	"time"
)

// GitHub asks for no more than 80 requests a minute that create content, and 500 an hour. These leave room for the person whose account
// it is, and for other programs of theirs (decision 76).
const (
	createdInMinute = 60
	createdInHour   = 450
)

// Bounds of a wait for one's place.
const (
	// freshFor is how long what was known before a wait is as good after it.
	freshFor = 10 * time.Second
	// keptFor is how long a place is kept for who waited for it.
	keptFor = 5 * time.Minute
)

// Places are what an account created in the last hour and will create, where processes that use the account can all see it.
type Places interface {
	// Places gives choose the account's places, by GitHub's clock and in order, and keeps what it returns. Nobody else chooses for the account meanwhile.
	Places(ctx context.Context, account string, choose func(made []time.Time) []time.Time) error
}

// pace gives each creation of content a place in time: of comments and other words for them, reviews, answers, pull requests and their words, and of requests for a
// review. It goes by the writing turn.
type pace struct {
	// places are those that processes share; nil for made. clock is GitHub's, by which these are kept: a machine's may be set back, and its places of before
	// then lie hours ahead.
	places Places
	clock  func() time.Time
	// made are the places of the last hour and those to come, in order.
	made []time.Time
	// kept are the places of those who waited, by what they do.
	kept map[string]time.Time
}

// place is when something may be created: the place that was kept for it, or the next that is free. account is asked for where processes share places.
func (p *pace) place(ctx context.Context, op string, now time.Time, account func() (string, error)) (time.Time, error) {
	if at, ok := p.kept[op]; ok {
		delete(p.kept, op)
		if !now.Before(at) && now.Sub(at) < keptFor {
			return now, nil
		}
	}
	if p.places == nil {
		var at time.Time
		p.made, at = NextPlace(now, p.made)
		return at, nil
	}
	name, err := account()
	if err != nil {
		return time.Time{}, err
	}
	var wait time.Duration
	err = p.places.Places(ctx, name, func(made []time.Time) []time.Time {
		clock := p.clock()
		made, at := NextPlace(clock, made)
		wait = at.Sub(clock)
		return made
	})
	return now.Add(wait), err
}

// NextPlace is the first time at which an account may create something else, and its places of the last hour with that; made are those so far, in order.
func NextPlace(now time.Time, made []time.Time) (all []time.Time, at time.Time) {
	for len(made) > 0 && now.Sub(made[0]) >= time.Hour {
		made = made[1:]
	}
	at = now
	for _, bound := range []struct {
		most   int
		within time.Duration
	}{{createdInMinute, time.Minute}, {createdInHour, time.Hour}} {
		if over := len(made) - bound.most; over >= 0 && made[over].Add(bound.within).After(at) {
			at = made[over].Add(bound.within)
		}
	}
	return append(made, at), at
}

// account names whom content is by.
func (c *Client) account(ctx context.Context) (string, error) {
	who, err := c.Viewer(ctx, "")
	return c.host + "/" + who.Login, err
}

// waitToCreate is waitForTurn for what creates content. It waits for as long as it takes to get a place, and lets what is no content go ahead
// meanwhile. After a wait in which the world may have changed the error is one whose Waited is true: nothing was sent, and the next call
// for the same finds its place kept. The caller holds writing.
func (c *Client) waitToCreate(ctx context.Context, op string) error {
	if err := c.waitForTurn(ctx, op); err != nil {
		return err
	}
	now := time.Now()
	at, err := c.pace.place(ctx, op, now, func() (string, error) { return c.account(ctx) })
	if err != nil {
		return &Error{Op: op, Kind: ErrUnavailable, Detail: "how much the account creates is not known", Cause: err, write: true}
	}
	if !at.After(now) {
		return nil
	}
	c.log.Info("waiting: no more content is to be created in so short a time", "op", op, "until", at.UTC().Format(time.RFC3339))
	c.writing.Unlock()
	t := time.NewTimer(at.Sub(now))
	select {
	case <-ctx.Done():
		t.Stop()
	case <-t.C:
	}
	c.writing.Lock()
	if ctx.Err() == nil && at.Sub(now) > freshFor {
		if c.pace.kept == nil {
			c.pace.kept = map[string]time.Time{}
		}
		c.pace.kept[op] = at
		return &Error{Op: op, Kind: ErrRateLimited, Detail: fmt.Sprintf("waited %s for a place among %d an hour", at.Sub(now).Round(time.Second), createdInHour), write: true, waited: true}
	}
	return c.waitForTurn(ctx, op)
}
