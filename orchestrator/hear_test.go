package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// talking is a stage on which people say things while reviewers are at work.
type talking struct {
	*stage
	discussion review.Discussion
	readings   int
}

func (s *talking) Discussion(context.Context, review.PullRequest) (review.Discussion, error) {
	s.readings++
	if s.readings > 1 {
		return s.discussion, nil
	}
	return review.Discussion{Comments: s.comments}, nil
}

// What people say while reviewers are at work is what the verdict is about, and nothing of it is asked for where nothing is approved.
func TestWhatWasSaidMeanwhile(t *testing.T) {
	boss := review.Person{Login: "boss", Association: "MEMBER"}
	grave := review.Discussion{Threads: []review.Thread{{ID: "T1", File: "a.go", Comments: []review.Comment{{ID: "C1", Author: boss, Body: "P0: do not merge."}}}}}
	bad := map[string][]review.Finding{"alpha": {at(review.P1, 3, "A", leak)}}
	for _, row := range []struct {
		name     string
		said     review.Discussion
		finds    map[string][]review.Finding
		outcome  review.Outcome
		readings int
	}{
		{"nothing", review.Discussion{}, nil, review.Converged, 2},
		{"thanks", review.Discussion{Comments: []review.Comment{{ID: "C", Author: boss, Body: "Thank you."}}}, nil, review.Converged, 2},
		{"a P0", grave, nil, review.ChangesRequested, 2},
		{"a request for changes", review.Discussion{Reviews: []review.Review{{ID: "R", State: "CHANGES_REQUESTED", Author: boss}}}, nil, review.ChangesRequested, 2},
		{"more than is read", review.Discussion{Truncated: true}, nil, review.Partial, 2},
		{"a P0, and reviewers object themselves", grave, bad, review.ChangesRequested, 1},
	} {
		s := &talking{stage: newStage(), discussion: row.said}
		s.says[sha(1)] = row.finds
		s.forge = s
		got := s.run(t, newSteps(), func(r *Request) { r.Fix = nil })
		if got.Outcome != row.outcome || s.readings != row.readings {
			t.Errorf("%s: %s (%s), read %d times", row.name, got.Outcome, got.Reason, s.readings)
		}
		if asked := len(s.tasks); asked != 3 {
			t.Errorf("%s: %d agents were asked", row.name, asked)
		}
	}
}

// What the judge said of a thread holds while that is as it was, by the number it has now; of another it falls away.
func TestWhatJudgesSaidOfThreadsThatAreAsTheyWere(t *testing.T) {
	concedes := review.Assessment{Status: review.Refuted, Ruling: review.RulingConceded, Reason: "It is guarded.", Fact: proof()}
	other := foundAt(review.P2, 3, subjects[0])
	in := Judge(disputedInputs(other, foundAt(review.P2, 9, subjects[1])).ruledAs(concedes, concedes)).Inputs
	if got := Judge(in).Result.Outcome; got != review.Converged {
		t.Fatal(got)
	}
	said := in.Snapshot.heard()
	state := *said.Conversation
	said.Conversation = &state
	state.Threads = append([]conversation.Thread{}, state.Threads...)
	asIs := state.Threads[0].DeveloperReplies
	state.Threads[0].DeveloperReplies = append(slices.Clone(asIs), conversation.Reply{Author: "stranger", Body: "+1", Association: "NONE"})
	if got := Judge(in.hearing(said)).Result.Outcome; got != review.Converged {
		t.Errorf("a stranger takes an answer away: %s (threats.md T537)", got)
	}
	state.Threads[0].DeveloperReplies = append(slices.Clone(asIs), conversation.Reply{Author: "boss", Body: "It is wrong all the same."})
	in.Request.Fix = &FixPlan{}
	j := Judge(in.hearing(said))
	if j.GoesOn {
		t.Error("what the judge conceded is fixed before it is asked again")
	}
	if j.Result.Outcome != review.ChangesRequested || len(j.Result.Findings) != 1 || j.Result.Findings[0].Title != other.Title {
		t.Errorf("%s: %+v", j.Result.Outcome, j.Result.Findings)
	}
	// Somebody who settles the first one leaves the second its ruling, which has another number.
	state.Threads[0].Closed, state.Threads[0].ClosedBy = true, "boss"
	if j = Judge(in.hearing(said)); j.Result.Outcome != review.Converged || len(j.answers) != 1 || j.answers[0].thread != 1 {
		t.Errorf("%s (%s): %+v", j.Result.Outcome, j.Result.Reason, j.answers)
	}
	if len(j.Result.Receipt.Agents) != len(Judge(in).Result.Receipt.Agents) {
		t.Error("the judge is not in the receipt")
	}
}

// A refutation is of the finding that the verifier was asked about, and of no other that has its number by now.
func TestAVerifierIsNotHeardAboutOtherFindings(t *testing.T) {
	in := disputedInputs(foundAt(review.P2, 3, subjects[0]), foundAt(review.P2, 9, subjects[1]))
	in.Request.Disputes = nil
	in.Snapshot.Conversation.Threads[0].Closed, in.Snapshot.Conversation.Threads[0].ClosedBy = true, "boss"
	in = verified(in, review.Assessment{FindingID: "F1", Status: review.Refuted, Reason: "It is guarded.", Fact: proof()})
	if got := Judge(in).Result.Outcome; got != review.Converged {
		t.Fatal(got)
	}
	said := in.Snapshot.heard()
	state := *said.Conversation
	said.Conversation = &state
	state.Threads = append([]conversation.Thread{}, state.Threads...)
	state.Threads[0].Closed, state.Threads[0].ClosedBy = false, ""
	if j := Judge(in.hearing(said)); j.Result.Outcome != review.ChangesRequested || len(j.Result.Findings) != 2 {
		t.Errorf("%s: %+v", j.Result.Outcome, j.Result.Findings)
	}
	if j := Judge(in.hearing(in.Snapshot.heard())); j.Result.Outcome != review.Converged {
		t.Errorf("%s", j.Result.Outcome)
	}
}

// What is heard later is masked with the change, and what cannot be read in time was not read.
func TestWhatIsHeardLaterIsMasked(t *testing.T) {
	s := &talking{stage: newStage(), readings: 1, discussion: review.Discussion{Comments: []review.Comment{{ID: "C", Body: "is q7Rz2Lm9Xc4Vb8Nt1Wk6 a good one?"}}}}
	b := review.Brief{Status: "ok", Files: []review.BriefFile{{Path: "a.env", Change: "modified", Diff: "diff --git a/a.env b/a.env\n--- a/a.env\n+++ b/a.env\n@@ -0,0 +1 @@\n+PASSWORD=\"q7Rz2Lm9Xc4Vb8Nt1Wk6\"\n", Hunks: 1, HunksGiven: 1}}}
	l := s.loop()
	l.Forge, l.History, l.Briefer = s, s, fixedBrief{brief: b}
	in := round()
	now, err := l.hear(t.Context(), in.Request, progress{}, in)
	if err != nil || now == nil || strings.Contains(text(t, now), "q7Rz2") || len(now.Discussion.Comments) != 1 {
		t.Errorf("%s, %v", text(t, now), err)
	}
	l.Briefer = fixedBrief{err: errWallTime}
	if now, err = l.hear(t.Context(), in.Request, progress{}, in); err != nil || now == nil || !now.Discussion.Truncated {
		t.Errorf("%+v, %v", now, err)
	}
	l.Briefer = fixedBrief{err: errors.New("disk")}
	if _, err = l.hear(t.Context(), in.Request, progress{}, in); err == nil {
		t.Error("no error")
	}
}

type fixedBrief struct {
	brief review.Brief
	err   error
}

func (b fixedBrief) Brief(context.Context, Range, ContextOptions, review.Limits) (review.Brief, error) {
	return b.brief, b.err
}
