package orchestrator

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// talker is a stage on which alpha gives any answer at all.
type talker struct {
	*stage
	answer func(review.Answer) review.Answer
}

func (a talker) Ask(ctx context.Context, plan AgentPlan, task review.Task, emit func(review.Event)) review.Answer {
	got := a.stage.Ask(ctx, plan, task, emit)
	if plan.Name == "alpha" && a.answer != nil {
		return a.answer(got)
	}
	return got
}

// An agent that repeats a credential fails alone, by a named rule: nothing of its answer is kept, posted or counted, what the
// others said is kept byte for byte as if it had merely failed, and the run goes on by the rules for one agent less (see
// threats.md T30). Earlier one such answer ended the run, which let whoever could have a credential's public prefix quoted end every run.
func TestACredentialFailsItsAgentAlone(t *testing.T) {
	const key = "ghp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT"
	reviewed := func(change func(*review.ReviewerResult)) func(review.Answer) review.Answer {
		return func(a review.Answer) review.Answer { change(a.Reviewer); return a }
	}
	run := func(t *testing.T, answer func(review.Answer) review.Answer) (review.RunResult, *stage, *remembering, []string, []review.Event) {
		t.Helper()
		s, steps := newStage(), newSteps()
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P0, 20, "B", nilMap)}, "beta": {at(review.P1, 10, "A", leak)}}
		var incidents []string
		var news []review.Event
		l := *s.loop()
		l.Forge, l.Poster, l.Outbox, l.History, l.Briefer, l.Agents, l.Executor, l.Record = s, s, s, s, s, talker{s, answer}, s, s
		l.Fence, l.Secrets, l.Emit = func(string) string { return "fence" }, []string{key}, func(e review.Event) { news = append(news, e) }
		l.Sleep = func(context.Context, time.Duration) error { s.now = s.now.Add(time.Second); return nil }
		l.Incident = func(_ context.Context, run, detail string) error {
			incidents = append(incidents, run+": "+detail)
			return nil
		}
		req := round().Request
		req.Head = sha(1)
		got, err := l.Run(t.Context(), steps, req)
		if err != nil {
			t.Fatal(err)
		}
		return got, s, steps, incidents, news
	}
	failed, _, without, none, _ := run(t, func(review.Answer) review.Answer {
		return review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed, Reason: "it died", Seconds: 1}}
	})
	if len(none) != 0 {
		t.Fatalf("incidents %v of an agent that merely died", none)
	}
	for what, answer := range map[string]func(review.Answer) review.Answer{
		"its report":        reviewed(func(r *review.ReviewerResult) { r.FullReport = "it is " + key }),
		"a finding's title": reviewed(func(r *review.ReviewerResult) { r.Findings[0].Title = key }),
		"evidence, as base64": reviewed(func(r *review.ReviewerResult) {
			r.Findings[0].Evidence = base64.StdEncoding.EncodeToString([]byte(key))
		}),
		"a path":                 reviewed(func(r *review.ReviewerResult) { r.Findings[0].File = key[8:24] }),
		"its own name of itself": reviewed(func(r *review.ReviewerResult) { r.Agent = key }),
		"a review id":            reviewed(func(r *review.ReviewerResult) { id := key; r.Findings[0].Source.ReviewID = &id }),
		"pieces in two findings": reviewed(func(r *review.ReviewerResult) { r.Findings[0].Title, r.Findings[0].Description = key[:10], key[10:] }),
		"its log":                func(a review.Answer) review.Answer { a.Log = "env: " + key; return a },
		"the reason of a failure": func(a review.Answer) review.Answer {
			return review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed, Reason: "no such model: " + key, Seconds: 1}}
		},
		"the name of a model": func(a review.Answer) review.Answer { a.Receipt.Usage.Models = []string{key}; return a },
	} {
		t.Run(what, func(t *testing.T) {
			got, s, steps, incidents, news := run(t, answer)
			if got.Outcome != failed.Outcome || len(got.Findings) != 1 || got.Findings[0].Source.Name != "beta" {
				t.Errorf("outcome %s (%s) with %d findings, want %s with beta's", got.Outcome, got.Reason, len(got.Findings), failed.Outcome)
			}
			alpha := got.Receipt.Agents[0]
			const why = "known-secret: its answer held a part of a credential that prloop holds (GitHub token); rotate the credential, and find out how the agent obtained it"
			if alpha.Name != "alpha" || alpha.State != review.AgentFailed || alpha.Reason != why || alpha.Findings != 0 || alpha.Seconds != 1 {
				t.Errorf("alpha's receipt is %+v", alpha)
			}
			if len(incidents) != 1 || incidents[0] != got.Run+": answer of alpha held a part of a credential that prloop holds (GitHub token)" {
				t.Errorf("incidents %q", incidents)
			}
			if d := cmp.Diff(string(without.done["round 1: ask beta"]), string(steps.done["round 1: ask beta"])); d != "" {
				t.Errorf("beta's stored answer is another:\n%s", d)
			}
			all := asJSON(t, got) + fmt.Sprint(s.kept) + fmt.Sprint(news) + strings.Join(incidents, "\n")
			for _, c := range s.comments {
				all += c.Body
			}
			for _, step := range steps.done {
				all += string(step)
			}
			if sanitize.Leaks(all, sanitize.Policy{Known: []string{key}}) || strings.Contains(all, nilMap) {
				t.Error("something of the answer is kept")
			}
			if len(s.comments) != 1 || !strings.Contains(s.comments[0].Body, "known-secret: its answer held a part of a credential that prloop holds (GitHub token)") {
				t.Errorf("the report does not tell:\n%+v", s.comments)
			}
		})
	}
}

// Whatever text of an agent's answer or of its work holds a credential trips, also one that line ends cut into pieces that tell nothing, and also in fields that are
// added later (threats.md T696).
func TestEveryTextTrips(t *testing.T) {
	const key = "q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po"
	var pieces []string
	for piece := range slices.Chunk([]byte(key), 8) {
		pieces = append(pieces, string(piece))
	}
	l := &Loop{Secrets: []string{key}}
	for _, said := range []any{&review.Answer{}, &review.FixWork{}, &review.JobWork{}} {
		v := reflect.ValueOf(said).Elem()
		fillTexts(v, "plain")
		n := 0
		eachText(v, "", func(path string, text reflect.Value) {
			n++
			if kind := l.tripwire(said); kind != "" {
				t.Fatalf("%T trips without a credential", said)
			}
			text.SetString(strings.Join(pieces, "\n"))
			if kind := l.tripwire(said); kind != sanitize.AnyCredential {
				t.Errorf("%T%s: %q", said, path, kind)
			}
			text.SetString("plain")
		})
		if n < 50 {
			t.Errorf("%T has %d texts", said, n)
		}
	}
}

// eachText visits every text of a value.
func eachText(v reflect.Value, at string, visit func(path string, text reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		visit(at, v)
	case reflect.Pointer:
		eachText(v.Elem(), at, visit)
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), at, visit)
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.IsExported() {
				eachText(field, at+"."+f.Name, visit)
			}
		}
	}
}

// An incident that cannot be kept stops the run before anything of it is stored.
func TestAnIncidentIsKeptFirst(t *testing.T) {
	const key = "q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po"
	s, steps := newStage(), newSteps()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", "it is "+key)}}
	l := *s.loop()
	l.Forge, l.Poster, l.Outbox, l.History, l.Briefer, l.Agents, l.Executor, l.Record = s, s, s, s, s, s, s, s
	l.Fence, l.Secrets = func(string) string { return "fence" }, []string{key}
	l.Incident = func(context.Context, string, string) error { return errOutage }
	req := round().Request
	req.Head = sha(1)
	if _, err := l.Run(t.Context(), steps, req); err == nil || !strings.Contains(err.Error(), "ask alpha: keep an incident: HTTP 502") {
		t.Errorf("the run ends with %v", err)
	}
	if steps.done["round 1: ask alpha"] != nil || len(s.comments) != 0 {
		t.Error("the answer was kept")
	}
}

// A fixer that repeats a credential has fixed nothing: its work is not verified, pushed or kept, and the run ends as with any
// fixer that failed.
func TestACredentialFailsTheFixer(t *testing.T) {
	const key = "q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po"
	for what, c := range map[string]struct {
		set  func(*stage)
		what string
	}{
		"in its answer": {func(s *stage) {
			w := fixes(sha(2), "A")
			w.Answer.Log = key
			s.fixes = []review.FixWork{w}
		}, "answer"},
		"in a commit that a later one takes back: the branch would keep it (decision 6)": {func(s *stage) {
			w := fixes(sha(3), "A")
			w.Commits = []review.FixCommit{{SHA: sha(2), Message: "add"}, {SHA: sha(3), Message: "remove"}}
			s.diffs["1..2"], s.diffs["2..3"], s.diffs["1..3"] = strings.ReplaceAll(edited(10), "+new", "+"+key), strings.ReplaceAll(edited(10), "-old", "-gone"), edited(10)
			s.fixes = []review.FixWork{w}
		}, "commits"},
		"in a commit message": {func(s *stage) {
			s.fixes = []review.FixWork{{Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentComplete, Seconds: 1}}}}
			s.fixFails = fmt.Errorf("commit messages of pr-fix: %w", sanitize.ErrKnownSecret)
		}, "commit messages"},
	} {
		t.Run(what, func(t *testing.T) {
			s, steps := newStage(), newSteps()
			s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
			c.set(s)
			var incidents []string
			l := *s.loop()
			l.Forge, l.Poster, l.Outbox, l.History, l.Briefer, l.Agents, l.Executor, l.Record = s, s, s, s, s, s, s, s
			l.Fence, l.Secrets = func(string) string { return "fence" }, []string{key}
			l.Sleep = func(context.Context, time.Duration) error { s.now = s.now.Add(time.Second); return nil }
			l.Incident = func(_ context.Context, _, detail string) error { incidents = append(incidents, detail); return nil }
			req := round().Request
			req.Head = sha(1)
			req.Fix = &FixPlan{Agent: AgentPlan{Name: "pr-fix", Role: review.RoleFixer, Kind: "command"}, Verify: []string{"make lint"}}
			got, err := l.Run(t.Context(), steps, req)
			if err != nil {
				t.Fatal(err)
			}
			fix := got.Rounds[0].Fix
			if fix == nil || fix.State != review.FixFailed || !strings.HasPrefix(fix.Reason, "known-secret: its "+c.what+" held a part of a credential that prloop holds; ") || fix.Agent.Seconds != 1 {
				t.Fatalf("the fix is %+v", fix)
			}
			if got.Outcome != review.ChangesRequested || s.head != sha(1) || len(s.verified) != 0 || len(s.orders) != 1 || len(incidents) != 1 {
				t.Errorf("outcome %s, head %.1s, verified %v, %d tries, incidents %v", got.Outcome, s.head, s.verified, len(s.orders), incidents)
			}
			if strings.Contains(asJSON(t, got)+fmt.Sprint(s.kept)+fmt.Sprint(s.comments)+fmt.Sprint(incidents), key) {
				t.Error("something holds the credential")
			}
		})
	}
}

// A credential in what prloop itself is about to post, here in a file's name, still ends the run: nothing is posted.
func TestACredentialStopsThePost(t *testing.T) {
	const key = "q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po"
	s := newStage()
	s.brief = review.BriefFile{Path: "src/" + key + ".go", Change: "modified", Omitted: "too large"}
	l := *s.loop()
	l.Forge, l.Poster, l.Outbox, l.History, l.Briefer, l.Agents, l.Executor, l.Record = s, s, s, s, s, s, s, s
	l.Fence, l.Secrets = func(string) string { return "fence" }, []string{key}
	l.Permanent = func(err error) bool { return errors.Is(err, sanitize.ErrKnownSecret) }
	req := round().Request
	req.Head = sha(1)
	got, err := l.Run(t.Context(), newSteps(), req)
	if err != nil || got.Outcome != review.Failed || got.Consensus != nil || len(s.comments) != 0 {
		t.Errorf("outcome %s (%s), %d comments, %v; want failed and none", got.Outcome, got.Reason, len(s.comments), err)
	}
}
