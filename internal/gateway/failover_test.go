package gateway

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// pair is a gateway before two endpoints; the second serves the model that stands in.
func pair(t *testing.T, first fakemodel.Answer, change ...func(*Options)) (*rig, *fakemodel.Server, *[]string) {
	t.Helper()
	second, err := fakemodel.Start(fakemodel.Script{Key: "second-key-0123", Default: &fakemodel.Answer{Text: "from the second"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close() })
	notes := &[]string{}
	r := setup(t, fakemodel.Script{Default: &first}, review.Limits{LLMCalls: 20}, append([]func(*Options){func(o *Options) {
		o.Upstreams = append(o.Upstreams, Upstream{Name: "other", BaseURL: second.URL(), Key: NewSecret("second-key-0123"), Models: []string{"gpt-4.1-nano"}})
		o.Fallbacks = map[string][]string{mini: {"not-served", "gpt-4.1-nano"}}
		o.Upstreams[0].Models = []string{mini}
		o.Retries = -1
		o.Note = func(agent, message string) { *notes = append(*notes, agent+": "+message) }
	}}, change...)...)
	return r, second, notes
}

func TestAnotherModelAnswersVisibly(t *testing.T) {
	for _, c := range []struct {
		rule  string
		first fakemodel.Answer
		takes bool // another model takes over
	}{
		{"too many calls", fakemodel.Answer{Status: 429}, true},
		{"a fault of the server", fakemodel.Answer{Status: 503}, true},
		{"a key that is refused", fakemodel.Answer{Status: 401}, true},
		{"an account without money", fakemodel.Answer{Status: 429, Code: "insufficient_quota"}, true},
		{"a connection that breaks", fakemodel.Answer{Drop: "before"}, true},
		{"a request that is wrong is wrong everywhere", fakemodel.Answer{Status: 400}, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r, second, notes := pair(t, c.first)
			status, body := r.ask(mini, "x")
			if took := status == http.StatusOK && strings.Contains(body, "from the second") && len(second.Requests()) == 1; took != c.takes {
				t.Fatalf("%d %s", status, body)
			}
			if !c.takes {
				return
			}
			if q := second.Requests()[0]; q.Model != "gpt-4.1-nano" || q.Authorization != "Bearer second-key-0123" {
				t.Errorf("the second endpoint saw %s with %s", q.Model, q.Authorization)
			}
			if u := r.g.Usage("r1"); !slices.Equal(u.Models, []string{"gpt-4.1-nano"}) || !strings.Contains(body, `"model":"gpt-4.1-nano"`) {
				t.Errorf("the model that answered is named: %v %s", u.Models, body)
			}
			if len(*notes) != 1 || !strings.Contains((*notes)[0], "r1: model gpt-4.1-nano is asked instead of "+mini) {
				t.Errorf("notes %q", *notes)
			}
			r.ask(mini, "x")
			if n := len(r.model.Requests()) + len(r.model.Faults()); c.first.Status != 401 && n != 1 {
				t.Errorf("the first model was asked %d times although it cools down", n)
			}
			if len(*notes) != 2 || !strings.Contains((*notes)[1], "it is cooling down") {
				t.Errorf("the second call is as visible as the first: %q", *notes)
			}
		})
	}
}

func TestModelIsAskedAgainAfterItsCoolDown(t *testing.T) {
	for what, c := range map[string]struct {
		answer fakemodel.Answer
		wait   time.Duration
	}{
		"Retry-After":            {fakemodel.Answer{Status: 429, RetryAfter: "120"}, 2 * time.Minute},
		"the limit's reset span": {fakemodel.Answer{Status: 429, Headers: map[string]string{"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-requests": "9m", "x-ratelimit-remaining-requests": "5"}}, 6 * time.Minute},
		"nothing said":           {fakemodel.Answer{Status: 500}, coolDown},
	} {
		t.Run(what, func(t *testing.T) {
			clock := time.Now()
			r, second, _ := pair(t, c.answer, func(o *Options) { o.now = func() time.Time { return clock } })
			r.token = r.g.Issue("r1", review.Limits{LLMCalls: 20, WallTimeSeconds: 7200}, known...)
			for _, step := range []struct {
				after time.Duration
				first int
			}{{0, 1}, {c.wait - time.Second, 1}, {2 * time.Second, 2}} {
				clock = clock.Add(step.after)
				r.ask(mini, "x")
				if n := len(r.model.Requests()); n != step.first {
					t.Errorf("after %v the first model was asked %d times, want %d", step.after, n, step.first)
				}
			}
			if n := len(second.Requests()); n != 3 {
				t.Errorf("the second model answered %d of 3", n)
			}
		})
	}
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]time.Duration{"1700000060": time.Minute, "1700000060000": time.Minute, "7": 7 * time.Second, "": 0, "soon": 0} {
		if got := span(text, now); got != want {
			t.Errorf("reset %q is %v, want %v", text, got, want)
		}
	}
}

func TestWhenAllModelsFailTheLastAnswerStands(t *testing.T) {
	r, second, _ := pair(t, fakemodel.Answer{Status: 503})
	_ = second.Close()
	if status, body := r.ask(mini, "x"); status != http.StatusBadGateway || !strings.Contains(body, CodeUnreachable) {
		t.Errorf("%d %s", status, body)
	}
	if u := r.g.Usage("r1"); u.LLMCalls != 0 {
		t.Errorf("nobody answered, nothing is counted: %+v", u)
	}
	r, second, _ = pair(t, fakemodel.Answer{Status: 503}, func(o *Options) { o.Prices = map[string]Price{"gpt-4.1-nano": {Output: 1e9}} })
	if status, _ := r.ask(mini, "x"); status != http.StatusPaymentRequired && status != http.StatusBadGateway || len(second.Requests()) != 0 {
		t.Errorf("a model nobody can pay was asked: %d", status)
	}
}

func TestStreamsFailOverBeforeTheyBegin(t *testing.T) {
	r, _, notes := pair(t, fakemodel.Answer{Status: 503})
	if text, err := r.streamed(chat(mini, "x", true)); err != nil || !strings.Contains(text, "from the second") || len(*notes) != 1 {
		t.Errorf("%v %s %q", err, text, *notes)
	}
}
