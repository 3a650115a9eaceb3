package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
)

// heard is what people say on a pull request, as a snapshot has it.
type heard struct {
	Discussion   review.Discussion    `json:"discussion"`
	Pretenders   []string             `json:"pretenders"`
	Conversation *conversation.State  `json:"conversation"`
	People       *conversation.People `json:"people"`
	Voiced       string               `json:"voiced,omitempty"`
	Lost         []string             `json:"lost,omitempty"`
	// Overtaken is what refusedSince gives.
	Overtaken string `json:"overtaken,omitempty"`
}

func (s Snapshot) heard() heard {
	return heard{Discussion: s.Discussion, Pretenders: s.Pretenders, Conversation: s.Conversation, People: s.People, Voiced: s.Voiced, Lost: s.Lost}
}

// talk is what was said on a pull request: as GitHub tells it, and with those said to belong here who do. people says whose words matter, as far as that was asked,
// viewer is our account.
type talk struct {
	asIs, belonging review.Discussion
	people          conversation.People
	viewer          review.Person
}

// told reads what was said on a pull request. permissions are those that are known.
func (l *Loop) told(ctx context.Context, pr review.PullRequest, permissions map[string]string) (t talk, err error) {
	if t.asIs, err = l.Forge.Discussion(ctx, pr); err != nil {
		return t, err
	}
	if t.viewer, err = l.Forge.Viewer(ctx, pr.Repo.Host); err != nil {
		return t, err
	}
	t.people = conversation.People{Author: pr.Author.Login, ByApp: pr.Author.Bot, Own: t.viewer.Login, Permissions: permissions}
	t.people.Approved = objections.Approved(t.asIs)
	t.belonging, err = l.belonging(ctx, pr.Repo, t.asIs, &t.people)
	return t, err
}

// listen reads what was said on the pull request, and tells what of it is ours; posted are the addresses of what this run has posted. What people may do is
// not asked again of those that the snapshot names. fixed is what newestFixed gives.
func (l *Loop) listen(ctx context.Context, req Request, snap *Snapshot, posted []string) (fixed fixedThen, err error) {
	pr := snap.PR
	t, err := l.told(ctx, pr, maps.Clone(snap.persons().Permissions))
	if err != nil {
		return fixed, err
	}
	viewer := t.viewer
	snap.Voiced = voiced(t.asIs, t.people)
	kind := l.comment(req.Target.Repo)
	ours := func(c review.Comment) bool {
		// What this run posted before it was resumed as somebody else is its own all the same.
		return kind.Authentic(c, pr, viewer) || slices.Contains(posted, c.URL) && kind.Sealed(c, pr)
	}
	snap.Remembered = remember(snap.Remembered, t.asIs.Comments, ours)
	kept := slices.DeleteFunc(objections.Parse(snap.Remembered), func(o objections.Objection) bool { return o.Withdrawn(t.belonging) })
	discussion := objections.PutBack(t.belonging, kept, t.people.ByApp)
	state := conversation.Rebuild(discussion, l.opener(pr, ours, viewer))
	objections.Maintain(&state, kept)
	snap.Conversation = &state
	if snap.People, err = l.people(ctx, req, pr, discussion, state, t.people, append(objections.Settlers(discussion, kept), objections.Resolvers(discussion)...)); err != nil {
		return fixed, err
	}
	snap.Discussion, snap.Pretenders = withoutMarked(discussion, ours)
	snap.Ours = standing(discussion.Comments, ours)
	own := func(c review.Comment) bool { return effects.Same(c.Author, viewer) }
	base := req.base(pr)
	snap.Unproven = unproven(discussion.Comments, own, ours, base)
	marked, since := newestRaised(discussion.Comments, own, ours, pr.HeadSHA, base)
	snap.Owing = outOfThreads(marked, req.deciding(), state.Threads)
	snap.Threadless = threadless(discussion.Comments, own, req, base)
	snap.Since = snap.firstRaised(req, since)
	snap.Hidden, snap.Unreported = hidden(discussion.Comments, ours, base), unreported(discussion.Comments, own, base)
	snap.Reports, snap.Counted = Reports(discussion.Comments, viewer), countedThen(discussion.Comments, ours)
	snap.Listed = listed(discussion)
	return newestFixed(discussion.Comments, ours), nil
}

// apart takes our threads out of what was said on the pull request at its head, and marks what was said in them of code that had changed. What we called cured, and is not,
// counts as not called so.
func (l *Loop) apart(ctx context.Context, snap *Snapshot) error {
	if snap.Conversation == nil {
		return nil
	}
	for i, t := range snap.Conversation.Threads {
		if stood := snap.Uncured[t.ID]; stood != "" && t.CuredAt() != "" && t.CuredAt() != snap.Range.Head {
			snap.Conversation.Threads[i] = t.Uncured(stood)
		}
	}
	if snap.People != nil {
		var err error
		if snap.People.Outdated, err = l.outdated(ctx, *snap); err != nil {
			return err
		}
	}
	if err := l.saidAfter(ctx, *snap); err != nil {
		return err
	}
	snap.Lost = objections.Lost(snap.persons(), snap.Remembered, snap.Discussion, snap.Conversation.Threads, snap.PR.UpdatedAt)
	snap.Discussion = objections.WithoutOwn(snap.Discussion, *snap.Conversation, snap.persons(), snap.Lost)
	return nil
}

// passes reports whether a result lets the change pass by what was reviewed.
func passes(r review.RunResult) bool {
	return r.Outcome == review.Converged || r.Outcome == review.LGTM
}

// hearAgain judges anew what lets a change pass, by what people say now: they may have said something while agents were at work, or while the run was
// interrupted (threats.md T511). No agent is asked again. overtaken says which run has taken its place.
func (l *Loop) hearAgain(ctx context.Context, steps Steps, req Request, p *progress, judged Judgement) (now Judgement, overtaken string, err error) {
	p.green = nil
	if !passes(judged.Result) || req.Target.Local() {
		return judged, "", nil
	}
	name := fmt.Sprintf("round %d: hear what was said since", p.round)
	if judged.Inputs.scanned() {
		name = "scan: hear what was said since"
	}
	p.fresh = false
	said, err := doJSON(ctx, steps, name, func(ctx context.Context) (*heard, error) {
		p.fresh = true
		return l.hear(ctx, req, *p, judged.Inputs)
	})
	if err != nil {
		return judged, "", err
	}
	if said != nil {
		if said.Overtaken != "" {
			return judged, said.Overtaken, nil
		}
		if judged, err = l.judgement(judged.Inputs.hearing(*said)); err != nil {
			return judged, "", err
		}
	}
	if passes(judged.Result) {
		p.green = &judged.Inputs
	}
	return judged, "", nil
}

// hear reads what people say now; nil when that is what they said. It is masked with the change that it is about. What cannot be read in time counts as a
// discussion of which a part was not read.
func (l *Loop) hear(ctx context.Context, req Request, p progress, in Inputs) (*heard, error) {
	was := in.Snapshot.heard()
	now := Snapshot{PR: in.Snapshot.PR, Range: in.Snapshot.Range, People: in.Snapshot.People, Voided: in.Snapshot.Voided, Returned: in.Snapshot.Returned, Uncured: in.Snapshot.Uncured, Remembered: in.Snapshot.Remembered}
	if _, err := l.listen(ctx, req, &now, p.urls); err != nil {
		return nil, err
	}
	if why, err := l.refusedSince(ctx, req, now.PR, in.Snapshot.Reports, now.Reports); err != nil || why != "" {
		return &heard{Overtaken: why}, err
	}
	if err := l.apart(ctx, &now); err != nil {
		return nil, err
	}
	err := now.within(ctx, req.wallTime(), func(ctx context.Context) error {
		alone, err := masked(ctx, now, l.Secrets, l.Learned)
		if err != nil || equal(alone.heard(), was) {
			now = alone
			return err
		}
		if now.Brief, err = l.Briefer.Brief(ctx, now.Range, req.Context, req.Limits); err != nil {
			return err
		}
		if now.Keys, err = l.keys(ctx, now); err != nil {
			return err
		}
		now, err = masked(ctx, now, l.Secrets, l.Learned)
		return err
	})
	is := now.heard()
	switch {
	case errors.Is(err, errWallTime):
		is = was
		is.Discussion.Truncated = true
	case err != nil:
		return nil, err
	case equal(is, was):
		return nil, nil
	}
	return &is, nil
}

// hearing are the inputs with what people say now. What agents said about threads holds as far as these are as they were, and what the verifier said where
// it would be asked the same.
func (in Inputs) hearing(h heard) Inputs {
	now := in.Snapshot
	now.Discussion, now.Pretenders, now.Conversation, now.People, now.Voiced, now.Lost = h.Discussion, h.Pretenders, h.Conversation, h.People, h.Voiced, h.Lost
	out := Stored{Inputs: in}.today(now)
	out.Disputes = in.stillRuled(out)
	out.Unruled = rulings(out.Disputes) < rulings(in.Disputes)
	if v := in.Verifier; v != nil && !equal(gather(in).verifyPayload(), gather(out).verifyPayload()) {
		silent := *v
		silent.Answer.Verifier, silent.Evidence = nil, nil
		out.Verifier = &silent
	}
	return out
}

// stillRuled are the answers of the judges about threads that are as they were, by the ids that they would be asked by now.
func (in Inputs) stillRuled(now Inputs) (out []AgentReport) {
	ids := map[string]string{}
	for _, was := range in.disputes() {
		for _, is := range now.disputes() {
			if was.cure == is.cure && equal(in.Snapshot.counting(was), now.Snapshot.counting(is)) {
				ids[was.id] = is.id
			}
		}
	}
	for _, h := range in.Disputes {
		if v := h.Answer.Verifier; v != nil {
			said, shown := *v, h.Evidence
			said.Assessments, h.Evidence = nil, nil
			for i, a := range v.Assessments {
				id, same := ids[a.FindingID]
				if !same {
					continue
				}
				a.FindingID = id
				said.Assessments = append(said.Assessments, a)
				if i < len(shown) {
					h.Evidence = append(h.Evidence, shown[i])
				}
			}
			h.Answer.Verifier = &said
		}
		out = append(out, h)
	}
	return out
}

// rulings counts the answers of judges.
func rulings(disputes []AgentReport) (n int) {
	for _, h := range disputes {
		if h.Answer.Verifier != nil {
			n += len(h.Answer.Verifier.Assessments)
		}
	}
	return n
}

// counting is the thread of a dispute with what was said in it by those whom a judge is told of, and of a cure, by those who may object to it. What anybody else says
// there takes no answer away: it counts by what it is (threats.md T537).
func (s Snapshot) counting(d dispute) conversation.Thread {
	t, people := s.Conversation.Threads[d.thread], s.persons()
	all, answered := t.DeveloperReplies, t.Answered
	t.DeveloperReplies = nil
	for i, r := range all {
		switch {
		case people.Voice(r.Author, r.Bot).Heard(), d.cure && people.MayObject(r):
			t.DeveloperReplies = append(t.DeveloperReplies, r)
		case i < answered:
			t.Answered--
		}
	}
	return t
}

// still says why what passed does not pass any more: it was heard by a process that was stopped before it said so, and people have said something since. Of a run
// whose place a newer one has taken that is said instead.
func (l *Loop) still(req Request, p *progress) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if p.green == nil || p.fresh || l.Newer != "" {
			return "", nil
		}
		now, err := l.hear(ctx, req, *p, *p.green)
		if err != nil {
			return "", err
		}
		if now != nil {
			if now.Overtaken != "" {
				return now.Overtaken, nil
			}
			in := p.green.hearing(*now)
			judged, err := l.judgement(in)
			if p.objected = judged.Result.Receipt.Objected; err != nil { // what was heard is kept all the same
				p.objected = in.objected(nil)
			}
			if err != nil || !passes(judged.Result) {
				why := judged.Result.Reason
				if scan := judged.Result.Scan; scan != nil && len(scan.Standing) > 0 {
					why = strings.Join(scan.Standing, " ")
				}
				return "since this was judged, people have said more: " + why, err
			}
		}
		p.fresh = true
		return "", nil
	}
}

// stillPasses is the end of a run that lets a change pass, unless people say otherwise by now. One that was interrupted asks again. Nor does the status of one say so that
// a run which is not on record here has refused while the report was posted (threats.md T841).
func (l *Loop) stillPasses(ctx context.Context, steps Steps, req Request, p *progress, result review.RunResult) (review.RunResult, error) {
	if !passes(result) || req.Target.Local() {
		return result, nil
	}
	why, err := doJSON(ctx, steps, "hear what was said at the end", l.still(req, p))
	refused := false
	if err == nil && why == "" && req.gates() {
		refused = true
		why, err = doJSON(ctx, steps, "reports at the end", func(ctx context.Context) (string, error) { return l.refusedAtTheEnd(ctx, req, p) })
	}
	if err != nil || why == "" {
		return result, err
	}
	out := superseded(req, *p, result.URL, why)
	out.Comments, out.Refused = result.Comments, refused
	return out, nil
}

// refusedAtTheEnd is refusedSince as the reports are now.
func (l *Loop) refusedAtTheEnd(ctx context.Context, req Request, p *progress) (string, error) {
	viewer, err := l.Forge.Viewer(ctx, req.Target.Repo.Host)
	if err != nil {
		return "", err
	}
	comments, err := l.Poster.CommentsSince(ctx, p.as, since(p.as))
	if err != nil {
		return "", err
	}
	return l.refusedSince(ctx, req, p.as, p.reports, Reports(comments, viewer))
}
