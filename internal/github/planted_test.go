package github_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/history"
)

// blind is a kind that never finds what it left: whatever may be there is sent again.
type blind struct{ effects.Kind }

func (blind) Find(context.Context, effects.Effect) (string, error) { return "", nil }

// pretending is a kind that says it is done, and does nothing.
type pretending struct{ effects.Kind }

func (pretending) Send(context.Context, effects.Effect) (string, error) {
	return "https://github.com/acme/widgets/pull/7#discussion_r1", nil
}

// stubborn is a transport that sends a write again when the connection breaks.
type stubborn struct{ *world }

func (s stubborn) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.world.RoundTrip(r)
	if err == nil || r.GetBody == nil {
		return resp, err
	}
	again := r.Clone(r.Context())
	if again.Body, err = r.GetBody(); err != nil {
		return nil, err
	}
	return s.world.RoundTrip(again)
}

// Faults that are planted in the program: the checker names each, and nothing where there is none.
func TestPlantedFaultsAreFound(t *testing.T) {
	reply := writes["reply"]
	lost := mode{faults: []forge.Fault{{Op: "write", Mode: forge.ResetAfter, Times: 1}}}
	for name, row := range map[string]struct {
		write  write
		mode   mode
		client func(b *bench, c *github.Client)
		want   []history.Rule
	}{
		"none": {write: reply, mode: lost},
		"what is there is not found, and made twice": {write: with(reply, func(k effects.Kind) effects.Kind { return blind{k} }), mode: lost, want: []history.Rule{history.Repeated, history.Twice}},
		"what was never sent is said to be there":    {write: with(reply, func(k effects.Kind) effects.Kind { return pretending{k} }), want: []history.Rule{history.Lost}},
		"the times GitHub names are forgotten": {write: write{
			payload: reply.payload,
			kind: func(b *bench, c *github.Client) effects.Kind {
				return impatient{effects.Reply{Replier: c, Key: markerKey, Policy: policy, Sleep: sleep}, c}
			}}, mode: mode{faults: []forge.Fault{{Op: "write", Mode: forge.SecondaryLimitWait, Times: 1, After: time.Minute}}}, want: []history.Rule{history.Early}},
		"the transport repeats a write": {write: reply, mode: lost, client: func(b *bench, c *github.Client) { c.Through(stubborn{b.world}, b.start) },
			want: []history.Rule{history.Hurried, history.Repeated, history.Twice}},
		"writes follow each other at once": {write: write{payload: reply.payload, kind: func(b *bench, c *github.Client) effects.Kind {
			c.Hurry()
			return twoAtOnce{effects.Reply{Replier: c, Key: markerKey, Policy: policy, Sleep: sleep}, effects.Reaction{Reactor: c}, b}
		}}, want: []history.Rule{history.Hurried}},
		"somebody else's comment is collapsed": {write: write{
			kind:    writes["minimize"].kind,
			payload: func(b *bench, _ int, _ string) string { return forge.CommentID(b.said) },
		}, want: []history.Rule{history.NotOurs}},
		"somebody else's thread is resolved": {write: write{
			kind: writes["resolve"].kind,
			payload: func(b *bench, _ int, _ string) string {
				return forge.ThreadID(b.pull.AddThread(forge.Thread{Path: "main.go", Line: 3, Comments: []*forge.Comment{{Author: "mona", Body: "Why?"}}}))
			},
		}, want: []history.Rule{history.NotOurs}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			synctest.Test(t, func(t *testing.T) {
				b.t, b.rig = t, row.client
				b.furnish()
				defer b.close()
				h, _, _ := b.trial(row.write, row.mode)
				all := h.Check()
				slices.Sort(row.want)
				if got := history.Rules(all); !slices.Equal(got, row.want) {
					t.Errorf("found %q, want %q: %v", got, row.want, all)
				}
			})
		})
	}
}

// Faults that are planted in a history, where no client makes them: the checker reads what stands there, too.
func TestPlantedHistories(t *testing.T) {
	b := newBench(t)
	synctest.Test(t, func(t *testing.T) {
		b.t = t
		b.furnish()
		defer b.close()
		good, _, err := b.trial(writes["reply"], mode{})
		if err != nil || len(good.Check()) != 0 {
			t.Fatalf("%v, %v", err, good.Check())
		}
		at := slices.IndexFunc(good.Log, func(e forge.Exchange) bool { return e.Write })
		for name, row := range map[string]struct {
			plant func(h *history.History)
			want  history.Rule
		}{
			"a comment that no request made": {func(h *history.History) {
				h.After = append(h.After, history.Thing{What: "comment", Number: 5, URL: "x", Author: "octocat", Body: comment(t, "nobody-knows", 7)})
			}, history.Unexplained},
			"a comment that is gone": {func(h *history.History) {
				h.After = slices.DeleteFunc(h.After, func(x history.Thing) bool { return x.What == "comment" && x.Author == "octocat" })
			}, history.Unexplained},
			"a comment that says something else": {func(h *history.History) {
				i := slices.IndexFunc(h.After, func(x history.Thing) bool { return x.What == "comment" && x.Author == "octocat" })
				h.After[i].Body += "!"
			}, history.Unexplained},
			"a write that nobody owns up to": {func(h *history.History) { h.Claims[0].Done = false }, history.Lost},
			"a write that took no effect":    {func(h *history.History) { h.Log[at].Status = http.StatusForbidden }, history.Lost},
			"a write that nobody knows of":   {func(h *history.History) { h.Log[at].Op = "POST /repos/{owner}/{repo}/hooks" }, history.Unexplained},
			"a pause that was not kept": {func(h *history.History) {
				h.Log[0].NotBefore, h.Log[0].Everything = h.Log[at].At.Add(time.Second), true
			}, history.Early},
			"a write before the other's answer": {func(h *history.History) {
				h.Log[at-1].Write, h.Log[at-1].Until = true, h.Log[at].At.Add(time.Second)
			}, history.Hurried},
		} {
			h := good
			h.Log, h.After, h.Claims = slices.Clone(good.Log), slices.Clone(good.After), slices.Clone(good.Claims)
			row.plant(&h)
			if got := history.Rules(h.Check()); !slices.Contains(got, row.want) {
				t.Errorf("%s: found %q, want %q", name, got, row.want)
			}
		}
	})
}

// with is a write of another kind.
func with(w write, change func(effects.Kind) effects.Kind) write {
	kind := w.kind
	w.kind = func(b *bench, c *github.Client) effects.Kind { return change(kind(b, c)) }
	return w
}

// impatient forgets the times GitHub named and tries again at once.
type impatient struct {
	effects.Reply
	c *github.Client
}

func (i impatient) Send(ctx context.Context, e effects.Effect) (string, error) {
	if ref, err := i.Reply.Send(ctx, e); err == nil {
		return ref, nil
	}
	i.c.Forget()
	return i.Reply.Send(ctx, e)
}

// twoAtOnce reacts right before it answers.
type twoAtOnce struct {
	effects.Reply
	first effects.Reaction
	b     *bench
}

func (k twoAtOnce) Send(ctx context.Context, e effects.Effect) (string, error) {
	if _, err := k.first.Send(ctx, effects.Effect{Kind: "reaction", Target: e.Target, Payload: effects.ReactionPayload(k.b.said, effects.Seen)}); err != nil {
		return "", err
	}
	return k.Reply.Send(ctx, e)
}
