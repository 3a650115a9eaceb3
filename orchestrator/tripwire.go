package orchestrator

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// KnownSecret is the rule by which an agent fails whose answer holds a part of a credential this process holds. It begins the
// reason in the agent's receipt.
const KnownSecret = "known-secret"

// screened is an answer that may be kept. One that repeats a credential this process holds, in any spelling the sanitizer
// knows, fails its agent: nothing of it is kept but what it cost, and the others go on (threats.md T30; threats.md L0). It looks
// at the answer as it came, before patterns take out what looks like a secret. An error means that the incident could not be
// kept.
func (l *Loop) screened(ctx context.Context, run string, plan AgentPlan, a review.Answer) (review.Answer, error) {
	kind := l.tripwire(a)
	if kind == "" {
		return a, nil
	}
	return l.caught(ctx, run, plan, a.Receipt, "answer", kind)
}

// tripwire names the kind of the credential of which a part stands in what an agent said, or in what is said of its work; empty when there is none.
func (l *Loop) tripwire(said any) (kind string) {
	return sanitize.Leaked(strings.Join(textsOf(reflect.ValueOf(said)), "\n\n"), sanitize.Policy{Known: l.Secrets})
}

// textsOf are all texts of a value in their order, as they were meant: a line end is one, not its spelling in JSON.
func textsOf(v reflect.Value) (all []string) {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Pointer, reflect.Interface:
		return textsOf(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			all = append(all, textsOf(v.Index(i))...)
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			all = append(append(all, textsOf(key)...), textsOf(value)...)
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.IsExported() {
				all = append(all, textsOf(field)...)
			}
		}
	}
	return all
}

// held tells whether what is said of an agent's work, its answer first, or its commits from one on to tip hold a part of a credential, and of which kind; empty when
// neither does.
func (l *Loop) held(ctx context.Context, said any, from, tip string, commits []review.FixCommit) (what, kind string, err error) {
	if kind = l.tripwire(said); kind != "" || tip == "" {
		return "answer", kind, nil
	}
	kind, err = l.committed(ctx, from, tip, commits)
	return "commits", kind, err
}

// committed names the kind of the credential that an agent's commits hold a part of.
func (l *Loop) committed(ctx context.Context, from, tip string, commits []review.FixCommit) (kind string, err error) {
	for _, c := range changes(from, tip, commits) {
		d, err := l.History.Diff(ctx, c[0], c[1])
		if err != nil {
			return "", err
		}
		if kind := sanitize.Leaked(d.Raw(), sanitize.Policy{Known: l.Secrets}); kind != "" {
			return kind, nil
		}
	}
	return "", nil
}

// changes are the pairs of commits whose differences a push of work makes known: the whole, and each commit where there are several.
func changes(from, tip string, commits []review.FixCommit) [][2]string {
	out := [][2]string{{from, tip}}
	if len(commits) > 1 { // a branch keeps what a later commit takes back
		for _, c := range commits {
			out = append(out, [2]string{from, c.SHA})
			from = c.SHA
		}
	}
	return out
}

// caught is what is left of an answer that held a credential, or whose commits did: who gave it and what it cost.
func (l *Loop) caught(ctx context.Context, run string, plan AgentPlan, r review.AgentReceipt, what, kind string) (review.Answer, error) {
	held := "held a part of a credential that prloop holds"
	if kind != sanitize.AnyCredential {
		held += " (" + kind + ")"
	}
	if l.Incident != nil {
		if err := l.Incident(ctx, run, fmt.Sprintf("%s of %s %s", what, plan.Name, held)); err != nil {
			return review.Answer{}, fmt.Errorf("keep an incident: %w", err)
		}
	}
	r.Usage.Models = nil // the agent's own words
	return review.Answer{Receipt: review.AgentReceipt{
		Name: plan.Name, Role: plan.Role, Kind: plan.Kind, Model: plan.Model, State: review.AgentFailed,
		Reason:   fmt.Sprintf("%s: its %s %s; rotate the credential, and find out how the agent obtained it", KnownSecret, what, held),
		Attempts: r.Attempts, Seconds: r.Seconds, Usage: r.Usage,
	}}, nil
}

// forwardEvent passes on the news of an agent, without what the tripwire would not let through and what is known of the change.
func (l *Loop) forwardEvent(e review.Event) {
	if sanitize.Leaks(e.Message, sanitize.Policy{Known: l.Secrets}) {
		e.Message = sanitize.Redacted
	}
	e.Message = l.Learned.Mask(e.Message)
	l.emit(e)
}

// written are the texts of a finding that its finder wrote.
func written(f *review.Finding) []*string {
	return []*string{&f.ID, &f.Category, &f.File, &f.Title, &f.Description, &f.Suggestion, &f.Evidence, &f.Unconfirmed, &f.Language}
}
