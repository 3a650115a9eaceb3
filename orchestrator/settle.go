package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// cure is a thread of ours whose finding is gone.
type cure struct {
	// thread is its index in the conversation.
	thread int
	// reason says why it is gone, and commit where: the one that is said to have cured it, or the head.
	reason, commit string
	// fact is the code that a judge shows for it.
	fact *conversation.Place
}

// goneReason is why a thread is settled whose quoted code is gone.
const goneReason = "the code this was about is gone, and nobody who read the whole change found the problem again"

// cures are the threads whose finding is gone: nobody raised it again although enough reviewers read the whole change, and the code it
// quoted does not stand in the file any more, a fix of this run is said to cure it, or a judge shows code that cures it. What is only not found again stays open. So does what a fix in other files alone is said to cure (threats.md T874), what a judge maintains, and what somebody who may block contradicts who saw the changed
// code (threats.md T515), and what a review of a change to another branch opened (threats.md T788).
func (j verdict) cures() (out []cure) {
	s := j.in.Snapshot.Conversation
	if s == nil || !j.whole() {
		return nil
	}
	answered, aside := j.in.rulings(), j.threadsAside()
	base := sanitize.BaseNamed(j.in.Request.base(j.in.Snapshot.PR))
	for i, t := range s.Threads {
		if t.Base != "" && t.Base != base { // the whole change to another branch is another change
			continue
		}
		if !j.in.stale(t) || slices.Contains(j.threads, i) || aside[i] || answered[i].Status == conversation.Resolved || answered[i].maintained ||
			j.in.Snapshot.persons().Contradicts(t, j.in.Snapshot.Range.Head) {
			continue
		}
		if fixed := j.fixed(t); fixed != nil && !j.saidLater(t) && !slices.Contains(j.in.Snapshot.Untouched, t.ID) {
			out = append(out, cure{thread: i, reason: "a fix of prloop's cured it, and nobody who read the whole change found it again: " + fixed.Text, commit: fixed.Commit})
		} else if slices.Contains(j.in.Snapshot.Gone, t.ID) && !j.unheardOf(t) {
			out = append(out, cure{thread: i, reason: goneReason, commit: j.in.Snapshot.Range.Head})
		} else if answered[i].cured && !j.unheardOf(t) && !j.saidLater(t) {
			out = append(out, cure{i, "nobody who read the whole change found it again, and this code cures it: " + answered[i].reason, j.in.Snapshot.Range.Head, answered[i].fact})
		}
	}
	return out
}

// unchanged reports whether a thread is about something grave, and its code stands as it did.
func (j verdict) unchanged(t conversation.Thread) bool {
	return objections.GraveThread(t) && slices.Contains(j.in.Snapshot.Unchanged, t.ID)
}

// saidLater reports whether people said something, at a later head, of grave code that stands as it did: no judge shows over that what cures it, and no fixer says so.
func (j verdict) saidLater(t conversation.Thread) bool {
	return j.unchanged(t) && len(j.in.Snapshot.persons().Later(t)) > 0
}

// weighing are the threads of ours, by index in the conversation, that count as unresolved although nobody raises their finding again: those about something grave whose
// code stands as it did, which we maintain, left to people, or somebody who may block spoke of at a later head (threats.md T599, T600). A finding takes the place of such a
// thread only where it blocks by itself: one reviewer that calls it less grave settles nothing.
func (j verdict) weighing(gone []cure) (out []int) {
	s := j.in.Snapshot.Conversation
	if s == nil {
		return nil
	}
	answered, dismissed := j.in.rulings(), j.threadsDismissed()
	for i, t := range s.Threads {
		settled := dismissed[i] || slices.ContainsFunc(gone, func(c cure) bool { return c.thread == i })
		maintained := t.Maintained != "" || answered[i].Status == conversation.Disputed || answered[i].Status == conversation.HandedOver
		if !settled && !j.blocks(i) && j.unchanged(t) && j.in.Snapshot.persons().Weighs(t, maintained) {
			out = append(out, i)
		}
	}
	return out
}

// blocks reports whether a finding that has to be fixed has a thread of ours.
func (j verdict) blocks(thread int) bool {
	for g, of := range j.threads {
		if of == thread && j.must(g) {
			return true
		}
	}
	return false
}

// threadsAside are the threads of ours that findings are about which were set aside: what does not count was raised all the same.
func (g gathered) threadsAside() map[int]bool {
	var aside []review.Finding
	for _, u := range g.unverified {
		aside = append(aside, u.Finding)
	}
	return g.threadsAbout(aside)
}

// threadsDismissed are those about something grave all of which people dismissed at the base, by findings of this round: each as grave as the thread says it, and about the same code.
func (g gathered) threadsDismissed() map[int]bool {
	out, open := map[int]bool{}, map[int]bool{}
	for _, w := range g.in.Snapshot.wordings() {
		covers := func(d review.Dismissed) bool {
			f := d.Finding
			return d.Thread == "" && identity.Covers(f.Priority, f.Category, w.Finding) && !w.elsewhere(f) && len(identity.Match([]review.Finding{w.Finding}, []review.Finding{f}, nil)) > 0
		}
		if objections.Grave(w.Finding) {
			out[w.thread] = true
			open[w.thread] = open[w.thread] || !slices.ContainsFunc(g.dismissed, covers)
		}
	}
	maps.DeleteFunc(out, func(thread int, _ bool) bool { return open[thread] })
	return out
}

// threadsAbout are the threads of ours, by index in the conversation, that findings are about.
func (g gathered) threadsAbout(findings []review.Finding) map[int]bool {
	out, known := map[int]bool{}, g.in.Snapshot.wordings()
	var said []review.Finding
	for _, w := range known {
		said = append(said, w.Finding)
	}
	for _, p := range identity.Match(said, findings, nil) {
		out[known[p.A].thread] = true
	}
	return out
}

// whole reports whether enough reviewers read the whole change.
func (g gathered) whole() bool {
	return g.complete >= g.in.Request.minReviewers() && len(g.read.Unread()) == 0 && g.in.Snapshot.Brief.Status == "ok" && !g.withoutRules()
}

// fixed is what the fixer said of the finding of a thread, as each who says it there said it in this run, that it fixed in an earlier round, and that those
// who had raised it did not find again; nil when it did not.
func (m matched) fixed(t conversation.Thread) *review.Claim {
	for _, old := range m.tracked {
		unsaid := func(said review.Finding) bool {
			same := func(_, i int) bool {
				f := old.Findings[i]
				return !quoteApart(said, f) && (said.Source.Name == "" || said.Source.Name == f.Source.Name) && (objections.Grave(f) || !objections.Grave(said))
			}
			return len(identity.MatchAmong([]review.Finding{said}, old.Findings, nil, same)) == 0
		}
		if old.Round < m.in.Round && old.FixedIn > 0 && old.Settled && !old.Stuck && old.Claim != nil && old.Claim.Kind == review.ClaimFixed &&
			!slices.ContainsFunc(t.Shown(), unsaid) {
			return old.Claim
		}
	}
	return nil
}

// reopened are the threads, by index in the conversation, that somebody resolved although their finding is found again, and that nobody
// settles in that way: those of P0, P1 and security findings. For all others a person's word is taken (decision 51). So are those that the author resolved over
// what somebody objects there, or although they count.
func (j verdict) reopened() (out []int) {
	for g, i := range j.threads {
		if i < 0 || slices.Contains(out, i) {
			continue
		}
		t := j.in.Snapshot.Conversation.Threads[i]
		grave := objections.GraveThread(t) || slices.ContainsFunc(j.groups[g], func(f int) bool { return objections.Grave(j.findings[f]) })
		if t.Closed && t.Live() && grave && !j.answeredIn(t) {
			out = append(out, i)
		}
	}
	if s := j.in.Snapshot.Conversation; s != nil {
		counts := j.weighing(nil)
		for i, t := range s.Threads {
			if (j.objected(t) || t.Closed && slices.Contains(counts, i) && !j.answeredIn(t)) && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	return out
}

// answeredIn reports whether a thread is closed that is opened again with an answer (leftOpen).
func (j verdict) answeredIn(t conversation.Thread) bool {
	people := j.in.Snapshot.persons()
	return objections.ClosedOver(people, t) || people.Reopens(t)
}

// objected reports whether a thread is closed in which somebody objects, who is not answered there.
func (j verdict) objected(t conversation.Thread) bool {
	_, objects := j.in.Snapshot.persons().Objection(t, objections.GraveThread(t))
	return objects && t.Closed && !j.answeredIn(t)
}

// mostDeclined is how often GitHub may decline before no further thread is tried: one that somebody deleted costs the others nothing, and a right that is
// missing is not asked for again and again.
const mostDeclined = 3

// settle answers in the threads whose finding is gone, and resolves them. The answer comes first: whoever finds a thread resolved
// can read why. Threads that were resolved too early it opens again. Where GitHub does not take it the run goes on, and a person is told.
func (l *Loop) settle(ctx context.Context, steps Steps, req Request, judged Judgement) error {
	if len(judged.cured)+len(judged.reopened)+len(judged.answers) == 0 || l.Replier == nil || l.Resolver == nil {
		return nil
	}
	round, snap := judged.Inputs.Round, judged.Inputs.Snapshot
	nonce, err := doJSON(ctx, steps, fmt.Sprintf("round %d: name the answers", round), func(context.Context) (string, error) {
		return l.Nonce(), nil
	})
	if err != nil {
		return err
	}
	_, err = doJSON(ctx, steps, fmt.Sprintf("round %d: settle threads", round), func(ctx context.Context) ([]string, error) {
		var done []string
		declined, people := 0, snap.persons()
		people.Permissions = maps.Clone(people.Permissions) // what is asked about people now is no part of what the round read
		for _, s := range l.sayings(req, judged) {
			ref, why, err := l.settleOne(ctx, req, round, snap, s, nonce, &people)
			switch {
			case ctx.Err() != nil:
				return nil, errors.Join(context.Cause(ctx), err)
			case err != nil && l.declined(err):
				l.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "a thread is not answered or stays open: " + sanitize.Redact(err.Error())})
				if declined++; declined == mostDeclined {
					return done, nil
				}
				continue
			case err != nil:
				return nil, err
			case why != "":
				return done, nil
			case ref == "": // somebody was quicker
				continue
			}
			done = append(done, ref)
		}
		for _, i := range judged.reopened {
			t := snap.Conversation.Threads[i]
			e := effects.Effect{Key: effects.ReplyKey(req.Run, round, t.ID), Nonce: nonce + "-" + t.ID, Run: req.Run, Target: req.Target, Head: snap.PR.HeadSHA, Payload: t.Node, Since: since(snap.PR)}
			switch open, err := l.deliver(ctx, effects.Unresolve{Resolver: l.Resolver}, e, snap.PR); {
			case ctx.Err() != nil:
				return nil, errors.Join(context.Cause(ctx), err)
			case err != nil && l.declined(err):
				l.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "a thread stays resolved that counts as open: " + sanitize.Redact(err.Error())})
				if declined++; declined == mostDeclined {
					return done, nil
				}
				continue
			case err != nil:
				return nil, err
			case open.Overtaken != "":
				return done, nil
			default:
				done = append(done, open.Ref)
			}
		}
		return done, nil
	})
	return err
}

// spoken is what is said in one thread, and what becomes of it.
type spoken struct {
	thread       int
	text         string
	block        []conversation.Field
	resolve, ask bool
	// reopen is true where the thread is opened again, before anything is said, silent where nothing is.
	reopen, silent bool
}

// sayings are what a round says in threads, those whose finding is gone first.
func (l *Loop) sayings(req Request, judged Judgement) (out []spoken) {
	snap, policy := judged.Inputs.Snapshot, l.policy(req.Target.Repo)
	policy.PR = req.Target.PR
	for _, c := range judged.cured {
		commit, t := cmp.Or(c.commit, snap.Range.Head), snap.Conversation.Threads[c.thread]
		out = append(out, spoken{
			thread: c.thread, text: report.Settled(conversation.ResolvedWords, sanitize.Inline(c.reason, policy), commit, req.Target), resolve: true,
			block: conversation.Cures(t, c.reason, commit, c.fact, snap.persons().Weighs(t, t.Maintained != "")),
		})
	}
	for _, r := range judged.answers {
		reason, text := sanitize.Inline(r.reason, policy), ""
		if r.answer.Because == conversation.BecauseSaid {
			text = report.LeftOpen(conversation.HandedOverWords, objections.SayGrave(snap.persons(), snap.Conversation.Threads[r.thread])[0], reason)
		} else {
			text = r.words(reason, snap.persons().Reviewers, snap.persons().ByApp && objections.GraveThread(snap.Conversation.Threads[r.thread]), snap.Range.Head, req.Target)
		}
		out = append(out, spoken{
			thread: r.thread, text: text,
			resolve: r.answer.Status == conversation.Resolved, reopen: r.reopen, silent: r.silent,
			ask:   r.answer.Status == conversation.HandedOver && r.answer.Because != conversation.BecauseSaid,
			block: conversation.Ruled(snap.Conversation.Threads[r.thread], r.answer, r.reason, snap.Range.Head, r.fact),
		})
	}
	return out
}

// settleOne answers in one thread and, where it is settled, resolves it, or asks those to review whom it goes to. A thread in which somebody has said something
// since the round read it is left to the next run, which hears it: ref is empty where nothing is said.
func (l *Loop) settleOne(ctx context.Context, req Request, round int, snap Snapshot, s spoken, nonce string, people *conversation.People) (ref, overtaken string, err error) {
	t := snap.Conversation.Threads[s.thread]
	nonce += "-" + t.ID
	if late, err := l.saidSince(ctx, snap, t, people); err != nil || late {
		return "", "", err
	}
	first, err := strconv.ParseInt(t.ID, 10, 64)
	if err != nil {
		return "", "", fmt.Errorf("settle thread %q: %w", t.ID, err)
	}
	m := l.marker(req, round, nonce)
	m.Part, m.Parts = 1, 1
	var block []sanitize.Value
	for _, f := range s.block {
		block = append(block, sanitize.Value(f))
	}
	text, err := sanitize.Note(s.text, block, m, l.policy(req.Target.Repo))
	if err != nil {
		return "", "", fmt.Errorf("sanitize the answer in thread %s: %w", t.ID, err)
	}
	payload, err := effects.ReplyPayload(first, text)
	if err != nil {
		return "", "", err
	}
	e := effects.Effect{Key: effects.ReplyKey(req.Run, round, t.ID), Nonce: nonce, Run: req.Run, Target: req.Target, Head: snap.PR.HeadSHA, Payload: payload, Since: since(snap.PR)}
	if s.reopen { // one that stays closed says nothing of being open
		again := e
		again.Nonce, again.Payload = nonce+"-reopen", t.Node
		if done, err := l.deliver(ctx, effects.Unresolve{Resolver: l.Resolver}, again, snap.PR); err != nil || done.Overtaken != "" || s.silent {
			return done.Ref, done.Overtaken, err
		}
	}
	done, err := l.deliver(ctx, effects.Reply{Replier: l.Replier, Key: l.MarkerKey, Policy: l.policy(req.Target.Repo), Sleep: l.Sleep}, e, snap.PR)
	if err != nil || done.Overtaken != "" {
		return "", done.Overtaken, err
	}
	if err := betweenSettling.Hit(); err != nil {
		return "", "", err
	}
	if late, err := l.saidSince(ctx, snap, t, people); err != nil || late {
		return done.Ref, "", err
	}
	switch {
	case s.resolve:
		e.Nonce, e.Payload = nonce+"-resolve", t.Node
		done, err = l.deliver(ctx, effects.Resolve{Resolver: l.Resolver}, e, snap.PR)
	case s.ask && l.Requester != nil && req.Disputes != nil && len(req.Disputes.Ask) > 0:
		e.Nonce, e.Payload = nonce+"-ask", effects.AskPayload(req.Disputes.Ask)
		done, err = l.deliver(ctx, effects.Ask{Requester: l.Requester}, e, snap.PR)
	}
	return done.Ref, done.Overtaken, err
}

// saidSince reports whether somebody who is heard, or may block, has said something in a thread since a round read it, or changed what they had said.
func (l *Loop) saidSince(ctx context.Context, snap Snapshot, t conversation.Thread, people *conversation.People) (bool, error) {
	said, err := l.Replier.ThreadCommentsSince(ctx, snap.PR, since(snap.PR))
	if err != nil {
		return false, err
	}
	for _, c := range said {
		known := slices.ContainsFunc(t.DeveloperReplies, func(r conversation.Reply) bool { return r.Is(c) })
		if strconv.FormatInt(c.ReplyTo, 10) != t.ID || known || sanitize.HasMarker(c.Body) {
			continue
		}
		own := people.Voice(c.Author.Login, c.Author.Bot).Own
		if l.People != nil && !own {
			if err := l.permissions(ctx, snap.PR.Repo, people, []string{c.Author.Login}); err != nil {
				return false, err
			}
		}
		if v := people.Voice(c.Author.Login, c.Author.Bot); v.Heard() || !v.Bot && (own || review.MayBlock(c.Author.Association)) {
			l.emit(review.Event{Kind: review.EventLog, Level: "info", Message: "a thread is left to the next run: somebody has said something in it since it was read"})
			return true, nil
		}
	}
	return false, nil
}
