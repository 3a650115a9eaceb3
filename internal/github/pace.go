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

// pace gives each creation of content a place in time: of comments and other words for them, reviews, answers, pull requests and their words, and of requests for a
// review. It goes by the writing turn.
type pace struct {
	// made are the places of the last hour and those to come, in order.
	made []time.Time
	// kept are the places of those who waited, by what they do.
	kept map[string]time.Time
}

// place is when something may be created: the place that was kept for it, or the next that is free.
func (p *pace) place(op string, now time.Time) time.Time {
	if at, ok := p.kept[op]; ok {
		delete(p.kept, op)
		if !now.Before(at) && now.Sub(at) < keptFor {
			return now
		}
	}
	for len(p.made) > 0 && now.Sub(p.made[0]) >= time.Hour {
		p.made = p.made[1:]
	}
	at := now
	for _, bound := range []struct {
		most   int
		within time.Duration
	}{{createdInMinute, time.Minute}, {createdInHour, time.Hour}} {
		if over := len(p.made) - bound.most; over >= 0 && p.made[over].Add(bound.within).After(at) {
			at = p.made[over].Add(bound.within)
		}
	}
	p.made = append(p.made, at)
	return at
}

// waitToCreate is waitForTurn for what creates content. It waits for as long as it takes to get a place, and lets what is no content go ahead
// meanwhile. After a wait in which the world may have changed the error is one whose Waited is true: nothing was sent, and the next call
// for the same finds its place kept. The caller holds writing.
func (c *Client) waitToCreate(ctx context.Context, op string) error {
	if err := c.waitForTurn(ctx, op); err != nil {
		return err
	}
	now := time.Now()
	at := c.pace.place(op, now)
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
